/** Jobs that a process adds in one turn of its event loop, against a real Redis. */
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { connectForCommands, disconnect } from '../../../src/redis/connect.ts';
import { isNotTakenIn } from '../../../src/redis/not-after.ts';
import { addFairly } from '../../../src/transactions/jobs/fair-adding.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { type RunningRedis, startRedisServer } from '../../../test/support/redis-server.ts';

const redis = testRedis();
const ours = connectForCommands({ url: redis.url }) as Redis;
ours.on('error', () => undefined);
addFairly(ours);
let queues = 0;

const open = (client: Redis): Queue => {
  queues += 1;
  return new Queue('jobs', {
    connection: client,
    prefix: `{${redis.prefix}-${queues}}`,
    skipWaitingForReady: true,
    skipVersionCheck: true,
  });
};

const add = (queue: Queue, jobId: string, more: object = {}) =>
  queue.add('job', { AP_ID: 'a' }, { jobId, ...more });

/** The commands that run a script and are sent meanwhile. */
const scriptsOf = async (client: Redis, work: () => Promise<unknown>): Promise<number> => {
  const sent = vi.spyOn(client, 'sendCommand');
  await work();
  return sent.mock.calls.filter(([{ name }]) => name.startsWith('eval')).length;
};

let server: RunningRedis | undefined;

afterEach(async () => {
  vi.restoreAllMocks();
  await server?.stop();
  server = undefined;
});

afterAll(() => disconnect(ours));

it('adds the jobs of one turn in one command for 32, each under its id and in their order', async () => {
  const queue = open(ours);
  const ids = Array.from({ length: 40 }, (_, index) => `job-${index}`);
  let added: readonly unknown[] = [];
  const commands = await scriptsOf(ours, async () => {
    added = (await Promise.all(ids.map((id) => add(queue, id)))).map(({ id }) => id);
  });
  expect(commands).toBe(2);
  expect(added).toEqual(ids);
  expect(await ours.lrange(queue.toKey('wait'), 0, -1)).toEqual(ids.toReversed());
  expect((await queue.getJob('job-39'))?.data).toEqual({ AP_ID: 'a' });
});

it('joins an equal job of the same turn, and keeps the queues apart', async () => {
  const [queue, other] = [open(ours), open(ours)];
  const deduplication = { id: 'equal' };
  const added = await Promise.all([
    add(queue, 'first', { deduplication }),
    add(other, 'elsewhere', { deduplication }),
    add(queue, 'second', { deduplication }),
    add(queue, 'third'),
  ]);
  expect(added.map(({ id }) => id)).toEqual(['first', 'elsewhere', 'first', 'third']);
  expect(await ours.lrange(queue.toKey('wait'), 0, -1)).toEqual(['third', 'first']);
  expect(await ours.lrange(other.toKey('wait'), 0, -1)).toEqual(['elsewhere']);
});

it('refuses one of them for itself', async () => {
  const queue = open(ours);
  await ours.hset(queue.toKey('de:broken'), 'not', 'a string');
  const [good, bad, better] = await Promise.allSettled([
    add(queue, 'good'),
    add(queue, 'bad', { deduplication: { id: 'broken' } }),
    add(queue, 'better'),
  ]);
  expect(bad).toMatchObject({ reason: { message: expect.stringContaining('WRONGTYPE') } });
  expect([good?.status, better?.status]).toEqual(['fulfilled', 'fulfilled']);
  expect(await ours.lrange(queue.toKey('wait'), 0, -1)).toEqual(['better', 'good']);
});

it('adds none of those that arrive late, and says so of each', async () => {
  const queue = open(ours);
  const send = ours.sendCommand.bind(ours);
  const stuck = vi.spyOn(ours, 'sendCommand').mockImplementation((command, ...stream) => {
    const sent = send(command, ...stream);
    if (!command.name.startsWith('eval')) return sent;
    stuck.mockRestore();
    // Everything goes out at the end of the turn, and by then it is late.
    const until = performance.now() + 900;
    while (performance.now() < until);
    return sent;
  });
  const added = await Promise.allSettled([add(queue, 'one'), add(queue, 'two')]);
  const reasons = added.map((result) => (result.status === 'rejected' ? result.reason : undefined));
  expect(reasons.map(isNotTakenIn)).toEqual([true, true]);
  expect(await ours.exists(queue.toKey('one'), queue.toKey('two'))).toBe(0);
});

it('sends all of them again when the node takes no writes, as one alone', async () => {
  server = await startRedisServer();
  const client = connectForCommands({ url: `redis://127.0.0.1:${server.port}` }) as Redis;
  client.on('error', () => undefined);
  addFairly(client);
  const queue = open(client);
  await add(queue, 'before');
  const admin = server.client();
  await admin.replicaof('127.0.0.1', '1');
  // As after a fail-over: the new connection leads to a node that takes writes.
  client.once('close', () => void admin.replicaof('NO', 'ONE'));
  const added = await Promise.all([add(queue, 'one'), add(queue, 'two')]);
  expect(added.map(({ id }) => id)).toEqual(['one', 'two']);
  admin.disconnect();
  await disconnect(client);
});

it.each([
  ['has no room', 'maxmemory', '1'],
  ['has too few replicas', 'min-replicas-to-write', '1'],
])(
  'says of each that Redis has not taken it in when it %s, as of one alone',
  async (_, setting, value) => {
    server = await startRedisServer();
    const client = connectForCommands({ url: `redis://127.0.0.1:${server.port}` }) as Redis;
    client.on('error', () => undefined);
    addFairly(client);
    const queue = open(client);
    // Over a connection of callers a command that comes late on a slow machine is refused.
    await expect.poll(() => add(queue, 'before').then(Boolean, () => false)).toBe(true);
    await client.config('SET', setting, value);
    const added = await Promise.allSettled([
      add(queue, 'one'),
      add(queue, 'two'),
      add(queue, 'three'),
    ]);
    const reasons = added.map((result) =>
      result.status === 'rejected' ? result.reason : undefined,
    );
    await client.config('SET', setting, '0');
    expect(reasons.map(isNotTakenIn)).toEqual([true, true, true]);
    expect(await client.exists(...['one', 'two', 'three'].map((id) => queue.toKey(id)))).toBe(0);
    await disconnect(client);
  },
);
