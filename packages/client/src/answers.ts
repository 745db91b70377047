/**
 * Reads the answers of a service, as far as a client needs them. Other services of the interface
 * leave out members that ours writes, write numbers as numbers, or add members.
 *
 * A transaction also ends by a status in a 200. Every answer with a status is read as such, and
 * never counts as a service that does not work.
 *
 * Source: interface sections 2 and 4; TS 102 204 section 8 for the codes of a status.
 */
import { Buffer } from 'node:buffer';
import { z } from 'zod';
import { type FaultCode, faultTable, isFaultCode } from '../../protocol/src/fault.ts';
import { profileQueryExtensionSchema } from '../../protocol/src/schemas/profile.ts';
import type {
  ProfileAnswer,
  Reaction,
  ServiceAnswers,
  ServiceFault,
  SscdAnswer,
  StatusWord,
} from './reply.ts';

const maybe = <Schema extends z.ZodType>(schema: Schema) =>
  schema.nullish().transform((value) => value ?? undefined);

const code = z.object({ Value: z.union([z.string(), z.number()]).transform(String) });

/** A short text. A gateway keeps such texts with its transactions and writes ids into its log. */
const short = z.string().max(1000);

/** A text. A number or a flag counts as its text. */
const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String).pipe(short);

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
    Country: maybe(scalar),
    Accuracy: maybe(scalar),
    DeviceConfidence: maybe(scalar),
    LocationConfidence: maybe(scalar),
    Timestamp: maybe(scalar),
    ErrorCode: maybe(scalar),
    ErrorMessage: maybe(scalar),
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

/** The answers of additional services, one for each element. */
const services = z
  .array(
    z.object({
      Geofencing: maybe(geofencing),
      SubscriberInfo: maybe(
        z.object({ Details: z.array(z.object({ id: scalar, value: scalar })) }),
      ),
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
  Status: z.object({ StatusCode: code, StatusMessage: words }),
});

const faultBy = (number: FaultCode, detail: string = faultTable[number].detail): ServiceFault => ({
  code: number,
  reason: faultTable[number].reason,
  detail,
});

const maxWords = 100;

/** The fault for a status that ends a transaction. Only the code counts: messages differ. */
const refusalBy = (status: string, message: string): ServiceFault => {
  switch (status) {
    case '500':
    case '502': {
      const name = status === '500' ? 'SIGNATURE' : 'VALID_SIGNATURE';
      const said = 'The service says that the user has signed, and gives no signature';
      return faultBy(900, `${said} (status ${status} ${name})`);
    }
    case '501':
      return faultBy(
        422,
        'The certificate of the user is revoked (status 501 REVOKED_CERTIFICATE)',
      );
    case '503':
      return faultBy(900, 'The signature is not valid (status 503 INVALID_SIGNATURE)');
    default: {
      if (isFaultCode(Number(status))) return faultBy(Number(status) as FaultCode);
      const [code, said] = [status, message].map((each) => each.slice(0, maxWords));
      return faultBy(
        900,
        `The service answers with a status that is not known here: ${code} ${said}`.trim(),
      );
    }
  }
};

const readStatus = (answer: z.output<typeof standing>): StatusWord => {
  const status = answer.Status.StatusCode.Value;
  const services = answer.ServiceResponses ?? {};
  if (status === '504') return { state: 'outstanding' };
  if (status === '100') return { state: 'accepted', services };
  if ((status === '500' || status === '502') && answer.MSS_Signature !== undefined) {
    const signature = Buffer.from(answer.MSS_Signature.Base64Signature, 'base64');
    return { state: 'signed', signature, validated: status === '502', services };
  }
  return { state: 'refused', fault: refusalBy(status, answer.Status.StatusMessage) };
};

export const statusAnswerSchema = z
  .object({ MSS_StatusResp: standing.transform(readStatus) })
  .transform((answer) => answer.MSS_StatusResp);

/** The answer to a sign request. The id may be missing only if it ended without a signature. */
export const signatureAnswerSchema = z
  .object({
    MSS_SignatureResp: standing
      .extend({ MSSP_TransID: maybe(short), SignatureProfile: maybe(short) })
      .transform((answer) => ({
        msspTransId: answer.MSSP_TransID ?? '',
        profile: answer.SignatureProfile ?? '',
        word: readStatus(answer),
      }))
      .refine(({ msspTransId, word }) => msspTransId !== '' || word.state === 'refused'),
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
              z.object({ UserAck: maybe(scalar), UserResponse: maybe(z.string()) }),
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
      card: CardDetails && {
        mcc: CardDetails.Mcc,
        mnc: CardDetails.Mnc,
        network: CardDetails.Network,
      },
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
                  z.object({
                    AutoActivation: maybe(z.boolean()),
                    RecoveryCodeCreated: maybe(z.boolean()),
                  }),
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

/** A profile answer whose content is not parsed, for a service that passes it on. */
export const rawProfileAnswerSchema = z
  .object({
    MSS_ProfileResp: z.object({
      SignatureProfile: profileUris,
      Status: z.object({
        StatusDetail: maybe(
          z.object({ ProfileQueryExtension: maybe(profileQueryExtensionSchema) }),
        ),
      }),
    }),
  })
  .transform(({ MSS_ProfileResp: { SignatureProfile, Status } }) => ({
    profiles: SignatureProfile ?? [],
    extension: Status.StatusDetail?.ProfileQueryExtension,
  }));
