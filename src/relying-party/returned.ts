/**
 * Checks what the provider's redirect has brought: anyone can write a link to this address.
 *
 * Sources: RFC 6749 4.1.2.1 (errors) and 10.12 (state), RFC 9207 (iss).
 */
import { isSameText } from './checks.ts';

/**
 * code     To be exchanged for tokens.
 * error    The provider says that the login failed.
 * refused  Not the answer to the login of this browser.
 */
export type Returned =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'error'; readonly error: string; readonly description: string }
  | { readonly kind: 'refused'; readonly why: 'state' | 'issuer' | 'malformed' };

export const readReturned = (
  query: URLSearchParams,
  expected: { readonly state: string; readonly issuer: string },
): Returned => {
  const names = [...query.keys()];
  if (new Set(names).size !== names.length) return { kind: 'refused', why: 'malformed' };
  if (!isSameText(query.get('state') ?? '', expected.state)) return { kind: 'refused', why: 'state' };
  if (query.get('iss') !== expected.issuer) return { kind: 'refused', why: 'issuer' };
  const error = query.get('error');
  if (error !== null) {
    return { kind: 'error', error, description: query.get('error_description') ?? '' };
  }
  const code = query.get('code');
  return code ? { kind: 'code', code } : { kind: 'refused', why: 'malformed' };
};
