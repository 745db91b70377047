/**
 * A login to the console by the code flow of OpenID Connect: at our own provider, which asks the
 * phone (console-login.ts), and at that of the operator's organisation (provider-login.ts). Both
 * are called over their public interface, and their answers are validated with the code that we
 * give to others.
 *
 * State, nonce and verifier bind an answer to its browser; the caller keeps them until the browser
 * returns.
 *
 * Sources: OpenID Connect Core 3.1, RFC 9126 (pushed request), RFC 7636 (PKCE), RFC 9207 (`iss`).
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  type IdTokenClaims,
  type JwksCache,
  readAuthorizationResponse,
  type ValidateIdTokenOptions,
  validateIdToken,
} from '../../../packages/relying-party/src/index.ts';
import { readJson } from '../../../packages/relying-party/src/read-json.ts';
import type { LoginProblem } from './login-problem.ts';

/** Kept between the two requests of a login; the first three are secrets of its browser. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Milliseconds since the epoch. */
  readonly begunAt: number;
  /** The provider did not promise `iss` in its answer. One that is there must still match. */
  readonly issuerOptional: boolean;
}

/** A provider, and how our client proves itself there. */
export interface LoginProvider {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  /** The address to which the request is pushed. Without it, the browser carries the request. */
  readonly parEndpoint: string | undefined;
  readonly issuerOptional: boolean;
  readonly jwks: JwksCache;
  readonly algorithms: readonly string[];
  /** Adds to the fields and headers of a request that the client makes itself. */
  readonly prove: () => Promise<{
    readonly fields: Readonly<Record<string, string>>;
    readonly headers?: Readonly<Record<string, string>>;
  }>;
}

/**
 * answered  Remove the login from what is kept, and `finish` it: only one caller may.
 * foreign   Not the answer to this login, which continues: anyone can write a link to the callback.
 */
export type Returned =
  | { readonly kind: 'answered'; finish(): Promise<Finished> }
  | { readonly kind: 'foreign' };

export type Finished =
  | { readonly ok: true; readonly claims: IdTokenClaims }
  | { readonly ok: false; readonly problem: LoginProblem };

export interface CodeLoginOptions {
  /** The provider's issuer. It is known before the provider can be reached. */
  readonly issuer: () => string;
  readonly clientId: string;
  readonly redirectUri: () => string;
  /** @returns The provider; or, as a text for the log, why it cannot be reached. */
  readonly provider: () => Promise<LoginProvider | string>;
  /** Members of the authorisation request beside those of every login. */
  readonly parameters: Readonly<Record<string, string>>;
  /** What an ID token must have beside what it always must. */
  readonly expected: (secrets: LoginSecrets) => Partial<ValidateIdTokenOptions>;
  readonly problemOf: (answer: {
    readonly error: string;
    readonly description: string;
  }) => LoginProblem;
  readonly fetch: (address: string, init: RequestInit) => Promise<Response>;
  readonly now: () => number;
  readonly log: { trouble(error: Error): void };
}

/** The requested members, all of them texts; else the OAuth error or the status. */
type Answer<Member extends string> =
  | ({ readonly ok: true } & Readonly<Record<Member, string>>)
  | { readonly ok: false; readonly error: string };

const timeoutMs = 10_000;
const errorName = /^[a-z_]{1,40}$/;

const random = (): string => randomBytes(32).toString('base64url');

