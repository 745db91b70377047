/**
 * Writes the answers in the form of the wire, and decides nothing.
 *
 * Members are in ASCII order at every level, because clients without a JSON parser cut values out
 * by position. Absent members are left out, never null. Numbers and flags are strings where the
 * wire says so.
 *
 * Source: interface sections 2 and 4; the recorded answers under test/fixtures/wire.
 */
import { type Fault, faultTable, statusExpiredDetail } from '../../packages/protocol/src/fault.ts';
import type {
  LocationError,
  LocationReport,
  ReceiptOutcome,
} from '../../packages/protocol/src/outcome.ts';
import {
  type Caller,
  type ProfileName,
  type ProfileParam,
  profileParams,
  type SignatureRequest,
} from '../../packages/protocol/src/requests.ts';
import {
  faultCodeNamespace,
  faultSubCodeNamespace,
} from '../../packages/protocol/src/schemas/fault.ts';
import { profileUriText } from '../../packages/protocol/src/uris.ts';
import type { Sscd, Subscriber } from '../registry/subscriber.ts';
import type { SignedView, TransactionView } from '../transactions/outcomes.ts';

export const answerType = 'application/json;charset=UTF-8';

export const presentFault = ({ code, detail }: Fault) => ({
  Fault: {
    Code: {
      SubCode: { Value: `_${code}`, ValueNs: faultSubCodeNamespace },
      Value: faultTable[code].blame,
      ValueNs: faultCodeNamespace,
    },
    Detail: detail,
    Reason: faultTable[code].reason,
  },
});

type Headers = Readonly<Record<string, string>>;

export const jsonResponse = (status: number, body: object, headers?: Headers): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': answerType, ...headers },
  });

/** A Fault as a whole answer. */
export const faultResponse = (status: number, why: Fault, headers?: Headers): Response =>
  jsonResponse(status, presentFault(why), headers);

/** A status answer words an expired transaction differently from the synchronous answer. */
export const asStatusFault = (fault: Fault): Fault =>
  fault.code === 208 && fault.detail === faultTable[208].detail
    ? { code: 208, detail: statusExpiredDetail }
    : fault;

const statuses = {
  100: 'REQUEST_OK',
  500: 'SIGNATURE',
  502: 'VALID_SIGNATURE',
  504: 'OUTSTANDING_TRANSACTION',
} as const;

const status = (code: keyof typeof statuses) => ({
  StatusCode: { Value: String(code) },
  StatusMessage: statuses[code],
});

const apInfo = ({ apId, apTransId, instant }: Caller) => ({
  AP_ID: apId,
  AP_TransID: apTransId,
  Instant: instant,
});

const msspInfo = ({ msspUri }: Caller, now: number) => ({
  Instant: new Date(now).toISOString(),
  MSSP_ID: { URI: msspUri },
});

const geofencing = (uri: string, report: LocationReport | LocationError) => ({
  Description: uri,
  Geofencing:
    'errorCode' in report
      ? { ErrorCode: report.errorCode, ErrorMessage: report.errorMessage }
      : {
          Accuracy: report.accuracy,
          Country: report.country,
          DeviceConfidence: report.deviceConfidence,
          LocationConfidence: report.locationConfidence,
          Timestamp: report.timestamp,
        },
});

const subscriberInfo = (uri: string, network: string) => ({
  Description: uri,
  SubscriberInfo: { Details: [{ id: '1901', value: network }] },
});

/** One element for each service with an answer, in a fixed order. */
const serviceResponses = (
  { services }: SignatureRequest,
  signed: SignedView | undefined,
  authUri?: string | undefined,
) => {
  const responses = [
    ...(services.app2app !== undefined && authUri !== undefined
      ? [{ App2App: { AuthUri: authUri }, Description: services.app2app.uri }]
      : []),
    ...(services.geofencing !== undefined && signed?.geofencing !== undefined
      ? [geofencing(services.geofencing.uri, signed.geofencing)]
      : []),
    ...(services.subscriberInfo !== undefined && signed?.subscriberNetwork !== undefined
      ? [subscriberInfo(services.subscriberInfo.uri, signed.subscriberNetwork)]
      : []),
  ];
  return responses.length === 0 ? {} : { ServiceResponses: responses };
};

const signature = (signed: SignedView | undefined) =>
  signed?.signature === undefined ? {} : { MSS_Signature: { Base64Signature: signed.signature } };

const signedStatus = (signed: SignedView | undefined) => {
  if (signed?.signature === undefined) return status(100);
  return status(signed.validated ? 502 : 500);
};

interface SignAnswer {
  readonly request: SignatureRequest;
  readonly msspTransId: string;
  readonly profile: ProfileName;
  readonly now: number;
  /** The address for the app-to-app service; undefined for requests without it. */
  readonly authUri?: string | undefined;
}

/** @param signed Undefined in the answer that only accepts the request. */
export const presentSignature = (
  { request, msspTransId, profile, now, authUri }: SignAnswer,
  signed?: SignedView,
) => ({
  MSS_SignatureResp: {
    AP_Info: apInfo(request.caller),
    MSSP_Info: msspInfo(request.caller, now),
    MSSP_TransID: msspTransId,
    ...signature(signed),
    MajorVersion: '1',
    MinorVersion: '1',
    MobileUser: { MSISDN: request.msisdn.written },
    ...serviceResponses(request, signed, authUri),
    SignatureProfile: profileUriText({
      authority: request.profile.authority,
      name: signed?.profile ?? profile,
    }),
    Status: signedStatus(signed),
  },
});

