import { type IdTokenRefusal, refuse } from './failure.ts';
import { type JsonObject, readJsonObject } from './token.ts';

/** Claims of an accepted ID token, spelled as on the wire. Times are seconds since the epoch. */
export interface IdTokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string | readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly nbf?: number;
  readonly auth_time?: number;
  readonly nonce?: string;
  readonly azp?: string;
  readonly acr?: string;
  readonly amr?: readonly string[];
  readonly at_hash?: string;
  readonly jti?: string;
  readonly sid?: string;
  readonly [name: string]: unknown;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isTexts: Check = (value) =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
const isTime: Check = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** The type of each claim: what callers compare must be what the type says. */
const required: Readonly<Record<string, Check>> = {
  iss: isText,
  sub: (value) => isText(value) && String(value).length <= 255,
  aud: (value) => typeof value === 'string' || isTexts(value),
  exp: isTime,
  iat: isTime,
};
const optional: Readonly<Record<string, Check>> = {
  nbf: isTime,
  auth_time: isTime,
  nonce: isText,
  azp: isText,
  acr: isText,
  amr: isTexts,
  at_hash: isText,
  jti: isText,
  sid: isText,
};

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

const objectionTo = (claims: JsonObject): IdTokenRefusal | undefined => {
  for (const [name, check] of Object.entries(required)) {
    if (!Object.hasOwn(claims, name)) return refuse('claim-missing', `the token has no ${name}`);
    if (!check(claims[name])) return refuse('claim-malformed', `${name} is not what it must be`);
  }
  for (const [name, check] of Object.entries(optional)) {
    if (Object.hasOwn(claims, name) && !check(claims[name])) {
      return refuse('claim-malformed', `${name} is not what it must be`);
    }
  }
  return undefined;
};

/**
 * Reads the claims and checks their types. A logout token may have no type in its header; then only
 * its event tells it from an ID token.
 *
 * Source: OpenID Connect Core 2 and 5.1; RFC 7519 4.1; OpenID Connect Back-Channel Logout 2.4.
 */
export const readClaims = (
  payload: Uint8Array,
): { readonly ok: true; readonly claims: IdTokenClaims } | IdTokenRefusal => {
  const claims = readJsonObject(payload);
  if (claims === undefined)
    return refuse('malformed-claims', 'the claims are no JSON object with unique names');
  const { events } = claims;
  if (typeof events === 'object' && events !== null && logoutEvent in events) {
    return refuse('wrong-type', 'the token is a logout token');
  }
  const objection = objectionTo(claims);
  // All members that the type names were checked.
  return objection ?? { ok: true, claims: claims as IdTokenClaims };
};
