/** What is kept, until when, and what is removed. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { connectForCommands, disconnect } from '../../../src/redis/connect.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { createDocuments } from '../documents.ts';
import { checkPdf } from '../pdf/index.ts';
import { createDocumentRecords, newDocumentId } from '../records.ts';
import { createFileStore } from '../store/file-store.ts';
import { createFileSeals } from '../store/sealed-file.ts';
import { sweepExpired, sweepUnknown } from '../sweep.ts';
import { makePdf } from './stage.ts';

const server = testRedis();
const redis = connectForCommands({ url: server.url }, Date.now);
const folder = mkdtempSync(join(tmpdir(), 'sweep-'));
afterAll(async () => {
  await disconnect(redis);
  rmSync(folder, { recursive: true, force: true });
});

const day = 86_400_000;
let at = Date.now();
const now = (): number => at;
const apId = 'mid://ap.example';
const prefix = server.prefix.slice(-32);
const records = createDocumentRecords({ redis, prefix, now });
const store = createFileStore({
  folder,
  seals: createFileSeals(randomBytes(32)),
  minFreeBytes: 0,
  now: Date.now,
});
const keptMs = 30 * day;
const documents = createDocuments({
  ...{ store, records, check: checkPdf, keptMs, now },
  maxBytesOfOne: 20_000,
});

beforeEach(() => {
  at = Date.now();
});

const inOne = async function* (bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
};
const add = async (text: string, size = 0) => {
  const added = await documents.add(apId, { source: inOne(makePdf(text, size)) });
  if (added.kind !== 'added') throw new Error(added.kind);
  return added.document;
};
const hasFile = (id: string): boolean => existsSync(join(folder, 'files', id.slice(1, 3), id));

describe('a document', () => {
  it('goes with its file and its bytes after its time, and not before', async () => {
    const { id, size } = await add('A');
    const before = await records.bytesOf(apId);
    at += keptMs - 1;
    await sweepExpired({ store, records });
    expect(await documents.find(apId, id)).toMatchObject({ id });
    at += 1;
    // Gone at once, also before the sweep.
    expect(await documents.find(apId, id)).toBeUndefined();
    expect(hasFile(id)).toBe(true);
    await sweepExpired({ store, records });
    expect([hasFile(id), await records.isKnown(id)]).toEqual([false, false]);
    expect(await records.bytesOf(apId)).toBe(before - size);
  });

  it('lives as long as a process uses it, and cannot be deleted meanwhile', async () => {
    const { id } = await add('B');
    expect(await documents.use(id, 'process-1', at + 100 * day)).toBe(true);
    expect(await documents.use(id, 'process-2', at + 50 * day)).toBe(true);
    at += 60 * day;
    await sweepExpired({ store, records });
    expect(hasFile(id)).toBe(true);
    expect(await documents.find(apId, id)).toMatchObject({ id, expiresAt: at + 40 * day });
    expect(await documents.remove(apId, id)).toBe('used');
    await documents.release(id, 'process-1');
    expect(await documents.find(apId, id)).toBeUndefined();
    await sweepExpired({ store, records });
    expect(hasFile(id)).toBe(false);
    expect(await documents.use(id, 'process-3', at + day)).toBe(false);
  });

  it('can be deleted when its processes are over', async () => {
    const { id } = await add('C');
    await documents.use(id, 'process-1', at + 10 * day);
    expect(await documents.remove(apId, id)).toBe('used');
    await documents.release(id, 'process-1');
    expect(await documents.remove(apId, id)).toBe('removed');
  });

  it('is not taken when the application has as much as it may', async () => {
    const { id } = await add('D', 20_000);
    const source = () => ({ source: inOne(makePdf('E')) });
    expect(await documents.add(apId, source())).toEqual({ kind: 'too-many' });
    expect(await documents.add('mid://other.example', source())).toMatchObject({ kind: 'added' });
    await documents.remove(apId, id);
    expect(await documents.add(apId, source())).toMatchObject({ kind: 'added' });
  });

  it('that several sweeps remove at once is removed once', async () => {
    const all = await Promise.all(['F', 'G', 'H'].map((text) => add(text)));
    at += keptMs;
    await Promise.all([0, 1, 2].map(() => sweepExpired({ store, records })));
    expect(all.map(({ id }) => hasFile(id))).toEqual([false, false, false]);
    expect(await records.bytesOf(apId)).toBe(0);
  });
});

describe('a file without a record', () => {
  it('is removed after a week, and no other file', async () => {
    const { id } = await add('I');
    const orphan = newDocumentId();
    await store.put(orphan, inOne(randomBytes(100)));
    await sweepUnknown({ store, records }, () => Date.now() + 6 * day);
    expect(hasFile(orphan)).toBe(true);
    await sweepUnknown({ store, records }, () => Date.now() + 8 * day);
    expect([hasFile(orphan), hasFile(id)]).toEqual([false, true]);
    expect(readdirSync(join(folder, 'drafts'))).toEqual([]);
  });
});
