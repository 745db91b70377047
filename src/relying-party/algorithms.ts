/**
 * The signature algorithms that an ID token can have here, with the hash that `at_hash` is made with.
 *
 * A name that is missing from this table is not acceptable, whoever lists it. `none` is missing because it is no
 * signature, HS* because a key that the relying party has is one that the relying party could have signed with.
 *
 * Source: RFC 7518 3.1, RFC 8037 3.1, RFC 9864; OpenID Connect Core 3.1.3.6 for the hash. EdDSA names no hash; SHA-512,
 * the one inside Ed25519, is what providers use.
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
