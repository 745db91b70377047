import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { z } from 'zod';

/**
 * Stored forms of passwords: scrypt in a PHC-like string `$scrypt$ln=15,r=8,p=3$<salt>$<hash>`, in
 * Base64 without padding. The parameters are in the string, so the default can change. They decide
 * how much memory and time is spent, so they are parsed strictly and bounded.
 *
 * Source: RFC 7914; the PHC string format; the default is one of OWASP's settings (32 MiB).
 */
export interface ScryptCost {
  /** Binary logarithm of N. */
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

export interface StoredPassword {
  readonly cost: ScryptCost;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

const defaultCost: ScryptCost = { ln: 15, r: 8, p: 3 };

/** The longest password, because scrypt first hashes all of it. */
const maxPasswordBytes = 1024;

/** The maximum of N × r. With 128 bytes each, one computation takes at most 128 MiB. */
const maxMemoryBlocks = 2 ** 20;

const saltBytes = 16;
const hashBytes = 32;
const pattern =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{43,86})$/;

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

const compute = (
  password: string,
  salt: Buffer,
  length: number,
  { ln, r, p }: ScryptCost,
): Promise<Buffer> => {
  const N = 2 ** ln;
  // Node refuses above 32 MiB by default; scrypt needs 128·r·(N + p) and a little.
  return derive(password, salt, length, { N, r, p, maxmem: 128 * r * (N + p + 8) });
};

const withinBounds = ({ ln, r, p }: ScryptCost): boolean =>
  ln >= 10 && ln <= 17 && r >= 1 && r <= 16 && p >= 1 && p <= 8 && 2 ** ln * r <= maxMemoryBlocks;

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** Whether a password has 1 to 1024 bytes of UTF-8. */
export const isPlausiblePassword = (password: string): boolean =>
  password.length > 0 &&
  password.length <= maxPasswordBytes &&
  Buffer.byteLength(password) <= maxPasswordBytes;

/** @returns Undefined for a text that is not a stored password within the bounds. */
export const parseStoredPassword = (stored: string): StoredPassword | undefined => {
  const [, ln, r, p, salt, hash] = pattern.exec(stored) ?? [];
  if (salt === undefined || hash === undefined) return undefined;
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  if (!withinBounds(cost)) return undefined;
  return { cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
};

export const storedPassword = z.string().refine((hash) => parseStoredPassword(hash) !== undefined, {
  error: 'must be a stored password of the form $scrypt$ln=…,r=…,p=…$salt$hash',
});

/**
 * A stored form with a fresh salt.
 *
 * @throws RangeError for an empty password, one over 1024 bytes, or a cost out of bounds.
 */
export const hashPassword = async (
  password: string,
  cost: ScryptCost = defaultCost,
): Promise<string> => {
  if (!isPlausiblePassword(password)) throw new RangeError('a password has 1 to 1024 bytes');
  if (!withinBounds(cost)) throw new RangeError('scrypt cost out of bounds');
  const salt = randomBytes(saltBytes);
  const hash = await compute(password, salt, hashBytes, cost);
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${unpadded(salt)}$${unpadded(hash)}`;
};

/**
 * Compares in constant time.
 *
 * @returns False without work for a malformed stored form and for an empty or too long password.
 * Otherwise it costs one scrypt: use the password verifier for many calls.
 */
export const verifyPassword = async (stored: string, password: string): Promise<boolean> => {
  const parsed = parseStoredPassword(stored);
  if (parsed === undefined || !isPlausiblePassword(password)) return false;
  const computed = await compute(password, parsed.salt, parsed.hash.length, parsed.cost);
  return timingSafeEqual(computed, parsed.hash);
};

/**
 * Makes stored forms that no password matches and that cost as much as `like`, so that the time
 * does not show whether a name exists. Each seed, of 32 bytes, has its own form: with a seed for
 * each name, each unknown name has one.
 */
export const decoysLike = (like: string | undefined): ((seed: Buffer) => string) => {
  const cost = (like === undefined ? undefined : parseStoredPassword(like)?.cost) ?? defaultCost;
  const head = `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$`;
  return (seed) => `${head}${unpadded(seed.subarray(0, saltBytes))}$${unpadded(seed)}`;
};

/** One of {@link decoysLike}, of a random seed. */
export const decoyPassword = (like: string | undefined): string =>
  decoysLike(like)(randomBytes(hashBytes));
