/**
 * What the answers of the signature interface mean; answer-schemas.ts says what they have to look like.
 *
 * Source: interface sections 2 and 4.
 */
import { Buffer } from 'node:buffer';
import { type Checked, ok, refuse } from '../protocol/fault.ts';
import type {
  ProfileOfAnswer,
  ReceiptAnswer,
  SscdOfAnswer,
  StandingAnswer,
  SubmittedAnswer,
} from './answer-schemas.ts';
import type { ProfileAnswer, Reaction, ServiceAnswers, SscdAnswer, Standing, Submitted } from './reply.ts';

const servicesOf = (responses: StandingAnswer['ServiceResponses'] = []): ServiceAnswers => {
  const location = responses.find(({ Geofencing }) => Geofencing)?.Geofencing;
  const details = responses.find(({ SubscriberInfo }) => SubscriberInfo)?.SubscriberInfo?.Details;
  // Id 1901 denotes MCC and MNC (interface section 2.2).
  const network = details?.find(({ id }) => id === '1901')?.value;
  return {
    ...(location && {
      geofencing:
        location.ErrorCode === undefined
          ? {
              country: location.Country,
              accuracyMeters: location.Accuracy,
              deviceConfidence: location.DeviceConfidence,
              locationConfidence: location.LocationConfidence,
              timestamp: location.Timestamp,
            }
          : { errorCode: location.ErrorCode, errorMessage: location.ErrorMessage ?? '' },
    }),
    ...(network !== undefined && { subscriberNetwork: network }),
  };
};

/** @returns Refuses what claims to be signed and has no signature; the detail is never shown. */
const standingOf = (
  { MSS_Signature, ServiceResponses, Status }: StandingAnswer,
  withoutSignature: 'outstanding' | 'delivered',
): Checked<Standing> => {
  const code = Status.StatusCode.Value;
  const services = servicesOf(ServiceResponses);
  if (code === '504') return ok({ state: 'outstanding' });
  if (code === '100') {
    return ok(
      withoutSignature === 'outstanding' ? { state: 'outstanding' } : { state: 'delivered', services },
    );
  }
  if ((code !== '500' && code !== '502') || MSS_Signature === undefined) return refuse(900);
  const signature = Buffer.from(MSS_Signature.Base64Signature, 'base64');
  return ok({ state: 'signed', signature, validated: code === '502', services });
};

/** 100 means accepted in asynch mode, and in synch mode that a text was delivered. */
export const readSubmitted = (answer: SubmittedAnswer, mode: 'synch' | 'asynch'): Checked<Submitted> => {
  const standing = standingOf(answer, mode === 'asynch' ? 'outstanding' : 'delivered');
  if (!standing.ok) return standing;
  return ok({
    msspTransId: answer.MSSP_TransID,
    profile: answer.SignatureProfile ?? '',
    standing: standing.value,
  });
};

export const readStatus = (answer: StandingAnswer): Checked<Standing> => standingOf(answer, 'delivered');

const reactions: Readonly<Record<string, Reaction>> = {
  OK: 'accepted',
  CANCEL: 'cancelled',
  TIMEOUT: 'timeout',
};

export const readReaction = ({ Status }: ReceiptAnswer): Checked<Reaction> => {
  const extension = Status.StatusDetail?.ReceiptResponseExtension;
  if (extension === undefined) return ok('unknown');
  if (extension.UserAck === 'false') return ok('unanswered');
  const word = /"status"\s*:\s*"([A-Z]+)"/.exec(extension.UserResponse ?? '')?.[1] ?? '';
  return ok((Object.hasOwn(reactions, word) ? reactions[word] : undefined) ?? 'unknown');
};

const readSscd = (sscd: SscdOfAnswer): SscdAnswer => ({
  state: sscd.State,
  pinBlocked: sscd.PinStatus?.Blocked,
  card: sscd.CardDetails && {
    mcc: sscd.CardDetails.Mcc,
    mnc: sscd.CardDetails.Mnc,
    network: sscd.CardDetails.Network,
  },
  certificates: (sscd.MobileUserCertificate ?? []).map((certificate) => ({
    algorithm: certificate.Algorithm,
    state: certificate.State,
    chain: certificate.X509Certificate,
    subjectNames: certificate.X509SubjectName,
  })),
});

export const readProfile = ({ SignatureProfile, Status }: ProfileOfAnswer): Checked<ProfileAnswer> => {
  const { MobileUser, Sscds } = Status.StatusDetail?.ProfileQueryExtension ?? {};
  return ok({
    profiles: SignatureProfile ?? [],
    autoActivation: MobileUser?.AutoActivation,
    recoveryCodeCreated: MobileUser?.RecoveryCodeCreated,
    sim: Sscds?.Sim && readSscd(Sscds.Sim),
    apps: (Sscds?.App ?? []).map(readSscd),
  });
};
