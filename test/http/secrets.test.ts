/**
 * What may not be found afterwards: passwords in Redis or the log, numbers and texts in the log.
 *
 * Every operation is used in every way that treats its request differently (well, refused, joined, failed, delivered), and
 * then everything that is left behind is searched.
 */
import { createHash, createHmac } from 'node:crypto';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashPassword } from '../../src/registry/passwords.ts';
import { changed } from '../protocol/samples.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest, receiptRequest, signRequest, statusRequest } from '../support/requests.ts';
import { ended, send } from './wire.ts';

const guarded = 'mid://guarded.example';
const open = 'mid://open.example';
const rightPassword = 'Richtig-7f3a9c';
const wrongPassword = 'Falsch-51d0e2';
const ignoredPassword = 'Egal-9b2c44';
const passwords = [rightPassword, wrongPassword, ignoredPassword];
const texts = { sign: 'Überweisung 4711 an Ada?', receipt: 'Überwiesen 0815.', otp: 'Kennwort 2342' };
const numbers = ['41700092501', '41700092504', '41700092507', '41700092508', '41000092401', '41790000000'];
const redirect = 'geheimapp://zurueck/hierher';

const redis = testRedis();
let product: TestProduct;
let storedHash: string;
const sessionTokens: string[] = [];
const userIds: string[] = [];
const signatures: string[] = [];

const call = async (request: object, apId: string, apPassword: string): Promise<Json> => {
  const [wrapper = ''] = Object.keys(request);
  const body: Json = changed(request, `${wrapper}.AP_Info.AP_ID`, apId);
  body[wrapper].AP_Info.AP_PWD = apPassword;
  const answer = await send(product, '/rest/service', body);
  for (const password of passwords) expect(answer.text).not.toContain(password);
  return answer.body;
};

const useEverything = async (apId: string, apPassword: string): Promise<void> => {
  const sign = (options: Parameters<typeof signRequest>[0]) =>
    call(signRequest({ text: texts.sign, ...options }), apId, apPassword);
  const body = await sign({});
  const { MSSP_TransID = 'HEhm77lu', MSS_Signature } = body.MSS_SignatureResp ?? {};
  if (MSS_Signature !== undefined) signatures.push(MSS_Signature.Base64Signature);
  await call(statusRequest(MSSP_TransID), apId, apPassword);
  const receipt = changed(receiptRequest(MSSP_TransID), 'MSS_ReceiptReq.Message.Data', texts.receipt);
  await call(receipt as object, apId, apPassword);
  await call(receipt as object, apId, apPassword);
  await call(profileRequest(), apId, apPassword);
  await sign({ msisdn: '41000092401' });
  await sign({ msisdn: '41700092507', mode: 'asynch', timeoutSeconds: 2 });
  await sign({ msisdn: '41790000000' });
  await sign({ profile: 'http://mid.vendor.ch/MID/v1/OtpProfileText', text: texts.otp });
  const app = await sign({
    msisdn: '41700092508',
    mode: 'asynch',
    services: [{ Description: 'http://mid.vendor.ch/as#app2app', App2App: { RedirectUri: redirect } }],
  });
  const authUri = app.MSS_SignatureResp?.ServiceResponses[0].App2App.AuthUri;
  if (authUri === undefined) return;
  const query = new URL(authUri).searchParams;
  sessionTokens.push(query.get('session_token') ?? '');
  userIds.push(query.get('user_id') ?? '');
  await ended(product, app.MSS_SignatureResp.MSSP_TransID, apId);
};

beforeAll(async () => {
  storedHash = await hashPassword(rightPassword, { ln: 10, r: 1, p: 1 });
  product = await startTestProduct(redis, {
    configuration: { applicationProviders: [{ id: guarded, passwordHash: storedHash }, { id: open }] },
  });
  await useEverything(guarded, rightPassword);
  await useEverything(guarded, wrongPassword);
  await useEverything(open, ignoredPassword);
  // Broken in the middle, where a parser might quote what it choked on.
  const broken = JSON.stringify(signRequest({ text: texts.sign })).replace(
    '"AP_ID"',
    `"AP_PWD":"${rightPassword},"AP_ID"`,
  );
  await send(product, '/rest/service', broken);
  await send(product, '/rest/service', { MSS_SignatureReq: { AP_Info: { AP_PWD: [rightPassword] } } });
});
afterAll(() => product.stop());

