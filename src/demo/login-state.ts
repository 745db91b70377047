/**
 * What the relying party has to remember between its two pages, in a cookie that only it can read: the values that prove that
 * the answer belongs to this browser (state, nonce, code_verifier), and what was chosen, to show it again.
 *
 * A real application keeps this in its session. A cookie needs no store, and dies with its time.
 */
import { EncryptJWT, jwtDecrypt } from 'jose';
import type { Choices } from './choices.ts';

export interface LoginState {
  readonly choices: Choices;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly requestUri: string;
}

export interface LoginStates {
  seal(login: LoginState): Promise<string>;
  /** Undefined for one that is too old, or is none of ours. */
  open(sealed: string): Promise<LoginState | undefined>;
}

/** As long as the provider gives a browser, and a little more. */
export const loginStateSeconds = 1800;

const audience = 'demo login';

/** @param key 32 bytes. */
export const createLoginStates = (key: Uint8Array, now: () => number): LoginStates => ({
  seal: (login) =>
    new EncryptJWT({ login })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setAudience(audience)
      .setExpirationTime(Math.floor(now() / 1000) + loginStateSeconds)
      .encrypt(key),
  open: async (sealed) => {
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
