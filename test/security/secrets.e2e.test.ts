/**
 * What may not be found after a run: passwords and keys anywhere, numbers and texts in the log.
 *
 * The product runs as its operator runs it, in a process of its own that logs everything it can.
 * Every operation is used in every way that treats its request differently (well, refused, joined,
 * failed, delivered), with secrets in their place and in places where they do not belong. Then all
 * it printed, all it answered, all its pages and everything in Redis is searched, for each secret
 * in every form in which one is carelessly written down.
 */
import { createPrivateKey, type JsonWebKey, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSealer } from '../../packages/pki/src/sealed-record.ts';
import { openServiceKey } from '../../packages/pki/src/service-key.ts';
import { changed } from '../../packages/protocol/test/samples.ts';
import { createKeySlots } from '../../src/app/key-slots.ts';
import { hashPassword } from '../../src/registry/passwords.ts';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import { ended, send } from '../http/wire.ts';
import { killProcesses, type ProductProcess, startProcess } from '../support/process.ts';
import type { Json } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { profileRequest, receiptRequest, signRequest, statusRequest } from '../support/requests.ts';
import { contentsOf } from './redis-contents.ts';
import { createSecretScan, type Secret, spellingsOf } from './secret-scan.ts';

const guarded = 'mid://guarded.example';
const open = 'mid://open.example';
/** With characters that each encoding writes differently. */
const passwords = {
  right: 'Richtig "7f3a9c"\\é/+&',
  wrong: "Falsch '51d0e2' %?ü<b>",
  ignored: 'Egal-9b2c44 ~ €{}',
  misplaced: 'Verirrt 3e8d17 "\\/ß',
  // Short, so that a parser quotes all of it.
  poison: 'Gift-77c1e0',
} as const;
const texts = {
  sign: 'Überweisung 4711 an Ada?',
  receipt: 'Überwiesen 0815.',
  otp: 'Kennwort 2342',
};
const numbers = [
  '41700092501',
  '41700092502',
  '41700092504',
  '41700092507',
  '41700092508',
  '41000092401',
];
const redirect = 'geheimapp://zurueck/hierher';
const masterKey = randomBytes(32);

const redis = testRedis();
const prefix = redis.prefix.slice(-32);
let folder: string;
let running: ProductProcess;
let storedHash: string;
let poison: Queue;
const answered: string[] = [];
const sessionTokens: string[] = [];
const userIds: string[] = [];
const signatures: string[] = [];

const start = async (): Promise<void> => {
  const configurationPath = join(folder, 'paraph.json');
  const applicationProviders = [{ id: guarded, passwordHash: storedHash }, { id: open }];
  writeFileSync(
    configurationPath,
    JSON.stringify({ sandbox: true, applicationProviders, queue: { prefix } }),
  );
  running = await startProcess({
    REDIS_URL: redis.url,
    PARAPH_CONFIG: configurationPath,
    PARAPH_DATA: folder,
    PARAPH_MASTER_KEY: masterKey.toString('base64url'),
    PARAPH_LOG_LEVEL: 'trace',
  });
};

/** The process, as the tests of HTTP see a product. */
const product = {
  api: {
    fetch: async (request: Request): Promise<Response> => {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      const body = method === 'GET' ? {} : { body: await request.arrayBuffer() };
      const response = await fetch(`${running.url}${pathname}${search}`, {
        method,
        headers,
        ...body,
      });
      answered.push(await response.clone().text());
      return response;
    },
  },
} as unknown as Parameters<typeof send>[0];

const call = async (request: object, apId: string, apPassword: string): Promise<Json> => {
  const [wrapper = ''] = Object.keys(request);
  const body: Json = changed(request, `${wrapper}.AP_Info.AP_ID`, apId);
  body[wrapper].AP_Info.AP_PWD = apPassword;
  return (await send(product, '/rest/service', body)).body;
};

