/** Bytes and JSON that only holders of a key can read or make (AES-256-GCM). */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import type { z } from 'zod';
import { createBoundedCache } from './bounded-cache.ts';
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
const createJsonSealer = (key: Uint8Array) => {
  const { seal, open } = createByteSealer(key);
  return {
    seal: (place: string, value: unknown): Buffer => seal(place, JSON.stringify(value)),
    open: (place: string, sealed: Buffer | null | undefined): unknown => {
      const opened = open(place, sealed);
      return opened && JSON.parse(opened.toString('utf8'));
    },
  };
};

/** {@link createJsonSealer} as text (base64url). */
export const createTextSealer = (key: Uint8Array) => {
  const { seal, open } = createJsonSealer(key);
  return {
    seal: (place: string, value: unknown): string => seal(place, value).toString('base64url'),
    open: (place: string, sealed: string | null | undefined): unknown =>
      open(place, Buffer.from(sealed ?? '', 'base64url')),
  };
};

/**
 * Texts that the service gives away and gets back, in cookies and links. Nobody else can read or
 * make them.
 *
 * @param maxLength A longer text was not made here, and is not opened.
 */
export const createSealedTexts = <T>(
  key: Uint8Array,
  place: string,
  schema: z.ZodType<T>,
  maxLength: number,
) => {
  const { seal, open } = createTextSealer(key);
  return {
    /** Base64url; another text each time. */
    write: (value: T): string => seal(place, value),
    /** @returns Undefined for what was not made here. */
    read: (text: string | undefined): T | undefined =>
      text === undefined || text.length > maxLength || !/^[\w-]+$/.test(text)
        ? undefined
        : schema.safeParse(open(place, text)).data,
  };
};

/** A login asks for the hash of each of its handles several times. Longer handles are not ours. */
const maxHashes = 1000;
const maxHandleLength = 100;

/**
 * Keeps the secrets of a room in a store that others may read. A handle (of a session, a code, a
 * token) is random; the store has a keyed hash of it (HMAC), so that a reader of the store can use
 * none. Contents are sealed, and bound to their place. Not prevented: someone who writes to the
 * store can put back an older record of the same place.
 *
 * @param room Has keys of its own: what one room has sealed, no other opens.
 */
export const createSealing = (serviceKey: Uint8Array, room: string) => {
  const recordKey = deriveKey(serviceKey, `paraph ${room} records`);
  const handleKey = deriveKey(serviceKey, `paraph ${room} handles`);
  const hashes = createBoundedCache<string>(maxHashes);
  const computeHash = (text: string): string =>
    createHmac('sha256', handleKey).update(text).digest('base64url');
  return {
    /** 256 bits, 43 characters base64url. */
    newHandle: (): string => Buffer.from(randomBytesOf(32)).toString('base64url'),

    /** 43 characters; the same for the same handle and purpose. Also hides names of limits. */
    hashOf: (purpose: string, handle: string): string => {
      const text = `${purpose} ${handle}`;
      return handle.length > maxHandleLength
        ? computeHash(text)
        : hashes.get(text, () => computeHash(text));
    },

    /** Seals a record that has a key of its own. */
    binary: createJsonSealer(recordKey),

    /** Seals a field of a hash. */
    text: createTextSealer(recordKey),
  };
};

export type Sealing = ReturnType<typeof createSealing>;
