/** Dispatch, the three small operations, and the stored form of the fourth. */
import { describe, expect, it } from 'vitest';
import type { Operation } from '../src/parse.ts';
import { changed, parseAs, protocol, samples, signWith } from './samples.ts';

const operations = Object.keys(samples) as Operation[];
const caller = {
  apId: 'mid://ap.example.ch',
  apPassword: 'secret-of-the-ap',
  apTransId: 'REF-46009.542',
  instant: '2024-07-02T08:06:55.134Z',
  msspUri: 'http://mid.vendor.ch/',
};

describe('operationOf', () => {
  it.each(operations)('knows %s by its wrapper, whatever else the body has', (operation) => {
    const known = { ok: true, value: operation };
    expect(protocol.operationOf(samples[operation])).toEqual(known);
    expect(protocol.operationOf({ Unknown: {}, ...samples[operation] })).toEqual(known);
  });

  it.each([
    ['nothing', {}],
    ['an unknown wrapper', { MSS_HandshakeReq: {} }],
    ['two wrappers', { ...samples.sign, ...samples.status }],
    ['two wrappers, one of them null', { ...samples.sign, MSS_StatusReq: null }],
    ['an inherited wrapper', Object.create(samples.sign)],
    ['an array', [samples.sign]],
    ['null', null],
    ['a text', 'MSS_SignatureReq'],
  ])('refuses %s with fault 101', (_, body) => {
    const detail =
      'Body must have exactly one of MSS_SignatureReq, MSS_StatusReq, MSS_ReceiptReq, MSS_ProfileReq';
    expect(protocol.operationOf(body)).toEqual({ ok: false, fault: { code: 101, detail } });
  });

  it.each(operations)('%s refuses the wrappers of the others with fault 101', (operation) => {
    for (const other of operations.filter((name) => name !== operation)) {
      expect(parseAs(operation, samples[other])).toMatchObject({ ok: false, fault: { code: 101 } });
    }
    expect(parseAs(operation, { ...samples.sign, ...samples.status })).toMatchObject({
      fault: { code: 101 },
    });
  });

  it('leaves a wrapper without content to the operation, which calls it missing', () => {
    expect(parseAs('sign', { MSS_SignatureReq: null })).toEqual({
      ok: false,
      fault: { code: 102, detail: 'MSS_SignatureReq' },
    });
  });
});

describe('a status request', () => {
  it('names the transaction', () => {
    expect(protocol.parseStatus(samples.status)).toEqual({
      ok: true,
      value: { caller, msspTransId: 'HEhm77lu' },
    });
  });
});

describe('a receipt request', () => {
  const member = 'MSS_ReceiptReq.';

  it('carries the message and, when asked for, the extension', () => {
    expect(protocol.parseReceipt(samples.receipt)).toEqual({
      ok: true,
      value: {
        caller,
        msspTransId: 'HEhm77lu',
        msisdn: { written: '+41700092501', number: '41700092501' },
        message: 'Example Ltd: you are signed in.',
        extension: { language: 'LANGUAGE' },
      },
    });
  });

  it.each(['Status', 'Status.StatusDetail'])('without %s asks for no extension', (path) => {
    const parsed = protocol.parseReceipt(changed(samples.receipt, member + path, undefined));
    expect(parsed).toMatchObject({ ok: true, value: { extension: undefined } });
  });

  it.each([
    ['Status.StatusCode.Value', '500', 101, ' must be 100'],
    [
      'Status.StatusDetail.ReceiptRequestExtension.ReceiptMessagingMode',
      'asynch',
      101,
      ' must be synch',
    ],
    ['Status.StatusDetail.ReceiptRequestExtension.UserAck', 'yes', 101, ''],
    [
      'Status.StatusDetail.ReceiptRequestExtension.ReceiptProfile.ReceiptProfileURI',
      'synch',
      101,
      ' must be an absolute URI',
    ],
    ['Message.Encoding', 'UTF-16', 107, ' must be UTF-8'],
    ['Message.MimeType', 'text/html', 107, ' is not supported'],
    ['Message.MimeType', 'application/vnd.mobileid.txn-approval', 107, ' is not supported'],
    [
      'Message.Data',
      'x'.repeat(240),
      103,
      ' may have 239 characters of the GSM 03.38 alphabet at most',
    ],
    [
      'Message.Data',
      'ж'.repeat(120),
      103,
      ' may have 119 characters at most, because some are not in the GSM 03.38 alphabet',
    ],
  ])('with a wrong %s is refused', (path, value, code, words) => {
    expect(protocol.parseReceipt(changed(samples.receipt, member + path, value))).toEqual({
      ok: false,
      fault: { code, detail: `${member}${path}${words}` },
    });
  });
});

