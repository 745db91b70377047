/**
 * Behind a reverse proxy that nobody has configured, everybody comes from one address. No stranger
 * shuts the others out there, and nobody guesses more than he may because he pretends to be behind
 * one.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLimits } from '../../src/oauth/limits.ts';
import { hashPassword } from '../../src/registry/passwords.ts';
import { createRateLimiter } from '../../src/registry/rate-limiter.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const secret = 'right-and-long-enough';
const few = { requests: 3, perSeconds: 3600 };
/** As many as the tests need: what is counted for one of them must not count for the next. */
const clientIds = ['other', ...Array.from({ length: 24 }, (_, index) => `shop-${index}`)];
const unused = clientIds.slice(1);
const nextClient = (): string => unused.shift() ?? '';
const redirectUri = 'https://shop.example/callback';
let product: TestProduct;

beforeAll(async () => {
  const secretHash = await hashPassword(secret, { ln: 10, r: 1, p: 1 });
  const client = (id: string) => ({ id, name: id, secretHash, redirectUris: [redirectUri] });
  product = await startTestProduct(redis, {
    listen: true,
    workers: false,
    configuration: {
      oidc: {
        tenants: [{ id: 'default', name: 'Shop', clients: clientIds.map(client) }],
        limits: { refusedTokensPerAddress: few, loginsPerAddress: few },
      },
      operations: { logins: { perAddress: few } },
    },
  });
});
afterAll(() => product.stop());

/** All tests come from one address, and each has the whole allowance of it. */
const bucketKeys = (): Promise<string[]> =>
  redis.client().keys(`${product.configuration.queue.prefix}:rate:*`);
beforeEach(async () => {
  for (const key of await bucketKeys()) await redis.client().del(key);
});

type Headers = Readonly<Record<string, string>>;

const post = (path: string, form: Record<string, string>, headers: Headers) =>
  fetch(`${product.url}${path}`, {
    method: 'POST',
    headers: { ...headers },
    body: new URLSearchParams(form),
    redirect: 'manual',
  });

const ask = async (path: string, id: string, given: string, from: Headers): Promise<number> => {
  const authorization = `Basic ${Buffer.from(`${id}:${given}`).toString('base64')}`;
  const pushed = { response_type: 'code', scope: 'openid', redirect_uri: redirectUri };
  const form = path.endsWith('/par') ? { client_id: id, ...pushed } : { token: 'x' };
  return (await post(path, { ...form }, { ...from, authorization })).status;
};

/** Tries a login link of the console that is none. */
const tryLink = async (from: Headers): Promise<number> =>
  (await post('/admin/login/link', { token: 'x'.repeat(43) }, from)).status;

/** @returns The statuses of so many tries with something wrong, one after the other. */
const repeat = async (count: number, tryOnce: (turn: number) => Promise<number>) => {
  const statuses: number[] = [];
  for (let turn = 0; turn < count; turn += 1) statuses.push(await tryOnce(turn));
  return statuses;
};

const paths = [['/oidc/par'], ['/oidc/token/introspection']] as const;

/** What a stranger and somebody else send through the same proxy. */
const proxies: readonly (readonly [name: string, stranger: Headers, other: Headers])[] = [
  [
    'appends to X-Forwarded-For',
    { 'x-forwarded-for': '198.51.100.7' },
    { 'x-forwarded-for': '192.0.2.1' },
  ],
  ['adds Via alone', { via: '1.1 proxy' }, { via: '1.1 proxy' }],
  ['adds Forwarded', { forwarded: 'for=198.51.100.7' }, { forwarded: 'for=192.0.2.1' }],
  ['adds X-Real-IP', { 'x-real-ip': '198.51.100.7' }, { 'x-real-ip': '192.0.2.1' }],
];

describe('wrong secrets that come through a proxy that is not trusted', () => {
  describe.each(paths)('at %s', (path) => {
    it.each(proxies)('shut nobody else out when it %s', async (_, stranger, other) => {
      const id = nextClient();
      await repeat(10, (turn) => ask(path, id, `wrong-${turn}`, stranger));
      expect(await ask(path, 'other', secret, other)).toBe(200);
      expect(await ask(path, id, secret, other)).toBe(200);
      expect(await ask(path, 'other', secret, {})).toBe(200);
    });

    it('shut out whoever sends them where the proxy says who that is', async () => {
      const stranger = { 'x-forwarded-for': `203.0.113.${path.length}` };
      const id = nextClient();
      // What failed is counted after the answer: without a pause, thirty may be counted together,
      // and the whole address is shut out.
      await vi.waitFor(async () => expect(await ask(path, id, 'wrong', stranger)).toBe(429), {
        timeout: 20_000,
        interval: 100,
      });
    });

    it('are limited for one client however the caller invents addresses, and for others not', async () => {
      const id = nextClient();
      const invented = (turn: number): Headers => ({
        'x-forwarded-for': `10.1.${path.length + Math.floor(turn / 250)}.${turn % 250}`,
      });
      const statuses = await repeat(10, (turn) => ask(path, id, `wrong-${turn}`, invented(turn)));
      expect(statuses).toEqual(Array(10).fill(401));
      // What failed is counted after the answer.
      let turn = 10;
      await vi.waitFor(
        async () => {
          turn += 1;
          const barred = await ask(path, id, `wrong-${turn}`, invented(turn));
          expect(barred).toBe(429);
        },
        { timeout: 20_000, interval: 100 },
      );
      expect(await ask(path, 'other', secret, invented(250))).toBe(200);
      // Somebody who does not come by this way.
      expect(await ask(path, id, secret, {})).toBe(200);
    });
  });
});

