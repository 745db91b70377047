/** The secrets of this room, and what is stored in their place: never a secret itself. */
import { createHmac, hash } from 'node:crypto';
import { z } from 'zod';
import { createSealedTexts, deriveKey } from '../../packages/pki/src/sealed-json.ts';

export const hashOf = (secret: string | Uint8Array): string => hash('sha256', secret, 'base64url');

/**
 * The key under which a browser authenticates its enrolment.
 * @param secret The secret in the code, 16 bytes.
 */
export const activationKey = (secret: Uint8Array): Buffer =>
  deriveKey(secret, 'paraph phone activation');

/**
 * Secrets that are the same each time, for one request: its copies have one answer, in any order.
 */
export const deriverOf =
  (key: Uint8Array, request: readonly string[]) =>
  (purpose: string): Buffer =>
    createHmac('sha256', key)
      .update([purpose, ...request].join(' '))
      .digest();

/**
 * Authenticates the request and its gate: whoever sees an enrolment on its way can put no PIN or
 * passkey of their own into it.
 *
 * @param request DER.
 * @param gate What it is made of; see `gateParts` in enrolment.ts. Without spaces.
 * @returns Base64url.
 */
export const activationMac = (
  key: Uint8Array,
  request: Uint8Array,
  gate: readonly string[],
): string => createHmac('sha256', key).update(request).update(gate.join(' ')).digest('base64url');

/** The alphabet of codes, without I, L, O and U, which are read as something else. */
const recoveryAlphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const recoveryGroups = 6;

/**
 * 120 bits, as people write them: `K7QF-…`, six groups of four.
 * @param bytes Secret, at least 24.
 */
export const newRecoveryCode = (bytes: Uint8Array): string =>
  Array.from({ length: recoveryGroups }, (_, group) =>
    [...bytes.subarray(group * 4, group * 4 + 4)]
      .map((byte) => recoveryAlphabet[byte & 31])
      .join(''),
  ).join('-');

/** The hash of a recovery code, the same for all ways to type it. */
export const recoveryHash = (written: string): string =>
  hashOf(written.toUpperCase().replace(/[^0-9A-Z]/g, ''));

const contentSchema = z.tuple([z.string(), z.string(), z.string()]);
const maxLength = 512;

export interface PhoneCookie {
  readonly msisdn: string;
  readonly phone: string;
  readonly secret: string;
}

/** The value of a phone's cookie. It names number and phone, and only the service can read it. */
export const createPhoneCookies = (serviceKey: Uint8Array) => {
  const key = deriveKey(serviceKey, 'paraph phone cookies');
  const texts = createSealedTexts(key, 'phone cookie', contentSchema, maxLength);
  return {
    write: ({ msisdn, phone, secret }: PhoneCookie): string => texts.write([msisdn, phone, secret]),
    /** @returns Undefined for what this service has not made. */
    read: (value: string | undefined): PhoneCookie | undefined => {
      const content = texts.read(value);
      return content && { msisdn: content[0], phone: content[1], secret: content[2] };
    },
    /** A challenge for one purpose, the same each time. 32 bytes, base64url. */
    challengeFor: (purpose: string): string =>
      createHmac('sha256', key).update(`challenge ${purpose}`).digest('base64url'),
    /** A keyed hash as the name of a limit, which must not show addresses. Base64url. */
    nameOf: (text: string): string =>
      createHmac('sha256', key).update(`limit ${text}`).digest('base64url'),
  };
};
export type PhoneCookies = ReturnType<typeof createPhoneCookies>;
