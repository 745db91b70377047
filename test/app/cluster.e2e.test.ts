/**
 * The product on a Redis Cluster of three masters with a replica each, and a shard on each master:
 * that everything works there, what readiness says when something is missing, and that the service
 * goes on after a failover.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Receiver, startReceiver } from '../../parts/callbacks/test/stage.ts';
import { startProduct } from '../../src/app/launch.ts';
import {
  createSignatureQueue,
  SignatureFailedError,
  type SignatureQueue,
} from '../../src/app/package/queue.ts';
import { connectForBlocking, whenReady } from '../../src/redis/connect.ts';
import { shardOf } from '../../src/transactions/ids.ts';
import { run } from '../cli/terminal.ts';
import { createBrowser } from '../oauth/browser-client.ts';
import { askForLogin, hintFor, returned, robot } from '../oauth/interaction/stage.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import {
  nodeOfShard,
  type RedisCluster,
  spreadPrefix,
  startRedisCluster,
} from '../support/redis-cluster.ts';
import { receiptRequest, signRequest } from '../support/requests.ts';
import { soon } from '../support/soon.ts';

const shards = 3;
const apId = 'http://shop.example';
const silent = '+41790000001';

const prefix = spreadPrefix('cluster', shards, shards);
/** All products here are processes of one service. */
const masterKey = randomBytes(32);

const names = testRedis();
let cluster: RedisCluster;
let product: TestProduct;
let receiver: Receiver;

const startOn = (
  redisUrl: string,
  options: Omit<NonNullable<Parameters<typeof startTestProduct>[1]>, 'redisUrl'> = {},
): Promise<TestProduct> =>
  startTestProduct(names, {
    ...options,
    masterKey,
    redisUrl,
    configuration: {
      applicationProviders: [{ id: apId, callback: { url: `${receiver.url}/hook` } }],
      subscribers: [
        { msisdn: silent.slice(1), sim: { device: { kind: 'simulated', sign: 'never-answers' } } },
      ],
      queue: { prefix, shards },
    },
  });

beforeAll(async () => {
  [cluster, receiver] = await Promise.all([
    startRedisCluster({
      command: process.env.PARAPH_REDIS_SERVER ?? 'redis-server',
      nodes: shards,
      replicas: true,
      // Slots without a master are refused alone, so that what is said of a shard stays as it is.
      settings: { 'cluster-node-timeout': '1500', 'cluster-require-full-coverage': 'no' },
    }),
    startReceiver(),
  ]);
  product = await startOn(cluster.url, { listen: true, operations: true });
});
afterAll(async () => {
  await product?.stop();
  await receiver?.close();
  await cluster?.stop();
});

const sign = (options: Parameters<typeof signRequest>[0] = {}) =>
  product.post('/rest/service/sign', signRequest({ apId, timeoutSeconds: 10, ...options }));

const isSigned = async (id: string): Promise<void> =>
  expect(await product.statusOf(id, apId)).toBe('500');

/**
 * Has something signed in every shard, however long its workers need to come back.
 * @returns One id of each.
 */
const signInEveryShard = async (): Promise<readonly string[]> => {
  const ids = new Map<number | undefined, string>();
  await soon(async () => {
    const id = await product.submit({ apId, timeoutSeconds: 120 });
    expect(id).toBeDefined();
    ids.set(shardOf(id, shards), id);
    expect(ids.size).toBe(shards);
  });
  for (const id of ids.values()) await soon(() => isSigned(id), 60_000);
  return [...ids.values()];
};

interface Readiness {
  readonly status: number;
  readonly reasons: readonly string[];
}

const readiness = async (of: TestProduct = product): Promise<Readiness> => {
  const answer = await of.api.fetch(new Request('http://test/readyz'));
  const { reasons = [] } = (await answer.json()) as Json;
  return { status: answer.status, reasons };
};

describe('over HTTP', () => {
  it('is ready', async () => {
    await soon(async () => expect(await readiness()).toEqual({ status: 200, reasons: [] }));
  });

  it('signs in every shard, and tells statuses, receipts and callbacks', async () => {
    for (const id of await signInEveryShard()) {
      await isSigned(id);
      const receipt = await product.post('/rest/service/receipt', receiptRequest(id, { apId }));
      expect(receipt.status).toBe(200);
      await soon(() => expect(receiver.of(id)).not.toEqual([]));
    }
  });

  it('signs synchronously', async () => {
    const { body } = await sign();
    await isSigned(body.MSS_SignatureResp.MSSP_TransID);
  });

  it('logs somebody in', async () => {
    const { browser, page, redeem } = await askForLogin(product, { hint: hintFor(robot) });
    const end = await browser.settle(await browser.submit(page, 'number', { msisdn: `+${robot}` }));
    const { code = '' } = returned(end);
    expect((await redeem(code)).body).toMatchObject({ id_token: expect.any(String) });
  });
});

