/** What every store of documents does, and what each does when its place is full or gone. */
import { hash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDocumentId } from '../records.ts';
import { createFileStore } from '../store/file-store.ts';
import { createS3Client } from '../store/s3-client.ts';
import { createS3Store } from '../store/s3-store.ts';
import { chunkBytes, createFileSeals } from '../store/sealed-file.ts';
import { type DocumentStore, readWhole, type Stored } from '../store/store.ts';
import { type S3Server, s3Keys, startS3Server } from './s3-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'store-'));
const seals = createFileSeals(randomBytes(32));
const common = { seals, minFreeBytes: 0, now: Date.now };
let server: S3Server;

const s3StoreAt = (endpoint: string) =>
  createS3Store({
    ...common,
    folder: join(folder, 'drafts'),
    keyPrefix: 'documents/test',
    client: createS3Client({
      endpoint,
      bucket: server.bucket,
      region: 'us-east-1',
      timeoutMs: 2000,
      ...s3Keys,
    }),
  });

const kinds: Record<'directory' | 's3', () => DocumentStore> = {
  directory: () => createFileStore({ ...common, folder: join(folder, 'files') }),
  s3: () => s3StoreAt(server.endpoint),
};

beforeAll(async () => {
  server = await startS3Server();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const inParts = async function* (bytes: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
};
const filesBelow = (path: string): readonly string[] =>
  existsSync(path)
    ? readdirSync(path, { recursive: true, withFileTypes: true }).flatMap((entry) =>
        entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
      )
    : [];

describe.each(['directory', 's3'] as const)('the store in %s', (kind) => {
  let store: DocumentStore;
  beforeAll(() => {
    store = kinds[kind]();
  });
  afterAll(() => store.close());

  const readBack = async (owner: string, stored: Stored): Promise<Buffer> => {
    const bytes = await store.read(owner, stored);
    if (bytes === undefined) throw new Error('It is not there');
    return readWhole(bytes, stored.size);
  };

  it.each([0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 3 * chunkBytes + 17])(
    'gives back a file of %i bytes',
    async (size) => {
      const bytes = randomBytes(size);
      const owner = newDocumentId();
      const stored = await store.put(owner, inParts(bytes));
      expect(stored).toEqual({ sha256: hash('sha256', bytes, 'hex'), size });
      expect(await store.has(owner, stored)).toBe(true);
      expect(Buffer.compare(await readBack(owner, stored), bytes)).toBe(0);
    },
  );

  it('gives back any range', async () => {
    const bytes = randomBytes(3 * chunkBytes + 17);
    const owner = newDocumentId();
    const stored = await store.put(owner, inParts(bytes));
    for (const [start, end] of [
      [0, 1],
      [chunkBytes - 1, chunkBytes + 1],
      [chunkBytes, 2 * chunkBytes],
      [5, bytes.length],
    ] as const) {
      const part = await store.read(owner, stored, { start, end });
      if (part === undefined) throw new Error('It is not there');
      const read = await readWhole(part, end - start);
      expect(Buffer.compare(read, bytes.subarray(start, end))).toBe(0);
    }
  });

  it('has several files of one owner, one of the same content, and none of others', async () => {
    const owner = newDocumentId();
    const [first, second] = [randomBytes(100), randomBytes(200)];
    const stored = await store.put(owner, inParts(first));
    await store.put(owner, inParts(first));
    const next = await store.put(owner, inParts(second));
    expect(Buffer.compare(await readBack(owner, stored), first)).toBe(0);
    expect(Buffer.compare(await readBack(owner, next), second)).toBe(0);
    expect(await store.read(newDocumentId(), stored)).toBeUndefined();
    expect(await store.has(newDocumentId(), stored)).toBe(false);
  });

  it('has nothing of a draft that was dropped, or whose source broke off', async () => {
    const draft = await store.receive(inParts(randomBytes(1000)));
    await draft.drop();
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield randomBytes(chunkBytes * 2);
      throw new Error('broken off');
    };
    await expect(store.receive(broken())).rejects.toThrow('broken off');
    const left = filesBelow(folder).filter((path) => path.includes('drafts'));
    expect(left).toEqual([]);
  });

  it('lists owners, and removes one with all of its files', async () => {
    const owner = newDocumentId();
    const stored = await store.put(owner, inParts(randomBytes(10)));
    await store.put(owner, inParts(randomBytes(20)));
    const ownersNow = async () => {
      const found = new Set<string>();
      for await (const each of store.owners()) {
        expect(Date.now() - each.changedAt).toBeLessThan(600_000);
        found.add(each.owner);
      }
      return found;
    };
    expect((await ownersNow()).has(owner)).toBe(true);
    await store.remove(owner);
    await store.remove(owner);
    expect((await ownersNow()).has(owner)).toBe(false);
    expect(await store.read(owner, stored)).toBeUndefined();
  });

  it('keeps both of two uploads of the same bytes at once, and takes one away', async () => {
    const bytes = randomBytes(chunkBytes * 2);
    const owners = [newDocumentId(), newDocumentId()] as const;
    const [one, other] = await Promise.all(owners.map((owner) => store.put(owner, inParts(bytes))));
    if (one === undefined || other === undefined) throw new Error('Nothing was kept');
    await store.remove(owners[0]);
    expect(await store.read(owners[0], one)).toBeUndefined();
    expect(Buffer.compare(await readBack(owners[1], other), bytes)).toBe(0);
  });

  it('removes drafts that a process has left behind, and no others', async () => {
    const place = join(folder, kind === 's3' ? 'drafts' : 'files/drafts');
    mkdirSync(place, { recursive: true });
    const [old, young] = [join(place, 'old'), join(place, 'young')];
    for (const path of [old, young]) writeFileSync(path, 'half');
    utimesSync(old, new Date(0), new Date(0));
    await store.tidy();
    expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
    rmSync(young);
  });

  it('can be used', async () => {
    await expect(store.probe()).resolves.toBeUndefined();
  });
});

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
    const stored = await kinds.directory().put(owner, inParts(randomBytes(10)));
    const other = createFileStore({
      ...common,
      seals: createFileSeals(randomBytes(32)),
      folder: join(folder, 'files'),
    });
    expect(await other.read(owner, stored)).toBeUndefined();
  });

  it('never takes an owner for a path', async () => {
    for (const owner of ['../../etc', 'D..', 'a/b', ''])
      await expect(kinds.directory().put(owner, inParts(randomBytes(1)))).rejects.toThrow();
  });
});

describe('a store in S3', () => {
  it('shows the service neither the content nor its hash', async () => {
    const owner = newDocumentId();
    const bytes = Buffer.from('%PDF-1.7 for nobody else');
    const { sha256 } = await kinds.s3().put(owner, inParts(bytes));
    const files = filesBelow(server.folder).filter((path) => path.includes(owner));
    expect(files.length).toBeGreaterThan(0);
    for (const path of files) {
      expect(path).not.toContain(sha256);
      expect(readFileSync(path).includes('%PDF')).toBe(false);
    }
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
