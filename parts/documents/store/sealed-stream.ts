/** Writes and reads files at rest (sealed-file.ts) as streams, a chunk at a time. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { randomBytesOf } from '../../../packages/pki/src/random.ts';
import {
  chunkBytes,
  chunksOf,
  type FileSeals,
  headerBytes,
  saltBytes,
  sealedChunkBytes,
  sealedSize,
} from './sealed-file.ts';
import { type ByteRange, type Stored, StoreError } from './store.ts';

type Chunks = ReturnType<FileSeals['chunksWith']>;

export interface Written extends Stored {
  readonly salt: Buffer;
  /** @throws When what was written so far could not be flushed. */
  readonly flushed: () => Promise<void>;
}

const writeAll = async (handle: FileHandle, bytes: Uint8Array, at: number): Promise<void> => {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
};

const writeBoth = async (
  handle: FileHandle,
  both: readonly [Uint8Array, Uint8Array],
  at: number,
): Promise<void> => {
  const { bytesWritten } = await handle.writev(both, at);
  const whole = both[0].length + both[1].length;
  if (bytesWritten < whole)
    await writeAll(handle, Buffer.concat(both).subarray(bytesWritten), at + bytesWritten);
};

/**
 * Cuts a source into pieces of this size; the last one may be less, and is empty for no bytes. All
 * are in the same memory: a piece is good until the next one is asked for.
 */
const pieces = async function* (
  source: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ readonly bytes: Uint8Array; readonly isLast: boolean }> {
  const piece = Buffer.allocUnsafeSlow(size);
  let length = 0;
  for await (const given of source) {
    let rest = given;
    while (rest.length > 0) {
      // Only when more comes it is known that it is not the last.
      if (length === size) {
        yield { bytes: piece, isLast: false };
        length = 0;
      }
      const taken = Math.min(size - length, rest.length);
      piece.set(rest.subarray(0, taken), length);
      length += taken;
      rest = rest.subarray(taken);
    }
  }
  yield { bytes: piece.subarray(0, length), isLast: true };
};

/**
 * Flushes a file while it is written, so that the flush at its end is short. One at a time.
 *
 * The system tells of a failed flush once, and the next one succeeds although data is lost. So the
 * error is kept for `end`.
 */
const createFlusher = (handle: FileHandle) => {
  let flushed: Promise<void> = Promise.resolve();
  let isIdle = true;
  return {
    begin: (): void => {
      if (!isIdle) return;
      isIdle = false;
      flushed = handle.datasync().then(() => {
        isIdle = true;
      });
      // `end` tells of it.
      flushed.catch(() => undefined);
    },
    end: (): Promise<void> => flushed,
  };
};

/** Chunks between two flushes: 8 MiB. */
const flushEvery = 32;

/**
 * Writes all but the header. A chunk is written while the next one comes.
 *
 * @throws What the source or the file throws.
 */
export const writeSealed = async (
  handle: FileHandle,
  seals: FileSeals,
  source: AsyncIterable<Uint8Array>,
): Promise<Written> => {
  const salt = randomBytesOf(saltBytes);
  const chunks = seals.chunksWith(salt);
  const hash = createHash('sha256');
  const flusher = createFlusher(handle);
  let size = 0;
  let index = 0;
  let writing: Promise<void> = Promise.resolve();
  for await (const { bytes, isLast } of pieces(source, chunkBytes)) {
    hash.update(bytes);
    const sealed = chunks.seal(index, isLast, bytes);
    await writing;
    writing = writeBoth(handle, sealed, headerBytes + index * sealedChunkBytes);
    // Awaited with the next chunk; an error must not be unhandled until then.
    writing.catch(() => undefined);
    size += bytes.length;
    index += 1;
    if (index % flushEvery === 0) flusher.begin();
  }
  await writing;
  flusher.begin();
  return { salt, sha256: hash.digest('hex'), size, flushed: flusher.end };
};

export const writeHeader = (handle: FileHandle, header: Uint8Array): Promise<void> =>
  writeAll(handle, header, 0);

/** The bytes at rest that hold this range of a file. */
export const sealedRange = (size: number, { start, end }: ByteRange): ByteRange => {
  const first = Math.floor(start / chunkBytes);
  const last = Math.max(first, Math.ceil(end / chunkBytes) - 1);
  return {
    start: headerBytes + first * sealedChunkBytes,
    end: Math.min(sealedSize(size), headerBytes + (last + 1) * sealedChunkBytes),
  };
};

/**
 * @param source The bytes at rest of `sealedRange`.
 * @throws StoreError `damaged` for a chunk that does not fit, and where one is missing.
 */
export const openSealed = async function* (
  source: AsyncIterable<Uint8Array>,
  chunks: Chunks,
  size: number,
  { start, end }: ByteRange,
): AsyncGenerator<Uint8Array> {
  let index = Math.floor(start / chunkBytes);
  const lastOfFile = chunksOf(size) - 1;
  let at = index * chunkBytes;
  for await (const { bytes } of pieces(source, sealedChunkBytes)) {
    const opened = chunks.open(index, index === lastOfFile, bytes);
    if (opened === undefined) throw new StoreError('damaged');
    const from = Math.max(0, start - at);
    const to = Math.min(opened.length, end - at);
    at += opened.length;
    index += 1;
    if (to > from) yield opened.subarray(from, to);
  }
  if (at < end) throw new StoreError('damaged');
};
