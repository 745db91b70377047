/**
 * MSS_StatusReq and MSS_StatusResp.
 *
 * Any text is accepted as MSSP_TransID: all unknown transactions must get the same answer, and an
 * error about the form would be a second one.
 *
 * Source: interface section 4.2.
 */
import { z } from 'zod';
import { answerHead, mobileUserAnswerSchema, msspTransIdSchema, requestHead } from './common.ts';
import { serviceResponsesSchema } from './services.ts';
import { mssSignatureSchema, signatureStatusSchema } from './sign.ts';

export const statusRequestSchema = z
  .object({
    MSS_StatusReq: z
      .object({
        ...requestHead('1', ['1']),
        MSSP_TransID: msspTransIdSchema,
      })
      .meta({ id: 'MSS_StatusReq', description: 'Asks how an asynchronous transaction stands.' }),
  })
  .meta({ id: 'StatusRequest', description: 'Status request.' });

export const statusResponseSchema = z
  .object({
    MSS_StatusResp: z
      .object({
        ...answerHead('1', '1'),
        MSS_Signature: mssSignatureSchema.optional(),
        MobileUser: mobileUserAnswerSchema,
        ServiceResponses: serviceResponsesSchema,
        Status: signatureStatusSchema,
      })
      .meta({
        id: 'MSS_StatusResp',
        description: 'The signature, or status 504 until there is one.',
      }),
  })
  .meta({ id: 'StatusResponse', description: 'Status response.' });
