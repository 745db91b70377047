/**
 * The console as a relying party of the OpenID provider of the operator's organisation: Keycloak,
 * Entra ID, and others. The provider is found by its discovery document; the client proves itself
 * by its secret. Whom the claims of the ID token let in is decided in src/console/operators.
 *
 * Sources: OpenID Connect Core 3.1 and 9, RFC 6749 2.3.1 (how a secret is sent).
 */
import { createJwksCache, type JwksCache } from '../../../packages/relying-party/src/index.ts';
import { hashOfAlgorithm } from '../../../packages/relying-party/src/token.ts';
import { readSecretFile, SettingFileError } from '../../environment/setting-file.ts';
import { type CodeLogin, createCodeLogin, type LoginProvider } from './code-login.ts';
import { createDiscovery, type Discovered } from './discovery.ts';
import type { LoginProblem } from './login-problem.ts';

export const providerCallbackPath = '/admin/login/provider/callback';

/** The clocks of two organisations may differ by this much. */
const clockToleranceSeconds = 60;

const problems: ReadonlyMap<string, LoginProblem> = new Map([
  ['access_denied', 'declined'],
  ['server_error', 'away'],
  ['temporarily_unavailable', 'away'],
]);

/** Encodes a text like a form does: the secret of a provider may hold any character. */
const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

const proofOf = (
  { token_endpoint_auth_methods_supported: methods }: Discovered,
  clientId: string,
  secret: string,
): Awaited<ReturnType<LoginProvider['prove']>> | string => {
  if (methods.includes('client_secret_basic')) {
    const credentials = Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString('base64');
    return { fields: {}, headers: { authorization: `Basic ${credentials}` } };
  }
  return methods.includes('client_secret_post')
    ? { fields: { client_id: clientId, client_secret: secret } }
    : 'it takes no client with a secret (token_endpoint_auth_methods_supported)';
};

/** @throws SettingFileError */
export const readClientSecret = (path: string): string => {
  const key = 'operations.openidProvider.clientSecretFile';
  const secret = readSecretFile(key, path);
  if (secret === '') throw new SettingFileError(key, 'the file is empty');
  return secret;
};

export const createProviderLogin = ({
  settings: { issuer, clientId, scopes },
  secret,
  publicUrl,
  fetch,
  now,
  log,
}: {
  readonly settings: {
    readonly issuer: string;
    readonly clientId: string;
    readonly scopes: readonly string[];
  };
  readonly secret: string;
  readonly publicUrl: () => string;
  readonly fetch: (address: string, init: RequestInit) => Promise<Response>;
  readonly now: () => number;
  readonly log: { trouble(error: Error): void };
}): CodeLogin => {
  const discovery = createDiscovery({ issuer, fetch, now });
  let keys: { readonly from: string; readonly jwks: JwksCache } | undefined;

  const jwksAt = (from: string): JwksCache => {
    if (keys?.from !== from) keys = { from, jwks: createJwksCache({ jwksUri: from, fetch, now }) };
    return keys.jwks;
  };

  const provider = async (): Promise<LoginProvider | string> => {
    const found = await discovery.find();
    if (typeof found === 'string') return found;
    const proof = proofOf(found, clientId, secret);
    if (typeof proof === 'string') return proof;
    const algorithms = found.id_token_signing_alg_values_supported.filter((name) =>
      hashOfAlgorithm.has(name),
    );
    if (algorithms.length === 0) return 'it signs ID tokens by no algorithm that is accepted';
    return {
      issuer,
      authorizationEndpoint: found.authorization_endpoint,
      tokenEndpoint: found.token_endpoint,
      parEndpoint: found.require_pushed_authorization_requests
        ? found.pushed_authorization_request_endpoint
        : undefined,
      issuerOptional: !found.authorization_response_iss_parameter_supported,
      jwks: jwksAt(found.jwks_uri),
      algorithms,
      prove: async () => proof,
    };
  };

  return createCodeLogin({
    issuer: () => issuer,
    clientId,
    redirectUri: () => `${publicUrl()}${providerCallbackPath}`,
    provider,
    parameters: { scope: scopes.join(' ') },
    expected: () => ({ accessTokenHashOptional: true, clockToleranceSeconds }),
    problemOf: ({ error }) => problems.get(error) ?? 'failed',
    fetch,
    now,
    log,
  });
};
