/** Field rules of the sign request, and of what it shares with the other three. */
import { describe, expect, it } from 'vitest';
import { createProtocol } from '../src/parse.ts';
import { profileNames, type SignatureRequest } from '../src/requests.ts';
import { defaultProtocolRules } from '../src/rules.ts';
import { changed, parseAs, protocol, samples, signWith } from './samples.ts';

const request = (body: unknown): SignatureRequest => {
  const parsed = protocol.parseSign(body);
  if (!parsed.ok) throw new Error(parsed.fault.detail);
  return parsed.value.request;
};

const faultOf = (body: unknown) => {
  const parsed = protocol.parseSign(body);
  return parsed.ok ? undefined : parsed.fault;
};

const accepted = (member: string, value: unknown) =>
  faultOf(signWith({ [member]: value })) === undefined;

describe('the sample', () => {
  it('becomes a request', () => {
    expect(request(samples.sign)).toEqual({
      caller: {
        apId: 'mid://ap.example.ch',
        apPassword: 'secret-of-the-ap',
        apTransId: 'REF-46009.542',
        instant: '2024-07-02T08:06:55.134Z',
        msspUri: 'http://mid.vendor.ch/',
      },
      msisdn: { written: '+41700092501', number: '41700092501' },
      messagingMode: 'asynch',
      profile: { authority: 'mid.vendor.ch', name: 'Any-LoA4' },
      timeoutSeconds: 80,
      data: { kind: 'text', text: 'Example Ltd: sign in?' },
      services: {
        userLang: { uri: 'http://mss.vendor.fi/TS102204/v1.0.0#userLang', language: 'en' },
        geofencing: {
          uri: 'http://mid.vendor.ch/as#geofencing',
          policy: {
            countryWhitelist: ['CH', 'DE'],
            countryBlacklist: [],
            minDeviceConfidence: 0.7,
            minLocationConfidence: 0.5,
            maxTimestampMinutes: 600,
            maxAccuracyMeters: undefined,
          },
        },
        app2app: {
          uri: 'http://mid.vendor.ch/as#app2app',
          redirectUri: 'myapp://app.open#access_token=ABCD',
        },
        subscriberInfo: { uri: 'http://mid.vendor.ch/as#subscriberInfo' },
        validate: { uri: 'http://uri.etsi.org/TS102204/v1.1.2#validate' },
      },
    });
  });
});

describe('versions', () => {
  it.each([
    ['sign', '1', '2'],
    ['sign', '1', '1'],
    ['status', '1', '1'],
    ['receipt', '1', '1'],
    ['profile', '2', '0'],
  ] as const)('of %s may be %s.%s', (operation, major, minor) => {
    const wrapper = Object.keys(samples[operation])[0];
    const body = changed(samples[operation], `${wrapper}.MajorVersion`, major);
    expect(parseAs(operation, changed(body, `${wrapper}.MinorVersion`, minor)).ok).toBe(true);
  });

  it.each([
    [
      'sign',
      'MajorVersion',
      '2',
      'MSS_SignatureReq.MajorVersion must belong to version 1.2 or 1.1',
    ],
    [
      'sign',
      'MinorVersion',
      '0',
      'MSS_SignatureReq.MinorVersion must belong to version 1.2 or 1.1',
    ],
    [
      'sign',
      'MinorVersion',
      '2.0',
      'MSS_SignatureReq.MinorVersion must belong to version 1.2 or 1.1',
    ],
    [
      'sign',
      'MajorVersion',
      '1'.repeat(1_000_000),
      'MSS_SignatureReq.MajorVersion must belong to version 1.2 or 1.1',
    ],
    ['status', 'MinorVersion', '2', 'MSS_StatusReq.MinorVersion must belong to version 1.1'],
    ['receipt', 'MinorVersion', '2', 'MSS_ReceiptReq.MinorVersion must belong to version 1.1'],
    ['profile', 'MajorVersion', '1', 'MSS_ProfileReq.MajorVersion must belong to version 2.0'],
    ['profile', 'MinorVersion', '1', 'MSS_ProfileReq.MinorVersion must belong to version 2.0'],
  ] as const)('of %s: other values of %s are a fault 108', (operation, member, value, detail) => {
    const wrapper = Object.keys(samples[operation])[0];
    expect(parseAs(operation, changed(samples[operation], `${wrapper}.${member}`, value))).toEqual({
      ok: false,
      fault: { code: 108, detail },
    });
  });
});

