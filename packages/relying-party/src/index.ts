/**
 * `paraph/relying-party`: checks the answers of any OpenID provider to a login. Of Paraph it uses
 * `loopback.ts` alone.
 */
export type { IdTokenClaims } from './claims.ts';
export type { ValidateIdTokenOptions } from './expectations.ts';
export type { IdTokenFailure } from './failure.ts';
export { createJwksCache, type JwksCache, type JwksCacheOptions } from './jwks-cache.ts';
export {
  type AuthorizationResponse,
  checkGrantedScope,
  type ExpectedResponse,
  type GrantedScope,
  readAuthorizationResponse,
} from './responses.ts';
export { type IdTokenResult, validateIdToken } from './validate-id-token.ts';