/** Everything that Redis has under the prefix, as bytes in Latin-1: a binary value hides nothing then. */
const dump = async (client: Redis): Promise<Map<string, string>> => {
  const found = new Map<string, string>();
  for await (const keys of client.scanStream({
    match: `*${product.configuration.queue.prefix}*`,
    count: 500,
  })) {
    for (const key of keys as string[]) found.set(key, await readValue(client, key));
  }
  return found;
};

const asText = (reply: unknown): string =>
  Array.isArray(reply)
    ? reply.map(asText).join('\n')
    : Buffer.isBuffer(reply)
      ? reply.toString('utf8')
      : String(reply);

const readValue = async (client: Redis, key: string): Promise<string> => {
  const readers: Record<string, () => Promise<unknown>> = {
    string: () => client.callBuffer('GET', key),
    hash: () => client.callBuffer('HGETALL', key),
    list: () => client.callBuffer('LRANGE', key, 0, -1),
    set: () => client.callBuffer('SMEMBERS', key),
    zset: () => client.callBuffer('ZRANGE', key, 0, -1, 'WITHSCORES'),
    stream: () => client.callBuffer('XRANGE', key, '-', '+'),
  };
  const type = await client.type(key);
  const read = readers[type];
  if (read === undefined) throw new Error(`${key} is a ${type}, which nobody searches`);
  return asText(await read());
};

/** A password and the forms in which one is carelessly stored. */
const formsOf = (password: string): readonly string[] => {
  const bytes = Buffer.from(password);
  const digests = ['md5', 'sha1', 'sha256', 'sha512'].map((name) => createHash(name).update(bytes).digest());
  const keyed = [guarded, open, 'paraph'].map((key) => createHmac('sha256', key).update(bytes).digest());
  return [
    password,
    encodeURIComponent(password),
    ...[bytes, ...digests, ...keyed].flatMap((each) => [
      each.toString('hex'),
      each.toString('base64').replace(/=+$/, ''),
      each.toString('base64url'),
    ]),
  ];
};

describe('AP_PWD', () => {
  it('and no hash of it is in any key or value of Redis', async () => {
    const found = await dump(redis.client());
    // The search is worth something: it sees jobs, event streams and keys.
    expect([...found.values()].some((value) => value.includes(texts.sign))).toBe(true);
    expect([...found.keys()].some((key) => key.endsWith(':events'))).toBe(true);
    const needles = [...passwords.flatMap(formsOf), storedHash, storedHash.split('$').at(-1) ?? ''];
    for (const [key, value] of found) {
      for (const needle of needles) {
        expect(key.includes(needle), key).toBe(false);
        expect(value.includes(needle), key).toBe(false);
      }
      expect(`${key} ${value}`).not.toContain('AP_PWD');
    }
  });

  it('and no hash of it is in the log', () => {
    const log = product.logged.join('');
    for (const needle of [...passwords.flatMap(formsOf), storedHash])
      expect(log.includes(needle)).toBe(false);
  });
});

describe('the log', () => {
  it('has a line for each answer, with MSSP_TransID where there is one', () => {
    const answered = product.logged.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'answered');
    expect(answered.length).toBeGreaterThan(30);
    expect(
      answered.some(({ msspTransId, path }) => msspTransId !== undefined && path === '/rest/service'),
    ).toBe(true);
  });

  it('has no DataToBeSigned, no receipt message and no one-time password', () => {
    const log = product.logged.join('');
    for (const text of Object.values(texts)) {
      expect(log).not.toContain(text);
      expect(log).not.toContain(Buffer.from(text).toString('base64').slice(0, -4));
    }
  });

  it('has no MSISDN', () => {
    const log = product.logged.join('');
    for (const number of numbers) expect(log).not.toContain(number);
  });

  it('has no session token, user id, redirect URI or signature', () => {
    expect(sessionTokens).toHaveLength(2);
    expect(signatures).toHaveLength(2);
    const log = product.logged.join('');
    const starts = signatures.map((signature) => signature.slice(100, 180));
    for (const secret of [...sessionTokens, ...userIds, redirect, ...starts])
      expect(log).not.toContain(secret);
  });
});

describe('Redis', () => {
  it('has no session token: it is derived, not stored', async () => {
    const found = [...(await dump(redis.client())).values()].join('\n');
    for (const token of sessionTokens) expect(found).not.toContain(token);
  });

  it('has no private key in the clear', async () => {
    const found = [...(await dump(redis.client())).values()].join('\n');
    expect(found).not.toMatch(/PRIVATE KEY|"d":"/);
  });
});
