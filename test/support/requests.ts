/** Requests as a client writes them, valid unless a test says otherwise. */
import { randomBytes } from 'node:crypto';

let count = 0;

const apInfo = (apId = 'http://test.example') => ({
  AP_ID: apId,
  AP_TransID: `T${randomBytes(4).toString('hex')}-${++count}`,
  Instant: new Date().toISOString(),
});

const msspInfo = { MSSP_ID: { URI: 'http://mid.vendor.ch/' } };

export interface SignOptions {
  readonly msisdn?: string;
  readonly mode?: 'synch' | 'asynch';
  readonly profile?: string;
  readonly text?: string;
  readonly timeoutSeconds?: number;
  readonly services?: readonly object[];
  readonly apId?: string;
}

export const signRequest = (options: SignOptions = {}) => ({
  MSS_SignatureReq: {
    AP_Info: apInfo(options.apId),
    MSSP_Info: msspInfo,
    MajorVersion: '1',
    MinorVersion: '2',
    MobileUser: { MSISDN: options.msisdn ?? '+41700092501' },
    MessagingMode: options.mode ?? 'synch',
    SignatureProfile: options.profile ?? 'http://mid.vendor.ch/Any-LoA4',
    TimeOut: String(options.timeoutSeconds ?? 60),
    DataToBeSigned: {
      MimeType: 'text/plain',
      Encoding: 'UTF-8',
      Data: options.text ?? 'Sign in to Example?',
    },
    AdditionalServices: options.services ?? [],
  },
});

export const statusRequest = (msspTransId: string, apId?: string) => ({
  MSS_StatusReq: {
    AP_Info: apInfo(apId),
    MSSP_Info: msspInfo,
    MajorVersion: '1',
    MinorVersion: '1',
    MSSP_TransID: msspTransId,
  },
});

export const receiptRequest = (
  msspTransId: string,
  options: { msisdn?: string; apId?: string; extension?: boolean } = {},
) => ({
  MSS_ReceiptReq: {
    AP_Info: apInfo(options.apId),
    MSSP_Info: msspInfo,
    MajorVersion: '1',
    MinorVersion: '1',
    MSSP_TransID: msspTransId,
    Message: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: 'Signed in to Example.' },
    MobileUser: { MSISDN: options.msisdn ?? '+41700092501' },
    ...(options.extension !== false && {
      Status: {
        StatusCode: { Value: '100' },
        StatusDetail: {
          ReceiptRequestExtension: {
            ReceiptMessagingMode: 'synch',
            ReceiptProfile: { Language: 'en', ReceiptProfileURI: 'http://mss.vendor.ch/synch' },
            UserAck: 'true',
          },
        },
      },
    }),
  },
});

export const profileRequest = (
  msisdn = '+41700092501',
  params = 'sscds state certs pinstatus rcstatus aastatus carddetails',
) => ({
  MSS_ProfileReq: {
    AP_Info: apInfo(),
    MSSP_Info: msspInfo,
    MajorVersion: '2',
    MinorVersion: '0',
    Params: params,
    MobileUser: { MSISDN: msisdn },
  },
});
