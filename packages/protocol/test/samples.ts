/**
 * Valid requests of all four operations with every documented member, and the ways to spoil them.
 */
import { createProtocol, type Operation, type Protocol } from '../src/parse.ts';
import { defaultProtocolRules } from '../src/rules.ts';

export const protocol: Protocol = createProtocol(defaultProtocolRules);

const callerMembers = {
  AP_Info: {
    AP_ID: 'mid://ap.example.ch',
    AP_PWD: 'secret-of-the-ap',
    AP_TransID: 'REF-46009.542',
    Instant: '2024-07-02T10:06:55.134+02:00',
  },
  MSSP_Info: { MSSP_ID: { URI: 'http://mid.vendor.ch/' }, Instant: '2024-07-02T08:06:56.000Z' },
};

const MobileUser = { MSISDN: '+41700092501' };

export const samples = {
  sign: {
    MSS_SignatureReq: {
      MajorVersion: '1',
      MinorVersion: '2',
      ...callerMembers,
      MobileUser,
      MessagingMode: 'asynch',
      SignatureProfile: 'http://mid.vendor.ch/Any-LoA4',
      TimeOut: '80',
      DataToBeSigned: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: 'Example Ltd: sign in?' },
      AdditionalServices: [
        { Description: 'http://mss.vendor.fi/TS102204/v1.0.0#userLang', UserLang: { Value: 'EN' } },
        {
          Description: 'http://mid.vendor.ch/as#geofencing',
          GeoFencingRequest: {
            countrywhitelist: ['ch', 'DE'],
            countryblacklist: null,
            mindeviceconfidence: '0.7',
            minlocationconfidence: 0.5,
            maxtimestampminutes: '600',
            maxaccuracymeters: 0,
          },
        },
        {
          Description: 'http://mid.vendor.ch/as#app2app',
          App2App: { RedirectUri: 'myapp://app.open#access_token=ABCD' },
        },
        { Description: 'http://mid.vendor.ch/as#subscriberInfo' },
        { Description: 'http://uri.etsi.org/TS102204/v1.1.2#validate' },
      ],
    },
  },
  status: {
    MSS_StatusReq: {
      MajorVersion: '1',
      MinorVersion: '1',
      ...callerMembers,
      MSSP_TransID: 'HEhm77lu',
    },
  },
  receipt: {
    MSS_ReceiptReq: {
      MajorVersion: '1',
      MinorVersion: '1',
      ...callerMembers,
      MSSP_TransID: 'HEhm77lu',
      MobileUser,
      Message: {
        MimeType: 'text/plain',
        Encoding: 'UTF-8',
        Data: 'Example Ltd: you are signed in.',
      },
      Status: {
        StatusCode: { Value: '100' },
        StatusDetail: {
          ReceiptRequestExtension: {
            ReceiptMessagingMode: 'synch',
            ReceiptProfile: {
              Language: 'LANGUAGE',
              ReceiptProfileURI: 'http://mss.vendor.fi/synch',
            },
            UserAck: 'true',
          },
        },
      },
    },
  },
  profile: {
    MSS_ProfileReq: {
      MajorVersion: '2',
      MinorVersion: '0',
      ...callerMembers,
      MobileUser,
      Params: 'sscds state certs pinstatus rcstatus aastatus carddetails',
    },
  },
} as const satisfies Record<Operation, object>;

const parsers = {
  sign: protocol.parseSign,
  status: protocol.parseStatus,
  receipt: protocol.parseReceipt,
  profile: protocol.parseProfile,
} as const;

export const parseAs = (operation: Operation, body: unknown) => parsers[operation](body);

export type Path = readonly (string | number)[];

/** `A.B[0].C` as its steps. */
export const steps = (path: string): Path =>
  path.split(/[.[]/).map((step) => (step.endsWith(']') ? Number.parseInt(step, 10) : step));

/** A copy with one member replaced, or removed when the value is undefined. */
export const changed = (body: unknown, path: string | Path, value: unknown): unknown => {
  const copy: unknown = structuredClone(body);
  const way = typeof path === 'string' ? steps(path) : path;
  let parent = copy;
  for (const step of way.slice(0, -1)) parent = (parent as Record<string | number, unknown>)[step];
  const last = way.at(-1) ?? '';
  if (value === undefined) delete (parent as Record<string | number, unknown>)[last];
  else (parent as Record<string | number, unknown>)[last] = value;
  return copy;
};

/** The sample sign request with some members of MSS_SignatureReq replaced. */
export const signWith = (changes: Readonly<Record<string, unknown>>): unknown =>
  Object.entries(changes).reduce<unknown>(
    (body, [path, value]) => changed(body, `MSS_SignatureReq.${path}`, value),
    samples.sign,
  );
