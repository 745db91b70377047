import { Buffer } from 'node:buffer';
import { type Refusal, refuse } from './failure.ts';
import { type JsonObject, readJsonObject } from './strict-json.ts';

/**
 * The form of a token: three segments of base64url, the first two JSON objects.
 *
 * base64url is read strictly. A decoder that is lenient takes padding, the other alphabet, and bits at the end that
 * belong to no byte: then one signature has many spellings, and who remembers tokens by their text is fooled.
 *
 * Source: RFC 7515 3.1 and 7.1, RFC 4648 3.5; RFC 7516 3.1 for five segments.
 */
export interface CompactToken {
  readonly ok: true;
  readonly header: JsonObject;
  /** The second segment, decoded; its JSON is read after the header was found acceptable. */
  readonly payload: Uint8Array;
}

/** Characters. ID tokens have one or two thousand; with many claims some more. */
const maxLength = 16_384;

const decode = (segment: string): Uint8Array | undefined => {
  const bytes = Buffer.from(segment, 'base64url');
  return segment !== '' && bytes.toString('base64url') === segment ? bytes : undefined;
};

export const readCompact = (token: unknown): CompactToken | Refusal => {
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
