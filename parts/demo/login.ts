/**
 * A login: its choices, its pushed request, and the state that is kept until the browser returns.
 */
import { createHash, randomBytes } from 'node:crypto';
import { EncryptJWT, jwtDecrypt } from 'jose';
import { type PageLanguage, pageLanguages } from '../../src/http/pages/languages.ts';
import {
  type AcrValue,
  acrValues,
  type OauthScope,
  oauthScopes,
} from '../../src/registry/oauth-client.ts';

export const demoClientIds = ['demo', 'demo-public', 'demo-201'] as const;
export type DemoClientId = (typeof demoClientIds)[number];

export interface Choices {
  readonly clientId: DemoClientId;
  /** The number in the visitor's spelling; empty when the login page should ask for it. */
  readonly number: string;
  readonly scopes: readonly OauthScope[];
  readonly acrValue: AcrValue | undefined;
  readonly language: PageLanguage | undefined;
  /** Whether to go to the login page at once, without showing the pushed request. */
  readonly straight: boolean;
}

export const firstChoices: Choices = {
  clientId: 'demo',
  number: '+41700092501',
  scopes: ['openid', 'profile', 'phone'],
  acrValue: undefined,
  language: undefined,
  straight: false,
};

/** The longest number. Longer texts are not numbers, and would not fit into the cookie. */
const maxNumberLength = 40;

const among = <T extends string>(known: readonly T[], text: string | null): T | undefined =>
  known.find((value) => value === text);

/** Reads the form. Unknown values count as not chosen. */
export const readChoices = (form: URLSearchParams): Choices => {
  const asked = form.getAll('scope');
  const written = (form.get('other') ?? '').trim();
  return {
    clientId: among(demoClientIds, form.get('client')) ?? firstChoices.clientId,
    number: (written || (form.get('number') ?? '').trim()).slice(0, maxNumberLength),
    scopes: oauthScopes.filter((scope) => scope === 'openid' || asked.includes(scope)),
    acrValue: among(acrValues, form.get('acr')),
    language: among(pageLanguages, form.get('language')),
    straight: form.has('straight'),
  };
};

/** The state that links an answer to this browser. A real application keeps it in its session. */
export interface LoginState {
  readonly choices: Choices;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly requestUri: string;
}

export type Fields = Readonly<Record<string, string>>;

type Secrets = Pick<LoginState, 'state' | 'nonce' | 'codeVerifier'>;

export const newSecrets = (): Secrets => ({
  state: randomBytes(16).toString('base64url'),
  nonce: randomBytes(16).toString('base64url'),
  codeVerifier: randomBytes(32).toString('base64url'),
});

/** A login hint with one number only, so that the login page just asks for a confirmation. */
const hintFor = (number: string): string =>
  JSON.stringify({ enableManualInput: false, hints: [{ msisdn: number, default: true }] });

/**
 * Makes the pushed request of a relying party.
 *
 * Sources: RFC 9126 section 2.1, RFC 7636 section 4.3, OpenID Connect Core section 3.1.2.1.
 */
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

/** The life of the cookie, a little longer than the provider waits for a browser. */
export const loginStateSeconds = 1800;

const audience = 'demo login';

/** @param key The key, 32 bytes. */
export const createLoginStates = (key: Uint8Array, now: () => number) => ({
  seal: (login: LoginState): Promise<string> =>
    new EncryptJWT({ login })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setAudience(audience)
      .setExpirationTime(Math.floor(now() / 1000) + loginStateSeconds)
      .encrypt(key),
  /** @returns Undefined for a state that is too old, or was not sealed with this key. */
  open: async (sealed: string): Promise<LoginState | undefined> => {
    try {
      const { payload } = await jwtDecrypt<{ readonly login: LoginState }>(sealed, key, {
        audience,
        requiredClaims: ['exp'],
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
        currentDate: new Date(now()),
      });
      return payload.login;
    } catch {
      return undefined;
    }
  },
});
