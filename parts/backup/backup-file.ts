/**
 * The file of a backup: a line with the version of the format, a line with a header, then chunks.
 *
 * | part | what it is |
 * |---|---|
 * | `paraph-backup 1` | the version of the format |
 * | header | JSON: the service of the backup, and the id of the master key that it needs |
 * | chunk | its length (4 bytes, big-endian), then JSON of records, deflated and sealed |
 * | end | a chunk like the others, sealed as the last one: the time, and the number of records |
 *
 * The chunks are sealed under a key from the master key (AES-256-GCM), with the SHA-256 of both
 * lines and their own number authenticated. So a file that was cut off, altered or combined from
 * two is refused, and cannot be read without the master key.
 *
 * A later record of a key replaces an earlier one. Keys and values are bytes.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { z } from 'zod';
import { createByteSealer, deriveKey } from '../../packages/pki/src/sealed-json.ts';
import { masterKeyId } from '../../packages/pki/src/service-key.ts';

/**
 * The version of the format. Raise it with a change that a release with this number cannot read.
 */
const formatVersion = 1;
const firstLine = /^paraph-backup (\d{1,9})$/;

const headerSchema = z.object({
  product: z.string(),
  prefix: z.string(),
  shards: z.int(),
  /** The version of the store (docs/storage.md). */
  store: z.string(),
  startedAt: z.iso.datetime(),
  /** Identifies the master key of the file, and reveals nothing about it. */
  keyId: z.string(),
});
export type BackupHeader = z.infer<typeof headerSchema>;

const endSchema = z.object({ at: z.iso.datetime(), records: z.int() });
/**
 * `at`: the moment of the content, by the clock of Redis. `records`: the number of records; some
 * keys have two.
 */
export type BackupEnd = z.infer<typeof endSchema>;

/**
 * Records: key (latin1), time of expiry in milliseconds since the epoch (0: never), value in Base64
 * (null: the key does not exist).
 */
const recordsSchema = z.array(z.tuple([z.string(), z.number(), z.base64().nullable()]));

export interface BackupRecord {
  readonly key: Buffer;
  /** Milliseconds since the epoch; 0 for never. */
  readonly expiresAtMs: number;
  /** The value in the form of DUMP; undefined when the key is gone. */
  readonly value: Buffer | undefined;
}

/** An error of the file. The message is a sentence for the operator. */
export class BackupFileError extends Error {}

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** The size of a chunk before compression. A single record may be longer. */
const chunkBytes = 1_000_000;
const maxLineBytes = 10_000;

const createSealing = (masterKey: Uint8Array, lines: string) => {
  const sealer = createByteSealer(deriveKey(masterKey, 'paraph backup'));
  const file = createHash('sha256').update(lines).digest('base64url');
  const place = (number: number, kind: 'records' | 'end'): string => `${file} ${number} ${kind}`;
  return {
    seal: async (number: number, kind: 'records' | 'end', value: unknown): Promise<Buffer> =>
      sealer.seal(place(number, kind), await deflate(JSON.stringify(value), { level: 1 })),
    open: async (number: number, kind: 'records' | 'end', sealed: Buffer): Promise<unknown> => {
      const opened = sealer.open(place(number, kind), sealed);
      return opened && JSON.parse((await inflate(opened)).toString());
    },
  };
};

const sync = async (path: string): Promise<void> => {
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
};

/**
 * Creates a file. It has another name until it is complete, and only its owner can read it.
 *
 * @throws BackupFileError when the file cannot be written or already exists.
 */
export const createBackupFile = async (
  path: string,
  masterKey: Uint8Array,
  header: Omit<BackupHeader, 'keyId'>,
) => {
  const exists = await open(path, 'r').then(
    (file) => file.close().then(() => true),
    () => false,
  );
  if (exists)
    throw new BackupFileError('There is a file at that path already; a backup replaces none.');
  const draftPath = `${path}.${randomBytes(4).toString('hex')}.draft`;
  const file = await open(draftPath, 'w', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new BackupFileError(`The backup cannot be written at that path (${error.code}).`);
  });
  const full: BackupHeader = { ...header, keyId: masterKeyId(masterKey) };
  const lines = `paraph-backup ${formatVersion}\n${JSON.stringify(full)}\n`;
  const sealing = createSealing(masterKey, lines);
  let number = 0;
  let records = 0;
  let waiting: (readonly [string, number, string | null])[] = [];
  let waitingBytes = 0;
  /** Removes the unfinished file. */
  const abandon = async (): Promise<void> => {
    await file.close().catch(() => undefined);
    await rm(draftPath, { force: true });
  };
  // Unlike `write`, this fails when the disk takes only a part.
  await file
    .appendFile(lines)
    .catch((error: unknown) => abandon().then(() => Promise.reject(error)));

  const write = async (kind: 'records' | 'end', value: unknown): Promise<void> => {
    const sealed = await sealing.seal(number, kind, value);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(sealed.length);
    await file.appendFile(Buffer.concat([length, sealed]));
    number += 1;
  };
  const flush = async (): Promise<void> => {
    if (waiting.length === 0) return;
    const chunk = waiting;
    waiting = [];
    waitingBytes = 0;
    await write('records', chunk);
  };
  return {
    add: async (added: readonly BackupRecord[]): Promise<void> => {
      for (const { key, expiresAtMs, value } of added) {
        const text = value?.toString('base64') ?? null;
        waiting.push([key.toString('latin1'), expiresAtMs, text]);
        records += 1;
        waitingBytes += key.length + (text?.length ?? 0);
        if (waitingBytes >= chunkBytes) await flush();
      }
    },
    /** Writes the end, and gives the file its final name. @returns Its size in bytes. */
    finish: async (at: Date): Promise<number> => {
      await flush();
      await write('end', { at: at.toISOString(), records } satisfies BackupEnd);
      await file.sync();
      const { size } = await file.stat();
      await file.close();
      await rename(draftPath, path);
      await sync(dirname(path));
      return size;
    },
    abandon,
  };
};