describe('MSISDN', () => {
  it.each(['41700092501', '+41700092501', '41790000000165', '41000000000', '6834000'])(
    'may be %s',
    (number) => {
      const { msisdn } = request(signWith({ 'MobileUser.MSISDN': number }));
      expect(msisdn).toEqual({ written: number, number: number.replace('+', '') });
    },
  );

  it('with its leading plus is in international format, and means the number without it', () => {
    const numberOf = (text: string) =>
      request(signWith({ 'MobileUser.MSISDN': text })).msisdn.number;
    expect(numberOf('+41700092501')).toBe(numberOf('41700092501'));
    for (const national of ['+0700092501', '+70009']) {
      expect(faultOf(signWith({ 'MobileUser.MSISDN': national }))).toMatchObject({ code: 101 });
    }
  });

  it.each([
    '0041700092501',
    '0700092501',
    '+',
    '++41700092501',
    '41-700-092501',
    '41 700092501',
    '417000925011234567',
    '123456',
    'x',
    ' 41700092501',
    '41700092501\n',
    '٤١٧٠٠٠٩٢٥٠١',
  ])('that is %j is a fault 101 Illegal msisdn', (number) => {
    const illegal = { code: 101, detail: 'Illegal msisdn' };
    expect(faultOf(signWith({ 'MobileUser.MSISDN': number }))).toEqual(illegal);
    expect(
      parseAs('profile', changed(samples.profile, 'MSS_ProfileReq.MobileUser.MSISDN', number)),
    ).toMatchObject({ fault: illegal });
    expect(
      parseAs('receipt', changed(samples.receipt, 'MSS_ReceiptReq.MobileUser.MSISDN', number)),
    ).toMatchObject({ fault: illegal });
  });
});

describe('AP_TransID', () => {
  it.each([
    'POSTMAN.46009.542',
    'MSS-1',
    'ID-32ffc297-ac33-4be2-b3f4-42588502ea0f',
    '_',
    'x'.repeat(64),
  ])('may be the NCName %s', (id) => {
    expect(accepted('AP_Info.AP_TransID', id)).toBe(true);
  });

  it.each(['32ffc297-ac33-4be2-b3f4-42588502ea0f', 'a:b'])(
    'may be %s, which is no NCName',
    (id) => {
      expect(accepted('AP_Info.AP_TransID', id)).toBe(true);
    },
  );

  it.each(['x'.repeat(65), '-x', '.x', 'a b', 'ä', 'x\n', '<x>'])(
    'that is %j is a fault 101',
    (id) => {
      expect(faultOf(signWith({ 'AP_Info.AP_TransID': id }))).toMatchObject({
        code: 101,
        detail: expect.stringContaining('MSS_SignatureReq.AP_Info.AP_TransID must'),
      });
    },
  );
});

describe('AP_PWD', () => {
  it('is absent when it is empty', () => {
    expect(request(signWith({ 'AP_Info.AP_PWD': '' })).caller.apPassword).toBeUndefined();
    expect(request(signWith({ 'AP_Info.AP_PWD': null })).caller.apPassword).toBeUndefined();
  });
});

describe('instants', () => {
  it('that are none are a fault 101 in both places', () => {
    const words = 'must be an ISO 8601 date-time with zone';
    expect(faultOf(signWith({ 'AP_Info.Instant': '2024-07-02T08:06:55' }))).toEqual({
      code: 101,
      detail: `MSS_SignatureReq.AP_Info.Instant ${words}`,
    });
    expect(faultOf(signWith({ 'MSSP_Info.Instant': 'now' }))).toEqual({
      code: 101,
      detail: `MSS_SignatureReq.MSSP_Info.Instant ${words}`,
    });
  });

  it('of MSSP_Info may be empty', () => {
    expect(accepted('MSSP_Info.Instant', '')).toBe(true);
  });
});