const useEverything = async (apId: string, apPassword: string): Promise<void> => {
  const signing = (options: Parameters<typeof signRequest>[0]) =>
    call(signRequest({ text: texts.sign, ...options }), apId, apPassword);
  const body = await signing({});
  const { MSSP_TransID = 'HEhm77lu', MSS_Signature } = body.MSS_SignatureResp ?? {};
  if (MSS_Signature !== undefined) signatures.push(MSS_Signature.Base64Signature);
  await call(statusRequest(MSSP_TransID), apId, apPassword);
  const receipt = changed(
    receiptRequest(MSSP_TransID),
    'MSS_ReceiptReq.Message.Data',
    texts.receipt,
  );
  await call(receipt as object, apId, apPassword);
  await call(receipt as object, apId, apPassword);
  await call(profileRequest('+41700092504'), apId, apPassword);
  await signing({
    msisdn: '41700092502',
    services: [{ Description: 'http://uri.etsi.org/TS102204/v1.1.2#validate' }],
  });
  await signing({ msisdn: '41000092401' });
  await signing({ msisdn: '41700092507', mode: 'asynch', timeoutSeconds: 2 });
  await signing({ msisdn: '41790000000' });
  await signing({ profile: 'http://mid.vendor.ch/MID/v1/OtpProfileText', text: texts.otp });
  const app = await signing({
    msisdn: '41700092508',
    mode: 'asynch',
    services: [
      { Description: 'http://mid.vendor.ch/as#app2app', App2App: { RedirectUri: redirect } },
    ],
  });
  const authUri = app.MSS_SignatureResp?.ServiceResponses[0].App2App.AuthUri;
  if (authUri === undefined) return;
  const query = new URL(authUri).searchParams;
  sessionTokens.push(query.get('session_token') ?? '');
  userIds.push(query.get('user_id') ?? '');
  await ended(product, app.MSS_SignatureResp.MSSP_TransID, apId);
};

/**
 * A password everywhere but where it belongs. Not in AP_ID and AP_TransID, which are names and are
 * logged as such.
 */
const misplaceEverywhere = async (secret: string): Promise<void> => {
  const valid: Json = signRequest({ text: texts.sign });
  const whole = JSON.stringify(valid);
  const within = (path: string, value: unknown) =>
    changed(valid, `MSS_SignatureReq.${path}`, value);
  const bodies: readonly unknown[] = [
    ...[[secret], { a: secret }, { toString: secret }].map((value) =>
      within('AP_Info.AP_PWD', value),
    ),
    { ...valid, AP_PWD: secret },
    { [secret]: valid.MSS_SignatureReq },
    { MSS_SignatureReq: secret },
    within('AP_PWD', secret),
    within(`AP_Info.${secret.replaceAll(/[.[]/g, '')}`, 'x'),
    ...['MajorVersion', 'MobileUser.MSISDN', 'MessagingMode', 'SignatureProfile', 'TimeOut'].map(
      (path) => within(path, secret),
    ),
    ...[
      'AP_Info.Instant',
      'MSSP_Info.MSSP_ID.URI',
      'DataToBeSigned.MimeType',
      'AdditionalServices',
    ].map((path) => within(path, secret)),
    within('AdditionalServices', [{ Description: secret }]),
    changed(statusRequest('x'), 'MSS_StatusReq.MSSP_TransID', secret),
    changed(receiptRequest('x'), 'MSS_ReceiptReq.MSSP_TransID', secret),
    changed(profileRequest(), 'MSS_ProfileReq.Params', secret),
    // Broken in the middle, where a parser might quote what it choked on.
    whole.replace('"AP_ID"', `"AP_PWD":"${secret},"AP_ID"`),
    whole.replace('"AP_ID"', `"AP_PWD":${secret},"AP_ID"`),
    whole.replace('"AP_ID"', `"AP_PWD":${JSON.stringify(secret)},"AP_PWD":"x","AP_ID"`),
    Buffer.from(whole.replace('"AP_ID"', `"AP_PWD":"${secret}","AP_ID"`), 'utf16le'),
    secret,
    JSON.stringify(secret),
  ];
  for (const body of bodies) await send(product, '/rest/service', body);
  const inUrl = encodeURIComponent(secret);
  await send(product, `/rest/service/sign?AP_PWD=${inUrl}`, signRequest({ text: texts.sign }));
  const headers = Object.fromEntries(
    ['authorization', 'cookie', 'user-agent', 'x-client-certificate', 'content-encoding'].map(
      (name) => [name, inUrl],
    ),
  );
  await send(product, '/rest/service/sign', signRequest({ text: texts.sign }), { headers });
  await send(product, '/rest/service', whole, { headers: { 'content-type': inUrl } });
  for (const path of [`/rest/service/${inUrl}`, `/${inUrl}`, `/docs?${inUrl}`]) {
    for (const method of ['GET', 'POST'])
      await product.api.fetch(new Request(`http://test${path}`, { method }));
  }
  const socket = connect(Number(new URL(running.url).port), new URL(running.url).hostname);
  socket.on('data', (chunk) => answered.push(chunk.toString()));
  socket.write(`${secret} /rest/service HTTP/1.1\r\n${secret}\r\n\r\n`);
  await once(socket, 'close');
};