export const createCodeLogin = (options: CodeLoginOptions) => {
  const { clientId, redirectUri, parameters, problemOf, fetch, now, log } = options;

  const trouble = (what: string, error: unknown): void =>
    log.trouble(
      error instanceof Error
        ? new Error(`${what}: ${error.message}`, { cause: error })
        : new Error(`${what}: ${error}`),
    );

  const post = async <Member extends string>(
    { prove }: LoginProvider,
    endpoint: string,
    fields: Readonly<Record<string, string>>,
    members: readonly Member[],
  ): Promise<Answer<Member>> => {
    const proof = await prove();
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        ...proof.headers,
      },
      body: new URLSearchParams({ ...proof.fields, ...fields }).toString(),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const read = await readJson(response);
    const answer = Object(read === 'too-large' ? undefined : read.value) as Readonly<
      Record<string, unknown>
    >;
    const texts = Object.fromEntries(members.map((member) => [member, answer[member]]));
    if (response.ok && Object.values(texts).every((text) => typeof text === 'string')) {
      return { ok: true as const, ...(texts as Record<Member, string>) };
    }
    const { error } = answer;
    const isNamed = typeof error === 'string' && errorName.test(error);
    return { ok: false, error: isNamed ? error : `status ${response.status}` };
  };

  const prove = async (code: string, secrets: LoginSecrets): Promise<Finished> => {
    const provider = await options.provider();
    if (typeof provider === 'string') throw new Error(provider);
    const redemption = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri(),
      code_verifier: secrets.codeVerifier,
    };
    const redeemed = await post(provider, provider.tokenEndpoint, redemption, [
      'id_token',
      'access_token',
    ]);
    if (!redeemed.ok) {
      trouble('The provider gave no tokens for a login of the console', redeemed.error);
      return { ok: false, problem: 'failed' };
    }
    const validated = await validateIdToken(redeemed.id_token, {
      issuer: provider.issuer,
      clientId,
      jwks: provider.jwks,
      algorithms: provider.algorithms,
      nonce: secrets.nonce,
      accessToken: redeemed.access_token,
      trustedAudiences: [],
      now,
      ...options.expected(secrets),
    });
    if (validated.ok) return { ok: true, claims: validated.claims };
    trouble('The ID token of a login of the console was refused', validated.detail);
    return { ok: false, problem: validated.reason === 'keys-unavailable' ? 'away' : 'failed' };
  };

  /** @returns The address for the browser, or why there is none. */
  const ask = async (
    provider: LoginProvider,
    request: Readonly<Record<string, string>>,
  ): Promise<string | { readonly error: string }> => {
    const address = new URL(provider.authorizationEndpoint);
    const whole = { client_id: clientId, ...request };
    const carry = (fields: Readonly<Record<string, string>>): string => {
      for (const [name, value] of Object.entries(fields)) {
        address.searchParams.set(name, value);
      }
      return address.href;
    };
    if (provider.parEndpoint === undefined) return carry(whole);
    const pushed = await post(provider, provider.parEndpoint, whole, ['request_uri']);
    return pushed.ok
      ? carry({ client_id: clientId, request_uri: pushed.request_uri })
      : { error: pushed.error };
  };

  return {
    /**
     * @returns The secrets to keep and where to send the browser; undefined when the provider does
     * not answer, or refuses.
     */
    begin: async (): Promise<
      { readonly secrets: LoginSecrets; readonly address: string } | undefined
    > => {
      const failed = (error: unknown): undefined =>
        trouble('The provider did not take a login of the console', error) as undefined;
      try {
        const provider = await options.provider();
        if (typeof provider === 'string') return failed(provider);
        const secrets = {
          state: random(),
          nonce: random(),
          codeVerifier: random(),
          begunAt: now(),
          issuerOptional: provider.issuerOptional,
        };
        const address = await ask(provider, {
          response_type: 'code',
          redirect_uri: redirectUri(),
          ...parameters,
          state: secrets.state,
          nonce: secrets.nonce,
          code_challenge: createHash('sha256').update(secrets.codeVerifier).digest('base64url'),
          code_challenge_method: 'S256',
        });
        return typeof address === 'string' ? { secrets, address } : failed(address.error);
      } catch (error) {
        return failed(error);
      }
    },

    /** @param query The query of the callback. */
    readReturned: (query: URLSearchParams, secrets: LoginSecrets): Returned => {
      const { state, issuerOptional } = secrets;
      const returned = readAuthorizationResponse(query, {
        state,
        issuer: options.issuer(),
        issuerOptional,
      });
      switch (returned.kind) {
        case 'refused':
          return { kind: 'foreign' };
        case 'error':
          return {
            kind: 'answered',
            finish: async () => ({ ok: false, problem: problemOf(returned) }),
          };
        case 'code':
          return {
            kind: 'answered',
            finish: () =>
              prove(returned.code, secrets).catch((error: unknown) => {
                trouble('The provider could not be asked about a login of the console', error);
                return { ok: false, problem: 'away' };
              }),
          };
      }
    },
  };
};

export type CodeLogin = ReturnType<typeof createCodeLogin>;
