/**
 * The port to where the bytes of documents are kept.
 *
 * Each file belongs to an owner: the document whose file or revision it is. Within its owner it is
 * named by its content, so that the same bytes that are put again, such as by an activity that runs
 * again after a crash, are one file. Nothing is shared between owners: then removing one never
 * removes what another one needs, which no file system and no S3 could otherwise promise.
 *
 * A file is there as a whole or not at all. It is first received as a draft, which no reader finds,
 * may be checked, and is then kept.
 */

/** What is known of a file. */
export interface Stored {
  /** SHA-256 of its bytes, hexadecimal. */
  readonly sha256: string;
  /** In bytes. */
  readonly size: number;
}

/** Bytes from `start` up to and without `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface Draft extends Stored {
  read(): AsyncIterable<Uint8Array>;
  /**
   * Keeps it for this owner. It is durable when this resolves.
   * @throws StoreError
   */
  keep(owner: string): Promise<Stored>;
  /** Throws it away. Safe to call again, and after `keep`. Does not throw. */
  drop(): Promise<void>;
}

export interface Owner {
  readonly owner: string;
  /** When one of its files was last kept, in milliseconds since the epoch. */
  readonly changedAt: number;
}

export interface DocumentStore {
  /**
   * Reads a source to its end.
   * @throws StoreError, and what the source throws; then nothing is left.
   */
  receive(source: AsyncIterable<Uint8Array>): Promise<Draft>;
  /** Receives and keeps in one. @throws StoreError, and what the source throws. */
  put(owner: string, source: AsyncIterable<Uint8Array>): Promise<Stored>;
  /**
   * @param range Default: all of it.
   * @returns The bytes, whose reader fails when the file is damaged, and then never ends well.
   *   Undefined where there is no such file.
   * @throws StoreError
   */
  read(
    owner: string,
    stored: Stored,
    range?: ByteRange,
  ): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** @throws StoreError */
  has(owner: string, stored: Stored): Promise<boolean>;
  /** Removes all files of an owner. @throws StoreError */
  remove(owner: string): Promise<void>;
  /** @throws StoreError */
  owners(): AsyncIterable<Owner>;
  /** Removes drafts that a process has left behind. @throws StoreError */
  tidy(): Promise<void>;
  /** Whether it can be used now. @throws StoreError */
  probe(): Promise<void>;
  close(): void;
}

/**
 * full     There is no room for more. What is kept can be read.
 * away     It cannot be reached, or its disk fails.
 * damaged  A file is not what was kept: cut off, changed, of another place, or under another key.
 */
export type StoreTrouble = 'full' | 'away' | 'damaged';

export class StoreError extends Error {
  readonly trouble: StoreTrouble;

  constructor(trouble: StoreTrouble, options?: { readonly cause?: unknown }) {
    super(`The store of documents is ${trouble}`, options);
    this.trouble = trouble;
  }
}

/** Of an owner: letters and digits, because it is part of a path. */
export const assertOwner = (owner: string): void => {
  if (!/^[A-Za-z0-9]{3,64}$/.test(owner)) throw new Error('The owner of a file has no usable name');
};

/** The whole of a source, in memory. @param size Of it. */
export const readWhole = async (
  source: AsyncIterable<Uint8Array>,
  size: number,
): Promise<Buffer<ArrayBuffer>> => {
  const whole = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for await (const part of source) {
    whole.set(part, at);
    at += part.length;
  }
  if (at !== size) throw new StoreError('damaged');
  return whole;
};
