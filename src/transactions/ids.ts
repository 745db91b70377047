/**
 * MSSP_TransID: `H`, two characters that name the shard, seventeen random ones. It has only letters
 * and digits and begins with a letter, like the ids of live services. The random part has 101 bits,
 * so that an id cannot be guessed. A status request has only the id, so the id must name the shard.
 */
import { hash } from 'node:crypto';
import { randomBytesOf } from '../../packages/pki/src/random.ts';
import type { MssSignatureReq } from '../../packages/protocol/src/sign-request.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const randomLength = 17;
const pattern = new RegExp(`^H[0-9A-Za-z]{2}[0-9A-Za-z]{${randomLength}}$`);

export const maxShards = alphabet.length ** 2;

const characters = [...alphabet];

/** 248, the largest multiple of 62 below 256. Higher bytes would favour the first characters. */
const firstUnfair = 256 - (256 % alphabet.length);

/** @param bytes Gives at least one byte at each call. */
const charactersFrom = (bytes: () => Uint8Array, length: number): string => {
  let text = '';
  let missing = length;
  while (missing > 0) {
    const given = bytes();
    for (let index = 0; index < given.length && missing > 0; index += 1) {
      const byte = given[index] ?? firstUnfair;
      if (byte >= firstUnfair) continue;
      text += characters[byte % alphabet.length];
      missing -= 1;
    }
  }
  return text;
};

const idOf = (shard: number, bytes: () => Uint8Array): string =>
  `H${characters[Math.floor(shard / alphabet.length)]}${characters[shard % alphabet.length]}${charactersFrom(bytes, randomLength)}`;

export const newMsspTransId = (shard: number): string =>
  idOf(shard, () => randomBytesOf(randomLength + 3));

/** An id that is computed from the request, for requests that contain a random value. */
export const msspTransIdOf = (wire: unknown, shard: number): string => {
  let round = 0;
  return idOf(shard, () => hash('sha512', `${round++} ${JSON.stringify(wire)}`, 'buffer'));
};

/** @returns Undefined for a text that no service with so many shards has issued. */
export const shardOf = (msspTransId: string, shards: number): number | undefined => {
  if (!pattern.test(msspTransId)) return undefined;
  const shard =
    alphabet.indexOf(msspTransId.charAt(1)) * alphabet.length +
    alphabet.indexOf(msspTransId.charAt(2));
  return shard < shards ? shard : undefined;
};

/** @returns 32 hexadecimal digits, and a shard that is the same for equal texts. */
const fingerprintOfText = (text: string, shards: number) => {
  const digest = hash('sha256', text, 'hex');
  return { id: digest.slice(0, 32), shard: Number.parseInt(digest.slice(32, 40), 16) % shards };
};

export const fingerprintOf = (value: unknown, shards: number) =>
  fingerprintOfText(JSON.stringify(value), shards);

/**
 * The fingerprint of a request. Requests are equal when all members that the AP sent are equal,
 * with AP_TransID and Instant.
 *
 * The texts of a request contain no NUL (protocol/json.ts), so NUL can separate them. JSON would
 * take twice the time.
 */
export const requestFingerprint = (wire: MssSignatureReq, shards: number) => {
  const { AP_Info: ap, MSSP_Info: mssp, DataToBeSigned: data, AdditionalServices: services } = wire;
  const who = `${ap.AP_ID}\0${ap.AP_TransID}\0${ap.Instant}\0${mssp.MSSP_ID.URI}\0${wire.MobileUser.MSISDN}`;
  const how = `${wire.MessagingMode}\0${wire.SignatureProfile}\0${wire.TimeOut}`;
  const what = `${data.MimeType}\0${data.Encoding}\0${data.Data}`;
  const beside = services.length === 0 ? '' : JSON.stringify(services);
  return fingerprintOfText(
    `${wire.MajorVersion}\0${wire.MinorVersion}\0${who}\0${how}\0${what}\0${beside}`,
    shards,
  );
};

/**
 * The nonce among the signed attributes, which binds a signature to its transaction and attempt.
 * Other services can compute it, too, and bring signatures.
 *
 * @returns The first 20 bytes of SHA-256 over `<MSSP_TransID> <attempt>`.
 */
export const nonceOf = (msspTransId: string, attempt: number): Uint8Array =>
  hash('sha256', `${msspTransId} ${attempt}`, 'buffer').subarray(0, 20);

/**
 * The id of the transaction that a run of the activity `sign` requests.
 *
 * @param token The token of the run.
 */
export const transactionOfRun = (token: string, shards: number): string =>
  msspTransIdOf(token, fingerprintOf(token, shards).shard);
