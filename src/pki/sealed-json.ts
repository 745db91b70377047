/** Bytes and JSON that only holders of a key can read or make (AES-256-GCM). */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { randomBytesOf } from './random.ts';

const ivBytes = 12;
const tagBytes = 16;

/** A key of 32 bytes for one purpose. */
export const deriveKey = (from: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', from, '', purpose, 32));

/** Bytes that only holders of the key can read or make. */
export const createByteSealer = (key: Uint8Array) => ({
  /** @param place Is authenticated, so that one record does not fit in the place of another. */
  seal: (place: string, value: string | Uint8Array): Buffer => {
    const iv = randomBytesOf(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place));
    const content = [
      typeof value === 'string' ? cipher.update(value, 'utf8') : cipher.update(value),
    ];
    content.push(cipher.final());
    return Buffer.concat([iv, ...content, cipher.getAuthTag()]);
  },

  /**
   * @returns Undefined for none, and for what was sealed under another key or for another place.
   */
  open: (place: string, sealed: Buffer | null | undefined): Buffer | undefined => {
    if (sealed == null || sealed.length < ivBytes + tagBytes) return undefined;
    const iv = sealed.subarray(0, ivBytes);
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
      .setAAD(Buffer.from(place))
      .setAuthTag(sealed.subarray(-tagBytes));
    try {
      return Buffer.concat([
        decipher.update(sealed.subarray(ivBytes, -tagBytes)),
        decipher.final(),
      ]);
    } catch {
      return undefined;
    }
  },
});

/** {@link createByteSealer} for JSON. */
export const createJsonSealer = (key: Uint8Array) => {
  const { seal, open } = createByteSealer(key);
  return {
    seal: (place: string, value: unknown): Buffer => seal(place, JSON.stringify(value)),
    open: (place: string, sealed: Buffer | null | undefined): unknown => {
      const opened = open(place, sealed);
      return opened && JSON.parse(opened.toString('utf8'));
    },
  };
};