/** A job that is no JSON, as no BullMQ would write it: whoever reads it must not quote it. */
const poisonQueue = async (secret: string): Promise<void> => {
  poison = new Queue('signatures', { connection: redis.connection, prefix: `{${prefix}-0}` });
  const jobId = newMsspTransId(0);
  await poison.add('sign', {}, { jobId, delay: 300 });
  await redis.client().hset(poison.toKey(jobId), 'data', secret);
  await vi.waitFor(() => expect(running.output()).toContain('SyntaxError'), { timeout: 40_000 });
  await send(product, '/rest/service/status', statusRequest(jobId, open));
  await poison.remove(jobId).catch(() => undefined);
  await redis.client().del(poison.toKey(jobId));
};

const pages = [
  '/',
  '/docs',
  '/openapi.json',
  '/livez',
  '/readyz',
  '/pki/root.pem',
  '/nothing',
  '/rest/service',
  '/rest/x',
];

/** What the service key opens: every private key that was made, and who is who. */
const openRecords = async (
  contents: ReadonlyMap<string, Buffer>,
  serviceKey: Uint8Array,
): Promise<readonly { name: string; payload: Json }[]> => {
  const sealer = createSealer(serviceKey);
  const opened: { name: string; payload: Json }[] = [];
  for (const [key, value] of contents) {
    const name = key.split(':custody:')[1];
    const jwe = /eyJ[\w-]*\.[\w-]*\.[\w-]+\.[\w-]+\.[\w-]+/.exec(value.toString())?.[0];
    if (name !== undefined && jwe !== undefined) {
      opened.push({ name, payload: (await sealer.open(name, jwe)).payload });
    }
  }
  return opened;
};

const secretKeyParts = ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const;

let contents: ReadonlyMap<string, Buffer>;
let secrets: readonly Secret[];
let keyNames: readonly string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paraph-secrets-'));
  storedHash = await hashPassword(passwords.right, { ln: 10, r: 1, p: 1 });
  await start();
  await useEverything(guarded, passwords.right);
  await useEverything(guarded, passwords.wrong);
  await useEverything(open, passwords.ignored);
  await misplaceEverywhere(passwords.misplaced);
  await poisonQueue(passwords.poison);
  for (const page of pages) await product.api.fetch(new Request(`http://test${page}`));
  contents = await contentsOf(redis.client(), prefix);
  await running.stop();

  const serviceKey = await openServiceKey(createKeySlots(redis.client(), prefix), masterKey);
  if (serviceKey === undefined) throw new Error('the service has no service key');
  const records = await openRecords(contents, serviceKey);
  const keys = records.filter(({ payload }) => payload.d !== undefined);
  keyNames = keys.map(({ name }) => name);
  const bytesOf = (text: string): Uint8Array => Buffer.from(text);
  const key = (name: string, bytes: Uint8Array): Secret => ({ name, bytes, guessable: false });
  secrets = [
    ...Object.entries(passwords).map(([name, text]) => ({
      name: `the ${name} password`,
      bytes: bytesOf(text),
      guessable: true,
    })),
    key('the stored form of the password', bytesOf(storedHash)),
    key('its hash', Buffer.from(storedHash.split('$').at(-1) ?? '', 'base64')),
    key('the master key', masterKey),
    key('the service key', serviceKey),
    ...keys.flatMap(({ name, payload }) => [
      ...secretKeyParts
        .filter((part) => payload[part] !== undefined)
        .map((part) => key(`${part} of ${name}`, Buffer.from(payload[part], 'base64url'))),
      key(
        `${name} as PKCS #8`,
        createPrivateKey({ key: payload as JsonWebKey, format: 'jwk' }).export({
          type: 'pkcs8',
          format: 'der',
        }),
      ),
    ]),
  ];
});

afterAll(async () => {
  await poison?.close();
  await killProcesses();
  rmSync(folder, { recursive: true, force: true });
});

