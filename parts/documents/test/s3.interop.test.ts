/** The store in S3 against moto (PyPI), which checks keys and signatures, and splits long lists. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installIn, pythonIn } from '../../../test/interop/install.ts';
import { freePort } from '../../../test/support/free-ports.ts';
import { soon } from '../../../test/support/soon.ts';
import { newDocumentId } from '../records.ts';
import { createS3Client } from '../store/s3-client.ts';
import { createS3Store } from '../store/s3-store.ts';
import { createFileSeals } from '../store/sealed-file.ts';
import { readWhole } from '../store/store.ts';
import { testStore } from './store-contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'moto-'));
/** The place of the store on this machine. */
const drafts = join(folder, 'store');
const hasMoto = installIn(folder)('moto (PyPI)', ...pythonIn(folder, 'moto[s3,iam,server]==5.2.1'));

const bucket = 'acme-paraph';
const region = 'us-east-1';
const nobody = { accessKeyId: 'AKIANOBODY', secretAccessKey: 'nobody' };

interface Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

let endpoint: string;
let keys: Keys;

/** @param checks Whether it checks keys, signatures and rights, after it was prepared. */
const startMoto = async (checks: boolean): Promise<ChildProcess> => {
  const port = await freePort();
  endpoint = `http://127.0.0.1:${port}`;
  const words = ['-H', '127.0.0.1', '-p', String(port)];
  const server = spawn(join(folder, 'python/bin/moto_server'), words, {
    env: {
      ...process.env,
      ...(checks && { INITIAL_NO_AUTH_ACTION_COUNT: String(preparations) }),
    },
    stdio: 'ignore',
  });
  await soon(async () => expect((await fetch(`${endpoint}/moto-api/`)).ok).toBe(true), 60_000);
  await prepare('s3', 'PUT', `${endpoint}/${bucket}`);
  await order('CreateUser', { UserName: 'paraph' });
  await order('PutUserPolicy', {
    UserName: 'paraph',
    PolicyName: 'documents',
    PolicyDocument: JSON.stringify(policy),
  });
  const made = await order('CreateAccessKey', { UserName: 'paraph' });
  keys = {
    accessKeyId: memberOf(made, 'AccessKeyId'),
    secretAccessKey: memberOf(made, 'SecretAccessKey'),
  };
  return server;
};

const stop = async (server: ChildProcess | undefined): Promise<void> => {
  if (server === undefined || server.exitCode !== null) return;
  server.kill();
  await once(server, 'exit');
};

/** A call that prepares the server: before it checks anything. */
const prepare = async (
  service: string,
  method: string,
  url: string,
  body = '',
): Promise<string> => {
  const signed = await new AwsV4Signer({
    ...{ method, url, body, service, region, ...nobody },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }).sign();
  const answer = await fetch(signed.url, {
    method,
    headers: signed.headers,
    ...(body !== '' && { body }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text}`);
  return text;
};

const order = (action: string, more: Readonly<Record<string, string>>): Promise<string> => {
  const body = new URLSearchParams({ Action: action, Version: '2010-05-08', ...more });
  return prepare('iam', 'POST', `${endpoint}/`, String(body));
};

const memberOf = (xml: string, name: string): string =>
  new RegExp(`<${name}>([^<]+)</${name}>`).exec(xml)?.[1] ?? '';

const policy = {
  Version: '2012-10-17',
  Statement: [
    {
      Effect: 'Allow',
      // Names some as no other service does: s3:HeadBucket.
      Action: 's3:*',
      Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
    },
  ],
};
/** Orders before it checks: bucket, user, its policy, its key. */
const preparations = 4;

const storeWith = (given: Keys, name = bucket) =>
  createS3Store({
    ...{ folder: join(drafts, 'drafts'), minFreeBytes: 0, now: Date.now },
    seals: createFileSeals(Buffer.alloc(32, 7)),
    keyPrefix: 'documents/test',
    client: createS3Client({ endpoint, region, bucket: name, timeoutMs: 10_000, ...given }),
  });

const inOne = async function* (bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
};

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(!hasMoto)('the store in S3, where keys and signatures are checked', () => {
  let server: ChildProcess | undefined;
  beforeAll(async () => {
    server = await startMoto(true);
  }, 120_000);
  afterAll(() => stop(server));

  it('keeps, reads whole and in part, and tells what is there', async () => {
    const store = storeWith(keys);
    const owner = newDocumentId();
    const bytes = randomBytes(700_000);
    await store.probe();
    const stored = await store.put(owner, inOne(bytes));
    const whole = await store.read(owner, stored);
    if (whole === undefined) throw new Error('It is not there');
    expect(Buffer.compare(await readWhole(whole, stored.size), bytes)).toBe(0);
    const part = await store.read(owner, stored, { start: 262_140, end: 262_150 });
    if (part === undefined) throw new Error('It is not there');
    expect(await readWhole(part, 10)).toEqual(bytes.subarray(262_140, 262_150));
    expect(await store.has(owner, stored)).toBe(true);
    expect(await store.has(newDocumentId(), stored)).toBe(false);
    expect(await store.read(newDocumentId(), stored)).toBeUndefined();
    store.close();
  }, 60_000);

  it('is away for a wrong key, and keeps no draft', async () => {
    const store = storeWith({ ...keys, secretAccessKey: 'wrong' });
    await expect(store.probe()).rejects.toMatchObject({ trouble: 'away' });
    await expect(store.put(newDocumentId(), inOne(randomBytes(9)))).rejects.toMatchObject({
      trouble: 'away',
    });
    store.close();
    expect(readdirSync(join(drafts, 'drafts'))).toEqual([]);
  }, 60_000);
});

// Its check of signatures leaves queries out, so that no list could be signed for it.
describe.skipIf(!hasMoto)('the store in S3, with many objects', () => {
  let server: ChildProcess | undefined;
  beforeAll(async () => {
    server = await startMoto(false);
  }, 120_000);
  afterAll(() => stop(server));

  testStore('S3', () => storeWith(keys), drafts);

  it('lists more than one answer holds, and removes one owner alone', async () => {
    const store = storeWith(keys);
    const owners = Array.from({ length: 1010 }, () => newDocumentId());
    for (let at = 0; at < owners.length; at += 20)
      await Promise.all(
        owners.slice(at, at + 20).map((owner) => store.put(owner, inOne(randomBytes(10)))),
      );
    const ownersNow = async (): Promise<ReadonlySet<string>> => {
      const found = new Set<string>();
      for await (const { owner } of store.owners()) found.add(owner);
      return found;
    };
    expect([...(await ownersNow())]).toEqual(expect.arrayContaining(owners));
    await store.remove(owners[0] ?? '');
    const left = await ownersNow();
    expect(owners.filter((owner) => !left.has(owner))).toEqual(owners.slice(0, 1));
    store.close();
  }, 240_000);

  it('is away where the bucket is not there', async () => {
    const store = storeWith(keys, 'not-there');
    await expect(store.probe()).rejects.toMatchObject({ trouble: 'away' });
    await expect(store.put(newDocumentId(), inOne(randomBytes(9)))).rejects.toMatchObject({
      trouble: 'away',
    });
    store.close();
  }, 60_000);
});
