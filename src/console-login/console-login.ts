/**
 * The console as a relying party of our own provider. It calls the provider's public interface and
 * validates the answers with the code that we give to others, although both are in one process.
 *
 * State, nonce and verifier bind an answer to its browser; the caller keeps them until the browser
 * returns. Each login asks the phone (`prompt=login`) and counts only when the phone was asked
 * after it had begun, whatever single sign-on allows.
 *
 * Sources: OpenID Connect Core 3.1, RFC 9126 (pushed request), RFC 7636 (PKCE), RFC 9207 (`iss`).
 */
import { createHash, randomBytes } from 'node:crypto';
import { consoleCallbackPath, consoleClientId } from '../registry/console-client.ts';
import type { AcrValue } from '../registry/oauth-client.ts';
import { createJwksCache, readAuthorizationResponse, validateIdToken } from '../relying-party/index.ts';
import type { ClientKey } from './client-key.ts';
import { type LoginProblem, problemIn } from './login-problem.ts';
import type { SubjectOf } from './subjects.ts';

/** Asks this service without the network. @param path Path and query. */
export type OwnFetch = (path: string, init?: RequestInit) => Promise<Response>;

/** Kept between the two requests of a login; each value is a secret of its browser. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Milliseconds since the epoch. */
  readonly begunAt: number;
}

/**
 * answered  Remove the login from what is kept, and `finish` it: only one caller may.
 * foreign   Not the answer to this login, which continues: anyone can write a link to the callback.
 */
export type Returned =
  | { readonly kind: 'answered'; finish(): Promise<Finished> }
  | { readonly kind: 'foreign' };

export type Finished =
  | { readonly ok: true; readonly subject: string }
  | { readonly ok: false; readonly problem: LoginProblem };

export interface ConsoleLoginOptions {
  readonly key: ClientKey;
  readonly subjectOf: SubjectOf;
  /** Asked at each login, because the address may be known only when the server listens. */
  readonly provider: () => { readonly issuer: string; readonly path: string };
  readonly publicUrl: () => string;
  /** One of these is required. */
  readonly acrValues: readonly AcrValue[];
  /** Of the sandbox: a number that signs by itself, offered on the provider's page. */
  readonly sampleNumber: string | undefined;
  readonly fetch: OwnFetch;
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

const hintOf = (msisdn: string): string =>
  JSON.stringify({ enableManualInput: true, hints: [{ msisdn, default: true }] });

export const createConsoleLogin = (options: ConsoleLoginOptions) => {
  const { key, provider, publicUrl, subjectOf, acrValues, sampleNumber, fetch, now, log } = options;
  const redirectUri = (): string => `${publicUrl()}${consoleCallbackPath}`;
  const jwks = createJwksCache({
    // Only https and loopback addresses are accepted; `fetch` decides where the keys come from.
    jwksUri: 'http://127.0.0.1/jwks.json',
    fetch: (_, init) => fetch(`${provider().path}/jwks.json`, init),
    now,
  });

  const trouble = (what: string, error: unknown): void =>
    log.trouble(
      error instanceof Error
        ? new Error(`${what}: ${error.message}`, { cause: error })
        : new Error(`${what}: ${error}`),
    );

  const post = async <Member extends string>(
    endpoint: '/par' | '/token',
    fields: Readonly<Record<string, string>>,
    members: readonly Member[],
  ): Promise<Answer<Member>> => {
    const { issuer, path } = provider();
    const body = new URLSearchParams({
      client_id: consoleClientId,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: await key.assertion(issuer),
      ...fields,
    });
    const response = await fetch(`${path}${endpoint}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: body.toString(),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const answer = Object(await response.json().catch(() => undefined)) as Readonly<Record<string, unknown>>;
    const texts = Object.fromEntries(members.map((member) => [member, answer[member]]));
    if (response.ok && Object.values(texts).every((text) => typeof text === 'string')) {
      return { ok: true as const, ...(texts as Record<Member, string>) };
    }
    const { error } = answer;
    const isNamed = typeof error === 'string' && errorName.test(error);
    return { ok: false, error: isNamed ? error : `status ${response.status}` };
  };

  const prove = async (code: string, { nonce, codeVerifier, begunAt }: LoginSecrets): Promise<Finished> => {
    const redemption = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri(),
      code_verifier: codeVerifier,
    };
    const redeemed = await post('/token', redemption, ['id_token', 'access_token']);
    if (!redeemed.ok) {
      trouble('The provider gave no tokens for a login of the console', redeemed.error);
      return { ok: false, problem: 'failed' };
    }
    const validated = await validateIdToken(redeemed.id_token, {
      issuer: provider().issuer,
      clientId: consoleClientId,
      jwks,
      nonce,
      accessToken: redeemed.access_token,
      acrValues,
      trustedAudiences: [],
      maxAgeSeconds: Math.ceil((now() - begunAt) / 1000),
      now,
    });
    if (validated.ok) return { ok: true, subject: validated.claims.sub };
    trouble('The ID token of a login of the console was refused', validated.detail);
    return { ok: false, problem: 'failed' };
  };

  return {
    subjectOf,

    /**
     * @returns The secrets to keep and where to send the browser; undefined when the provider refuses.
     */
    begin: async (): Promise<{ readonly secrets: LoginSecrets; readonly address: string } | undefined> => {
      const secrets = { state: random(), nonce: random(), codeVerifier: random(), begunAt: now() };
      const request = {
        response_type: 'code',
        redirect_uri: redirectUri(),
        scope: 'openid',
        prompt: 'login',
        acr_values: acrValues.join(' '),
        ...(sampleNumber !== undefined && { login_hint: hintOf(sampleNumber) }),
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: createHash('sha256').update(secrets.codeVerifier).digest('base64url'),
        code_challenge_method: 'S256',
      };
      const pushed = await post('/par', request, ['request_uri']).catch((error: unknown) => ({
        ok: false as const,
        error,
      }));
      if (!pushed.ok) {
        trouble('The provider did not take a login of the console', pushed.error);
        return undefined;
      }
      const query = new URLSearchParams({ client_id: consoleClientId, request_uri: pushed.request_uri });
      return { secrets, address: `${provider().issuer}/auth?${query}` };
    },

    /** @param query Of the callback. */
    readReturned: (query: URLSearchParams, secrets: LoginSecrets): Returned => {
      const { issuer } = provider();
      const returned = readAuthorizationResponse(query, { state: secrets.state, issuer });
      switch (returned.kind) {
        case 'refused':
          return { kind: 'foreign' };
        case 'error':
          return {
            kind: 'answered',
            finish: async () => ({ ok: false, problem: problemIn(returned.description) }),
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

export type ConsoleLogin = ReturnType<typeof createConsoleLogin>;
