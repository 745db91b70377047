/**
 * Paraph behind Paraph behind Paraph, and the far one is killed and stopped at moments that a seed chooses: nothing is
 * lost, and no phone is asked twice. `CHAIN_SEEDS=20` tries twenty seeds.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createRandom } from '../faults/random.ts';
import { freePort } from '../support/free-ports.ts';
import { testFiles, textsAt, textsIn } from '../support/gateway.ts';
import { killProcesses, type ProductProcess, startProcess } from '../support/process.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const writeFile = testFiles();
const prefixed = (name: string) => ({ ...redis, prefix: `${redis.prefix.slice(-20)}-${name}` });
const farPrefix = prefixed('far').prefix;
const masterKey = randomBytes(32).toString('base64url');

let port = 0;
let far: ProductProcess;
let middle: TestProduct;
let near: TestProduct;

const startFar = async (): Promise<void> => {
  far = await startProcess({
    REDIS_URL: redis.url,
    PARAPH_MASTER_KEY: masterKey,
    PARAPH_CONFIG: writeFile(
      'far.json',
      JSON.stringify({
        sandbox: true,
        queue: { prefix: farPrefix },
        subscribers: [
          { msisdn: '41790002000', sim: {} },
          { msisdn: '41790002001', sim: { device: { kind: 'robot', thinkSeconds: 0.4 } } },
          { msisdn: '41790002002', sim: { device: { kind: 'robot', thinkSeconds: 1.5 } } },
        ],
      }),
    ),
    PORT: String(port),
    PARAPH_LOG_LEVEL: 'error',
  });
};

beforeAll(async () => {
  port = await freePort();
  await startFar();
  const trustAnchorsFile = writeFile('far.pem', await (await fetch(`${far.url}/pki/root.pem`)).text());
  const behind = (name: string, url: string) => ({
    sandbox: false,
    applicationProviders: [{ id: 'http://test.example' }],
    gateways: [
      { name, url, apId: 'http://test.example', trustAnchorsFile, repeats: 'joined', default: true },
    ],
  });
  middle = await startTestProduct(prefixed('middle'), {
    listen: true,
    configuration: behind('far', far.url),
  });
  near = await startTestProduct(prefixed('near'), { configuration: behind('middle', middle.url) });
}, 60_000);

afterAll(async () => {
  await near.stop();
  await middle.stop();
  await killProcesses();
});

const kill = async (ms: number): Promise<void> => {
  await far.stop('SIGKILL');
  await delay(ms);
  await startFar();
};

const stand = async (ms: number): Promise<void> => {
  far.child.kill('SIGSTOP');
  await delay(ms);
  far.child.kill('SIGCONT');
};

const seeds = Array.from({ length: Number(process.env.CHAIN_SEEDS ?? 1) }, (_, index) => `seed ${index + 1}`);

it.each(seeds)(
  'loses nothing and asks nobody twice while the far one is killed and stopped: %s',
  async (seed) => {
    const random = createRandom(seed);
    const ids: string[] = [];
    const texts: string[] = [];
    const submitAll = async (): Promise<void> => {
      for (let count = 0; count < 30; count += 1) {
        const text = `${seed} ${count} ${randomBytes(4).toString('hex')}`;
        texts.push(text);
        ids.push(await near.submit({ text, msisdn: `+4179000200${random.below(3)}` }));
        await delay(random.below(100));
      }
    };
    const breakFar = async (): Promise<void> => {
      for (const breaks of random.shuffle(seeds.length > 1 ? [kill, stand, kill] : [kill, stand])) {
        await delay(random.below(500));
        await breaks(random.below(1000));
      }
    };
    await Promise.all([submitAll(), breakFar()]);
    await vi.waitFor(
      async () =>
        expect(new Set(await Promise.all(ids.map((id) => near.statusOf(id))))).toEqual(new Set(['500'])),
      { timeout: 60_000, interval: 100 },
    );
    const askedOnce = texts.toSorted();
    const mine = (all: readonly string[]) => all.filter((text) => text.startsWith(`${seed} `)).toSorted();
    expect(mine(await textsAt(middle))).toEqual(askedOnce);
    expect(mine(await textsIn(redis.client(), farPrefix))).toEqual(askedOnce);
  },
  120_000,
);