describe('the search', () => {
  it('knows every private key that was made: of the authorities, and of each user who was asked', () => {
    expect(keyNames.filter((name) => name.startsWith('ca:')).toSorted()).toEqual([
      'ca:issuing',
      'ca:root',
    ]);
    for (const kind of ['EC', 'RSA'])
      expect(keyNames.some((name) => name.endsWith(`:${kind}`))).toBe(true);
  });

  it('finds each secret in each form, alone, among other text, in Base64 of Base64 and in lines of PEM', () => {
    const scan = createSecretScan(secrets);
    for (const secret of secrets) {
      for (const spelling of spellingsOf(secret)) {
        const bytes = Buffer.from(spelling, 'latin1');
        const beside = Buffer.concat([Buffer.from('{"x":"y'), bytes, Buffer.from('z"}')]);
        for (const hidden of [bytes, beside]) expect(scan(hidden)).toContain(secret.name);
      }
      const twice = Buffer.from(
        JSON.stringify({ inner: Buffer.from(secret.bytes).toString('base64') }),
      );
      expect(scan(`token=${twice.toString('base64url')};`)).toContain(secret.name);
      const lines = Buffer.from(secret.bytes)
        .toString('base64')
        .replaceAll(/(.{64})/g, '$1\n');
      expect(scan(JSON.stringify({ pem: lines }))).toContain(secret.name);
    }
    expect(scan(randomBytes(100_000))).toEqual([]);
  });

  it('has something to look at: jobs, event streams, records of keys, answers of every kind and a line for each', () => {
    const keys = [...contents.keys()];
    for (const part of [
      ':custody:ca:root',
      ':events',
      ':outbox:',
      ':signatures:H',
      ':receipts:H',
    ]) {
      expect(
        keys.some((key) => key.includes(part)),
        part,
      ).toBe(true);
    }
    expect([...contents.values()].some((value) => value.includes(texts.sign))).toBe(true);
    for (const part of [
      'MSS_SignatureResp',
      'MSS_ReceiptResp',
      'Fault',
      'openapi',
      'alive',
      'BEGIN CERTIFICATE',
    ]) {
      expect(
        answered.some((text) => text.includes(part)),
        part,
      ).toBe(true);
    }
    const lines = running
      .output()
      .split('\n')
      .filter((line) => line.includes('"msg":"answered"'));
    expect(lines.length).toBeGreaterThan(60);
    expect(lines.some((line) => line.includes('"msspTransId":"H'))).toBe(true);
  });
});

describe('a password, a hash of it or a private key', () => {
  it('is in no key or value of Redis', () => {
    const scan = createSecretScan(secrets);
    const found = [...contents].flatMap(([key, value]) =>
      scan(Buffer.concat([Buffer.from(`${key}\n`), value])).map((name) => `${name} in ${key}`),
    );
    expect(found).toEqual([]);
    // Refused requests name the member in words.
    for (const value of contents.values())
      expect(value.toString()).not.toMatch(/AP_PWD\\?"|PRIVATE KEY|"d":"/);
  });

  it('is in nothing that the process prints', () => {
    expect(createSecretScan(secrets)(running.output())).toEqual([]);
  });

  it('is in no answer and on no page', () => {
    const scan = createSecretScan(secrets);
    expect([...new Set(answered)].flatMap(scan)).toEqual([]);
  });
});

describe('the log', () => {
  it('has no DataToBeSigned, no receipt message and no one-time password', () => {
    const bytesOf = Object.entries(texts).map(([name, text]) => ({
      name,
      bytes: Buffer.from(text),
      guessable: true,
    }));
    expect(createSecretScan(bytesOf)(running.output())).toEqual([]);
  });

  it('has no MSISDN', () => {
    const lines = running
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{'));
    expect(lines.length).toBeGreaterThan(60);
    for (const number of numbers) expect(lines.filter((line) => line.includes(number))).toEqual([]);
  });

  it('has no session token, user id, redirect URI or signature', () => {
    expect(sessionTokens).toHaveLength(2);
    expect(signatures).toHaveLength(2);
    const starts = signatures.map((signature) => signature.slice(100, 180));
    for (const secret of [...sessionTokens, ...userIds, redirect, ...starts])
      expect(running.output()).not.toContain(secret);
  });
});

describe('Redis', () => {
  it('has no session token: it is derived, not stored', () => {
    for (const value of contents.values()) {
      for (const token of sessionTokens) expect(value.includes(token)).toBe(false);
    }
  });
});
