/** Who is over a limit of his own is refused, and nobody else is because of him. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLimits } from '../../src/oauth/limits.ts';
import { createRateLimiter } from '../../src/registry/rate-limiter.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
let product: TestProduct;
const few = { requests: 3, perSeconds: 3600 };

beforeAll(async () => {
  product = await startTestProduct(redis, {
    listen: true,
    configuration: {
      trustedProxy: { addresses: ['127.0.0.1'] },
      oidc: { limits: { refusedTokensPerAddress: few, loginsPerAddress: few } },
    },
  });
});
afterAll(() => product.stop());

const limitsOf = (prefix: string) =>
  createLimits({
    limiter: createRateLimiter({ redis: redis.client(), prefix: `${redis.prefix}-${prefix}` }),
    limits: {
      ...product.configuration.oidc.limits,
      promptsPerAddress: few,
      promptsPerNumber: { requests: 4, perSeconds: 3600 },
      promptsPerNumberLong: { requests: 2, perSeconds: 86_400 },
      promptsPerClient: { requests: 5, perSeconds: 3600 },
    },
    tenants: product.api.oauth.tenants,
    isTestNumber: (msisdn) => msisdn === '41700092501',
    now: Date.now,
  });

describe('prompts', () => {
  it('that are refused for one limit are not counted for those that others share', async () => {
    const limits = limitsOf('turns');
    const { main } = product.api.oauth.tenants;
    const ask = async (msisdn: string, address: string) =>
      (await limits.promptWait(main, {
        clientId: 'demo',
        msisdn,
        address: { caller: address },
      })) === 0;
    for (let count = 0; count < 3; count += 1)
      expect(await ask('41700092501', '192.0.2.1')).toBe(true);
    for (let count = 0; count < 20; count += 1)
      expect(await ask('41700092501', '192.0.2.1')).toBe(false);
    // The client has two left.
    expect(await ask('41700092501', '192.0.2.2')).toBe(true);
    expect(await ask('41790000001', '192.0.2.3')).toBe(true);
  });

  it('on a test number are limited by client and address alone', async () => {
    const limits = limitsOf('test');
    const { main } = product.api.oauth.tenants;
    const ask = async (clientId: string, msisdn: string) =>
      (await limits.promptWait(main, { clientId, msisdn, address: undefined })) === 0;
    for (let count = 0; count < 5; count += 1) expect(await ask('demo', '41700092501')).toBe(true);
    expect(await ask('demo', '41700092501')).toBe(false);
    expect(await ask('demo-201', '41700092501')).toBe(true);
  });

  it('on one number are limited over a long time too, but for test numbers', async () => {
    const limits = limitsOf('long');
    const { main } = product.api.oauth.tenants;
    const ask = async (msisdn: string) =>
      (await limits.promptWait(main, { clientId: 'demo', msisdn, address: undefined })) === 0;
    expect([await ask('41790000001'), await ask('41790000001'), await ask('41790000001')]).toEqual([
      true,
      true,
      false,
    ]);
    expect([await ask('41700092501'), await ask('41700092501'), await ask('41700092501')]).toEqual([
      true,
      true,
      true,
    ]);
  });
});

const token = (
  address: string,
  form: Record<string, string>,
  authorization?: string,
  path = 'token',
) =>
  fetch(`${product.url}/oidc/${path}`, {
    method: 'POST',
    headers: { 'x-forwarded-for': address, ...(authorization && { authorization }) },
    body: new URLSearchParams(form),
  });

const basic = (secret: string) => `Basic ${Buffer.from(`demo:${secret}`).toString('base64')}`;

describe('wrong secrets', () => {
  it.each(['token', 'token/introspection', 'token/revocation'])(
    'at /%s shut out the address that they come from through the proxy, and no other',
    async (path) => {
      const address = `198.51.100.${path.length}`;
      const form = {
        grant_type: 'authorization_code',
        token: 'x',
        code: 'x',
        redirect_uri: 'http://x',
      };
      let count = 0;
      const guess = async (): Promise<number> => {
        count += 1;
        return (await token(address, form, basic(`wrong-${count}`), path)).status;
      };
      expect([await guess(), await guess(), await guess(), await guess()]).toEqual([
        401, 401, 401, 401,
      ]);
      // Redis counts failures after they are answered.
      await expect.poll(guess).toBe(429);
      expect(
        (await token(`203.0.113.${path.length}`, form, basic('demo-secret'), path)).status,
      ).not.toBe(429);
    },
  );

  it('are not what a bad code is that somebody has put into the callback of an application', async () => {
    const form = { grant_type: 'authorization_code', redirect_uri: `${product.url}/demo/callback` };
    for (let count = 0; count < 8; count += 1) {
      const code = randomBytes(32).toString('base64url');
      expect((await token('198.51.100.200', { ...form, code }, basic('demo-secret'))).status).toBe(
        400,
      );
    }
  });
});

const authorize = (address: string, query: Record<string, string>, init: RequestInit = {}) =>
  fetch(`${product.url}/oidc/auth?${new URLSearchParams(query)}`, {
    redirect: 'manual',
    headers: { 'x-forwarded-for': address, accept: 'text/html' },
    ...init,
  });

const asking = (state = 's') => ({
  client_id: 'demo',
  response_type: 'code',
  scope: 'openid',
  redirect_uri: `${product.url}/demo/callback`,
  state,
  code_challenge: createHash('sha256').update('v').digest('base64url'),
  code_challenge_method: 'S256',
});

describe('logins from one address', () => {
  it('are limited, and what a link may hold is, too', async () => {
    for (let count = 0; count < 3; count += 1)
      expect((await authorize('192.0.2.77', asking())).status).toBe(303);
    const refused = await authorize('192.0.2.77', asking());
    expect(refused.status).toBe(429);
    // Three in an hour: the next one in twenty minutes.
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1100);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(1200);
    expect(await refused.text()).toContain('<h1>Too many attempts</h1>');
    expect((await authorize('192.0.2.78', asking('x'.repeat(9000)))).status).toBe(413);
  });

  it('may begin with a form, which becomes the link that it stands for', async () => {
    const posted = await fetch(`${product.url}/oidc/auth`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'x-forwarded-for': '192.0.2.79' },
      body: new URLSearchParams(asking('a\r\nset-cookie: x=1')),
    });
    expect(posted.status).toBe(303);
    expect(posted.headers.get('set-cookie')).toBeNull();
    const link = new URL(posted.headers.get('location') ?? '');
    expect(`${link.origin}${link.pathname}`).toBe(`${product.url}/oidc/auth`);
    expect(Object.fromEntries(link.searchParams)).toEqual(asking('a\r\nset-cookie: x=1'));
    const other = await fetch(`${product.url}/oidc/session/end`, {
      method: 'POST',
      redirect: 'manual',
      body: JSON.stringify({}),
      headers: { 'content-type': 'application/json' },
    });
    expect(other.status).toBe(400);
  });
});
