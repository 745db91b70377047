/**
 * A start marks a new store, and refuses one that another release has written, before it writes
 * anything.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { afterAll, expect, it } from 'vitest';
import { signatureQueueName } from '../../src/transactions/contract.ts';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import { run } from '../cli/terminal.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';

const redis = testRedis();
const client = redis.client();
const masterKey = randomBytes(32);
const prefix = redis.prefix.slice(-32);
const mark = `${prefix}:store`;
const products: TestProduct[] = [];
const folder = mkdtempSync(join(tmpdir(), 'paraph-store-'));
writeFileSync(join(folder, 'paraph.json'), JSON.stringify({ sandbox: true, queue: { prefix } }));

afterAll(async () => {
  for (const product of products) await product.stop();
  rmSync(folder, { recursive: true });
});

const start = async (): Promise<TestProduct> => {
  const product = await startTestProduct(redis, { masterKey, serviceKey: 'random' });
  products.push(product);
  return product;
};

/** Without those that expire. */
const lastingKeys = async (): Promise<readonly string[]> => {
  const keys = (await client.keys(`*${prefix}*`)).toSorted();
  const lives = await Promise.all(keys.map((key) => client.ttl(key)));
  return keys.filter((_, index) => lives[index] === -1);
};

it('is marked by whichever process starts first, also after a producer has added a job', async () => {
  const queue = new Queue(signatureQueueName, {
    connection: redis.connection,
    prefix: `{${prefix}-0}`,
  });
  const id = newMsspTransId(0);
  const { MSS_SignatureReq: request } = signRequest();
  const { AP_PWD: _, ...AP_Info } = request.AP_Info as Readonly<Record<string, unknown>>;
  await queue.add('sign', { MSS_SignatureReq: { ...request, AP_Info } }, { jobId: id });
  await queue.close();
  const [first] = await Promise.all([start(), start(), start()]);
  expect(await client.get(mark)).toBe('2');
  await expect.poll(() => first?.statusOf(id)).toBe('500');
});

const startsAs = async (
  part: string,
): Promise<{ readonly exitCode: number; readonly stderr: string }> => {
  const env = {
    REDIS_URL: redis.url,
    PARAPH_CONFIG: join(folder, 'paraph.json'),
    PARAPH_DATA: folder,
    PARAPH_MASTER_KEY: masterKey.toString('base64url'),
    PARAPH_LOG_LEVEL: 'silent',
    PORT: '0',
  };
  return run([part], { env });
};

const stopAll = async (): Promise<void> => {
  for (const product of products.splice(0)) await product.stop();
};

it.each([
  ['a release before 0.2', undefined],
  ['a release before 0.3', '1'],
  ['a later release', '3'],
])('of %s is refused with one sentence, and left as it is', async (writer, version) => {
  await start();
  await stopAll();
  if (version === undefined) await client.del(mark);
  else await client.set(mark, version);
  const before = await lastingKeys();
  for (const part of ['api', 'worker']) {
    expect(await startsAs(part)).toMatchObject({
      exitCode: 2,
      stderr: `paraph: queue.prefix: what Redis holds under ${prefix} was written by ${writer}, and this release does not read it; set another prefix, REDIS_URL or PARAPH_DATA.\n`,
    });
  }
  expect(await lastingKeys()).toEqual(before);
  await client.set(mark, '2');
});

it.each([
  ['0.2', undefined],
  ['0.3', '1'],
])(
  'of a release before %s is a new one without its queues, and keeps its authority',
  async (_, version) => {
    const before = await (await start()).core.custodyOver(client).trust();
    await stopAll();
    await client.del(mark, ...(await client.keys(`{${prefix}-*`)));
    if (version !== undefined) await client.set(mark, version);
    expect(await (await start()).core.custodyOver(client).trust()).toEqual(before);
    expect(await client.get(mark)).toBe('2');
    await stopAll();
  },
);
