import type { IdTokenClaims } from './claims.ts';
import { type Refusal, refuse } from './failure.ts';
import type { Expectations } from './parameters.ts';

/**
 * The checks that come before the signature: who made the token, for whom, and when.
 *
 * They cost nothing, and what fails here fetches no key and computes no signature.
 *
 * Source: interface section 5.3; OpenID Connect Core 3.1.3.7, steps 2 to 5, 9 and 10; RFC 7519 4.1.4 to 4.1.6.
 */
export const refuseUnproven = (claims: IdTokenClaims, expected: Expectations): Refusal | undefined => {
  if (claims.iss !== expected.issuer) return refuse('issuer-mismatch', 'iss is not the expected issuer');
  return refuseAudience(claims, expected) ?? refuseTime(claims, expected);
};

/**
 * A token for several audiences could be used at this one by any of the others. It is taken when `azp` says that it
 * was made for this client.
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
  // At `exp` itself the token is already expired.
  if (nowSeconds >= claims.exp + toleranceSeconds) return refuse('expired', 'exp has passed');
  return undefined;
};
