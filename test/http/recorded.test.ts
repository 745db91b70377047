/**
 * Bodies of a live server, sent to this one: the answers must agree in everything that a client
 * could notice.
 *
 * Members are compared level by level, in order. A value is either equal to the recorded one or,
 * where it differs from call to call, of the form that the recorded value has, too.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { ended, expectSignature, send, type WireAnswer } from './wire.ts';

interface Recording {
  readonly operation: 'sign' | 'status' | 'receipt' | 'profile';
  readonly http: 200 | 500;
  readonly request: Json;
  readonly response: Json;
}

const folder = new URL('../fixtures/wire/', import.meta.url);
const names = readdirSync(folder).map((file) => file.replace('.json', ''));
const recording = (name: string): Recording =>
  JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8'));

const text = 'Test: Sign in from Postman?';
const plain = 'mid://dev.example';
const prefixed = 'mid://prefixed.example';

const redis = testRedis();
let product: TestProduct;
let count = 0;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    configuration: {
      applicationProviders: [{ id: prefixed, dtbsPrefix: 'Test: ' }],
      subscribers: [
        {
          msisdn: '41790000501',
          through: '41790000503',
          sim: { device: { kind: 'simulated', sign: 'never-answers' } },
        },
      ],
    },
  });
});
afterAll(() => product.stop());

/** The recorded request with its placeholders filled. */
const filled = ({ request }: Recording, fillings: Record<string, string>): Json => {
  const values: Record<string, string> = {
    AP_ID: plain,
    instant: new Date().toISOString(),
    apTransId: `POSTMAN.${process.pid}.${++count}`,
    MSISDN: '41700092501',
    DataToBeSigned: text,
    Message: 'Test: Thank you',
    SignatureProfile: 'http://mid.swisscom.ch/MID/v1/AuthProfile1',
    UserLang: 'en',
    ...fillings,
  };
  return JSON.parse(
    JSON.stringify(request).replace(/\{\{(\w+)\}\}/g, (_placeholder, name) => values[name] ?? ''),
  );
};

/**
 * Values that differ from call to call, by the name of their member, and the form that they all
 * have.
 */
const forms: Readonly<Record<string, RegExp>> = {
  AP_ID: /^mid:\/\/[a-z.]+$/,
  AP_TransID: /^POSTMAN\.\d+\.\d+$/,
  Instant: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  Timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d$/,
  MSSP_TransID: /^[A-Za-z][A-Za-z0-9]+$/,
  MSISDN: /^417\d{8}$/,
  Base64Signature: /^MI[A-Za-z0-9+/]{1000,}={0,2}$/,
  X509Certificate: /^MI[A-Za-z0-9+/]{300,}={0,2}$/,
  X509SubjectName:
    /^(cn=midche[a-z0-9]{10}:pn,serialnumber=midche[a-z0-9]{10}|([a-z]+=[^A-Z]+,)*cn=[^A-Z]+ ca( \d)?)$/,
};

/** What a client could tell apart, as text: the recorded answer and ours come out the same. */
const outline = (value: Json, member = ''): Json => {
  if (Array.isArray(value)) return value.map((item) => outline(item, member));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).map(([name, below]) => [name, outline(below, name)]);
  }
  return typeof value === 'string' && forms[member]?.test(value)
    ? `a value like ${forms[member]}`
    : value;
};

const compare = (recorded: Recording, request: Json, answer: WireAnswer): void => {
  expect(answer.status).toBe(recorded.http);
  expect(outline(answer.body)).toEqual(outline(recorded.response));
  if (recorded.http === 500) {
    expect(answer.text).toBe(JSON.stringify(recorded.response));
    return;
  }
  const [asked]: Json[] = Object.values(request);
  const [answered]: Json[] = Object.values(answer.body);
  const { AP_PWD: _password, ...apInfo } = asked.AP_Info;
  expect(answered.AP_Info).toEqual(apInfo);
  expect(answered.MSSP_Info.MSSP_ID).toEqual(asked.MSSP_Info.MSSP_ID);
};

/** Sends the recorded request and compares. */
const check = async (
  name: string,
  fillings: Record<string, string> = {},
  change?: (body: Json) => void,
) => {
  const recorded = recording(name);
  const request = filled(recorded, fillings);
  change?.(request);
  const answer = await send(product, `/rest/service/${recorded.operation}`, request);
  compare(recorded, request, answer);
  return answer;
};

/** A signature of the live server's kind, to ask about. */
const signed = async (
  msisdn: string,
  mode: 'synch' | 'asynch',
  timeoutSeconds = 60,
): Promise<string> => {
  const request = filled(recording('sign-asynch-accepted-100'), { MSISDN: msisdn });
  request.MSS_SignatureReq.MessagingMode = mode;
  request.MSS_SignatureReq.TimeOut = String(timeoutSeconds);
  const { body } = await send(product, '/rest/service', request);
  return body.MSS_SignatureResp.MSSP_TransID;
};

const cases: Readonly<Record<string, () => Promise<unknown>>> = {
  'profile-100': () => check('profile-100'),
  'profile-fault-105': () => check('profile-fault-105'),
  'receipt-100': async () =>
    check('receipt-100', { MSSP_TransID: await signed('41700092501', 'synch') }),
  'receipt-user-accepted-100': async () =>
    check('receipt-user-accepted-100', {
      MSISDN: '41700092503',
      MSSP_TransID: await signed('41700092503', 'synch'),
      UserLang: 'LANGUAGE',
    }),
  'receipt-user-cancelled-100': async () =>
    check('receipt-user-cancelled-100', {
      MSISDN: '41700092504',
      MSSP_TransID: await signed('41700092504', 'synch'),
    }),
  'sign-asynch-accepted-100': () => check('sign-asynch-accepted-100'),
  'sign-synch-fault-105': () => check('sign-synch-fault-105'),
  'sign-synch-fault-107': () => check('sign-synch-fault-107', { AP_ID: prefixed }),
  // The recorded user let a minute pass; this one lets a second pass.
  'sign-synch-fault-208': () =>
    check('sign-synch-fault-208', {}, (body) => {
      body.MSS_SignatureReq.MobileUser.MSISDN = '41790000501';
      body.MSS_SignatureReq.TimeOut = '1';
    }),
  'sign-synch-signature-500': async () =>
    expectSignature(product, await check('sign-synch-signature-500'), text),
  'status-fault-208': async () => {
    const msspTransId = await signed('41790000502', 'asynch', 1);
    await ended(product, msspTransId, plain);
    await check('status-fault-208', { MSSP_TransID: msspTransId });
  },
  'status-outstanding-504': async () => {
    const msspTransId = await signed('41790000503', 'asynch');
    await check('status-outstanding-504', { MSSP_TransID: msspTransId });
  },
  'status-signature-500': async () => {
    const msspTransId = await signed('41700092501', 'asynch');
    await ended(product, msspTransId, plain);
    await expectSignature(
      product,
      await check('status-signature-500', { MSSP_TransID: msspTransId }),
      text,
    );
  },
};

it('has a case for each recorded body', () => {
  expect(Object.keys(cases)).toEqual(names);
});

it.concurrent.each(Object.entries(cases))(
  'is answered as the live server did: %s',
  async (_name, run) => {
    await run();
  },
);
