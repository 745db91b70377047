/**
 * What relying parties import from `paraph/relying-party`: validation of ID tokens. It uses nothing else of Paraph and
 * works with any OpenID provider.
 */
export type { IdTokenClaims } from './claims.ts';
export type { ValidateIdTokenOptions } from './expectations.ts';
export type { IdTokenFailure } from './failure.ts';
export { createJwksCache, type JwksCache, type JwksCacheOptions } from './jwks-cache.ts';
export { type IdTokenResult, validateIdToken } from './validate-id-token.ts';
