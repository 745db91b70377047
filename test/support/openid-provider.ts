/**
 * A small OpenID provider of an organisation, over HTTP on a port of its own: one person, who is
 * always logged in. It checks what a strict provider checks of its client, and a test can have it
 * lie, or be away.
 *
 * Sources: OpenID Connect Core 3.1, RFC 7636 4.6, RFC 6749 2.3.1.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';

export const organisationClient = { id: 'paraph+console', secret: 'a secret: of 20%, & more' };

/** What the provider does otherwise than it should. */
export interface Behaviour {
  /** Members of the ID token. */
  claims: Record<string, unknown>;
  /** Members of the discovery document; undefined ones are left out. */
  document: Record<string, unknown>;
  /** Members of the redirect back; undefined ones are left out. */
  redirect: Record<string, string | undefined>;
  /** Answers nothing, at no address. */
  isAway: boolean;
  /** With what it signs ID tokens, where that is not its key. */
  signs: 'another-key' | 'secret' | 'none' | undefined;
}

const readBody = async (request: IncomingMessage): Promise<URLSearchParams> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return new URLSearchParams(Buffer.concat(chunks).toString());
};

const answer = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};

const digest = (text: string): string => createHash('sha256').update(text).digest('base64url');
const decode = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));

const readClient = (request: IncomingMessage, form: URLSearchParams): string => {
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (basic === undefined) return `${form.get('client_id')} ${form.get('client_secret')} post`;
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':').map(decode);
  return `${id} ${secret} basic`;
};

export const startOpenidProvider = async () => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const behaviour: Behaviour = {
    claims: {},
    document: {},
    redirect: {},
    isAway: false,
    signs: undefined,
  };
  const another = await generateKeyPair('ES256');

  const signed = (claims: JWTPayload): Promise<string> | string => {
    switch (behaviour.signs) {
      case undefined:
      case 'another-key': {
        const key = behaviour.signs === undefined ? privateKey : another.privateKey;
        return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(key);
      }
      case 'secret': {
        const key = new TextEncoder().encode(organisationClient.secret);
        return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(key);
      }
      case 'none':
        return new UnsecuredJWT(claims).encode();
    }
  };

  const codes = new Map<string, URLSearchParams>();
  const asked: string[] = [];
  let issuer = '';

  const authorize = (query: URLSearchParams, response: ServerResponse): void => {
    const code = randomBytes(16).toString('base64url');
    codes.set(code, query);
    const back = new URL(query.get('redirect_uri') ?? '');
    const members = { state: query.get('state') ?? '', code, iss: issuer, ...behaviour.redirect };
    for (const [name, value] of Object.entries(members)) {
      if (value !== undefined) back.searchParams.set(name, value);
    }
    response.writeHead(303, { location: back.href }).end();
  };

  const redeem = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = await readBody(request);
    const method = behaviour.document.token_endpoint_auth_methods_supported ? 'post' : 'basic';
    const { id, secret } = organisationClient;
    if (readClient(request, form) !== `${id} ${secret} ${method}`) {
      return answer(response, 401, { error: 'invalid_client' });
    }
    const code = form.get('code') ?? '';
    const login = codes.get(code);
    codes.delete(code);
    const isRight =
      form.get('grant_type') === 'authorization_code' &&
      login?.get('redirect_uri') === form.get('redirect_uri') &&
      login?.get('code_challenge_method') === 'S256' &&
      login?.get('code_challenge') === digest(form.get('code_verifier') ?? '');
    if (!isRight) return answer(response, 400, { error: 'invalid_grant' });
    const seconds = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      sub: 'f3c0-olga',
      aud: id,
      iat: seconds,
      exp: seconds + 60,
      nonce: login?.get('nonce') ?? '',
      preferred_username: 'olga',
      groups: ['staff', 'sign-operators'],
      ...behaviour.claims,
    };
    const token = await signed(claims);
    answer(response, 200, { access_token: 'unused', token_type: 'Bearer', id_token: token });
  };

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', issuer);
    asked.push(pathname);
    if (behaviour.isAway) return void request.socket.destroy();
    switch (pathname) {
      case '/realms/house/.well-known/openid-configuration':
        return answer(response, 200, {
          issuer,
          authorization_endpoint: `${issuer}/auth?kept=1`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          id_token_signing_alg_values_supported: ['HS256', 'ES256'],
          authorization_response_iss_parameter_supported: true,
          ...behaviour.document,
        });
      case '/realms/house/keys': {
        const key = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
        return answer(response, 200, { keys: [key] });
      }
      case '/realms/house/auth':
        return authorize(searchParams, response);
      case '/realms/house/token':
        return redeem(request, response);
      default:
        return answer(response, 404, {});
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realms/house`;

  return {
    issuer,
    behaviour,
    /** Paths that were asked for. */
    asked,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

export type TestOpenidProvider = Awaited<ReturnType<typeof startOpenidProvider>>;
