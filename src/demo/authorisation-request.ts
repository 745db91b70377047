/** The pushed request of a login, as a relying party makes it. */
import { createHash, randomBytes } from 'node:crypto';
import type { Choices } from './choices.ts';
import type { LoginState } from './login-state.ts';

export type Fields = Readonly<Record<string, string>>;

type Secrets = Pick<LoginState, 'state' | 'nonce' | 'codeVerifier'>;

export const newSecrets = (): Secrets => ({
  state: randomBytes(16).toString('base64url'),
  nonce: randomBytes(16).toString('base64url'),
  codeVerifier: randomBytes(32).toString('base64url'),
});

/** One number, and no other: the login page asks for a confirmation only. */
const hintFor = (number: string): string =>
  JSON.stringify({ enableManualInput: false, hints: [{ msisdn: number, default: true }] });

/** Sources: RFC 9126 section 2.1, RFC 7636 section 4.3, OpenID Connect Core section 3.1.2.1. */
export const authorisationRequest = (
  { clientId, number, scopes, acrValue, language }: Choices,
  { state, nonce, codeVerifier }: Secrets,
  redirectUri: string,
): Fields => ({
  client_id: clientId,
  response_type: 'code',
  redirect_uri: redirectUri,
  scope: scopes.join(' '),
  // Without it the provider gives no refresh token (OpenID Connect Core section 11).
  ...(scopes.includes('offline_access') && { prompt: 'consent' }),
  ...(acrValue !== undefined && { acr_values: acrValue }),
  ...(language !== undefined && { ui_locales: language }),
  ...(number !== '' && { login_hint: hintFor(number) }),
  state,
  nonce,
  code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
  code_challenge_method: 'S256',
});
