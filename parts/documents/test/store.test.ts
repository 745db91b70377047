/** The store of documents in a directory, and what each store does when its place is full or gone. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { newDocumentId } from '../records.ts';
import { createFileStore } from '../store/file-store.ts';
import { createS3Client } from '../store/s3-client.ts';
import { createS3Store } from '../store/s3-store.ts';
import { createFileSeals } from '../store/sealed-file.ts';
import { filesBelow, inParts, testStore } from './store-contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'store-'));
const seals = createFileSeals(randomBytes(32));
const common = { seals, minFreeBytes: 0, now: Date.now };

const s3StoreAt = (endpoint: string) =>
  createS3Store({
    ...common,
    folder: join(folder, 'drafts'),
    keyPrefix: 'documents/test',
    client: createS3Client({
      endpoint,
      bucket: 'documents',
      region: 'us-east-1',
      timeoutMs: 2000,
      accessKeyId: 'AKIANOBODY',
      secretAccessKey: 'nobody',
    }),
  });
const directory = () => createFileStore({ ...common, folder: join(folder, 'files') });

afterAll(() => rmSync(folder, { recursive: true, force: true }));

testStore('a directory', directory, join(folder, 'files'));

describe('a store in a directory', () => {
  it('says that it is full before it takes the last megabytes of the disk', async () => {
    const store = createFileStore({
      ...common,
      folder: join(folder, 'full'),
      minFreeBytes: Number.MAX_SAFE_INTEGER,
    });
    await expect(store.receive(inParts(randomBytes(10)))).rejects.toMatchObject({
      trouble: 'full',
    });
    await expect(store.probe()).rejects.toMatchObject({ trouble: 'full' });
  });

  it('says that it is away where its folder cannot be made', async () => {
    writeFileSync(join(folder, 'a-file'), '');
    const store = createFileStore({ ...common, folder: join(folder, 'a-file', 'below') });
    await expect(store.receive(inParts(randomBytes(10)))).rejects.toMatchObject({
      trouble: 'away',
    });
  });

  it('cannot be read under another service key', async () => {
    const owner = newDocumentId();
    const stored = await directory().put(owner, inParts(randomBytes(10)));
    const other = createFileStore({
      ...common,
      seals: createFileSeals(randomBytes(32)),
      folder: join(folder, 'files'),
    });
    expect(await other.read(owner, stored)).toBeUndefined();
  });

  it('never takes an owner for a path', async () => {
    for (const owner of ['../../etc', 'D..', 'a/b', ''])
      await expect(directory().put(owner, inParts(randomBytes(1)))).rejects.toThrow();
  });
});

describe('a store in S3', () => {
  it('shows the service neither the content nor its hash', async () => {
    const shown: string[] = [];
    const taking = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part);
      shown.push(`${request.url} ${Buffer.concat(parts).toString('latin1')}`);
      response.end();
    });
    await new Promise<void>((resolve) => taking.listen(0, '127.0.0.1', resolve));
    const { port } = taking.address() as AddressInfo;
    const store = s3StoreAt(`http://127.0.0.1:${port}`);
    const owner = newDocumentId();
    const { sha256 } = await store.put(owner, inParts(Buffer.from('%PDF-1.7 for nobody else')));
    const told = shown.join();
    expect(told).toContain(owner);
    expect(told).not.toContain(sha256);
    expect(told).not.toContain('%PDF');
    store.close();
    taking.closeAllConnections();
    await new Promise((resolve) => taking.close(resolve));
  });

  it('is away where nothing answers, and leaves no draft', async () => {
    const store = s3StoreAt('http://127.0.0.1:1');
    await expect(store.probe()).rejects.toMatchObject({ trouble: 'away' });
    await expect(store.put(newDocumentId(), inParts(randomBytes(10)))).rejects.toMatchObject({
      trouble: 'away',
    });
    store.close();
    expect(filesBelow(join(folder, 'drafts'))).toEqual([]);
  });

  it.each([
    [503, '<Error><Code>SlowDown</Code></Error>', 'away', 4],
    [507, '<Error><Code>XMinioStorageFull</Code></Error>', 'full', 1],
    [403, '<Error><Code>QuotaExceeded</Code></Error>', 'full', 1],
  ] as const)(
    'that answers %i is asked as often as it helps',
    async (status, text, trouble, tries) => {
      let asked = 0;
      const answering = createServer((request, response) => {
        asked += 1;
        request.resume();
        request.on('end', () => response.writeHead(status).end(text));
      });
      await new Promise<void>((resolve) => answering.listen(0, '127.0.0.1', resolve));
      const { port } = answering.address() as AddressInfo;
      const store = s3StoreAt(`http://127.0.0.1:${port}`);
      try {
        await expect(store.put(newDocumentId(), inParts(randomBytes(9)))).rejects.toMatchObject({
          trouble,
        });
        expect(asked).toBe(tries);
      } finally {
        store.close();
        answering.closeAllConnections();
        await new Promise((resolve) => answering.close(resolve));
      }
    },
  );
});