describe('MSSP_ID', () => {
  it('is echoed as spelled and must be an absolute URI', () => {
    const member = 'MSSP_Info.MSSP_ID.URI';
    expect(request(signWith({ [member]: 'http://mid.swisscom.ch/' })).caller.msspUri).toBe(
      'http://mid.swisscom.ch/',
    );
    expect(faultOf(signWith({ [member]: 'mid vendor' }))).toMatchObject({ code: 101 });
  });
});

describe('MessagingMode', () => {
  it.each(['SYNCH', 'asynchClientServer', 'sync', ' synch'])(
    'that is %j is a fault 101',
    (mode) => {
      expect(faultOf(signWith({ MessagingMode: mode }))).toEqual({
        code: 101,
        detail: 'MSS_SignatureReq.MessagingMode must be synch or asynch',
      });
    },
  );
});

describe('SignatureProfile', () => {
  it.each(profileNames)('may be %s of every accepted authority', (name) => {
    for (const authority of defaultProtocolRules.authorities) {
      const profile = { authority, name };
      expect(
        request(signWith({ SignatureProfile: `http://${authority}/${name}` })).profile,
      ).toEqual(profile);
    }
  });

  it.each([
    'http://mid.example.ch/Any-LoA4',
    'http://mid.vendor.ch/LoA5',
    'https://mid.vendor.ch/Any-LoA4',
    'http://mid.vendor.ch/any-loa4',
    'Any-LoA4',
    'http://mid.vendor.ch//Any-LoA4',
    'toString',
  ])('that is %s is a fault 109', (profile) => {
    expect(faultOf(signWith({ SignatureProfile: profile }))).toEqual({
      code: 109,
      detail: 'MSS_SignatureReq.SignatureProfile is not a known profile',
    });
  });
});

describe('MSS_Format', () => {
  const etsi = 'http://uri.etsi.org/TS102204/v1.1.2#';

  it.each([`${etsi}CMS-Signature`, `${etsi}PKCS7`, ''])('may be %s', (format) => {
    expect(accepted('MSS_Format', format)).toBe(true);
  });

  it.each([
    'http://www.methics.fi/KiuruMSSP/v3.2.0#PKCS1',
    `${etsi}XML-Signature`,
    'CMS-Signature',
    `${etsi}PKCS7 `,
  ])('other than CMS is a fault 101: %j', (format) => {
    expect(faultOf(signWith({ MSS_Format: format }))).toEqual({
      code: 101,
      detail: 'MSS_SignatureReq.MSS_Format must be a CMS format',
    });
  });
});

describe('TimeOut', () => {
  it.each([
    ['1', 1],
    ['300', 300],
    ['080', 80],
  ])('may be %s', (written, timeoutSeconds) => {
    expect(request(signWith({ TimeOut: written })).timeoutSeconds).toBe(timeoutSeconds);
  });

  it.each(['0', '301', '-1', '+5', '1.5', '1e2', ' 5', '5 ', '0x10', 'soon', '9'.repeat(100_000)])(
    'that is %j is a fault 101',
    (written) => {
      expect(faultOf(signWith({ TimeOut: written }))).toEqual({
        code: 101,
        detail: 'MSS_SignatureReq.TimeOut must be a number of seconds from 1 to 300',
      });
    },
  );
});

describe('other rules', () => {
  it('set the bounds of TimeOut and the authorities', () => {
    const strict = createProtocol({
      authorities: ['sign.example.ch'],
      minTimeoutSeconds: 10,
      maxTimeoutSeconds: 20,
    });
    const body = signWith({
      SignatureProfile: 'http://sign.example.ch/Any-LoA4',
      TimeOut: '10',
      AdditionalServices: [],
    });
    expect(strict.parseSign(body)).toMatchObject({ ok: true });
    expect(strict.parseSign(changed(body, 'MSS_SignatureReq.TimeOut', '9'))).toMatchObject({
      fault: {
        code: 101,
        detail: 'MSS_SignatureReq.TimeOut must be a number of seconds from 10 to 20',
      },
    });
    expect(strict.parseSign(samples.sign)).toMatchObject({
      fault: { detail: 'MSS_SignatureReq.SignatureProfile is not a known profile' },
    });
  });
});
