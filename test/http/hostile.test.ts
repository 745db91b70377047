/**
 * Bodies, methods and media types that nobody should send, at every URL of the signature interface.
 * Each is answered with the Fault that names what is wrong; no value of a request comes back, nor
 * does anything of the inside.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FaultCode } from '../../packages/protocol/src/fault.ts';
import { changed, steps } from '../../packages/protocol/test/samples.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest, receiptRequest, signRequest, statusRequest } from '../support/requests.ts';
import { expectFault, expectSignature, readAnswer, send, sign } from './wire.ts';

/** Stands in every hostile value, and nowhere else. */
const canary = 'kanarienvogel';

const vendor = 'http://mid.vendor.ch/as#';
const requests = {
  sign: signRequest({
    mode: 'asynch',
    services: [
      { Description: 'http://mss.vendor.fi/TS102204/v1.0.0#userLang', UserLang: { Value: 'en' } },
      { Description: `${vendor}app2app`, App2App: { RedirectUri: 'myapp://back' } },
    ],
  }),
  status: statusRequest('HEhm77lu'),
  receipt: receiptRequest('HEhm77lu'),
  profile: profileRequest(),
} as const;
type Operation = keyof typeof requests;
const operations = Object.keys(requests) as Operation[];
const urls = ['/rest/service', ...operations.map((operation) => `/rest/service/${operation}`)];

const redis = testRedis();
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis);
});

afterAll(() => product.stop());

const text = JSON.stringify(requests.sign);
const bytes = (...parts: (string | readonly number[])[]): Uint8Array =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))),
  );

const [wrapper] = Object.keys(requests.sign);

