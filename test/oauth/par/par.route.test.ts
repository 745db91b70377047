/**
 * `/oidc/par` over HTTP: methods, bodies, other origins; and that the library takes what was taken
 * here.
 */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createParRoutes } from '../../../src/oauth/par/par.ts';
import type { Tenant } from '../../../src/oauth/tenant.ts';
import { type Json, startTestProduct, type TestProduct } from '../../support/product.ts';
import { testRedis } from '../../support/redis.ts';
import { noLimits } from '../doubles.ts';
import { clientEntry, roomyLimits, secret } from '../interoperability/stage.ts';
import { basic, challenge, encoded, type Fields } from './stage.ts';

const redis = testRedis();
const callback = 'https://client.example/callback';
const branding = { name: 'Other' };
let product: TestProduct;

beforeAll(async () => {
  product = await startTestProduct(redis, {
    listen: true,
    workers: false,
    configuration: {
      http: { maxBodyBytes: 4096, requestTimeoutSeconds: 1 },
      oidc: {
        limits: roomyLimits,
        tenants: [
          {
            id: 'first',
            name: 'First',
            clients: [
              clientEntry('web'),
              clientEntry('lenient', { strictParameters: false }),
              clientEntry('page', {
                authentication: 'none',
                redirectUris: ['https://page.example/cb'],
              }),
            ],
          },
          { id: 'other', ...branding, clients: [clientEntry('web', { parSuccessStatus: 200 })] },
        ],
      },
    },
  });
});
afterAll(() => product.stop());

const form = 'application/x-www-form-urlencoded';
const usual: Fields = {
  client_id: 'web',
  response_type: 'code',
  scope: 'openid',
  redirect_uri: callback,
};

