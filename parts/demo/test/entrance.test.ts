/** The page at `/` and the greeting lead to the demo, in a sandbox only. */
import { afterAll, expect, it } from 'vitest';
import { startTestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';

const redis = testRedis();
const stops: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});

it.each([
  { sandbox: true, greetings: [['log in', '/demo']], status: 200 },
  { sandbox: false, greetings: [], status: 404 },
])(
  'leads there where sandbox is $sandbox, and nowhere else',
  async ({ sandbox, greetings, status }) => {
    const { api, stop } = await startTestProduct(redis, {
      configuration: { sandbox },
      workers: false,
    });
    stops.push(stop);
    expect(api.entrances.map(({ greeting, path }) => [greeting, path])).toEqual(greetings);
    const page = await (await api.fetch(new Request('http://test/'))).text();
    expect(page.includes('href="/demo"')).toBe(sandbox);
    expect((await api.fetch(new Request('http://test/demo'))).status).toBe(status);
  },
);
