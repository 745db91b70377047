/**
 * Answers as a client reads them: what it needs, and no more. The schemas by which our own service writes say more, and
 * other services of the interface leave out some of that, spell numbers as numbers, or add members of their own.
 *
 * Source: interface sections 2 and 4.
 */
import { z } from 'zod';
import { faultTable, isFaultCode } from '../protocol/fault.ts';

const maybe = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

const code = z.object({ Value: z.union([z.string(), z.number()]).transform(String) });

/** Texts of a fault are for people: whatever else is there says nothing to them. */
const words = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'string' ? value : ''));

export const faultAnswerSchema = z
  .object({
    Fault: z.object({
      Code: z.object({ SubCode: z.object({ Value: z.string().regex(/^_?\d{3}$/) }) }),
      Detail: words,
      Reason: words,
    }),
  })
  .transform(({ Fault }) => {
    const number = Number(Fault.Code.SubCode.Value.replace('_', ''));
    const known = isFaultCode(number) ? faultTable[number] : undefined;
    return {
      code: number,
      reason: Fault.Reason || (known?.reason ?? 'UNKNOWN'),
      detail: Fault.Detail || (known?.detail ?? ''),
    };
  });

const signature = z.object({ Base64Signature: z.string().min(1) });

const serviceAnswer = z.object({
  Geofencing: maybe(
    z.object({
      Country: maybe(z.string()),
      Accuracy: maybe(z.string()),
      DeviceConfidence: maybe(z.string()),
      LocationConfidence: maybe(z.string()),
      Timestamp: maybe(z.string()),
      ErrorCode: maybe(z.string()),
      ErrorMessage: maybe(z.string()),
    }),
  ),
  SubscriberInfo: maybe(z.object({ Details: z.array(z.object({ id: z.string(), value: z.string() })) })),
});

const standing = z.object({
  MSS_Signature: maybe(signature),
  ServiceResponses: maybe(z.array(serviceAnswer)),
  Status: z.object({ StatusCode: code }),
});
export type StandingAnswer = z.output<typeof standing>;

const submitted = standing.extend({ MSSP_TransID: z.string().min(1), SignatureProfile: maybe(z.string()) });
export type SubmittedAnswer = z.output<typeof submitted>;

export const signatureAnswerSchema = z.object({ MSS_SignatureResp: submitted });
export const statusAnswerSchema = z.object({ MSS_StatusResp: standing });

const receipt = z.object({
  Status: z.object({
    StatusCode: code,
    StatusDetail: maybe(
      z.object({
        ReceiptResponseExtension: maybe(
          z.object({ UserAck: maybe(z.string()), UserResponse: maybe(z.string()) }),
        ),
      }),
    ),
  }),
});
export type ReceiptAnswer = z.output<typeof receipt>;
export const receiptAnswerSchema = z.object({ MSS_ReceiptResp: receipt });

const sscd = z.object({
  CardDetails: maybe(z.object({ Mcc: z.string(), Mnc: z.string(), Network: z.string() })),
  MobileUserCertificate: maybe(
    z.array(
      z.object({
        Algorithm: z.string(),
        State: z.string(),
        X509Certificate: z.array(z.string()),
        X509SubjectName: z.array(z.string()).default([]),
      }),
    ),
  ),
  PinStatus: maybe(z.object({ Blocked: z.boolean() })),
  State: maybe(z.string()),
});
export type SscdOfAnswer = z.output<typeof sscd>;

const profile = z.object({
  SignatureProfile: maybe(z.union([z.array(z.string()), z.string().transform((uri) => [uri])])),
  Status: z.object({
    StatusCode: code,
    StatusDetail: maybe(
      z.object({
        ProfileQueryExtension: maybe(
          z.object({
            MobileUser: maybe(
              z.object({ AutoActivation: maybe(z.boolean()), RecoveryCodeCreated: maybe(z.boolean()) }),
            ),
            Sscds: maybe(z.object({ App: maybe(z.array(sscd)), Sim: maybe(sscd) })),
          }),
        ),
      }),
    ),
  }),
});
export type ProfileOfAnswer = z.output<typeof profile>;
export const profileAnswerSchema = z.object({ MSS_ProfileResp: profile });
