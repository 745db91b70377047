/**
 * Tokens that must be refused, each with the reason. All but one thing about each is right, so that no other check can
 * refuse it by chance; where several apply the row says which comes first.
 */
import type { IdTokenFailure, ValidateIdTokenOptions } from '../../src/relying-party/index.ts';

export type Row = readonly [
  name: string,
  token: unknown,
  reason: IdTokenFailure,
  options?: Partial<ValidateIdTokenOptions>,
];

export const everyAlgorithm: Partial<ValidateIdTokenOptions> = {
  algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA', 'none', 'HS256'],
};
