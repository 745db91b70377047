/**
 * Files that are being received, in a folder of this machine: sealed and hashed as they come, and
 * without their header, so that nothing could take one for a whole file.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileSeals, sealedChunkBytes } from './sealed-file.ts';
import {
  openSealed,
  sealedRange,
  type Written,
  writeHeader,
  writeSealed,
} from './sealed-stream.ts';
import { assertOwner, type Draft, type Stored, StoreError } from './store.ts';
import { inStore, orMissing } from './trouble.ts';

/** A draft that has not changed for so long has been left behind: no upload takes so long. */
const leftAfterMs = 3_600_000;

export interface DraftsOptions {
  /** Made where it does not exist. */
  readonly folder: string;
  readonly seals: FileSeals;
  /** Room that is left for others on this disk, such as Redis. */
  readonly minFreeBytes: number;
  readonly now: () => number;
  /**
   * Puts the file in its place.
   * @param path Of the whole file, with its header, which is on disk.
   */
  readonly place: (path: string, owner: string, stored: Stored) => Promise<void>;
}

/**
 * The bytes at rest of a file, each read as one chunk into the same memory: each is good until the
 * next one is asked for.
 */
export const readAtRest = async function* (
  handle: FileHandle,
  { start, end }: { readonly start: number; readonly end: number },
): AsyncGenerator<Uint8Array> {
  const memory = Buffer.allocUnsafeSlow(Math.min(sealedChunkBytes, end - start));
  let at = start;
  while (at < end) {
    const wanted = Math.min(sealedChunkBytes, end - at);
    const { bytesRead, buffer } = await handle.read(memory, 0, wanted, at);
    // Cut off: the reader finds that a chunk is missing.
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
};

export const createDrafts = ({ folder, seals, minFreeBytes, now, place }: DraftsOptions) => {
  const assertRoom = async (): Promise<void> => {
    const { bavail, bsize } = await statfs(folder);
    if (bavail * bsize < minFreeBytes) throw new StoreError('full');
  };

  const draftOf = (path: string, handle: FileHandle, written: Written): Draft => {
    const { salt, sha256, size, flushed } = written;
    const stored = { sha256, size };
    const whole = { start: 0, end: size };
    let isClosed = false;
    const close = async (): Promise<void> => {
      if (isClosed) return;
      isClosed = true;
      await handle.close();
    };
    return {
      ...stored,
      read: () =>
        openSealed(
          readAtRest(handle, sealedRange(size, whole)),
          seals.chunksWith(salt),
          size,
          whole,
        ),
      keep: (owner) =>
        inStore(async () => {
          await flushed();
          await writeHeader(handle, seals.header(salt, owner, stored));
          await handle.sync();
          await close();
          await place(path, owner, stored);
          return stored;
        }),
      drop: async () => {
        await close().catch(() => undefined);
        await rm(path, { force: true }).catch(() => undefined);
      },
    };
  };

  const receive = async (source: AsyncIterable<Uint8Array>): Promise<Draft> => {
    const path = join(folder, randomUUID());
    const handle = await inStore(async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await assertRoom();
      return open(path, 'wx+', 0o600);
    });
    try {
      return draftOf(path, handle, await inStore(() => writeSealed(handle, seals, source)));
    } catch (error) {
      await handle.close().catch(() => undefined);
      await rm(path, { force: true }).catch(() => undefined);
      throw error;
    }
  };

  return {
    receive,
    put: async (owner: string, source: AsyncIterable<Uint8Array>): Promise<Stored> => {
      assertOwner(owner);
      const draft = await receive(source);
      try {
        return await draft.keep(owner);
      } finally {
        await draft.drop();
      }
    },
    tidy: (): Promise<void> =>
      inStore(async () => {
        for (const name of (await readdir(folder).catch(orMissing)) ?? []) {
          const path = join(folder, name);
          const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: now() }));
          if (now() - mtimeMs > leftAfterMs) await rm(path, { force: true });
        }
      }),
    probe: (): Promise<void> =>
      inStore(async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await assertRoom();
      }),
  };
};
