/**
 * Writes sign requests: the counterpart of parse.ts, for clients and programs that add jobs. Errors
 * are left for the reader to report.
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

/** What a person is asked to sign, and additional services. */
export type RequestInput = DataToSign & {
  /** E.164, with or without plus. */
  readonly msisdn: string;
  /** A name or a URI in any dialect; default `Any-LoA4`, for approvals `Device-LoA4`. */
  readonly profile?: ProfileName | `http://${string}` | undefined;
  /** How long the person has, from the moment that work on it may begin; 60 by default. */
  readonly timeoutSeconds?: number | undefined;
  /** Of the phone's screens: `en`, `de`, … */
  readonly language?: string | undefined;
  /** Ask for the network of the subscriber. */
  readonly subscriberInfo?: boolean;
  /** Have the service verify the signature, too. */
  readonly validate?: boolean;
};

/** Where the phone must be, else fault 450. Countries: ISO 3166-1 alpha-2; confidences: 0 to 1. */
export type GeofencingInput = {
  readonly [Bound in keyof GeofencingPolicy]?: NonNullable<GeofencingPolicy[Bound]>;
};

/** The caller and its dialect. */
interface RequestCaller {
  readonly dialect: Dialect;
  readonly apId: string | undefined;
  /** Secret. */
  readonly apPassword?: string | undefined;
  /** Requests that are equal in everything are joined to one transaction. */
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
    // Any other text that is no instant is refused too.
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

/** The wire has the same names in lower case. */
const writeBounds = (bounds: GeofencingInput) =>
  Object.fromEntries(Object.entries(bounds).map(([name, bound]) => [name.toLowerCase(), bound]));

/** @param input `geofencing`: true asks where the phone is, an object also requires a place. */
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

/** Always with the extension, because only it says what the person did. */
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
