/** Requests of the load generator, as templates. */
import type { Kind } from './load.ts';

const robot = '+41700092501';
const MSSP_Info = { MSSP_ID: { URI: 'http://mid.vendor.ch/' } };
const caller = (as: object = { AP_ID: 'http://load.example' }): object => ({
  AP_Info: { ...as, AP_TransID: 'L{{n}}', Instant: new Date().toISOString() },
  MSSP_Info,
});
const version = { MajorVersion: '1', MinorVersion: '1' };

/** @param as AP_ID, and AP_PWD where it needs one. */
export const signKind = (mode: 'synch' | 'asynch', weight: number, as?: object): Kind => ({
  name: mode,
  path: '/rest/service/sign',
  weight,
  template: JSON.stringify({
    MSS_SignatureReq: {
      ...caller(as),
      ...version,
      MobileUser: { MSISDN: robot },
      MessagingMode: mode,
      SignatureProfile: 'http://mid.vendor.ch/Any-LoA4',
      TimeOut: '120',
      DataToBeSigned: {
        MimeType: 'text/plain',
        Encoding: 'UTF-8',
        Data: 'Example Shop: confirm order?',
      },
      AdditionalServices: [],
    },
  }),
});

/** One-time passwords of another application. */
export const textKind: Kind = {
  name: 'text',
  path: '/rest/service/sign',
  weight: 1,
  template: JSON.stringify({
    MSS_SignatureReq: {
      ...caller({ AP_ID: 'http://texts.example' }),
      ...version,
      MobileUser: { MSISDN: '+41791234567' },
      MessagingMode: 'asynch',
      SignatureProfile: 'http://mid.vendor.ch/MID/v1/OtpProfileText',
      TimeOut: '120',
      DataToBeSigned: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: 'Your code is 123456' },
      AdditionalServices: [],
    },
  }),
};

export const statusKind = (weight: number): Kind => ({
  name: 'status',
  path: '/rest/service/status',
  weight,
  template: JSON.stringify({ MSS_StatusReq: { ...caller(), ...version, MSSP_TransID: '{{any}}' } }),
});

export const receiptKind = (weight: number): Kind => ({
  name: 'receipt',
  path: '/rest/service/receipt',
  weight,
  template: JSON.stringify({
    MSS_ReceiptReq: {
      ...caller(),
      ...version,
      MSSP_TransID: '{{signed}}',
      Message: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: 'Order confirmed.' },
      MobileUser: { MSISDN: robot },
    },
  }),
});

export const profileKind = (weight: number): Kind => ({
  name: 'profile',
  path: '/rest/service/profile',
  weight,
  template: JSON.stringify({
    MSS_ProfileReq: {
      ...caller(),
      MajorVersion: '2',
      MinorVersion: '0',
      Params: 'sscds state certs',
      MobileUser: { MSISDN: robot },
    },
  }),
});
