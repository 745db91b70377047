/**
 * `paraph/relying-party`: validation of ID tokens of any OpenID provider. Uses nothing else of
 * Paraph.
 */
export type { IdTokenClaims } from './claims.ts';
export type { ValidateIdTokenOptions } from './expectations.ts';
export type { IdTokenFailure } from './failure.ts';
export { createJwksCache, type JwksCache, type JwksCacheOptions } from './jwks-cache.ts';
export { type IdTokenResult, validateIdToken } from './validate-id-token.ts';
