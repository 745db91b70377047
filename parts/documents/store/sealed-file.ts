/**
 * The form of a file at rest: encrypted (AES-256-GCM) in chunks, so that it can be written and read
 * as a stream, and from any place.
 *
 * ```
 * header  magic (8) | salt (32) | size (8, big-endian) | HMAC-SHA-256 of all this and the place (32)
 * chunks  each 256 KiB of the file (the last one less), encrypted, and a tag (16)
 * ```
 *
 * Each file has a key of its own, from the service key and its salt. The nonce of a chunk is its
 * number and whether it is the last one, as in STREAM (Hoang, Reyhanitabar, Rogaway, Vizár,
 * CRYPTO 2015): so a chunk fits in no other file and at no other place in its own, and a file that
 * was cut off does not end well. The header binds the salt to the place of the file, which is its
 * owner and the SHA-256 of its content; it is checked before the first chunk is read. The header is
 * written last, because the SHA-256 is known last: until then it is zero, and no key opens it.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { isEqual } from '../../../packages/pki/src/is-equal.ts';
import { deriveKey } from '../../../packages/pki/src/sealed-json.ts';
import type { Stored } from './store.ts';

const magic = Buffer.from('PARAPHD1');
export const saltBytes = 32;
const tagBytes = 16;
export const headerBytes = magic.length + saltBytes + 8 + 32;
/** The bytes of the file in a chunk. One of 64 KiB costs a quarter more CPU for the same bytes. */
export const chunkBytes = 256 * 1024;
export const sealedChunkBytes = chunkBytes + tagBytes;

export const chunksOf = (size: number): number => Math.max(1, Math.ceil(size / chunkBytes));

/** The size at rest of a file of this size. */
export const sealedSize = (size: number): number => headerBytes + size + tagBytes * chunksOf(size);

const nonceOf = (index: number, isLast: boolean): Buffer => {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(index, 7);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
};

export type FileSeals = ReturnType<typeof createFileSeals>;

export const createFileSeals = (serviceKey: Uint8Array) => {
  const fileKey = deriveKey(serviceKey, 'paraph document files');
  const headerKey = deriveKey(serviceKey, 'paraph document headers');
  const nameKey = deriveKey(serviceKey, 'paraph document names');

  const macOf = (head: Uint8Array, owner: string, sha256: string): Buffer =>
    createHmac('sha256', headerKey).update(head).update(`${owner} ${sha256}`).digest();

  const chunksWith = (salt: Uint8Array) => {
    const key = Buffer.from(hkdfSync('sha256', fileKey, salt, 'chunks', 32));
    return {
      /** @returns The encrypted bytes and their tag. */
      seal: (index: number, isLast: boolean, bytes: Uint8Array): readonly [Buffer, Buffer] => {
        const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index, isLast));
        const encrypted = cipher.update(bytes);
        // GCM holds nothing back; `final` makes the tag.
        cipher.final();
        return [encrypted, cipher.getAuthTag()];
      },
      /** @returns Undefined for one that does not fit here. */
      open: (index: number, isLast: boolean, sealed: Uint8Array): Buffer | undefined => {
        if (sealed.length < tagBytes) return undefined;
        const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(index, isLast), {
          authTagLength: tagBytes,
        }).setAuthTag(sealed.subarray(-tagBytes));
        const bytes = decipher.update(sealed.subarray(0, -tagBytes));
        try {
          decipher.final();
          return bytes;
        } catch {
          return undefined;
        }
      },
    };
  };

  return {
    /** The name of a file: who sees it cannot tell which document it is. */
    nameOf: (owner: string, sha256: string): string =>
      createHmac('sha256', nameKey).update(`${owner} ${sha256}`).digest('hex'),

    header: (salt: Uint8Array, owner: string, { sha256, size }: Stored): Buffer => {
      const length = Buffer.alloc(8);
      length.writeBigUInt64BE(BigInt(size));
      const head = Buffer.concat([magic, salt, length]);
      return Buffer.concat([head, macOf(head, owner, sha256)]);
    },

    /** @returns The salt; undefined for a header that is not of this file. */
    readHeader: (header: Uint8Array, owner: string, { sha256, size }: Stored) => {
      const head = Buffer.from(header.subarray(0, headerBytes - 32));
      const mac = Buffer.from(header.subarray(headerBytes - 32));
      if (header.length !== headerBytes || !isEqual(mac, macOf(head, owner, sha256)))
        return undefined;
      const isIt =
        head.subarray(0, magic.length).equals(magic) &&
        head.readBigUInt64BE(magic.length + saltBytes) === BigInt(size);
      return isIt ? head.subarray(magic.length, magic.length + saltBytes) : undefined;
    },

    chunksWith,
  };
};
