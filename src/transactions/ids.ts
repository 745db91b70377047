/**
 * MSSP_TransID: `H`, two characters that name the shard, seventeen random ones. Letters and digits only, a letter
 * first, as live services write them. The random part carries 101 bits, so that nobody finds a foreign transaction by
 * trying; the shard is in the id because a status request carries nothing else to find the job by.
 */
import { hash } from 'node:crypto';
import { randomBytesOf } from '../pki/random.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 17;
const pattern = new RegExp(`^H[0-9A-Za-z]{2}[0-9A-Za-z]{${randomLength}}$`);

/** The most shards that two characters can name. */
export const maxShards = alphabet.length ** 2;

const character = (index: number): string => alphabet.charAt(index);

/** @param bytes Gives at least one byte at each call. */
const charactersFrom = (bytes: () => Uint8Array, length: number): string => {
  let text = '';
  while (text.length < length) {
    for (const byte of bytes()) {
      // 248 is the largest multiple of 62 below 256: higher bytes would favour the first characters.
      if (byte < 248 && text.length < length) text += character(byte % alphabet.length);
    }
  }
  return text;
};

const idOf = (shard: number, bytes: () => Uint8Array): string =>
  `H${character(Math.floor(shard / alphabet.length))}${character(shard % alphabet.length)}${charactersFrom(bytes, randomLength)}`;

export const newMsspTransId = (shard: number): string => idOf(shard, () => randomBytesOf(randomLength * 2));

/** An id that is a function of the request, for requests that hold something random of their own. */
export const msspTransIdOf = (wire: unknown, shard: number): string => {
  let round = 0;
  return idOf(shard, () => hash('sha512', `${round++} ${JSON.stringify(wire)}`, 'buffer'));
};

/** @returns The shard an id names, or undefined for a text that no service with this many shards has issued. */
export const shardOf = (msspTransId: string, shards: number): number | undefined => {
  if (!pattern.test(msspTransId)) return undefined;
  const shard =
    alphabet.indexOf(msspTransId.charAt(1)) * alphabet.length + alphabet.indexOf(msspTransId.charAt(2));
  return shard < shards ? shard : undefined;
};

/**
 * What makes two requests the same request: equal in everything the AP sent, AP_TransID and Instant included.
 *
 * @returns 22 base64url characters and the shard they fall on; equal requests always meet on one shard.
 */
export const fingerprintOf = (
  wire: unknown,
  shards: number,
): { readonly id: string; readonly shard: number } => {
  const digest = hash('sha256', JSON.stringify(wire), 'buffer');
  return { id: digest.subarray(0, 16).toString('base64url'), shard: digest.readUInt32BE(16) % shards };
};