/** @param signed Undefined while the transaction is open. */
export const presentStatus = (
  caller: Caller,
  { request }: TransactionView,
  signed: SignedView | undefined,
  now: number,
) => ({
  MSS_StatusResp: {
    AP_Info: apInfo(caller),
    MSSP_Info: msspInfo(caller, now),
    ...signature(signed),
    MajorVersion: '1',
    MinorVersion: '1',
    MobileUser: { MSISDN: request.msisdn.written },
    ...serviceResponses(request, signed),
    Status: signed === undefined ? status(504) : signedStatus(signed),
  },
});

/** @param userStatus Undefined when the phone never showed the receipt. */
const receiptExtension = (userStatus?: string, faultMessage?: string) => ({
  ClientAck: 'false',
  ...(faultMessage !== undefined && { FaultMessage: faultMessage }),
  NetworkAck: 'false',
  ReceiptMessagingMode: 'synch',
  UserAck: String(userStatus !== undefined),
  ...(userStatus !== undefined && { UserResponse: JSON.stringify({ status: userStatus }) }),
});

const receiptExtensions: Readonly<Record<ReceiptOutcome, object>> = {
  accepted: receiptExtension('OK'),
  cancelled: receiptExtension('CANCEL', 'User cancelled the request'),
  timeout: receiptExtension('TIMEOUT', 'Timeout waiting response'),
  unanswered: receiptExtension(),
};

/** @param outcome Undefined when the request did not ask for the extension. */
export const presentReceipt = (
  caller: Caller,
  outcome: ReceiptOutcome | undefined,
  now: number,
) => ({
  MSS_ReceiptResp: {
    AP_Info: apInfo(caller),
    MSSP_Info: msspInfo(caller, now),
    MajorVersion: '1',
    MinorVersion: '1',
    Status: {
      StatusCode: { Value: '100' },
      ...(outcome !== undefined && {
        StatusDetail: { ReceiptResponseExtension: receiptExtensions[outcome] },
      }),
      StatusMessage: 'REQUEST_OK',
    },
  },
});

export interface ProfileView {
  readonly authority: string;
  readonly profiles: readonly ProfileName[];
  readonly subscriber: Subscriber;
  /** The requested params. Each adds its part to the answer. */
  readonly params: ReadonlySet<ProfileParam>;
  /**
   * Certificate chains (user, issuing CA, root) by the id of the device. Several phones that are
   * one device give several chains. Empty without the param `certs`.
   */
  readonly chains: ReadonlyMap<
    string,
    readonly (readonly { readonly base64: string; readonly subject: string }[])[]
  >;
}

/** The details of a card of an unknown network. */
const unknownCarrier = { mcc: '000', mnc: '00', network: 'Unknown network' };

const presentSscd = ({ subscriber, params, chains }: ProfileView, sscd: Sscd) => {
  const { mcc, mnc, network } = subscriber.carrier ?? unknownCarrier;
  return {
    CardDetails:
      params.has('carddetails') && sscd.kind === 'sim'
        ? { Mcc: mcc, Mnc: mnc, Network: network }
        : undefined,
    MobileUserCertificate: chains.get(sscd.id)?.map((chain) => ({
      Algorithm: sscd.algorithm,
      State: sscd.certificateState,
      X509Certificate: chain.map(({ base64 }) => base64),
      X509SubjectName: chain.map(({ subject }) => subject),
    })),
    PinStatus: params.has('pinstatus') ? { Blocked: sscd.pinBlocked } : undefined,
    State: params.has('state') ? sscd.state : undefined,
  };
};

/** The params that concern devices. Each also adds the list of devices to the answer. */
const deviceParams = profileParams.filter((param) => param !== 'aastatus' && param !== 'rcstatus');

const profileAnswer = (
  caller: Caller,
  { authority, profiles }: Pick<ProfileView, 'authority' | 'profiles'>,
  extension: object | undefined,
  now: number,
) => ({
  MSS_ProfileResp: {
    AP_Info: apInfo(caller),
    MSSP_Info: msspInfo(caller, now),
    MajorVersion: '2',
    MinorVersion: '0',
    SignatureProfile: profiles.map((name) => profileUriText({ authority, name })),
    Status: {
      StatusCode: { Value: '100' },
      StatusDetail: extension && { ProfileQueryExtension: extension },
      StatusMessage: 'REQUEST_OK',
    },
  },
});

/** @param told.extension The extension of the other service, with its members in order. */
export const presentUpstreamProfile = (
  caller: Caller,
  told: Pick<ProfileView, 'authority' | 'profiles'> & { readonly extension: object | undefined },
  now: number,
) => profileAnswer(caller, told, told.extension, now);

export const presentProfile = (caller: Caller, view: ProfileView, now: number) => {
  const { subscriber, params } = view;
  const { sim, apps, autoActivation, recoveryCodeCreated } = subscriber;
  const present = (sscd: Sscd) => presentSscd(view, sscd);
  const extension = {
    MobileUser:
      params.has('aastatus') || params.has('rcstatus')
        ? {
            AutoActivation: params.has('aastatus') ? autoActivation : undefined,
            RecoveryCodeCreated: params.has('rcstatus') ? recoveryCodeCreated : undefined,
          }
        : undefined,
    Sscds: deviceParams.some((param) => params.has(param))
      ? { App: apps.length === 0 ? undefined : apps.map(present), Sim: sim && present(sim) }
      : undefined,
  };
  return profileAnswer(caller, view, params.size === 0 ? undefined : extension, now);
};
