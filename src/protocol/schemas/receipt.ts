/**
 * MSS_ReceiptReq and MSS_ReceiptResp.
 *
 * The interface lists Status and its StatusDetail as required. Both are optional here: clients in use send no Status,
 * or one with a StatusCode alone, when they do not want the extension in the answer.
 *
 * Source: interface sections 2.3 and 4.3.
 */
import { z } from 'zod';
import {
  absoluteUri,
  answerHead,
  checkTextLength,
  encodingSchema,
  flagSchema,
  mobileUserSchema,
  msspTransIdSchema,
  plainTextSchema,
  requestHead,
  statusCodeSchema,
  text,
} from './common.ts';

/** A receipt is shown by the same screen as a text to sign, so the same limit holds. */
const receiptMessageSchema = z
  .object({ MimeType: plainTextSchema, Encoding: encodingSchema, Data: text() })
  .check((payload) => checkTextLength(payload, payload.value.Data))
  .meta({
    id: 'ReceiptMessage',
    description: 'What the user reads: 239 characters of the GSM 03.38 alphabet at most, else 119.',
    example: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: 'Example Ltd: you are signed in.' },
  });

const receiptReqStatusSchema = z
  .object({
    StatusCode: z.object({ Value: z.enum(['100'], { error: 'must be 100' }) }),
    StatusDetail: z
      .object({
        ReceiptRequestExtension: z.object({
          ReceiptMessagingMode: z.enum(['synch'], { error: 'must be synch' }),
          ReceiptProfile: z.object({
            Language: text().meta({
              description: 'Any text; clients leave placeholders here.',
              example: 'EN',
            }),
            ReceiptProfileURI: text().regex(absoluteUri, { error: 'must be an absolute URI' }),
          }),
          UserAck: flagSchema.meta({ description: 'A string, not a boolean.' }),
        }),
      })
      .nullish(),
  })
  .meta({
    id: 'ReceiptReqStatus',
    description: 'With the extension, the answer says what the user did.',
    example: {
      StatusCode: { Value: '100' },
      StatusDetail: {
        ReceiptRequestExtension: {
          ReceiptMessagingMode: 'synch',
          ReceiptProfile: { Language: 'EN', ReceiptProfileURI: 'http://mss.vendor.fi/synch' },
          UserAck: 'true',
        },
      },
    },
  });

export const receiptRequestSchema = z
  .object({
    MSS_ReceiptReq: z
      .object({
        ...requestHead('1', ['1'], '1.1'),
        MSSP_TransID: msspTransIdSchema,
        MobileUser: mobileUserSchema,
        Message: receiptMessageSchema,
        Status: receiptReqStatusSchema.nullish(),
      })
      .meta({ id: 'MSS_ReceiptReq', description: 'Tells the user what became of a successful signature.' }),
  })
  .meta({ id: 'ReceiptRequest', description: 'Receipt request.' });

const receiptRespStatusSchema = z
  .object({
    StatusCode: statusCodeSchema('100'),
    StatusDetail: z
      .object({
        ReceiptResponseExtension: z.object({
          ClientAck: flagSchema,
          FaultMessage: z.string().optional(),
          NetworkAck: flagSchema,
          ReceiptMessagingMode: z.enum(['synch']),
          UserAck: flagSchema,
          UserResponse: z.string().optional().meta({ description: 'JSON text.', example: '{"status":"OK"}' }),
        }),
      })
      .optional(),
    StatusMessage: z.string(),
  })
  .meta({
    id: 'ReceiptRespStatus',
    description: 'Always 100; the extension says what the user did.',
    example: { StatusCode: { Value: '100' }, StatusMessage: 'REQUEST_OK' },
  });

const mssReceiptRespSchema = z
  .object({
    ...answerHead('1', '1'),
    Status: receiptRespStatusSchema,
  })
  .meta({ id: 'MSS_ReceiptResp', description: 'The receipt was shown, or could not be.' });
export type MssReceiptResp = z.infer<typeof mssReceiptRespSchema>;

export const receiptResponseSchema = z
  .object({ MSS_ReceiptResp: mssReceiptRespSchema })
  .meta({ id: 'ReceiptResponse', description: 'Receipt response.' });
