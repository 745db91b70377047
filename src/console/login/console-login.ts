/**
 * The console as a relying party of our own provider, although both are in one process: the login
 * with the phone. Each login asks the phone (`prompt=login`) and counts only when the phone was
 * asked after it had begun, whatever single sign-on allows.
 */

import { createJwksCache } from '../../../packages/relying-party/src/index.ts';
import { consoleCallbackPath, consoleClientId } from '../../registry/console-client.ts';
import type { AcrValue } from '../../registry/oauth-client.ts';
import type { ClientKey } from './client-key.ts';
import { type CodeLogin, createCodeLogin } from './code-login.ts';
import { problemIn } from './login-problem.ts';
import type { SubjectOf } from './subjects.ts';

/** Asks this service without the network. @param path Path and query. */
export type OwnFetch = (path: string, init?: RequestInit) => Promise<Response>;

export interface ConsoleLoginOptions {
  readonly key: ClientKey;
  readonly subjectOf: SubjectOf;
  /** Asked at each login, because the address may be known only when the server listens. */
  readonly provider: () => { readonly issuer: string; readonly path: string };
  readonly publicUrl: () => string;
  /** One of these is required. */
  readonly acrValues: readonly AcrValue[];
  /** The number of the sandbox that signs by itself; offered on the provider's page. */
  readonly sampleNumber: string | undefined;
  readonly fetch: OwnFetch;
  readonly now: () => number;
  readonly log: { trouble(error: Error): void };
}

export interface ConsoleLogin extends CodeLogin {
  readonly subjectOf: SubjectOf;
}

const hintOf = (msisdn: string): string =>
  JSON.stringify({ enableManualInput: true, hints: [{ msisdn, default: true }] });

export const createConsoleLogin = (options: ConsoleLoginOptions): ConsoleLogin => {
  const { key, provider, publicUrl, subjectOf, acrValues, sampleNumber, fetch, now, log } = options;
  const jwks = createJwksCache({
    // Only https and loopback addresses are accepted; `fetch` decides where the keys come from.
    jwksUri: 'http://127.0.0.1/jwks.json',
    fetch: (_, init) => fetch(`${provider().path}/jwks.json`, init),
    now,
  });
  const login = createCodeLogin({
    issuer: () => provider().issuer,
    clientId: consoleClientId,
    redirectUri: () => `${publicUrl()}${consoleCallbackPath}`,
    provider: async () => {
      const { issuer, path } = provider();
      return {
        issuer,
        authorizationEndpoint: `${issuer}/auth`,
        tokenEndpoint: `${path}/token`,
        parEndpoint: `${path}/par`,
        issuerOptional: false,
        jwks,
        algorithms: ['RS256'],
        prove: async () => ({
          fields: {
            client_id: consoleClientId,
            client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
            client_assertion: await key.assertion(issuer),
          },
        }),
      };
    },
    parameters: {
      scope: 'openid',
      prompt: 'login',
      acr_values: acrValues.join(' '),
      ...(sampleNumber !== undefined && { login_hint: hintOf(sampleNumber) }),
    },
    expected: ({ begunAt }) => ({
      acrValues,
      maxAgeSeconds: Math.ceil((now() - begunAt) / 1000),
    }),
    problemOf: ({ description }) => problemIn(description),
    fetch,
    now,
    log,
  });
  return { ...login, subjectOf };
};