describe('the console', () => {
  const browser = () => createBrowser({ origin: product.url });
  const open = async () => {
    const link = new URL((await product.api.consoleLink()) as string);
    const visitor = browser();
    const entered = await visitor.request('/admin/login/link', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: product.url },
      body: new URLSearchParams({ token: link.searchParams.get('token') ?? '' }).toString(),
    });
    expect(entered.status).toBe(303);
    return visitor;
  };

  it('lists the transactions of all shards, and shows each', async () => {
    const ids = await signInEveryShard();
    const visitor = await open();
    const listed = await soon(async () => {
      const answer = await visitor.request('/admin/api/transactions?limit=100');
      expect(answer.status).toBe(200);
      const rows: string[] = ((await answer.json()) as Json).rows.map(
        (row: Json) => row.msspTransId,
      );
      for (const id of ids) expect(rows).toContain(id);
      return rows;
    });
    for (const path of [
      '/admin',
      '/admin/transactions',
      `/admin/transactions/${listed[0]}`,
      '/admin/audit',
    ])
      expect([path, (await visitor.request(path)).status]).toEqual([path, 200]);
  });

  it('answers from the first request on', async () => {
    const other = await startOn(cluster.url, { workers: false });
    try {
      const answer = await other.api.fetch(new Request('http://test/admin/login/oidc'));
      expect(answer.status).toBe(303);
    } finally {
      await other.stop();
    }
  });

  it('has a queue board', async () => {
    const [id = ''] = await signInEveryShard();
    const visitor = await open();
    const answer = await visitor.request(
      '/admin/queues/api/queues?activeQueue=signatures&status=latest',
    );
    expect(answer.status).toBe(200);
    const { queues } = (await answer.json()) as Json;
    expect(queues).toHaveLength(4 * shards + 1);
    const job = await visitor.request(
      `/admin/queues/api/queues/${shardOf(id, shards)}-signatures/${id}`,
    );
    expect(job.status).toBe(200);
    expect((await job.json()) as Json).toMatchObject({ status: 'completed' });
  });
});

describe('the command line', () => {
  it('reads the text messages', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paraph-cluster-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const configuration = join(folder, 'configuration.json');
    writeFileSync(configuration, JSON.stringify({ sandbox: true, queue: { prefix, shards } }));
    const sent = await sign({
      profile: 'http://mid.vendor.ch/MID/v1/OtpProfileText',
      text: 'Code 4711',
    });
    expect(sent.status).toBe(200);
    const env = { REDIS_URL: cluster.url, PARAPH_CONFIG: configuration };
    expect(await run(['messages', '+41700092501'], { env })).toMatchObject({
      exitCode: 0,
      stdout: '  text  Code 4711\n',
    });
  });
});

describe('paraph/queue', () => {
  let queue: SignatureQueue;
  const errors: Error[] = [];
  const order = { apId, msisdn: '+41700092501', text: 'Sign in to Example?' } as const;

  beforeAll(() => {
    queue = createSignatureQueue({
      redisUrl: cluster.url,
      prefix,
      shards,
      onError: (error) => void errors.push(error),
    });
  });
  afterAll(async () => {
    await queue.close();
    expect(errors).toEqual([]);
  });

  it('adds at once after it was made, and waits for the signature', async () => {
    const handle = await queue.enqueue(order);
    expect(await handle.result({ timeoutMs: 15_000 })).toMatchObject({
      id: handle.id,
      profile: 'STK-LoA4',
    });
    expect(await (await queue.find(handle.id))?.status()).toBe('signed');
    expect(await queue.rootCertificates()).toHaveLength(1);
  });

  it('adds many, over all shards', async () => {
    const outcomes = await queue.enqueueBulk(Array.from({ length: 30 }, () => order));
    const handles = outcomes.map((outcome) => ('handle' in outcome ? outcome.handle : undefined));
    expect(new Set(handles.map((handle) => shardOf(handle?.id ?? '', shards))).size).toBe(shards);
    const results = await Promise.all(
      handles.map((handle) => handle?.result({ timeoutMs: 15_000 })),
    );
    expect(results.map((result) => result?.id)).toEqual(handles.map((handle) => handle?.id));
  });

  it('takes a request back', async () => {
    const handle = await queue.enqueue({ ...order, msisdn: silent });
    await soon(async () => expect(await handle.status()).toBe('pending'));
    expect(await handle.cancel()).toBe('cancelled');
    await expect(handle.result({ timeoutMs: 15_000 })).rejects.toBeInstanceOf(SignatureFailedError);
  });
});

describe('a backup', () => {
  it('is one moment of all nodes, and another cluster goes on from it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'paraph-cluster-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'paraph.json');
    writeFileSync(path, JSON.stringify({ queue: { prefix, shards } }));
    const paraph = async (url: string, ...args: string[]): Promise<Json> => {
      const env = {
        REDIS_URL: url,
        PARAPH_CONFIG: path,
        PARAPH_DATA: folder,
        PARAPH_MASTER_KEY: masterKey.toString('base64url'),
      };
      const ran = await run([...args, '--json'], { env });
      expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
      return ran.json();
    };
    const acknowledged: { readonly id: string; readonly at: number }[] = [];
    let isOver = false;
    const load = (async () => {
      for (; !isOver; await delay(20))
        acknowledged.push({ id: await product.submit({ apId }), at: Date.now() });
    })();
    await soon(() => expect(acknowledged.length).toBeGreaterThan(30));
    const { at } = await paraph(cluster.url, 'backup', join(folder, 'a.backup'));
    isOver = true;
    await load;
    const other = await startRedisCluster({
      command: process.env.PARAPH_REDIS_SERVER ?? 'redis-server',
      nodes: shards,
    });
    onTestFinished(() => other.stop());
    await paraph(other.url, 'restore', join(folder, 'a.backup'));
    const restored = await startOn(other.url);
    try {
      const before = acknowledged.filter((each) => each.at < Date.parse(at));
      expect(before.length).toBeGreaterThan(20);
      for (const { id } of before)
        await soon(async () => expect(await restored.statusOf(id, apId)).toBe('500'));
    } finally {
      await restored.stop();
    }
  }, 120_000);
});

