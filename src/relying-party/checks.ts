import { createHash, timingSafeEqual } from 'node:crypto';
import type { IdTokenClaims } from './claims.ts';
import type { Expectations } from './expectations.ts';
import { type Refusal, refuse } from './failure.ts';
import { hashOfAlgorithm } from './token.ts';

/**
 * The checks before the signature: who made the token, for whom, and when. A token that fails here
 * costs no fetch and no signature.
 *
 * Source: interface section 5.3; OpenID Connect Core 3.1.3.7, steps 2 to 5, 9 and 10; RFC 7519
 * 4.1.4 to 4.1.6.
 */
export const refuseUnproven = (claims: IdTokenClaims, expected: Expectations): Refusal | undefined => {
  if (claims.iss !== expected.issuer) return refuse('issuer-mismatch', 'iss is not the expected issuer');
  return refuseAudience(claims, expected) ?? refuseTime(claims, expected);
};

/**
 * Any of several audiences could use the token at the others, so `azp` must then name this client.
 */
const refuseAudience = (claims: IdTokenClaims, expected: Expectations): Refusal | undefined => {
  const audiences = typeof claims.aud === 'string' ? [claims.aud] : claims.aud;
  if (!audiences.includes(expected.clientId)) {
    return refuse('audience-mismatch', 'aud does not contain the client');
  }
  const others = audiences.filter((each) => each !== expected.clientId);
  const { trustedAudiences, authorizedParties } = expected;
  if (trustedAudiences !== undefined && others.some((each) => !trustedAudiences.includes(each))) {
    return refuse('audience-untrusted', 'aud contains an audience that is not trusted');
  }
  if (claims.azp === undefined) {
    if (others.length === 0) return undefined;
    return refuse('authorized-party-missing', 'aud has several audiences, and the token has no azp');
  }
  if (authorizedParties.includes(claims.azp)) return undefined;
  return refuse('authorized-party-mismatch', 'azp is neither the client nor another authorised party');
};

const refuseTime = (claims: IdTokenClaims, expected: Expectations): Refusal | undefined => {
  const { nowSeconds, toleranceSeconds } = expected;
  if (claims.iat > nowSeconds + toleranceSeconds) {
    return refuse('issued-in-future', 'iat is later than now');
  }
  if (claims.nbf !== undefined && claims.nbf > nowSeconds + toleranceSeconds) {
    return refuse('not-yet-valid', 'nbf is later than now');
  }
  // At `exp` itself the token has expired.
  if (nowSeconds >= claims.exp + toleranceSeconds) return refuse('expired', 'exp has passed');
  return undefined;
};

const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest();

/** In a time that depends neither on the difference nor on the lengths. */
export const isSameText = (one: string, other: string): boolean =>
  timingSafeEqual(digest(one), digest(other));

/**
 * The checks after the signature: whether a genuine token belongs to this login.
 *
 * Source: interface section 5.3; OpenID Connect Core 3.1.3.6, 3.1.3.7 (steps 11 to 13), 3.1.3.8 and
 * 12.2.
 */
export const refuseProven = (
  claims: IdTokenClaims,
  algorithm: string,
  expected: Expectations,
): Refusal | undefined =>
  refuseNonce(claims, expected) ??
  refuseSubject(claims, expected) ??
  refuseAccessToken(claims, algorithm, expected) ??
  refuseAuthenticationTime(claims, expected) ??
  refuseAcr(claims, expected);

const refuseNonce = ({ nonce }: IdTokenClaims, expected: Expectations): Refusal | undefined => {
  if (expected.nonce === undefined) {
    return nonce === undefined
      ? undefined
      : refuse('nonce-unexpected', 'nonce is there, and none was expected');
  }
  if (nonce === undefined) {
    return expected.nonceOptional ? undefined : refuse('nonce-missing', 'the token has no nonce');
  }
  return isSameText(nonce, expected.nonce)
    ? undefined
    : refuse('nonce-mismatch', 'nonce is not that of the request');
};

const refuseSubject = ({ sub }: IdTokenClaims, { subject }: Expectations): Refusal | undefined =>
  subject === undefined || subject === sub
    ? undefined
    : refuse('subject-mismatch', 'sub is not the expected subject');

/** The left half of the hash of the access token, in base64url. */
const accessTokenHash = (accessToken: string, algorithm: string): string | undefined => {
  const name = hashOfAlgorithm.get(algorithm);
  if (name === undefined) return undefined;
  const digest = createHash(name).update(accessToken, 'ascii').digest();
  return digest.subarray(0, digest.length / 2).toString('base64url');
};

const refuseAccessToken = (
  claims: IdTokenClaims,
  algorithm: string,
  { accessToken, accessTokenHashOptional }: Expectations,
): Refusal | undefined => {
  if (accessToken === undefined) return undefined;
  if (claims.at_hash === undefined) {
    return accessTokenHashOptional
      ? undefined
      : refuse('access-token-hash-missing', 'the token has no at_hash');
  }
  const hash = accessTokenHash(accessToken, algorithm);
  return hash !== undefined && isSameText(claims.at_hash, hash)
    ? undefined
    : refuse('access-token-hash-mismatch', 'at_hash is not that of the access token');
};

const refuseAuthenticationTime = (claims: IdTokenClaims, expected: Expectations): Refusal | undefined => {
  const { maxAgeSeconds, nowSeconds, toleranceSeconds } = expected;
  if (maxAgeSeconds === undefined) return undefined;
  if (claims.auth_time === undefined) {
    return refuse('authentication-time-missing', 'the token has no auth_time');
  }
  return nowSeconds - claims.auth_time > maxAgeSeconds + toleranceSeconds
    ? refuse('authentication-too-old', 'auth_time is longer ago than allowed')
    : undefined;
};

const refuseAcr = ({ acr }: IdTokenClaims, { acrValues }: Expectations): Refusal | undefined => {
  if (acrValues === undefined) return undefined;
  if (acr === undefined) return refuse('acr-missing', 'the token has no acr');
  return acrValues.includes(acr)
    ? undefined
    : refuse('acr-not-accepted', 'acr is none of the accepted values');
};
