/**
 * The store in a folder: by default in the data directory, which processes of one service on
 * several machines must share.
 *
 * A file is written under a temporary name, flushed, renamed, and the folder is flushed: what was
 * acknowledged is there after a crash of the machine, and what is there is whole.
 *
 * ```
 * <folder>/drafts/<random>                        being received
 * <folder>/files/<two letters>/<owner>/<name>     kept; the name hides the content
 * ```
 */
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createDrafts, readAtRest } from './drafts.ts';
import { type FileSeals, headerBytes, sealedSize } from './sealed-file.ts';
import { openSealed, sealedRange } from './sealed-stream.ts';
import {
  assertOwner,
  type ByteRange,
  type DocumentStore,
  type Owner,
  type Stored,
  StoreError,
} from './store.ts';
import { inStore, orMissing, toStoreError } from './trouble.ts';

export interface FileStoreOptions {
  readonly folder: string;
  readonly seals: FileSeals;
  readonly minFreeBytes: number;
  readonly now: () => number;
}

const syncFolder = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

export const createFileStore = ({
  folder,
  seals,
  minFreeBytes,
  now,
}: FileStoreOptions): DocumentStore => {
  const files = join(folder, 'files');

  const folderOf = (owner: string): string => {
    assertOwner(owner);
    // The first letter may be the same for all.
    return join(files, owner.slice(1, 3), owner);
  };

  const pathOf = (owner: string, { sha256 }: Stored): string =>
    join(folderOf(owner), seals.nameOf(owner, sha256));

  const place = async (path: string, owner: string, stored: Stored): Promise<void> => {
    const target = folderOf(owner);
    const firstMade = await mkdir(target, { recursive: true, mode: 0o700 });
    await rename(path, pathOf(owner, stored));
    await syncFolder(target);
    if (firstMade === undefined) return;
    const highest = dirname(firstMade);
    for (let above = dirname(target); above.length >= highest.length; above = dirname(above))
      await syncFolder(above);
  };

  const drafts = createDrafts({ folder: join(folder, 'drafts'), seals, minFreeBytes, now, place });

  const readFile = async function* (
    handle: Awaited<ReturnType<typeof open>>,
    salt: Uint8Array,
    size: number,
    range: ByteRange,
  ): AsyncGenerator<Uint8Array> {
    try {
      const atRest = readAtRest(handle, sealedRange(size, range));
      yield* openSealed(atRest, seals.chunksWith(salt), size, range);
    } catch (error) {
      throw toStoreError(error);
    } finally {
      await handle.close().catch(() => undefined);
    }
  };

  const read: DocumentStore['read'] = (owner, stored, range = { start: 0, end: stored.size }) =>
    inStore(async () => {
      const handle = await open(pathOf(owner, stored), 'r').catch(orMissing);
      if (handle === undefined) return undefined;
      try {
        const header = Buffer.alloc(headerBytes);
        await handle.read(header, 0, headerBytes, 0);
        const salt = seals.readHeader(header, owner, stored);
        const { size } = await handle.stat();
        // Looked at first, so that nothing of a file that was cut off is served.
        if (salt === undefined || size !== sealedSize(stored.size)) throw new StoreError('damaged');
        return readFile(handle, salt, stored.size, range);
      } catch (error) {
        await handle.close().catch(() => undefined);
        throw error;
      }
    });

  const owners = async function* (): AsyncGenerator<Owner> {
    for (const part of (await readdir(files).catch(orMissing)) ?? [])
      for (const owner of (await readdir(join(files, part)).catch(orMissing)) ?? []) {
        const found = await stat(join(files, part, owner)).catch(orMissing);
        if (found !== undefined) yield { owner, changedAt: found.mtimeMs };
      }
  };

  return {
    receive: drafts.receive,
    put: drafts.put,
    read,
    has: (owner, stored) =>
      inStore(async () => (await stat(pathOf(owner, stored)).catch(orMissing)) !== undefined),
    remove: (owner) =>
      inStore(async () => {
        await rm(folderOf(owner), { recursive: true, force: true });
      }),
    owners: async function* () {
      try {
        yield* owners();
      } catch (error) {
        throw toStoreError(error);
      }
    },
    tidy: drafts.tidy,
    probe: drafts.probe,
    close: () => undefined,
  };
};
