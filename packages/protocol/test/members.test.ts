/** What is required, and of which type everything is: every member of every request in turn. */
import { describe, expect, it } from 'vitest';
import type { Operation } from '../src/parse.ts';
import { changed, parseAs, samples } from './samples.ts';

const callerMembers = [
  'AP_Info',
  'AP_Info.AP_ID',
  'AP_Info.AP_TransID',
  'AP_Info.Instant',
  'MSSP_Info',
  'MSSP_Info.MSSP_ID',
  'MSSP_Info.MSSP_ID.URI',
];
const versions = ['MajorVersion', 'MinorVersion'];
const user = ['MobileUser', 'MobileUser.MSISDN'];
const extension = 'Status.StatusDetail.ReceiptRequestExtension';

const required: Readonly<Record<Operation, readonly string[]>> = {
  sign: [
    ...versions,
    ...callerMembers,
    ...user,
    'MessagingMode',
    'SignatureProfile',
    'TimeOut',
    'DataToBeSigned',
    'DataToBeSigned.MimeType',
    'DataToBeSigned.Encoding',
    'DataToBeSigned.Data',
    'AdditionalServices',
    'AdditionalServices[0].Description',
    'AdditionalServices[0].UserLang.Value',
    'AdditionalServices[2].App2App.RedirectUri',
  ],
  status: [...versions, ...callerMembers, 'MSSP_TransID'],
  receipt: [
    ...versions,
    ...callerMembers,
    'MSSP_TransID',
    ...user,
    'Message',
    'Message.MimeType',
    'Message.Encoding',
    'Message.Data',
    'Status.StatusCode',
    'Status.StatusCode.Value',
    extension,
    `${extension}.ReceiptMessagingMode`,
    `${extension}.ReceiptProfile`,
    `${extension}.ReceiptProfile.Language`,
    `${extension}.ReceiptProfile.ReceiptProfileURI`,
    `${extension}.UserAck`,
  ],
  profile: [...versions, ...callerMembers, ...user, 'Params'],
};

const optional: Readonly<Record<Operation, readonly string[]>> = {
  sign: [
    'AP_Info.AP_PWD',
    'MSSP_Info.Instant',
    'MSS_Format',
    'AdditionalServices[1].GeoFencingRequest',
    ...[
      'countrywhitelist',
      'countryblacklist',
      'mindeviceconfidence',
      'minlocationconfidence',
      'maxtimestampminutes',
      'maxaccuracymeters',
    ].map((bound) => `AdditionalServices[1].GeoFencingRequest.${bound}`),
  ],
  status: ['AP_Info.AP_PWD', 'MSSP_Info.Instant'],
  receipt: ['AP_Info.AP_PWD', 'MSSP_Info.Instant', 'Status', 'Status.StatusDetail'],
  profile: ['AP_Info.AP_PWD', 'MSSP_Info.Instant'],
};

const wrapperOf = (operation: Operation): string => Object.keys(samples[operation])[0] ?? '';
const rows = (members: Readonly<Record<Operation, readonly string[]>>) =>
  (Object.keys(members) as Operation[]).flatMap((operation) =>
    members[operation].map((member) => [operation, `${wrapperOf(operation)}.${member}`] as const),
  );

/** Params is the one required member that may be empty. */
const mayBeEmpty = new Set(['MSS_ProfileReq.Params']);

it('accepts the samples themselves', () => {
  for (const operation of Object.keys(samples) as Operation[]) {
    expect(parseAs(operation, samples[operation])).toMatchObject({ ok: true });
  }
});

describe.each(rows(required))('%s: %s', (operation, path) => {
  const missing = { ok: false, fault: { code: 102, detail: path } };

  it('is missing when it is absent, null or empty', () => {
    expect(parseAs(operation, changed(samples[operation], path, undefined))).toEqual(missing);
    expect(parseAs(operation, changed(samples[operation], path, null))).toEqual(missing);
    if (!mayBeEmpty.has(path))
      expect(parseAs(operation, changed(samples[operation], path, ''))).toEqual(missing);
  });

  it.each([1, true, ['x']])('is a fault 101 when it is %j', (value) => {
    expect(parseAs(operation, changed(samples[operation], path, value))).toMatchObject({
      ok: false,
      fault: { code: 101, detail: expect.stringMatching(`^${path.replaceAll(/[[\]]/g, '.')}`) },
    });
  });
});

describe.each(rows(optional))('%s: %s', (operation, path) => {
  it('may be absent or null', () => {
    expect(parseAs(operation, changed(samples[operation], path, undefined))).toMatchObject({
      ok: true,
    });
    expect(parseAs(operation, changed(samples[operation], path, null))).toMatchObject({ ok: true });
  });

  it('is a fault 101 of the wrong type', () => {
    expect(parseAs(operation, changed(samples[operation], path, true))).toMatchObject({
      ok: false,
      fault: { code: 101, detail: expect.stringContaining(path) },
    });
  });
});

describe('unknown members', () => {
  it.each(rows(required).filter(([, path]) => path.endsWith('Info') || path.endsWith('User')))(
    'of %s %s are ignored',
    (operation, path) => {
      const expected = parseAs(operation, samples[operation]);
      expect(
        parseAs(operation, changed(samples[operation], `${path}.Unknown`, { deep: [1] })),
      ).toEqual(expected);
    },
  );
});

describe('of several mistakes', () => {
  const spoil = (changes: readonly (readonly [string, unknown])[]) =>
    changes.reduce<unknown>(
      (body, [path, value]) => changed(body, `MSS_SignatureReq.${path}`, value),
      samples.sign,
    );
  const codeAndDetail = (body: unknown) => {
    const result = parseAs('sign', body);
    return result.ok ? undefined : result.fault;
  };

  it('the first in the order of the schema is reported, a wrong one before a missing one', () => {
    const body = spoil([
      ['AP_Info.AP_ID', undefined],
      ['MinorVersion', '7'],
    ]);
    expect(codeAndDetail(body)).toMatchObject({ code: 108 });
  });

  it('the order of members in the body does not matter', () => {
    const body = spoil([
      ['TimeOut', 'soon'],
      ['MobileUser.MSISDN', 'none'],
    ]);
    const { MSS_SignatureReq: request } = body as { MSS_SignatureReq: object };
    const backwards = { MSS_SignatureReq: Object.fromEntries(Object.entries(request).reverse()) };
    expect(codeAndDetail(backwards)).toEqual({ code: 101, detail: 'Illegal msisdn' });
    expect(codeAndDetail(body)).toEqual(codeAndDetail(backwards));
  });

  it('one between members is reported last', () => {
    const body = spoil([
      ['MessagingMode', 'synch'],
      ['AdditionalServices[4].Description', 'http://x'],
    ]);
    expect(codeAndDetail(body)?.detail).toBe(
      'MSS_SignatureReq.AdditionalServices[4].Description is not a known service',
    );
  });
});