const damaged = (): BackupFileError =>
  new BackupFileError(
    'The file is damaged: it was cut off, or altered. Nothing was restored from it.',
  );

const createReader = (file: FileHandle) => {
  let position = 0;
  return {
    /** Reads `length` bytes. @throws BackupFileError when there are fewer. */
    bytes: async (length: number): Promise<Buffer> => {
      const { size } = await file.stat();
      if (length > size - position) throw damaged();
      const buffer = Buffer.alloc(length);
      let read = 0;
      while (read < length) {
        const { bytesRead } = await file.read(buffer, read, length - read, position + read);
        if (bytesRead === 0) throw damaged();
        read += bytesRead;
      }
      position += length;
      return buffer;
    },
    isAtEnd: async (): Promise<boolean> => (await file.stat()).size === position,
    /** The first two lines, with their ends. */
    lines: async (): Promise<string> => {
      const buffer = Buffer.alloc(maxLineBytes);
      const { bytesRead } = await file.read(buffer, 0, maxLineBytes, 0);
      const read = buffer.subarray(0, bytesRead);
      const end = read.indexOf('\n', read.indexOf('\n') + 1) + 1;
      position = end;
      return read.subarray(0, end).toString();
    },
  };
};

const readHeader = (lines: string): BackupHeader => {
  const [first = '', second = ''] = lines.split('\n');
  const version = Number(firstLine.exec(first)?.[1] ?? 0);
  if (version === 0) throw new BackupFileError('The file is no backup of a Paraph.');
  if (version > formatVersion) {
    throw new BackupFileError('The backup was made by a later release: restore it with that one.');
  }
  try {
    return headerSchema.parse(JSON.parse(second));
  } catch {
    throw damaged();
  }
};

const openFile = async (path: string): Promise<FileHandle> => {
  try {
    return await open(path, 'r');
  } catch (error) {
    throw new BackupFileError(
      `The backup cannot be read (${(error as NodeJS.ErrnoException).code}).`,
    );
  }
};

/** @throws BackupFileError for a file that is not a backup, or one of a later release. */
export const readBackupHeader = async (path: string): Promise<BackupHeader> => {
  const file = await openFile(path);
  try {
    return readHeader(await createReader(file).lines());
  } finally {
    await file.close();
  }
};

/**
 * Reads a backup to its end, a chunk at a time.
 *
 * @param take Gets the records in their order. First read the file once without using them: only at
 *   the end is it certain that the file is complete.
 * @throws BackupFileError for a file that is damaged, or was made under another master key.
 */
export const readBackup = async (
  path: string,
  masterKey: Uint8Array,
  take: (records: readonly BackupRecord[]) => Promise<void> | void,
): Promise<BackupEnd> => {
  const file = await openFile(path);
  try {
    const reader = createReader(file);
    const lines = await reader.lines();
    if (readHeader(lines).keyId !== masterKeyId(masterKey)) {
      throw new BackupFileError(
        'The backup was made under another master key: set PARAPH_MASTER_KEY to the one of that time, or put its file into PARAPH_DATA.',
      );
    }
    const sealing = createSealing(masterKey, lines);
    let records = 0;
    for (let number = 0; ; number += 1) {
      const sealed = await reader.bytes((await reader.bytes(4)).readUInt32BE());
      const opened = await sealing.open(number, 'records', sealed);
      if (opened === undefined) {
        const { data: end } = endSchema.safeParse(await sealing.open(number, 'end', sealed));
        if (end?.records !== records || !(await reader.isAtEnd())) throw damaged();
        return end;
      }
      const chunk = recordsSchema.parse(opened);
      records += chunk.length;
      await take(
        chunk.map(([key, expiresAtMs, value]) => ({
          key: Buffer.from(key, 'latin1'),
          expiresAtMs,
          value: value === null ? undefined : Buffer.from(value, 'base64'),
        })),
      );
    }
  } finally {
    await file.close();
  }
};
