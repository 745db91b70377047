/** The form of a token: its segments, their JSON and its header. */
import { Buffer } from 'node:buffer';
import { type IdTokenRefusal, refuse } from './failure.ts';

/**
 * The accepted signature algorithms, with the hash of `at_hash`. Others are never accepted: `none`
 * is not a signature, and with HS* the relying party could have signed itself. EdDSA names no hash;
 * providers use SHA-512, the one inside Ed25519.
 *
 * Source: RFC 7518 3.1, RFC 8037 3.1, RFC 9864; OpenID Connect Core 3.1.3.6.
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

/** The parts of valid JSON that matter for names: strings, and where objects begin and end. */
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
      // "a" and "\u0061" are one name.
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
 * Reads a JSON object that every reader understands alike. Parsers disagree about names that occur
 * twice and about bytes that are not UTF-8, so both are refused.
 *
 * Source: RFC 7515 4 and RFC 7519 4 (names must be unique), RFC 8259 8.1.
 *
 * @returns Undefined for anything else.
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

/** Characters. ID tokens have one or two thousand. */
const maxLength = 16_384;

const decode = (segment: string): Uint8Array | undefined => {
  const bytes = Buffer.from(segment, 'base64url');
  return segment !== '' && bytes.toString('base64url') === segment ? bytes : undefined;
};

/**
 * Reads three segments of base64url; header and payload are JSON objects. The payload's JSON is
 * parsed after the header is accepted. base64url is read strictly: otherwise one signature has many
 * spellings, and a memory of used tokens can be fooled.
 *
 * Source: RFC 7515 3.1 and 7.1, RFC 4648 3.5; RFC 7516 3.1 for five segments.
 */
export const readCompact = (
  token: unknown,
):
  | { readonly ok: true; readonly header: JsonObject; readonly payload: Uint8Array }
  | IdTokenRefusal => {
  if (typeof token !== 'string') return refuse('malformed', 'the token is no string');
  if (token.length > maxLength)
    return refuse('too-long', `the token has more than ${maxLength} characters`);
  const segments = token.split('.');
  if (segments.length === 5)
    return refuse('encrypted', 'the token is encrypted, which is not supported');
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
 * Providers write `JWT` or nothing. Other types (`at+jwt`, `logout+jwt`, `dpop+jwt`) are tokens for
 * another purpose, signed with the same keys.
 */
const isTypeOfIdToken = (typ: unknown): boolean =>
  typ === undefined || (typeof typ === 'string' && /^(application\/)?jwt$/i.test(typ));

/**
 * Key and algorithm of the header are only wishes: the algorithm must be an expected one, and the
 * key comes from the provider's set. Keys and key addresses in the header are ignored.
 *
 * Source: interface section 5.3; RFC 8725 3.1, 3.11; RFC 7515 4.1.11.
 */
export const checkHeader = (
  header: JsonObject,
  algorithms: readonly string[],
): { readonly ok: true; readonly algorithm: string; readonly kid: string } | IdTokenRefusal => {
  const { typ, alg, kid } = header;
  if (!isTypeOfIdToken(typ))
    return refuse('wrong-type', 'typ in the header is not that of an ID token');
  // No extension is supported; `b64` would change the meaning of the payload.
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