describe('a body that is no request', () => {
  const bodies: readonly (readonly [what: string, body: string | Uint8Array, code?: FaultCode])[] =
    [
      ['empty', ''],
      ['cut off', text.slice(0, -1)],
      ['two of them', `${text}${text}`],
      ['with a trailing comma', `${text.slice(0, -1)},}`],
      ['single quotes', `{'${canary}':1}`],
      ['NaN', `{"${canary}":NaN}`],
      ['XML', `<${canary}/>`],
      ['a form', `${canary}=1&a=b`],
      ['null', 'null'],
      ['a number', '1'],
      ['a string', `"${canary}"`],
      ['true', 'true'],
      ['an array', `[${text}]`],
      ['an object without members', '{}'],
      ['an unknown wrapper', `{"${canary}":{}}`],
      ['a wrapper in another case', text.replace(`${wrapper}`, 'mss_signaturereq')],
      ['two wrappers', JSON.stringify({ ...requests.sign, ...requests.status })],
      ['all wrappers', JSON.stringify(Object.assign({}, ...Object.values(requests)))],
      ['invalid UTF-8', bytes('{"MSS_SignatureReq":"', [0xc3, 0x28], '"}')],
      ['overlong UTF-8', bytes('{"MSS_SignatureReq":"', [0xc0, 0xaf], '"}')],
      ['UTF-16', Buffer.from(text, 'utf16le')],
      ['a NUL byte', bytes(text.slice(0, -2), [0], '}}')],
      ['an escaped NUL', text.replace('Sign in', 'Sign\\u0000in')],
      ['a lone surrogate', text.replace('Sign in', '\\ud83d')],
      ['a lone surrogate in a name', text.replace('{', '{"\\udc00":1,')],
      ['a duplicate member', text.replace('"MajorVersion"', '"MinorVersion":"2","MajorVersion"')],
      [
        'a duplicate member in another spelling',
        text.replace('{', '{"\\u004dSS_SignatureReq":{},'),
      ],
      ['__proto__', text.replace('{', `{"__proto__":{"${canary}":1},`)],
      ['__proto__ further down', text.replace('"AP_ID"', '"__proto__":{"AP_PWD":"x"},"AP_ID"')],
      [
        'constructor.prototype',
        text.replace('"AP_ID"', '"constructor":{"prototype":{"x":1}},"AP_ID"'),
      ],
      ['deep arrays', `{"MSS_SignatureReq":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
      ['deep objects', `{"MSS_SignatureReq":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`],
      ['65537 bytes', ' '.repeat(65_537 - text.length) + text, 103],
      ['1 MB', JSON.stringify({ MSS_SignatureReq: canary.repeat(80_000) }), 103],
    ];

  const cases = bodies.map(([what, body, code = 101]) => [what, body, code] as const);
  it.each(cases)('is a Fault at every URL: %s', async (_what, body, code) => {
    for (const url of urls) expectFault(await send(product, url, body), code);
  });

  it('is none of these when it is as long as the limit, or begins with a byte-order mark', async () => {
    const request = JSON.stringify(signRequest());
    const padding = ' '.repeat(65_536 - Buffer.byteLength(request) - 3);
    const answer = await send(product, '/rest/service/sign', `\ufeff${padding}${request}`);
    await expectSignature(product, answer, 'Sign in to Example?');
  });
});

const apMembers = [
  'MajorVersion',
  'MinorVersion',
  'AP_Info',
  'AP_Info.AP_ID',
  'AP_Info.AP_TransID',
  'AP_Info.Instant',
  'MSSP_Info',
  'MSSP_Info.MSSP_ID',
  'MSSP_Info.MSSP_ID.URI',
];
const textMembers = (name: string) =>
  ['', '.MimeType', '.Encoding', '.Data'].map((member) => name + member);
const userMembers = ['MobileUser', 'MobileUser.MSISDN'];
const extension = 'Status.StatusDetail.ReceiptRequestExtension';
const requiredMembers: Readonly<Record<Operation, readonly string[]>> = {
  sign: [
    ...apMembers,
    ...userMembers,
    'MessagingMode',
    'SignatureProfile',
    'TimeOut',
    ...textMembers('DataToBeSigned'),
    'AdditionalServices',
    'AdditionalServices[0].Description',
    'AdditionalServices[0].UserLang.Value',
    'AdditionalServices[1].App2App.RedirectUri',
  ],
  status: [...apMembers, 'MSSP_TransID'],
  receipt: [
    ...apMembers,
    ...userMembers,
    'MSSP_TransID',
    ...textMembers('Message'),
    'Status.StatusCode',
    'Status.StatusCode.Value',
    extension,
    `${extension}.ReceiptMessagingMode`,
    `${extension}.ReceiptProfile`,
    `${extension}.ReceiptProfile.Language`,
    `${extension}.ReceiptProfile.ReceiptProfileURI`,
    `${extension}.UserAck`,
  ],
  profile: [...apMembers, ...userMembers, 'Params'],
};
const rows = operations.flatMap((operation) =>
  requiredMembers[operation].map((member) => [operation, member] as const),
);

describe.each(rows)('in a %s request, %s', (operation, member) => {
  const [name] = Object.keys(requests[operation]);
  const path = `${name}.${member}`;
  const sendWith = (value: unknown) =>
    send(product, `/rest/service/${operation}`, changed(requests[operation], path, value));

  it('that is absent, null or empty is fault 102 that names it', async () => {
    for (const value of [undefined, null, ...(member === 'Params' ? [] : [''])]) {
      expectFault(await sendWith(value), 102, path);
    }
  });

  it('of another type is fault 101 that names it, never its value', async () => {
    const right = steps(path).reduce<Json>((value, step) => value[step], requests[operation]);
    const other = typeof right === 'string' ? { [canary]: 1 } : canary;
    for (const value of [1e300, true, Array.isArray(right) ? {} : [canary], other]) {
      const answer = await sendWith(value);
      expectFault(answer, 101);
      expect(answer.body.Fault.Detail.startsWith(path)).toBe(true);
      expect(answer.text).not.toContain(canary);
    }
  });
});

describe('a value that is on no list', () => {
  it.each([
    ['sign', 'MessagingMode', 101],
    ['sign', 'SignatureProfile', 109],
    ['sign', 'MSS_Format', 101],
    ['sign', 'AdditionalServices[0].Description', 101],
    ['sign', 'AdditionalServices[0].UserLang.Value', 101],
    ['sign', 'DataToBeSigned.MimeType', 107],
    ['sign', 'DataToBeSigned.Encoding', 107],
    ['sign', 'MajorVersion', 108],
    ['status', 'MinorVersion', 108],
    ['receipt', `${extension}.UserAck`, 101],
    ['receipt', 'Message.MimeType', 107],
    ['profile', 'Params', 101],
    ['profile', 'MajorVersion', 108],
    ['sign', 'TimeOut', 101],
    ['sign', 'AP_Info.Instant', 101],
    ['sign', 'MSSP_Info.Instant', 101],
    ['sign', 'MobileUser.MSISDN', 101],
  ] as const)('in a %s request, %s, is fault %3$i', async (operation, member, code) => {
    const [name] = Object.keys(requests[operation]);
    for (const value of [`${canary} <script>`, '9'.repeat(10_000), `\u202e${canary}`]) {
      const body = changed(requests[operation], `${name}.${member}`, value);
      expectFault(await send(product, `/rest/service/${operation}`, body), code);
    }
  });

  it('is an MSSP_TransID of any form, which is unknown, or a very long AP_ID, and neither floods the log', async () => {
    for (const operation of ['status', 'receipt'] as const) {
      const [name] = Object.keys(requests[operation]);
      const strange = changed(requests[operation], `${name}.MSSP_TransID`, canary.repeat(4000));
      expectFault(await send(product, '/rest/service', strange), 101, 'MSSP_TransID is unknown');
    }
    const named = changed(requests.status, 'MSS_StatusReq.AP_Info.AP_ID', 'x'.repeat(60_000));
    expectFault(await send(product, '/rest/service', named), 101);
    expect(Math.max(...product.logged.map((line) => line.length))).toBeLessThan(1000);
  });

  it.each(['1e999', '-0', '123456789012345678901234567890', '1.0'])(
    'is a version that is the number %s: fault 101',
    async (number) => {
      const body = text.replace('"MajorVersion":"1"', `"MajorVersion":${number}`);
      expectFault(await send(product, '/rest/service/sign', body), 101);
    },
  );
});

describe('a media type', () => {
  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=iso-8859-1',
    'application/jsonp',
    canary,
    '',
  ])('other than JSON in UTF-8 is fault 101: %s', async (type) => {
    for (const url of urls) {
      const answer = await send(product, url, requests.sign, { headers: { 'content-type': type } });
      expectFault(answer, 101, 'Content-Type must be application/json');
    }
  });

  it.each([
    'application/json',
    'Application/JSON;charset="UTF-8"',
    'application/json ; charset=utf-8; x=y',
  ])('of JSON is accepted however it is written: %s', async (type) => {
    const headers = { 'content-type': type, 'content-encoding': 'UTF-8', accept: 'image/png' };
    expect((await send(product, '/rest/service/sign', signRequest(), { headers })).status).toBe(
      200,
    );
  });
});

describe('a method', () => {
  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'])(
    'other than POST is 405 with Allow and a Fault: %s',
    async (method) => {
      for (const url of urls) {
        const response = await product.api.fetch(new Request(`http://test${url}`, { method }));
        expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
        const body = await response.text();
        if (method !== 'HEAD')
          readAnswer(response.status, response.headers.get('content-type'), body);
      }
    },
  );

  it('that has other methods is a page for a browser, with the status and Allow of the Fault', async () => {
    const headers = { accept: 'text/html,*/*;q=0.8' };
    const page = await product.api.fetch(new Request('http://test/pki/ocsp', { headers }));
    expect([page.status, page.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await page.text()).toContain('<!doctype html>');
  });

  it.each([
    ['/', 'GET, HEAD'],
    ['/livez', 'GET, HEAD'],
    ['/readyz', 'GET, HEAD'],
    ['/metrics', 'GET, HEAD'],
    ['/docs', 'GET, HEAD'],
    ['/openapi.json', 'GET, HEAD'],
    ['/pki/root.pem', 'GET, HEAD'],
    ['/pki/ocsp', 'POST'],
    ['/pki/tsa', 'POST'],
  ])('that %s does not have is 405 with Allow and a Fault', async (url, allow) => {
    for (const method of ['PATCH', 'DELETE', allow === 'POST' ? 'GET' : 'POST']) {
      const response = await product.api.fetch(new Request(`http://test${url}`, { method }));
      expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
      readAnswer(response.status, response.headers.get('content-type'), await response.text());
    }
    const head = await product.api.fetch(new Request(`http://test${url}`, { method: 'HEAD' }));
    expect([head.status, await head.text()]).toEqual([
      allow === 'POST' ? 405 : expect.any(Number),
      '',
    ]);
  });

  it.each([
    '/rest/service/other',
    '/rest/service/sign//',
    '/rest',
    '/rest/service/%00',
    '/rest/service/__proto__',
  ])('at a URL that is none is a Fault: %s', async (url) => {
    const response = await product.api.fetch(new Request(`http://test${url}`, { method: 'POST' }));
    expect(response.status).toBe(404);
    readAnswer(response.status, response.headers.get('content-type'), await response.text());
  });
});

describe('after all of this', () => {
  it('the log has no value of a request, no stack and no trouble', () => {
    expect(product.logged.length).toBeGreaterThan(100);
    for (const line of product.logged) {
      expect(line).not.toContain(canary);
      expect(line).not.toMatch(/node_modules|\.ts:|\bat \S+ \(|\/src\//);
      expect(JSON.parse(line).level).toBeLessThan(50);
    }
  });

  it('a signature is made as ever', async () => {
    await expectSignature(product, await sign(product), 'Sign in to Example?');
    expect(Object.prototype).not.toHaveProperty(canary);
  });
});