describe('logins at the browser that come through a proxy that is not trusted', () => {
  const begin = async (id: string, from: Headers): Promise<number> => {
    const query = new URLSearchParams({
      client_id: id,
      response_type: 'code',
      redirect_uri: redirectUri,
    });
    const response = await fetch(`${product.url}/oidc/auth?${query}`, {
      redirect: 'manual',
      headers: from,
    });
    return response.status;
  };

  it.each(proxies)('are counted for nobody else when it %s', async (_, stranger, other) => {
    const id = nextClient();
    await repeat(10, () => begin(id, stranger));
    expect(await begin(id, other)).not.toBe(429);
  });
});

describe('logins to the console that come through a proxy that is not trusted', () => {
  const begin = async (from: Headers): Promise<string | null> => {
    const answer = await fetch(`${product.url}/admin/login/oidc`, {
      redirect: 'manual',
      headers: from,
    });
    return answer.headers.get('location');
  };

  it.each(proxies)('are counted for nobody else when it %s', async (_, stranger, other) => {
    await repeat(5, () => tryLink(stranger));
    for (let turn = 0; turn < 5; turn += 1) await begin(stranger);
    expect(await begin(other)).toContain('/oidc/auth?');
  });
});

const ways: readonly (readonly [name: string, from: (turn: number) => Headers])[] = [
  ['Via alone', () => ({ via: 'x' })],
  ['invented entries', (turn) => ({ 'x-forwarded-for': `10.3.${turn >> 8}.${turn & 255}` })],
];

describe('an address that pretends to be a proxy', () => {
  it.each(ways)('tries login links five times as often as a caller may, by %s', async (_, from) => {
    const statuses = await repeat(20, (turn) => tryLink(from(turn)));
    expect(statuses).toEqual([...Array(15).fill(401), ...Array(5).fill(429)]);
  });

  it('writes no buckets into Redis with tries that are refused', async () => {
    const [, from] = ways[1] ?? [];
    const tryOnce = (turn: number) => tryLink(from?.(turn) ?? {});
    await repeat(15, tryOnce);
    const before = (await bucketKeys()).length;
    expect(before).toBeGreaterThan(15);
    expect(await repeat(20, (turn) => tryOnce(100 + turn))).toEqual(Array(20).fill(429));
    expect((await bucketKeys()).length).toBe(before);
  });

  it.each(ways)(
    'begins logins of all clients together ten times as often, by %s',
    async (_, from) => {
      const statuses = await repeat(40, async (turn) => {
        const id = clientIds[turn % clientIds.length] ?? '';
        const query = new URLSearchParams({
          client_id: id,
          response_type: 'code',
          redirect_uri: redirectUri,
        });
        const response = await fetch(`${product.url}/oidc/auth?${query}`, {
          redirect: 'manual',
          headers: from(turn),
        });
        return response.status;
      });
      expect(statuses.filter((status) => status !== 429)).toHaveLength(30);
      expect(statuses.slice(30)).toEqual(Array(10).fill(429));
    },
  );

  it('pushes ten times as often as a caller may', async () => {
    const limits = createLimits({
      limiter: createRateLimiter({ redis: redis.client(), prefix: `${redis.prefix}-push` }),
      limits: { ...product.configuration.oidc.limits, pushedPerAddress: few },
      tenants: product.api.oauth.tenants,
      isTestNumber: () => false,
      now: Date.now,
    });
    const { main } = product.api.oauth.tenants;
    const address = { caller: undefined, sharedBy: '192.0.2.9' };
    const pushed = await Promise.all(
      clientIds
        .slice(0, 11)
        .flatMap((id) => Array.from({ length: 4 }, () => limits.pushWait(main, id, address))),
    );
    expect(pushed.filter((seconds) => seconds === 0)).toHaveLength(30);
  });
});

describe('wrong secrets of many clients from an address that pretends to be a proxy', () => {
  it('are limited for all clients together, and bar nobody who comes another way', async () => {
    const [untried, ...tried] = Array.from({ length: 4 }, nextClient);
    const wrong = (turn: number) =>
      ask('/oidc/par', tried[turn % tried.length] ?? '', `wrong-${turn}`, { via: 'x' });
    expect(await repeat(30, wrong)).toEqual(Array(30).fill(401));
    let turn = 30;
    // What failed is counted after the answer.
    await vi.waitFor(
      async () => {
        turn += 1;
        await wrong(turn);
        expect(await ask('/oidc/par', untried ?? '', secret, { via: 'x' })).toBe(429);
      },
      { timeout: 20_000, interval: 100 },
    );
    expect(await ask('/oidc/par', untried ?? '', secret, {})).toBe(200);
  });
});

describe('the log', () => {
  it('names an address that forwards and is not trusted, once, and the key to set', async () => {
    await fetch(`${product.url}/livez`, { headers: { via: '1.1 proxy' } });
    await fetch(`${product.url}/livez`, { headers: { 'x-forwarded-for': '192.0.2.1' } });
    const lines = () => product.logged.filter((line) => line.includes('trustedProxy.addresses'));
    await vi.waitFor(() => expect(lines()).not.toEqual([]), 20_000);
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toContain('"address":"127.0.0.1"');
    expect(lines()[0]).not.toContain('192.0.2.1');
  });
});
