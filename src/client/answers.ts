/**
 * Reads the answers of a service: only what a client needs. Other services of the interface leave
 * out members that ours writes, spell numbers as numbers, or add members.
 *
 * Source: interface sections 2 and 4.
 */
import { Buffer } from 'node:buffer';
import { z } from 'zod';
import { faultTable, isFaultCode } from '../protocol/fault.ts';
import { profileQueryExtensionSchema } from '../protocol/schemas/profile.ts';
import type { ProfileAnswer, Reaction, ServiceAnswers, SscdAnswer, Standing, Submitted } from './reply.ts';

const maybe = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

const code = z.object({ Value: z.union([z.string(), z.number()]).transform(String) });

/** A gateway keeps these with its transactions and writes ids into its log. */
const short = z.string().max(1000);

/** Texts of a fault are for people: any other type counts as empty. */
const words = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'string' ? value : ''));

export const faultAnswerSchema = z
  .object({
    Fault: z.object({
      Code: z.object({ SubCode: code.refine(({ Value }) => /^_?\d{3}$/.test(Value)) }),
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

const geofencing = z
  .object({
    Country: maybe(short),
    Accuracy: maybe(short),
    DeviceConfidence: maybe(short),
    LocationConfidence: maybe(short),
    Timestamp: maybe(short),
    ErrorCode: maybe(short),
    ErrorMessage: maybe(short),
  })
  .transform(
    (location): NonNullable<ServiceAnswers['geofencing']> =>
      location.ErrorCode === undefined
        ? {
            country: location.Country,
            accuracyMeters: location.Accuracy,
            deviceConfidence: location.DeviceConfidence,
            locationConfidence: location.LocationConfidence,
            timestamp: location.Timestamp,
          }
        : { errorCode: location.ErrorCode, errorMessage: location.ErrorMessage ?? '' },
  );

/** Each element answers one service. */
const services = z
  .array(
    z.object({
      Geofencing: maybe(geofencing),
      SubscriberInfo: maybe(z.object({ Details: z.array(z.object({ id: z.string(), value: short })) })),
    }),
  )
  .transform((answers): ServiceAnswers => {
    const location = answers.find(({ Geofencing }) => Geofencing)?.Geofencing;
    const details = answers.find(({ SubscriberInfo }) => SubscriberInfo)?.SubscriberInfo?.Details;
    // Id 1901 denotes MCC and MNC (interface section 2.2).
    const network = details?.find(({ id }) => id === '1901')?.value;
    return {
      ...(location && { geofencing: location }),
      ...(network !== undefined && { subscriberNetwork: network }),
    };
  });

const standing = z.object({
  MSS_Signature: maybe(z.object({ Base64Signature: z.string().min(1) })),
  ServiceResponses: maybe(services),
  Status: z.object({ StatusCode: code }),
});

/** Refuses a signed answer without a signature. */
const readStanding = (answer: z.output<typeof standing>, context: z.RefinementCtx): Standing => {
  const status = answer.Status.StatusCode.Value;
  const answers = answer.ServiceResponses ?? {};
  if (status === '504') return { state: 'outstanding' };
  if (status === '100') return { state: 'delivered', services: answers };
  if ((status === '500' || status === '502') && answer.MSS_Signature !== undefined) {
    const signature = Buffer.from(answer.MSS_Signature.Base64Signature, 'base64');
    return { state: 'signed', signature, validated: status === '502', services: answers };
  }
  context.addIssue({ code: 'custom' });
  return z.NEVER;
};

export const statusAnswerSchema = z
  .object({ MSS_StatusResp: standing.transform(readStanding) })
  .transform((answer) => answer.MSS_StatusResp);

/** In asynch mode 100 means accepted; the caller of this knows the mode. */
export const signatureAnswerSchema = z
  .object({
    MSS_SignatureResp: standing
      .extend({ MSSP_TransID: short.min(1), SignatureProfile: maybe(short) })
      .transform(
        (answer, context): Submitted => ({
          msspTransId: answer.MSSP_TransID,
          profile: answer.SignatureProfile ?? '',
          standing: readStanding(answer, context),
        }),
      ),
  })
  .transform((answer) => answer.MSS_SignatureResp);

const reactions: Readonly<Record<string, Reaction>> = {
  OK: 'accepted',
  CANCEL: 'cancelled',
  TIMEOUT: 'timeout',
};

export const receiptAnswerSchema = z
  .object({
    MSS_ReceiptResp: z.object({
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
    }),
  })
  .transform(({ MSS_ReceiptResp: { Status } }): Reaction => {
    const extension = Status.StatusDetail?.ReceiptResponseExtension;
    if (extension === undefined) return 'unknown';
    if (extension.UserAck === 'false') return 'unanswered';
    const word = /"status"\s*:\s*"([A-Z]+)"/.exec(extension.UserResponse ?? '')?.[1] ?? '';
    return (Object.hasOwn(reactions, word) ? reactions[word] : undefined) ?? 'unknown';
  });

const sscd = z
  .object({
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
  })
  .transform(
    ({ CardDetails, MobileUserCertificate = [], PinStatus, State }): SscdAnswer => ({
      state: State,
      pinBlocked: PinStatus?.Blocked,
      card: CardDetails && { mcc: CardDetails.Mcc, mnc: CardDetails.Mnc, network: CardDetails.Network },
      certificates: MobileUserCertificate.map((certificate) => ({
        algorithm: certificate.Algorithm,
        state: certificate.State,
        chain: certificate.X509Certificate,
        subjectNames: certificate.X509SubjectName,
      })),
    }),
  );

const profileUris = maybe(z.union([z.array(z.string()), z.string().transform((uri) => [uri])]));

export const profileAnswerSchema = z
  .object({
    MSS_ProfileResp: z.object({
      SignatureProfile: profileUris,
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
    }),
  })
  .transform(({ MSS_ProfileResp: { SignatureProfile, Status } }): ProfileAnswer => {
    const { MobileUser, Sscds } = Status.StatusDetail?.ProfileQueryExtension ?? {};
    return {
      profiles: SignatureProfile ?? [],
      autoActivation: MobileUser?.AutoActivation,
      recoveryCodeCreated: MobileUser?.RecoveryCodeCreated,
      sim: Sscds?.Sim,
      apps: Sscds?.App ?? [],
    };
  });

/** The same, not taken apart: for a service that hands it on. */
export const rawProfileAnswerSchema = z
  .object({
    MSS_ProfileResp: z.object({
      SignatureProfile: profileUris,
      Status: z.object({
        StatusDetail: maybe(z.object({ ProfileQueryExtension: maybe(profileQueryExtensionSchema) })),
      }),
    }),
  })
  .transform(({ MSS_ProfileResp: { SignatureProfile, Status } }) => ({
    profiles: SignatureProfile ?? [],
    extension: Status.StatusDetail?.ProfileQueryExtension,
  }));
export type RawProfile = z.output<typeof rawProfileAnswerSchema>;
