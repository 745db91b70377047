import { type CryptoKey, compactVerify, errors } from 'jose';
import { refuseProven, refuseUnproven } from './checks.ts';
import { type IdTokenClaims, readClaims } from './claims.ts';
import { readParameters, type ValidateIdTokenOptions } from './expectations.ts';
import { type IdTokenRefusal, refuse } from './failure.ts';
import { checkHeader, readCompact } from './token.ts';

export type IdTokenResult = { readonly ok: true; readonly claims: IdTokenClaims } | IdTokenRefusal;

const refuseSignature = async (
  token: string,
  key: CryptoKey,
  algorithm: string,
): Promise<IdTokenRefusal | undefined> => {
  try {
    await compactVerify(token, key, { algorithms: [algorithm] });
    return undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError)
      return refuse('bad-signature', 'the signature does not verify');
    // Other errors are about the key: an RSA key of 1024 bits, for example.
    return refuse('key-unsuitable', 'the key cannot be used for this algorithm');
  }
};

/**
 * Decides whether an ID token is this provider's answer to this client about this login. Cheap
 * checks come first: form, header, issuer, audience, times; then the key, which may need a fetch;
 * then the signature, and what binds the token to the login.
 *
 * @param token The compact form from the token endpoint; any other value is refused, not thrown.
 * @returns The claims, or the first check that failed.
 * @throws (rejects) TypeError for an unusable option: an empty issuer or list of acr values, no
 * usable algorithm. Nothing else.
 *
 * Source: interface section 5.3; OpenID Connect Core 3.1.3.6 to 3.1.3.8; RFC 8725.
 */
export const validateIdToken = async (
  token: string,
  options: ValidateIdTokenOptions,
): Promise<IdTokenResult> => {
  const expected = readParameters(options);
  const compact = readCompact(token);
  if (!compact.ok) return compact;
  const header = checkHeader(compact.header, expected.algorithms);
  if (!header.ok) return header;
  const read = readClaims(compact.payload);
  if (!read.ok) return read;
  const unproven = refuseUnproven(read.claims, expected);
  if (unproven) return unproven;
  const found = await expected.jwks.find(header.kid, header.algorithm);
  if (!found.ok) return found;
  const refusal =
    (await refuseSignature(token, found.key, header.algorithm)) ??
    refuseProven(read.claims, header.algorithm, expected);
  return refusal ?? read;
};
