/** What every store of documents does: in a directory, and in S3 (s3.interop.test.ts). */
import { hash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDocumentId } from '../records.ts';
import { chunkBytes } from '../store/sealed-file.ts';
import { type DocumentStore, readWhole, type Stored } from '../store/store.ts';

export const inParts = async function* (
  bytes: Uint8Array,
  size = 65_536,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
};
export const filesBelow = (path: string): readonly string[] =>
  existsSync(path)
    ? readdirSync(path, { recursive: true, withFileTypes: true }).flatMap((entry) =>
        entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
      )
    : [];

/**
 * @param open Called once, before the tests.
 * @param folder Where the store keeps its drafts, in a folder of this name.
 */
export const testStore = (kind: string, open: () => DocumentStore, folder: string): void => {
  describe(`the store in ${kind}`, () => {
    let store: DocumentStore;
    beforeAll(() => {
      store = open();
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
      const [one, other] = await Promise.all(
        owners.map((owner) => store.put(owner, inParts(bytes))),
      );
      if (one === undefined || other === undefined) throw new Error('Nothing was kept');
      await store.remove(owners[0]);
      expect(await store.read(owners[0], one)).toBeUndefined();
      expect(Buffer.compare(await readBack(owners[1], other), bytes)).toBe(0);
    });

    it('removes drafts that a process has left behind, and no others', async () => {
      const place = join(folder, 'drafts');
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
};
