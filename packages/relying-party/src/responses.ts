/**
 * Checks the two answers of a login beside the ID token. Anyone can write a link to the callback,
 * so the redirect must belong to the login of this browser. The token response must have granted
 * the scopes that were asked for.
 *
 * Sources: interface section 5.4; RFC 6749 3.3, 4.1.2.1, 5.1 and 10.12; RFC 9207 (iss).
 */
import { isSameText } from './checks.ts';
import { requireText } from './expectations.ts';

/**
 * code     To be exchanged for tokens.
 * error    The provider says that the login failed.
 * refused  Not the answer to the login of this browser.
 */
export type AuthorizationResponse =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'error'; readonly error: string; readonly description: string }
  | { readonly kind: 'refused'; readonly why: 'state' | 'issuer' | 'malformed' };

export interface ExpectedResponse {
  /** The `state` that was sent, kept in the browser's session. */
  readonly state: string;
  readonly issuer: string;
  /** Accepts an answer without `iss`, for providers that send none. One that is sent must match. */
  readonly issuerOptional?: boolean;
}

/**
 * @param query The query of the callback, or the form of `response_mode=form_post`.
 * @throws TypeError for an empty state or issuer, which a stranger's link could match.
 */
export const readAuthorizationResponse = (
  query: URLSearchParams,
  { state, issuer, issuerOptional = false }: ExpectedResponse,
): AuthorizationResponse => {
  for (const [name, value] of Object.entries({ state, issuer })) requireText(name, value);
  const names = [...query.keys()];
  if (new Set(names).size !== names.length) return { kind: 'refused', why: 'malformed' };
  if (!isSameText(query.get('state') ?? '', state)) return { kind: 'refused', why: 'state' };
  const iss = query.get('iss');
  if (iss !== issuer && !(iss === null && issuerOptional))
    return { kind: 'refused', why: 'issuer' };
  const error = query.get('error');
  if (error !== null) {
    return { kind: 'error', error, description: query.get('error_description') ?? '' };
  }
  const code = query.get('code');
  return code ? { kind: 'code', code } : { kind: 'refused', why: 'malformed' };
};

/** `missing` were asked for and not granted, `unexpected` the other way round. */
export interface GrantedScope {
  readonly ok: boolean;
  readonly granted: readonly string[];
  readonly missing: readonly string[];
  readonly unexpected: readonly string[];
}

/**
 * Compares what a token response grants with what was asked for. Without `scope` in it, that is the
 * same.
 *
 * @param response The JSON of the token response.
 * @param requested The `scope` of the authorisation request: `openid phone`.
 */
export const checkGrantedScope = (
  response: { readonly scope?: unknown },
  requested: string,
): GrantedScope => {
  const wordsOf = (text: string): readonly string[] => [
    ...new Set(text.split(' ').filter(Boolean)),
  ];
  const asked = wordsOf(requested);
  const { scope = requested } = response;
  const granted = typeof scope === 'string' ? wordsOf(scope) : [];
  const missing = asked.filter((name) => !granted.includes(name));
  const unexpected = granted.filter((name) => !asked.includes(name));
  return { ok: missing.length === 0 && unexpected.length === 0, granted, missing, unexpected };
};