describe('a Redis user without a right', () => {
  const password = 'topsecret';
  const allow = async (...rights: readonly string[]): Promise<void> => {
    for (const { command } of cluster.nodes)
      await command(
        'ACL',
        'SETUSER',
        'signer',
        'on',
        `>${password}`,
        '~*',
        '&*',
        '+@all',
        ...rights,
      );
  };
  const urlOfSigner = () => cluster.url.replaceAll('redis://', `redis://signer:${password}@`);

  it('is told by readyz, with the right and without a secret, as long as it lacks it', async () => {
    await allow();
    const other = await startOn(urlOfSigner(), { workers: false });
    try {
      await soon(async () => expect(await readiness(other)).toEqual({ status: 200, reasons: [] }));
      for (const right of ['info', 'xadd', 'hset', 'eval']) {
        await allow(`-${right}`);
        await soon(async () =>
          expect(await readiness(other)).toEqual({
            status: 503,
            reasons: [`The Redis user lacks a right that the service needs: +${right}`],
          }),
        );
        await allow();
        await soon(async () =>
          expect(await readiness(other)).toEqual({ status: 200, reasons: [] }),
        );
      }
      await allow('resetkeys', `~{${prefix}*`);
      await soon(async () =>
        expect(await readiness(other)).toEqual({
          status: 503,
          reasons: ['The Redis user lacks a right that the service needs: on its keys'],
        }),
      );
    } finally {
      await allow();
      await other.stop();
    }
  });

  it('keeps the product from starting, with a sentence that names the right', async () => {
    await allow('-info');
    const start = startProduct(
      { ...product.core, masterKey: product.core.serviceKey, redisUrl: urlOfSigner() },
      { api: { host: '127.0.0.1', port: 0 }, workers: true },
    );
    await expect(start).rejects.toThrow(
      'The Redis user lacks a right that the service needs: +info',
    );
  });
});

describe('when a master dies', () => {
  const shard = 1;
  const range = nodeOfShard(shard, shards, prefix);

  it('readyz is 503, the replica takes over, and everything goes on', async () => {
    const [known = ''] = (await signInEveryShard()).filter((id) => shardOf(id, shards) === shard);
    const dead = await cluster.masterOf(range);
    await dead.kill();
    try {
      await soon(async () => expect((await readiness()).status).toBe(503));
      expect((await soon(() => cluster.masterOf(range))).port).not.toBe(dead.port);
      await signInEveryShard();
      await soon(async () => expect(await readiness()).toEqual({ status: 200, reasons: [] }));
      await isSigned(known);
    } finally {
      await dead.start();
    }
  }, 150_000);

  it('and no replica takes over, readyz names the shard until it is back', async () => {
    await cluster.whenWhole();
    const master = await cluster.masterOf(range);
    const pair = [cluster.nodes[range], cluster.nodes[range + shards]].filter(
      (node) => node !== undefined,
    );
    const [replica] = pair.filter(({ port }) => port !== master.port);
    const client = connectForBlocking({ url: cluster.url });
    onTestFinished(() => client.disconnect());
    await whenReady(client);
    await replica?.kill();
    await master.kill();
    let connecting: Promise<void> | undefined;
    try {
      await soon(async () =>
        expect(await readiness()).toEqual({
          status: 503,
          reasons: [
            expect.stringMatching(new RegExp(`^Redis takes no writes for shard ${shard}: `)),
          ],
        }),
      );
      // Now the cluster refuses all slots, as it does by default while it lacks some.
      for (const node of cluster.nodes.filter((each) => !pair.includes(each)))
        await node.command('CONFIG', 'SET', 'cluster-require-full-coverage', 'yes');
      await soon(async () =>
        expect(await readiness()).toEqual({
          status: 503,
          reasons: [expect.stringMatching(/^Redis takes no writes: /)],
        }),
      );
      // As BullMQ's workers do when a wait was cut off: a `connect()` that never settles holds them
      // up for ever.
      const ended = new Promise((resolve) => client.once('end', resolve));
      client.disconnect();
      await ended;
      connecting = client.connect();
    } finally {
      // The one that has everything comes first.
      for (const node of [master, replica]) await node?.start();
    }
    await connecting;
    await soon(async () => expect(await readiness()).toEqual({ status: 200, reasons: [] }));
    await signInEveryShard();
  }, 150_000);
});
