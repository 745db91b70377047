/** The form of a token: its segments, their JSON, and what its header may say. */
import { Buffer } from 'node:buffer';
import { type Refusal, refuse } from './failure.ts';

/**
 * The signature algorithms that an ID token can have here, with the hash that `at_hash` is made with.
 *
 * A name that is missing from this table is not acceptable, whoever lists it. `none` is missing because it is no
 * signature, HS* because a key that the relying party has is one that the relying party could have signed with.
 *
 * Source: RFC 7518 3.1, RFC 8037 3.1, RFC 9864; OpenID Connect Core 3.1.3.6 for the hash. EdDSA names no hash; SHA-512,
 * the one inside Ed25519, is what providers use.
 */
export const hashOfAlgorithm: ReadonlyMap<string, 'sha256' | 'sha384' | 'sha512'> = new Map([
  ['RS256', 'sha256'],
  ['RS384', 'sha384'],
  ['RS512', 'sha512'],
  ['PS256', 'sha256'],
  ['PS384', 'sha384'],
  ['PS512', 'sha512'],
  ['ES256', 'sha256'],
  ['ES384', 'sha384'],
  ['ES512', 'sha512'],
  ['EdDSA', 'sha512'],
  ['Ed25519', 'sha512'],
]);

export type JsonObject = { readonly [name: string]: unknown };

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The parts of a text that is known to be JSON which matter for names: strings, and where objects begin and end. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

const hasDuplicate = (text: string): boolean => {
  const open: (Set<string> | undefined)[] = [];
  let last: string | undefined;
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':' && last !== undefined) {
      const names = open.at(-1);
      // Two spellings of a name are one name: "a" and "\u0061".
      const name: string = JSON.parse(last);
      if (names?.has(name)) return true;
      names?.add(name);
    }
    last = token.startsWith('"') ? token : undefined;
  }
  return false;
};

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * JSON objects that mean the same to everyone who reads them.
 *
 * A member that occurs twice is read as the first by some and as the last by others, and bytes that are no UTF-8 as
 * whatever a decoder makes of them. Headers and claims with either are refused.
 *
 * Source: RFC 7515 4 and RFC 7519 4 (names must be unique), RFC 8259 8.1.
 *
 * @returns Undefined for what is no UTF-8, no JSON, no object, or has a name twice.
 */
export const readJsonObject = (bytes: Uint8Array): JsonObject | undefined => {
  try {
    const text = decoder.decode(bytes);
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && !hasDuplicate(text) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Characters. ID tokens have one or two thousand; with many claims some more. */
const maxLength = 16_384;

const decode = (segment: string): Uint8Array | undefined => {
  const bytes = Buffer.from(segment, 'base64url');
  return segment !== '' && bytes.toString('base64url') === segment ? bytes : undefined;
};

/**
 * Three segments of base64url, the first two JSON objects. The second is decoded here, and its JSON is read only after the
 * header was found acceptable.
 *
 * base64url is read strictly. A decoder that is lenient takes padding, the other alphabet, and bits at the end that
 * belong to no byte: then one signature has many spellings, and who remembers tokens by their text is fooled.
 *
 * Source: RFC 7515 3.1 and 7.1, RFC 4648 3.5; RFC 7516 3.1 for five segments.
 */
export const readCompact = (
  token: unknown,
): { readonly ok: true; readonly header: JsonObject; readonly payload: Uint8Array } | Refusal => {
  if (typeof token !== 'string') return refuse('malformed', 'the token is no string');
  if (token.length > maxLength) return refuse('too-long', `the token has more than ${maxLength} characters`);
  const segments = token.split('.');
  if (segments.length === 5) return refuse('encrypted', 'the token is encrypted, which is not supported');
  if (segments.length !== 3) return refuse('malformed', 'the token has not three segments');
  const [headerBytes, payload, signature] = segments.map(decode);
  if (headerBytes === undefined || payload === undefined || signature === undefined) {
    return refuse('malformed', 'a segment of the token is empty or no canonical base64url');
  }
  const header = readJsonObject(headerBytes);
  if (header === undefined)
    return refuse('malformed-header', 'the header is no JSON object with unique names');
  return { ok: true, header, payload };
};

/**
 * Providers write `JWT` or nothing. Everything else is a token for another purpose: `at+jwt`, `logout+jwt`, `dpop+jwt`,
 * signed with the same keys and often for the same audience.
 */
const isTypeOfIdToken = (typ: unknown): boolean =>
  typ === undefined || (typeof typ === 'string' && /^(application\/)?jwt$/i.test(typ));

/**
 * The header says which key and which algorithm, and both are only wishes: the algorithm must be one that the caller
 * expects, the key is looked up in the provider's set. Keys and addresses of keys in the header (`jwk`, `jku`, `x5c`,
 * `x5u`) are never looked at.
 *
 * Source: interface section 5.3; RFC 8725 3.1, 3.11; RFC 7515 4.1.11.
 */
export const checkHeader = (
  header: JsonObject,
  algorithms: readonly string[],
): { readonly ok: true; readonly algorithm: string; readonly kid: string } | Refusal => {
  const { typ, alg, kid } = header;
  if (!isTypeOfIdToken(typ)) return refuse('wrong-type', 'typ in the header is not that of an ID token');
  // No extension is understood here, and with `b64` the meaning of the payload would change.
  if ('crit' in header) return refuse('critical-extension', 'the header has crit');
  if (typeof alg !== 'string') return refuse('malformed-header', 'alg in the header is no string');
  if (!algorithms.includes(alg) || !hashOfAlgorithm.has(alg)) {
    return refuse('algorithm-not-allowed', 'alg in the header is none of the allowed algorithms');
  }
  if (kid === undefined) return refuse('key-id-missing', 'the header has no kid');
  if (typeof kid !== 'string' || kid === '') {
    return refuse('malformed-header', 'kid in the header is no string with content');
  }
  return { ok: true, algorithm: alg, kid };
};