const post = (body: string, headers: Record<string, string> = {}, path = '/oidc/par') =>
  fetch(`${product.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': form, authorization: basic('web', secret), ...headers },
    body,
  });

const expectJson = async (response: Response, status: number, error: string): Promise<void> => {
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/json;charset=UTF-8');
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('pragma')).toBe('no-cache');
  const body = (await response.json()) as Json;
  expect(Object.keys(body).sort()).toEqual(['error', 'error_description']);
  expect(body.error).toBe(error);
};

describe('/par', () => {
  it('answers in the words of the interface', async () => {
    const response = await post(encoded(usual));
    expect(response.status).toBe(201);
    expect(response.headers.get('content-type')).toBe('application/json;charset=UTF-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('pragma')).toBe('no-cache');
    expect(await response.json()).toEqual({
      request_uri: expect.stringMatching(
        /^urn:ietf:params:oauth:request_uri:[\w-]{22}\.[\w-]{22}$/,
      ),
      expires_in: 60,
    });
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
    'answers %s with 405 and what is allowed',
    async (method) => {
      const response = await fetch(`${product.url}/oidc/par`, { method });
      expect(response.headers.get('allow')).toBe('POST');
      await expectJson(response, 405, 'invalid_request');
    },
  );

  it('takes nothing but forms', async () => {
    await expectJson(
      await post('{}', { 'content-type': 'application/json' }),
      400,
      'invalid_request',
    );
  });

  it('takes nothing that is too large, announced or not', async () => {
    const large = encoded({ ...usual, state: 'x'.repeat(5000) });
    await expectJson(await post(large), 413, 'invalid_request');
    const chunks = new ReadableStream({
      start: (controller) => {
        controller.enqueue(Buffer.from(large));
        controller.close();
      },
    });
    const streamed = await fetch(`${product.url}/oidc/par`, {
      method: 'POST',
      headers: { 'content-type': form },
      body: chunks,
      duplex: 'half',
    } as RequestInit);
    await expectJson(streamed, 413, 'invalid_request');
  });

  it('does not wait for ever for a body', async () => {
    const status = await new Promise((resolve, reject) => {
      const waiting = request(
        `${product.url}/oidc/par`,
        { method: 'POST', headers: { 'content-type': form, 'content-length': '100' } },
        (response) => {
          response.resume();
          waiting.destroy();
          resolve(response.statusCode);
        },
      );
      waiting.on('error', reject);
      waiting.write('client_id=web');
    });
    expect(status).toBe(408);
  });

  it('says Basic where Basic was tried and nowhere else', async () => {
    const wrong = await post(encoded(usual), { authorization: basic('web', 'wrong') });
    expect(wrong.headers.get('www-authenticate')).toBe(`Basic realm="${product.url}/oidc"`);
    await expectJson(wrong, 401, 'invalid_client');
    const unknown = await post(encoded({ ...usual, client_id: undefined }), {
      authorization: basic('nobody', 'x'),
    });
    expect(unknown.headers.get('www-authenticate')).toBe(`Basic realm="${product.url}/oidc"`);
    await expectJson(unknown, 401, 'invalid_client');
    const inBody = await fetch(`${product.url}/oidc/par`, {
      method: 'POST',
      headers: { 'content-type': form },
      body: encoded({ ...usual, client_secret: 'wrong' }),
    });
    expect(inBody.headers.has('www-authenticate')).toBe(false);
    await expectJson(inBody, 401, 'invalid_client');
  });

  it('has an address for each tenant, and one for the first', async () => {
    expect((await post(encoded(usual), {}, '/oidc/t/other/par')).status).toBe(200);
    expect((await post(encoded(usual), { 'tenant-id': 'other' })).status).toBe(200);
    expect((await post(encoded(usual), {}, '/oidc/t/nobody/par')).status).toBe(404);
    expect((await post(encoded(usual), {}, '/oidc/t/first/par')).status).toBe(404);
  });
});

describe('a service that cannot do its work', () => {
  it('says so in the words of OAuth, and logs why', async () => {
    const logged: unknown[] = [];
    const main = {
      id: 'first',
      issuer: 'https://sign.example/oidc',
      clients: new Map([['web', { id: 'web', authentication: 'none' }]]),
    } as unknown as Tenant;
    const routes = createParRoutes({
      tenants: {
        all: [main],
        main,
        find: () => undefined,
        at: () => undefined,
        findByIssuer: () => undefined,
      },
      limits: { ...noLimits, pushWait: () => Promise.reject(new Error('Redis is away')) },
      settings: { requestUriSeconds: 60 },
      checkSecret: async () => 'wrong',
      isTestNumber: () => false,
      addressOf: () => ({ caller: '' }),
      body: { maxBytes: 4096, timeoutMs: 1000 },
      now: Date.now,
      log: { audit: (entry) => logged.push(entry), trouble: ({ message }) => logged.push(message) },
    });
    const response = await routes.request('/oidc/par', {
      method: 'POST',
      headers: { 'content-type': form },
      body: encoded(usual),
    });
    await expectJson(response, 500, 'server_error');
    expect(logged).toEqual(['Redis is away', expect.objectContaining({ code: 'sys_9900' })]);
  });
});

describe('another origin', () => {
  const ask = (origin: string, path = '/oidc/par') =>
    fetch(`${product.url}${path}`, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'dpop',
      },
    });

  it('is allowed to push when a public client lives there', async () => {
    const response = await ask('https://page.example');
    expect(response.status).toBe(204);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': 'https://page.example',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'dpop',
    });
    const pushed = await fetch(`${product.url}/oidc/par`, {
      method: 'POST',
      headers: { origin: 'https://page.example', 'content-type': form },
      body: encoded({
        client_id: 'page',
        response_type: 'code',
        scope: 'openid',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }),
    });
    expect([pushed.status, pushed.headers.get('access-control-allow-origin')]).toEqual([
      201,
      'https://page.example',
    ]);
  });

  it.each([
    ['https://client.example', '/oidc/par'],
    ['null', '/oidc/par'],
    ['https://page.example', '/oidc/t/other/par'],
  ])('is not allowed otherwise: %s at %s', async (origin, path) => {
    const response = await ask(origin, path);
    expect([response.status, response.headers.has('access-control-allow-origin')]).toEqual([
      204,
      false,
    ]);
  });
});

describe('what is taken here', () => {
  it.each<[string, Fields]>([
    ['the least', {}],
    ['every response_mode by query', { response_mode: 'query.jwt' }],
    ['form_post', { response_mode: 'form_post' }],
    ['jwt', { response_mode: 'jwt' }],
    ['every prompt', { prompt: 'login consent select_account' }],
    ['max_age', { max_age: '0' }],
    ['long state and nonce', { state: 's'.repeat(384), nonce: 'n'.repeat(384) }],
    [
      'acr_values and languages',
      { acr_values: 'mid_al4_any', ui_locales: 'rm de-CH', claims_locales: 'de' },
    ],
    ['PKCE', { code_challenge: challenge, code_challenge_method: 'S256' }],
    ['a bound key', { dpop_jkt: challenge }],
    ['a number', { login_hint: '+41 79 000 00 01' }],
    ['a text', { dtbd: 'Pay 5?' }],
    [
      'what is off',
      { claims: '{"id_token":{}}', resource: 'https://api.example', authorization_details: '[]' },
    ],
    ['offline_access', { scope: 'openid phone profile' }],
    ['no scope that is known', { client_id: 'lenient', scope: 'read write', nonce: 'n' }],
    ['no openid', { client_id: 'lenient', scope: 'phone' }],
  ])('is taken by the library, too: %s', async (_case, fields) => {
    const id = fields.client_id ?? 'web';
    const pushed = await post(encoded({ ...usual, ...fields }), {
      authorization: basic(id, secret),
    });
    expect(pushed.status).toBe(201);
    const { request_uri } = (await pushed.json()) as Json;
    const query = new URLSearchParams({ client_id: id, request_uri });
    const visited = await fetch(`${product.url}/oidc/auth?${query}`, { redirect: 'manual' });
    expect([visited.status, visited.headers.get('location')]).toEqual([
      303,
      expect.stringContaining('/oidc/interaction/'),
    ]);
  });
});
