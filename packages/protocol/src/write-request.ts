/**
 * Writes sign requests: the counterpart of parse.ts, for clients and programs that add jobs. It
 * checks nothing; the reader reports errors.
 *
 * Source: interface sections 2.1, 2.2 and 4.1.
 */
import { type Approval, approvalMimeType, writeApproval } from './approval.ts';
import {
  type GeofencingPolicy,
  type MessagingMode,
  type ProfileName,
  profileNames,
} from './requests.ts';
import { type Dialect, profileUriText, serviceUriText } from './uris.ts';

export type DataToSign =
  | { readonly text: string; readonly approval?: never }
  | { readonly approval: Approval; readonly text?: never };

/** The data to sign, the person, and additional services. */
export type RequestInput = DataToSign & {
  /** The number in E.164, with or without the plus sign. */
  readonly msisdn: string;
  /**
   * The profile: a name, or a URI in any dialect. Default `Any-LoA4`, for approvals `Device-LoA4`.
   */
  readonly profile?: ProfileName | `http://${string}` | undefined;
  /** Time for the person to answer, from the moment that work on it may begin. Default 60. */
  readonly timeoutSeconds?: number | undefined;
  /** The language of the screens of the phone: `en`, `de`, … */
  readonly language?: string | undefined;
  /** Whether the answer names the network of the subscriber. */
  readonly subscriberInfo?: boolean;
  /** Whether the service verifies the signature, too. */
  readonly validate?: boolean;
};

/** The required location, else fault 450. Countries: ISO 3166-1 alpha-2; confidences: 0 to 1. */
export type GeofencingInput = {
  readonly [Bound in keyof GeofencingPolicy]?: NonNullable<GeofencingPolicy[Bound]>;
};

/** The caller and its dialect. */
interface RequestCaller {
  readonly dialect: Dialect;
  readonly apId: string | undefined;
  /** The password, which is secret. */
  readonly apPassword?: string | undefined;
  /** The AP_TransID. Requests with all members equal are joined to one transaction. */
  readonly apTransId: string;
  readonly instant: Date;
}

export const defaultTimeoutSeconds = 60;

/** AP_Info and MSSP_Info of any request. */
export const writeCaller = ({ dialect, apId, apPassword, apTransId, instant }: RequestCaller) => ({
  AP_Info: {
    AP_ID: apId,
    ...(apPassword !== undefined && { AP_PWD: apPassword }),
    AP_TransID: apTransId,
    // Any other text that is not an instant is refused too.
    Instant: Number.isNaN(instant.getTime()) ? 'none' : instant.toISOString(),
  },
  MSSP_Info: { MSSP_ID: { URI: `http://${dialect.authority}/` } },
});

const writePlainText = (text: string | undefined) => ({
  MimeType: 'text/plain',
  Encoding: 'UTF-8',
  Data: text,
});

const isProfileName = (text: string): text is ProfileName =>
  (profileNames as readonly string[]).includes(text);

/** Writes the bounds under the names of the wire, which are the same in lower case. */
const writeBounds = (bounds: GeofencingInput) =>
  Object.fromEntries(Object.entries(bounds).map(([name, bound]) => [name.toLowerCase(), bound]));

/** @param input `geofencing`: true asks for the location, an object also requires one. */
export const writeSignRequest = (
  caller: RequestCaller,
  mode: MessagingMode,
  input: RequestInput & { readonly geofencing?: boolean | GeofencingInput },
) => {
  const { dialect } = caller;
  const { text, approval, language, geofencing = false, subscriberInfo, validate } = input;
  const profile = input.profile ?? (approval === undefined ? 'Any-LoA4' : 'Device-LoA4');
  return {
    MSS_SignatureReq: {
      MajorVersion: '1',
      MinorVersion: '2',
      ...writeCaller(caller),
      MobileUser: { MSISDN: input.msisdn },
      MessagingMode: mode,
      SignatureProfile: isProfileName(profile)
        ? profileUriText({ authority: dialect.authority, name: profile })
        : profile,
      TimeOut: String(input.timeoutSeconds ?? defaultTimeoutSeconds),
      DataToBeSigned:
        approval === undefined
          ? writePlainText(text)
          : { MimeType: approvalMimeType, Encoding: 'UTF-8', Data: writeApproval(approval) },
      AdditionalServices: [
        ...(language === undefined
          ? []
          : [{ Description: serviceUriText('userLang', dialect), UserLang: { Value: language } }]),
        ...(geofencing === false
          ? []
          : [
              {
                Description: serviceUriText('geofencing', dialect),
                ...(geofencing !== true && { GeoFencingRequest: writeBounds(geofencing) }),
              },
            ]),
        ...(subscriberInfo ? [{ Description: serviceUriText('subscriberInfo', dialect) }] : []),
        ...(validate ? [{ Description: serviceUriText('validate', dialect) }] : []),
      ],
    },
  };
};

/**
 * Writes a receipt request, always with the extension: only that tells the reaction of the user.
 */
export const writeReceiptRequest = (
  caller: RequestCaller,
  {
    msspTransId,
    msisdn,
    text,
    language = 'en',
  }: {
    readonly msspTransId: string;
    readonly msisdn: string;
    readonly text: string;
    readonly language?: string | undefined;
  },
) => ({
  MSS_ReceiptReq: {
    ...writeCaller(caller),
    MajorVersion: '1',
    MinorVersion: '1',
    MSSP_TransID: msspTransId,
    MobileUser: { MSISDN: msisdn },
    Message: writePlainText(text),
    Status: {
      StatusCode: { Value: '100' },
      StatusDetail: {
        ReceiptRequestExtension: {
          ReceiptMessagingMode: 'synch',
          ReceiptProfile: { Language: language, ReceiptProfileURI: 'http://mss.vendor.ch/synch' },
          UserAck: 'true',
        },
      },
    },
  },
});
