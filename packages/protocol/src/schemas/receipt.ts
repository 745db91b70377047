/**
 * MSS_ReceiptReq and MSS_ReceiptResp.
 *
 * The interface lists Status and its StatusDetail as required. Both are optional here: clients in
 * use send no Status, or one with a StatusCode alone, when they do not want the extension in the
 * answer.
 *
 * Source: interface sections 2.3 and 4.3.
 */
import { z } from 'zod';
import {
  absoluteUri,
  answerHead,
  checkText,
  encodingSchema,
  flagSchema,
  mobileUserSchema,
  msspTransIdSchema,
  plainTextSchema,
  requestHead,
  statusCodeSchema,
  statusMessageSchema,
  text,
} from './common.ts';

/** The message of a receipt. It has the limit of a text to sign, because the screen is the same. */
const receiptMessageSchema = z
  .object({
    MimeType: plainTextSchema.describe('What the text is.'),
    Encoding: encodingSchema,
    Data: text().describe(
      'What the person reads. Unicode tags and variation selectors (U+E0000 to U+E0FFF) are fault 107.',
    ),
  })
  .check((payload) => checkText(payload, payload.value.Data))
  .meta({
    id: 'ReceiptMessage',
    description: 'What the user reads: 239 characters of the GSM 03.38 alphabet at most, else 119.',
    example: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: 'Example Ltd: you are signed in.' },
  });

const receiptReqStatusSchema = z
  .object({
    StatusCode: z
      .object({
        Value: z.enum(['100'], { error: 'must be 100' }).describe('Nothing else is possible.'),
      })
      .describe('How the call went; see Status codes.'),
    StatusDetail: z
      .object({
        ReceiptRequestExtension: z
          .object({
            ReceiptMessagingMode: z
              .enum(['synch'], { error: 'must be synch' })
              .describe('Receipts are synchronous.'),
            ReceiptProfile: z
              .object({
                Language: text().meta({
                  description: 'Any text; clients leave placeholders here.',
                  example: 'EN',
                }),
                ReceiptProfileURI: text()
                  .regex(absoluteUri, { error: 'must be an absolute URI' })
                  .describe('An absolute URI, such as `http://mss.vendor.fi/synch`.'),
              })
              .describe('How to show it.'),
            UserAck: flagSchema.describe('A string, not a boolean.'),
          })
          .describe('Asks for the extension in the answer.'),
      })
      .nullish()
      .describe('Leave it out, and the answer has no extension.'),
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
        ...requestHead('1', ['1']),
        MSSP_TransID: msspTransIdSchema.describe(
          'The transaction that was signed. Yours, and of the same number.',
        ),
        MobileUser: mobileUserSchema,
        Message: receiptMessageSchema,
        Status: receiptReqStatusSchema.nullish().describe('Send it to learn what the person did.'),
      })
      .meta({
        id: 'MSS_ReceiptReq',
        description: 'Tells the user what became of a successful signature.',
      }),
  })
  .meta({ id: 'ReceiptRequest', description: 'Receipt request.' });

const receiptRespStatusSchema = z
  .object({
    StatusCode: statusCodeSchema('100', 'Always 100.'),
    StatusDetail: z
      .object({
        ReceiptResponseExtension: z
          .object({
            ClientAck: flagSchema.describe('Always `false`.'),
            FaultMessage: z.string().optional().describe('In words, unless the person accepted.'),
            NetworkAck: flagSchema.describe('Always `false`.'),
            ReceiptMessagingMode: z.enum(['synch']).describe('Receipts are synchronous.'),
            UserAck: flagSchema.describe(
              '`true` if the phone showed it, whatever the person did then.',
            ),
            UserResponse: z
              .string()
              .optional()
              .meta({ description: 'JSON text.', example: '{"status":"OK"}' }),
          })
          .describe('What the person did.'),
      })
      .optional()
      .describe('There if the request asked for it.'),
    StatusMessage: statusMessageSchema,
  })
  .meta({
    id: 'ReceiptRespStatus',
    description: 'Always 100; the extension says what the user did.',
    example: { StatusCode: { Value: '100' }, StatusMessage: 'REQUEST_OK' },
  });

export const receiptResponseSchema = z
  .object({
    MSS_ReceiptResp: z
      .object({
        ...answerHead('1', '1'),
        Status: receiptRespStatusSchema,
      })
      .meta({ id: 'MSS_ReceiptResp', description: 'The receipt was shown, or could not be.' }),
  })
  .meta({ id: 'ReceiptResponse', description: 'Receipt response.' });
