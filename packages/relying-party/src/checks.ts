import { createHash, timingSafeEqual } from 'node:crypto';
import type { IdTokenClaims } from './claims.ts';
import type { Expectations } from './expectations.ts';
import { type IdTokenFailure, type IdTokenRefusal, refuse } from './failure.ts';
import { hashOfAlgorithm } from './token.ts';

/** A check that has failed when its first member is true. */
type Check = readonly [failed: boolean, reason: IdTokenFailure, detail: string];

/** The first check that failed. */
const refuseFirst = (checks: readonly Check[]): IdTokenRefusal | undefined => {
  const found = checks.find(([failed]) => failed);
  return found && refuse(found[1], found[2]);
};

/**
 * The checks before the signature: who made the token, for whom, and when. A token that fails here
 * costs no fetch and no signature. Any of several audiences could use the token at the others, so
 * `azp` must then name this client. At `exp` itself the token has expired.
 *
 * Source: interface section 5.3; OpenID Connect Core 3.1.3.7, steps 2 to 5, 9 and 10; RFC 7519
 * 4.1.4 to 4.1.6.
 */
export const refuseUnproven = (
  claims: IdTokenClaims,
  expected: Expectations,
): IdTokenRefusal | undefined => {
  const { iss, aud, azp, iat, nbf, exp } = claims;
  const { issuer, clientId, trustedAudiences, authorizedParties, nowSeconds, toleranceSeconds } =
    expected;
  const audiences = typeof aud === 'string' ? [aud] : aud;
  const others = audiences.filter((each) => each !== clientId);
  const isUntrusted =
    trustedAudiences !== undefined && others.some((each) => !trustedAudiences.includes(each));
  const latest = nowSeconds + toleranceSeconds;
  return refuseFirst([
    [iss !== issuer, 'issuer-mismatch', 'iss is not the expected issuer'],
    [!audiences.includes(clientId), 'audience-mismatch', 'aud does not contain the client'],
    [isUntrusted, 'audience-untrusted', 'aud contains an audience that is not trusted'],
    [
      azp === undefined && others.length > 0,
      'authorized-party-missing',
      'aud has several audiences, and the token has no azp',
    ],
    [
      azp !== undefined && !authorizedParties.includes(azp),
      'authorized-party-mismatch',
      'azp is neither the client nor another authorised party',
    ],
    [iat > latest, 'issued-in-future', 'iat is later than now'],
    [nbf !== undefined && nbf > latest, 'not-yet-valid', 'nbf is later than now'],
    [nowSeconds >= exp + toleranceSeconds, 'expired', 'exp has passed'],
  ]);
};

const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest();

/** Compares two texts in a time that depends neither on the difference nor on the lengths. */
export const isSameText = (one: string, other: string): boolean =>
  timingSafeEqual(digest(one), digest(other));

/** The left half of the hash of the access token, in base64url. */
const accessTokenHash = (accessToken: string, algorithm: string): string | undefined => {
  const name = hashOfAlgorithm.get(algorithm);
  if (name === undefined) return undefined;
  const hash = createHash(name).update(accessToken, 'ascii').digest();
  return hash.subarray(0, hash.length / 2).toString('base64url');
};

const isHashOf = (given: string, accessToken: string, algorithm: string): boolean => {
  const hash = accessTokenHash(accessToken, algorithm);
  return hash !== undefined && isSameText(given, hash);
};

/**
 * The checks after the signature: whether a genuine token belongs to this login.
 *
 * Source: interface section 5.3; OpenID Connect Core 3.1.3.6, 3.1.3.7 (steps 11 to 13), 3.1.3.8 and
 * 12.2.
 */
export const refuseProven = (
  { nonce, sub, at_hash: hash, auth_time: authTime, acr }: IdTokenClaims,
  algorithm: string,
  expected: Expectations,
): IdTokenRefusal | undefined => {
  const { subject, accessToken, maxAgeSeconds, nowSeconds, toleranceSeconds, acrValues } = expected;
  const isNonceMissing =
    expected.nonce !== undefined && nonce === undefined && !expected.nonceOptional;
  const needsHash = accessToken !== undefined && !expected.accessTokenHashOptional;
  const isOtherToken =
    accessToken !== undefined && hash !== undefined && !isHashOf(hash, accessToken, algorithm);
  const isTooOld =
    maxAgeSeconds !== undefined &&
    authTime !== undefined &&
    nowSeconds - authTime > maxAgeSeconds + toleranceSeconds;
  const isOtherNonce =
    expected.nonce !== undefined && nonce !== undefined && !isSameText(nonce, expected.nonce);
  const isOtherAcr = acrValues !== undefined && acr !== undefined && !acrValues.includes(acr);
  return refuseFirst([
    [
      expected.nonce === undefined && nonce !== undefined,
      'nonce-unexpected',
      'nonce is there, and none was expected',
    ],
    [isNonceMissing, 'nonce-missing', 'the token has no nonce'],
    [isOtherNonce, 'nonce-mismatch', 'nonce is not that of the request'],
    [
      subject !== undefined && subject !== sub,
      'subject-mismatch',
      'sub is not the expected subject',
    ],
    [needsHash && hash === undefined, 'access-token-hash-missing', 'the token has no at_hash'],
    [isOtherToken, 'access-token-hash-mismatch', 'at_hash is not that of the access token'],
    [
      maxAgeSeconds !== undefined && authTime === undefined,
      'authentication-time-missing',
      'the token has no auth_time',
    ],
    [isTooOld, 'authentication-too-old', 'auth_time is longer ago than allowed'],
    [acrValues !== undefined && acr === undefined, 'acr-missing', 'the token has no acr'],
    [isOtherAcr, 'acr-not-accepted', 'acr is none of the accepted values'],
  ]);
};
