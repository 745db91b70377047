/**
 * The store in a bucket of an S3 service. Files have the same form at rest as in a folder, so S3
 * sees neither their content nor which documents they are.
 *
 * An upload is first received as a draft on this machine: only then its name, its length and
 * whether it is a document are known, and a try that fails can be made again. S3 shows an object
 * when it is there as a whole.
 *
 * ```
 * <prefix>/<owner>/<name>
 * ```
 */
import { createReadStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createDrafts, type DraftsOptions } from './drafts.ts';
import type { S3Client } from './s3-client.ts';
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

export interface S3StoreOptions extends Omit<DraftsOptions, 'place'> {
  readonly client: S3Client;
  /** Of all keys: without a slash at its end. */
  readonly keyPrefix: string;
  readonly seals: FileSeals;
}

/** For how long a probe counts, because S3 is paid by the call. */
const probeMs = 10_000;
const listAtOnce = '1000';

const unescaped = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt|quot|apos);/g, (entity) => {
    const characters: Readonly<Record<string, string>> = {
      '&amp;': '&',
      '&lt;': '<',
      '&gt;': '>',
      '&quot;': '"',
      '&apos;': "'",
    };
    return characters[entity] ?? entity;
  });

const elementIn = (xml: string, name: string): string | undefined => {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? [];
  return text === undefined ? undefined : unescaped(text);
};

export const createS3Store = ({
  client,
  keyPrefix,
  seals,
  ...forDrafts
}: S3StoreOptions): DocumentStore => {
  const folderOf = (owner: string): string => {
    assertOwner(owner);
    return `${keyPrefix}/${owner}/`;
  };
  const keyOf = (owner: string, { sha256 }: Stored): string =>
    `${folderOf(owner)}${seals.nameOf(owner, sha256)}`;

  const drafts = createDrafts({
    ...forDrafts,
    seals,
    place: async (path, owner, stored) => {
      const length = sealedSize(stored.size);
      const answer = await client.call({
        method: 'PUT',
        key: keyOf(owner, stored),
        body: { length, open: () => createReadStream(path) },
      });
      if (answer.statusCode === 404) throw new StoreError('away');
      await client.readText(answer);
    },
  });

  const list = async function* (prefix: string): AsyncGenerator<Owner & { readonly key: string }> {
    let token: string | undefined;
    do {
      const answer = await client.call({
        method: 'GET',
        key: '',
        query: {
          'list-type': '2',
          'max-keys': listAtOnce,
          prefix,
          ...(token !== undefined && { 'continuation-token': token }),
        },
      });
      const xml = await client.readText(answer);
      for (const [, entry = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const key = elementIn(entry, 'Key') ?? '';
        const [owner = ''] = key.slice(keyPrefix.length + 1).split('/', 1);
        yield { key, owner, changedAt: Date.parse(elementIn(entry, 'LastModified') ?? '') };
      }
      token =
        elementIn(xml, 'IsTruncated') === 'true'
          ? elementIn(xml, 'NextContinuationToken')
          : undefined;
    } while (token !== undefined);
  };

  const bytesOf = async function* (answer: IncomingMessage): AsyncGenerator<Uint8Array> {
    try {
      yield* answer as AsyncIterable<Uint8Array>;
    } catch (cause) {
      throw new StoreError('away', { cause });
    } finally {
      // A reader may have stopped: then the rest is not fetched.
      answer.destroy();
    }
  };

  /** @returns Undefined for an object that is not there. */
  const fetchRange = async (
    key: string,
    range: ByteRange,
    wholeSize: number,
  ): Promise<AsyncIterable<Uint8Array> | undefined> => {
    const answer = await client.call({ method: 'GET', key, range });
    if (answer.statusCode === 404) return undefined;
    // `bytes 0-79/1234`
    const [, size] = /\/(\d+)$/.exec(answer.headers['content-range'] ?? '') ?? [];
    if (Number(size) !== wholeSize) {
      answer.destroy();
      throw new StoreError('damaged');
    }
    return bytesOf(answer);
  };

  const readHeader = async (key: string, size: number): Promise<Buffer | undefined> => {
    const bytes = await fetchRange(key, { start: 0, end: headerBytes }, sealedSize(size));
    if (bytes === undefined) return undefined;
    const parts: Uint8Array[] = [];
    for await (const part of bytes) parts.push(part);
    return Buffer.concat(parts);
  };

  let probedAt = Number.NEGATIVE_INFINITY;

  return {
    receive: drafts.receive,
    put: drafts.put,
    read: async (owner, stored, range = { start: 0, end: stored.size }) => {
      const key = keyOf(owner, stored);
      const header = await readHeader(key, stored.size);
      if (header === undefined) return undefined;
      const salt = seals.readHeader(header, owner, stored);
      if (salt === undefined) throw new StoreError('damaged');
      const { size } = stored;
      const bytes = await fetchRange(key, sealedRange(size, range), sealedSize(size));
      return bytes && openSealed(bytes, seals.chunksWith(salt), size, range);
    },
    has: async (owner, stored) => {
      const answer = await client.call({ method: 'HEAD', key: keyOf(owner, stored) });
      answer.resume();
      return answer.statusCode !== 404;
    },
    remove: async (owner) => {
      for await (const { key } of list(folderOf(owner))) {
        const answer = await client.call({ method: 'DELETE', key });
        answer.resume();
      }
    },
    owners: () => list(`${keyPrefix}/`),
    tidy: drafts.tidy,
    probe: async () => {
      await drafts.probe();
      if (performance.now() - probedAt < probeMs) return;
      const answer = await client.call({ method: 'HEAD', key: '' });
      answer.resume();
      if (answer.statusCode === 404) throw new StoreError('away');
      probedAt = performance.now();
    },
    close: client.close,
  };
};
