/**
 * Fault: the body of every answer with status 500.
 *
 * Source: interface sections 2.5 and 7; TS 102 204.
 */
import { z } from 'zod';

export const faultCodeNamespace = 'http://www.w3.org/2003/05/soap-envelope';
export const faultSubCodeNamespace = 'http://uri.etsi.org/TS102204/v1.1.2#';

export const faultResponseSchema = z
  .object({
    Fault: z
      .object({
        Code: z
          .object({
            SubCode: z
              .object({
                Value: z
                  .string()
                  .regex(/^_\d{3}$/)
                  .describe('Underscore and the error code.'),
                ValueNs: z.literal(faultSubCodeNamespace).describe('Always the same.'),
              })
              .describe('The code; see Faults.'),
            Value: z.enum(['Sender', 'Receiver']).describe('Whose side the reason is on.'),
            ValueNs: z.literal(faultCodeNamespace).describe('Always the same.'),
          })
          .describe('The code and its side.'),
        Detail: z
          .string()
          .describe('Free text. For a mistake in the request, the member at fault.'),
        Reason: z.string().describe('Name of the error code.'),
      })
      .describe('The one member of the body.'),
  })
  .meta({
    id: 'Fault',
    description: 'Why there is no answer.',
    example: {
      Fault: {
        Code: {
          SubCode: { Value: '_401', ValueNs: faultSubCodeNamespace },
          Value: 'Receiver',
          ValueNs: faultCodeNamespace,
        },
        Detail: 'User cancelled the request',
        Reason: 'USER_CANCEL',
      },
    },
  });
