/**
 * Redis goes away, or takes no writes: clients and browsers are told that they may try again,
 * whatever they ask.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type EmbeddedRedis, startEmbeddedRedis } from '../../src/redis/embedded/redis.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import type { Browser } from './browser-client.ts';
import {
  type Answer,
  callback,
  clientEntry,
  type Fields,
  hintFor,
  keyOfClient,
  offline,
  type RelyingParty,
  relyingParty,
  robot,
  roomyLimits,
  secret,
  sleeper,
  type Visit,
} from './interoperability/stage.ts';

interface Known {
  readonly tokens: Readonly<Record<'access_token' | 'refresh_token' | 'id_token', string>>;
  readonly login: Visit & { readonly code: string };
  /** At the page of a login. */
  readonly open: Visit;
  readonly requestUri: string;
  readonly authReqId: string;
}

const names = testRedis();
const key = keyOfClient('one');
let dataDir: string;
let redis: EmbeddedRedis;
let product: TestProduct;
let shop: RelyingParty;
let known: Known;

const asKeyed = async (path: string, fields: Fields): Promise<Answer> =>
  relyingParty(product, { id: 'keyed' }).send(path, {
    client_id: 'keyed',
    ...fields,
    client_assertion: await key.sign('keyed', shop.issuer, { sub: 'keyed', jti: randomUUID() }),
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  });
const backchannel = (fields: Fields): Promise<Answer> => asKeyed('/backchannel', fields);

const startRedis = (): Promise<EmbeddedRedis> =>
  startEmbeddedRedis({ command: process.env.PARAPH_REDIS_SERVER ?? 'redis-server', dataDir });

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'paraph-away-'));
  redis = await startRedis();
  const clients = [
    clientEntry('shop'),
    clientEntry('keyed', {
      authentication: 'private_key_jwt',
      keys: [key.publicJwk],
      backchannel: { kind: 'poll' },
    }),
  ];
  product = await startTestProduct(names, {
    redisUrl: redis.url,
    configuration: {
      oidc: { limits: roomyLimits, tenants: [{ id: 'main', name: 'Main', clients }] },
    },
    listen: true,
  });
  shop = relyingParty(product, { id: 'shop', secret });
  const { body } = await backchannel({ scope: 'openid', login_hint: `+${sleeper}` });
  known = {
    tokens: await shop.tokens(robot, offline),
    login: await shop.logIn(),
    open: await shop.visit(),
    requestUri: (await shop.request()).requestUri,
    authReqId: body.auth_req_id,
  };
});
afterAll(async () => {
  try {
    await product?.stop();
  } finally {
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

const get = async (
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => {
  const response = await fetch(`${product.url}${path}`, { headers, redirect: 'manual' });
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  return {
    status: response.status,
    headers: response.headers,
    body: isJson ? JSON.parse(text) : text,
  };
};
const open = async (browser: Browser, address: string): Promise<Answer> => {
  const { status, headers, html } = await browser.open(address);
  return { status, headers, body: html };
};
const page = { accept: 'text/html' };
const linkTo = (requestUri: string): string =>
  `/oidc/auth?${new URLSearchParams({ client_id: 'shop', request_uri: requestUri })}`;
const link = new URLSearchParams({
  client_id: 'shop',
  response_type: 'code',
  scope: 'openid',
  redirect_uri: callback,
  state: 's',
  nonce: 'n',
});

const writing: readonly (readonly [string, () => Promise<Answer>])[] = [
  ['/par', () => shop.push()],
  ['/token for a code', () => shop.redeem(known.login)],
  ['/token for a refresh token', () => shop.refresh(known.tokens.refresh_token)],
  ['/backchannel', () => backchannel({ scope: 'openid', login_hint: `+${sleeper}` })],
];
const programs: typeof writing = [
  ...writing,
  ['/token/revocation', () => shop.revoke(known.tokens.access_token)],
  [
    '/token for a login without a browser',
    () =>
      asKeyed('/token', {
        grant_type: 'urn:openid:params:grant-type:ciba',
        auth_req_id: known.authReqId,
      }),
  ],
  ['/token/introspection', () => shop.introspect(known.tokens.access_token)],
  ['/userinfo', () => shop.userinfo(known.tokens.access_token)],
  ['/auth with a handle', () => get(linkTo(known.requestUri))],
  ['/auth with parameters', () => get(`/oidc/auth?${link}`)],
];
const pages: typeof writing = [
  ['/auth with a handle', () => get(linkTo(known.requestUri), page)],
  ['/auth with parameters', () => get(`/oidc/auth?${link}`, page)],
  ['the page of a login', () => open(known.open.browser, known.open.page.url)],
  ['the way back to the client', () => open(known.open.browser, `${known.open.page.url}/return`)],
  ['/session/end', () => open(known.login.browser, '/oidc/session/end')],
];

const away = /^mid_sys_9900_[\w-]{8} - the store does not answer or takes no writes; try again$/;

const expectTold = ({ status, headers, body }: Answer): void => {
  expect({ status, retryAfter: headers.get('retry-after'), body }).toMatchObject({
    status: 503,
    retryAfter: '1',
    body: {
      error: 'temporarily_unavailable',
      error_description: expect.stringMatching(away) as string,
    },
  });
};

describe('while Redis takes no writes', () => {
  let client: Redis;
  beforeAll(async () => {
    client = new Redis(redis.url);
    await client.config('SET', 'maxmemory', '1');
  });
  afterAll(async () => {
    await client.config('SET', 'maxmemory', '0');
    client.disconnect();
  });

  it.each(writing)('a client may try again later: %s', async (_, ask) => expectTold(await ask()));
});

describe('while Redis is stopped', () => {
  beforeAll(() => redis.stop());
  afterAll(async () => {
    redis = await startRedis();
    await vi.waitFor(async () => expect((await get('/readyz')).status).toBe(200), 20_000);
  });

  it.each(programs)('a client may try again later: %s', async (_, ask) => expectTold(await ask()));

  it.each(pages)('a browser gets a page: %s', async (_, ask) => {
    const { status, headers, body } = await ask();
    expect({ status, retryAfter: headers.get('retry-after'), body }).toEqual({
      status: 503,
      retryAfter: '1',
      body: expect.stringContaining('<h1') as string,
    });
  });
});

it('goes on where it was when Redis is there again', async () => {
  expect((await shop.redeem(known.login)).status).toBe(200);
  expect((await shop.userinfo(known.tokens.access_token)).status).toBe(200);
  expect((await shop.push({ login_hint: hintFor(robot) })).status).toBe(201);
});
