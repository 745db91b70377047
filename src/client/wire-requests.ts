/**
 * Writes the four requests of the signature interface: the counterpart of the readers in src/protocol.
 *
 * Source: interface section 4.
 */
import { randomBytes } from 'node:crypto';
import { approvalMimeType } from '../protocol/approval.ts';
import { profileParams } from '../protocol/requests.ts';

/** How a service spells its URIs: host parts that are names, not addresses. */
export interface Dialect {
  /** Of profiles and most services: `mid.vendor.ch`. */
  readonly authority: string;
  /** Of the service that sets the language of the screens, where it is another: `mss.vendor.fi`. */
  readonly languageAuthority?: string | undefined;
}

/** Who calls, and in which dialect. */
export interface Identity {
  /** That in which the interface itself is written, by default. */
  readonly dialect?: Dialect | undefined;
  readonly apId: string;
  /** Secret. Goes into bodies and nowhere else. */
  readonly apPassword: string | undefined;
}

/** Rows that an App shows under a title; the rows are signed, the title is not. */
export interface Approval {
  readonly title: string;
  readonly rows: readonly { readonly key: string; readonly value: string }[];
}

export interface SignOptions {
  /** E.164, with or without plus. */
  readonly msisdn: string;
  readonly text: string;
  /** Signed in place of the text. */
  readonly approval?: Approval | undefined;
  readonly mode: 'synch' | 'asynch';
  /** URI. */
  readonly profile: string;
  readonly timeoutSeconds: number;
  /** Language of the phone's screens: `en`, `de`, … */
  readonly language?: string | undefined;
  readonly geofencing?: boolean;
  readonly subscriberInfo?: boolean;
  /** Have the service verify the signature, too. */
  readonly validate?: boolean;
}

export interface ReceiptOptions {
  readonly msspTransId: string;
  readonly msisdn: string;
  readonly text: string;
  readonly language?: string | undefined;
}

/** The dialect in which the interface itself is written. */
const vendor: Dialect = { authority: 'mid.vendor.ch', languageAuthority: 'mss.vendor.fi' };

export const profileUriOf = (name: string, { authority }: Dialect = vendor): string =>
  `http://${authority}/${name}`;

const servicesIn = ({ authority, languageAuthority = authority }: Dialect) =>
  ({
    userLang: `http://${languageAuthority}/TS102204/v1.0.0#userLang`,
    geofencing: `http://${authority}/as#geofencing`,
    subscriberInfo: `http://${authority}/as#subscriberInfo`,
    validate: 'http://uri.etsi.org/TS102204/v1.1.2#validate',
  }) as const;

const head = ({ apId, apPassword, dialect = vendor }: Identity, now: number) => ({
  AP_Info: {
    AP_ID: apId,
    ...(apPassword !== undefined && { AP_PWD: apPassword }),
    // Unique for each request: equal ones are joined to one transaction while it is open.
    AP_TransID: `P${randomBytes(10).toString('hex')}`,
    Instant: new Date(now).toISOString(),
  },
  MSSP_Info: { MSSP_ID: { URI: `http://${dialect.authority}/` } },
});

const plainText = (text: string) => ({ MimeType: 'text/plain', Encoding: 'UTF-8', Data: text });

const rowsOf = ({ rows }: Approval) => rows.map(({ key, value }) => ({ key, value }));

/** The canonical text of the rows: what is signed of an approval. */
export const approvalDtbd = (approval: Approval): string => JSON.stringify(rowsOf(approval));

const approvalData = (approval: Approval) => ({
  MimeType: approvalMimeType,
  Encoding: 'UTF-8',
  Data: JSON.stringify({ format_version: 1, type: approval.title, dtbd: rowsOf(approval) }),
});

export const writeSignRequest = (caller: Identity, options: SignOptions, now: number) => {
  const services = servicesIn(caller.dialect ?? vendor);
  return {
    MSS_SignatureReq: {
      ...head(caller, now),
      MajorVersion: '1',
      MinorVersion: '2',
      MobileUser: { MSISDN: options.msisdn },
      MessagingMode: options.mode,
      SignatureProfile: options.profile,
      TimeOut: String(options.timeoutSeconds),
      DataToBeSigned:
        options.approval === undefined ? plainText(options.text) : approvalData(options.approval),
      AdditionalServices: [
        ...(options.language === undefined
          ? []
          : [{ Description: services.userLang, UserLang: { Value: options.language } }]),
        ...(['geofencing', 'subscriberInfo', 'validate'] as const)
          .filter((name) => options[name] === true)
          .map((name) => ({ Description: services[name] })),
      ],
    },
  };
};

export const writeStatusRequest = (caller: Identity, msspTransId: string, now: number) => ({
  MSS_StatusReq: { ...head(caller, now), MajorVersion: '1', MinorVersion: '1', MSSP_TransID: msspTransId },
});

/** Always with the extension: without it the answer does not say what the user did. */
export const writeReceiptRequest = (caller: Identity, options: ReceiptOptions, now: number) => ({
  MSS_ReceiptReq: {
    ...head(caller, now),
    MajorVersion: '1',
    MinorVersion: '1',
    MSSP_TransID: options.msspTransId,
    MobileUser: { MSISDN: options.msisdn },
    Message: plainText(options.text),
    Status: {
      StatusCode: { Value: '100' },
      StatusDetail: {
        ReceiptRequestExtension: {
          ReceiptMessagingMode: 'synch',
          ReceiptProfile: {
            Language: options.language ?? 'en',
            ReceiptProfileURI: 'http://mss.vendor.ch/synch',
          },
          UserAck: 'true',
        },
      },
    },
  },
});

/** Asks for everything there is. */
export const writeProfileRequest = (caller: Identity, msisdn: string, now: number) => ({
  MSS_ProfileReq: {
    ...head(caller, now),
    MajorVersion: '2',
    MinorVersion: '0',
    MobileUser: { MSISDN: msisdn },
    Params: profileParams.join(' '),
  },
});