describe('a profile request', () => {
  const withParams = (params: string) =>
    protocol.parseProfile(changed(samples.profile, 'MSS_ProfileReq.Params', params));

  it.each([
    ['', []],
    ['sscds', ['sscds']],
    [' certs  state certs ', ['certs', 'state']],
    [
      'sscds state certs pinstatus rcstatus aastatus carddetails',
      ['sscds', 'state', 'certs', 'pinstatus', 'rcstatus', 'aastatus', 'carddetails'],
    ],
  ])('with Params %j switches on %j', (params, words) => {
    const parsed = withParams(params);
    expect(parsed).toMatchObject({
      ok: true,
      value: { caller, msisdn: { number: '41700092501' } },
    });
    expect(parsed.ok && [...parsed.value.params]).toEqual(words);
  });

  it.each(['SSCDS', 'sscds,state', 'sscds\tstate', 'everything', 'toString'])(
    'with Params %j is a fault 101',
    (params) => {
      expect(withParams(params)).toMatchObject({
        fault: {
          code: 101,
          detail: expect.stringMatching(/^MSS_ProfileReq\.Params must be words of sscds /),
        },
      });
    },
  );
});

describe('the stored form of a sign request', () => {
  const wireOf = (body: unknown) => {
    const parsed = protocol.parseSign(body);
    if (!parsed.ok) throw new Error(parsed.fault.detail);
    return parsed.value.wire;
  };
  const { MSS_SignatureReq: sample } = samples.sign;

  it('is the wire request without password, nulls and what nobody reads', () => {
    const [userLang, geofencing, ...others] = sample.AdditionalServices;
    const { countryblacklist: _, ...policy } = geofencing.GeoFencingRequest;
    expect(wireOf(samples.sign)).toEqual({
      ...sample,
      AP_Info: {
        AP_ID: 'mid://ap.example.ch',
        AP_TransID: 'REF-46009.542',
        Instant: '2024-07-02T08:06:55.134Z',
      },
      MSSP_Info: { MSSP_ID: { URI: 'http://mid.vendor.ch/' } },
      AdditionalServices: [userLang, { ...geofencing, GeoFencingRequest: policy }, ...others],
    });
    expect(JSON.stringify(wireOf(samples.sign))).not.toContain('secret-of-the-ap');
  });

  it('is the same text for the same request, however it was written', () => {
    const backwards = { MSS_SignatureReq: Object.fromEntries(Object.entries(sample).reverse()) };
    const otherwise = [
      backwards,
      signWith({ Unknown: 1, 'AP_Info.Unknown': [] }),
      signWith({ 'AP_Info.Instant': '2024-07-02T08:06:55.1340Z' }),
      signWith({ 'AP_Info.AP_PWD': 'another', 'MSSP_Info.Instant': null }),
      signWith({
        'AdditionalServices[3].UserLang': { Value: 'fr' },
        'AdditionalServices[4].App2App': null,
      }),
    ];
    for (const body of otherwise)
      expect(JSON.stringify(wireOf(body))).toBe(JSON.stringify(wireOf(samples.sign)));
    expect(JSON.stringify(wireOf(signWith({ TimeOut: '81' })))).not.toBe(
      JSON.stringify(wireOf(samples.sign)),
    );
  });

  it('reads back as the request, less the password', () => {
    const parsed = protocol.parseSign(samples.sign);
    if (!parsed.ok) throw new Error(parsed.fault.detail);
    const { request, wire } = parsed.value;
    const stored: unknown = JSON.parse(JSON.stringify(wire));
    expect(protocol.parseStoredSign(stored)).toEqual({
      ok: true,
      value: { ...request, caller: { ...caller, apPassword: undefined } },
    });
  });

  it('written by hand is checked like a body, and its password dropped', () => {
    expect(protocol.parseStoredSign(sample)).toMatchObject({
      ok: true,
      value: { caller: { apPassword: undefined } },
    });
    expect(protocol.parseStoredSign({ ...sample, TimeOut: 80 })).toMatchObject({
      fault: { code: 101, detail: expect.stringMatching(/^MSS_SignatureReq\.TimeOut/) },
    });
    expect(protocol.parseStoredSign({ ...sample, TimeOut: undefined })).toMatchObject({
      fault: { code: 102 },
    });
    const DataToBeSigned = { ...sample.DataToBeSigned, Data: 'half \ud83d' };
    expect(protocol.parseStoredSign({ ...sample, DataToBeSigned })).toEqual({
      ok: false,
      fault: { code: 101, detail: 'MSS_SignatureReq has an unpaired surrogate' },
    });
  });

  it.each([undefined, null, 'x', 1, [], {}])('that is %j is refused', (data) => {
    expect(protocol.parseStoredSign(data)).toMatchObject({ ok: false });
  });
});
