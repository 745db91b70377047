/** JSON that only holders of the master key can read or make (AES-256-GCM). */
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { randomBytesOf } from './random.ts';

const ivBytes = 12;
const tagBytes = 16;

/** A key of 32 bytes for one purpose. */
export const deriveKey = (masterKey: Uint8Array, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, '', purpose, 32));

export const createJsonSealer = (key: Uint8Array) => ({
  /** @param place Is authenticated, so that one record does not fit in the place of another. */
  seal: (place: string, value: unknown): Buffer => {
    const iv = randomBytesOf(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place));
    const content = [cipher.update(JSON.stringify(value), 'utf8'), cipher.final()];
    return Buffer.concat([iv, ...content, cipher.getAuthTag()]);
  },

  /** @returns Undefined for none, and for what was sealed under another key or for another place. */
  open: (place: string, sealed: Buffer | null | undefined): unknown => {
    if (sealed == null || sealed.length < ivBytes + tagBytes) return undefined;
    const iv = sealed.subarray(0, ivBytes);
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
      .setAAD(Buffer.from(place))
      .setAuthTag(sealed.subarray(-tagBytes));
    try {
      const content = [decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()];
      return JSON.parse(Buffer.concat(content).toString('utf8'));
    } catch {
      return undefined;
    }
  },
});
