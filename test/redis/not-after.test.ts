import { createHash } from 'node:crypto';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectForCommands, disconnect } from '../../src/redis/connect.ts';
import { isNotTakenIn, timedScripts } from '../../src/redis/not-after.ts';
import { createReplayOnce } from '../../src/transactions/jobs/replay-once.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const ours = connectForCommands({ url: redis.url });
const plain = new Redis(redis.connection);
ours.on('error', () => undefined);
const open = (connection: typeof ours) =>
  new Queue('timed', { connection, prefix: redis.prefix, skipWaitingForReady: true });
const queue = open(ours);
const bare = open(plain);

interface Script {
  readonly lua: string;
  readonly numberOfKeys: number;
}
const scriptOf = (client: typeof ours, name: string): Script => {
  const found = Object.entries(client.scriptsSet).find(
    ([key]) => key === name || key.startsWith(`${name}:`),
  );
  if (found === undefined) throw new Error(`BullMQ has no ${name}`);
  return found[1] as Script;
};

beforeAll(async () => {
  await Promise.all([queue.waitUntilReady(), bare.waitUntilReady()]);
});

afterAll(async () => {
  await Promise.all([queue.close(), bare.close()]);
  await Promise.all([disconnect(ours), disconnect(plain)]);
});

/**
 * SHA-256 of BullMQ's own texts: with another one, see that {@link timedScripts} may still be given
 * one more argument.
 */
const texts: Readonly<Record<string, string>> = {
  addStandardJob: '2eee45c9ffc54d24681b737f926016a7f7464f0d32a5f87f623bffa2fc55413c',
  addDelayedJob: 'e47c0db3c46bd84afab98fae90bba3b98cf6554e74df840801c39baccc627c4c',
  addPrioritizedJob: 'd4652d1be004a3d7bfed76efdc706f2017f8dfd0080c51ab1f05457eeb1c3c77',
  reprocessJob: '4ea1093385a876769f604fb60e2db13d993b0a801caaea7c2262a36ef589fdc7',
};

describe('BullMQ, whose scripts are given a time until which they count', () => {
  it.each(timedScripts)('has the %s that we know', (name) => {
    const { lua } = scriptOf(plain, name);
    expect(createHash('sha256').update(lua).digest('hex')).toBe(texts[name]);
    const ownArguments = [...lua.matchAll(/ARGV\[(\d+)\]/g)].map(([, number]) => Number(number));
    expect(Math.max(...ownArguments)).toBe(name === 'reprocessJob' ? 6 : 3);
    // It reads them by number alone.
    expect(lua.replaceAll(/ARGV\[\d+\]/g, '')).not.toMatch(/ARGV(?! )/);
    expect(scriptOf(ours, name).lua).toMatch(/^do\n/);
    expect(scriptOf(ours, name).lua.endsWith(lua)).toBe(true);
  });

  it('adds, now, later, by priority and many at once, on a connection for commands', async () => {
    const [one, two, three] = await Promise.all([
      queue.add('a', {}, { jobId: 'now' }),
      queue.add('a', {}, { jobId: 'later', delay: 60_000 }),
      queue.add('a', {}, { jobId: 'first', priority: 5 }),
    ]);
    expect([one.id, two.id, three.id]).toEqual(['now', 'later', 'first']);
    await queue.addBulk([
      { name: 'a', data: {}, opts: { jobId: 'many-1' } },
      { name: 'a', data: {}, opts: { jobId: 'many-2', delay: 60_000 } },
    ]);
    expect(await queue.getJobCounts('wait', 'delayed', 'prioritized')).toEqual({
      wait: 2,
      delayed: 2,
      prioritized: 1,
    });
  });

  it('does not take in what arrives late', async () => {
    // As it stands in a socket: the same call, with a time that is past.
    const { lua, numberOfKeys } = scriptOf(ours, 'addStandardJob');
    const keys = Array.from({ length: numberOfKeys }, (_, index) => `${redis.prefix}:key-${index}`);
    await expect(
      plain.eval(lua, numberOfKeys, ...keys, '', '', '', String(Date.now() - 1000)),
    ).rejects.toThrow(/^LATE /);
    expect(await plain.exists(...keys)).toBe(0);
  });

  it.each([
    ['once', 1, true],
    ['twice, as after a redirection', 2, false],
  ])('says that nothing was taken in of what went out %s', async (_how, times, certain) => {
    const client = ours as Redis;
    const send = client.sendCommand.bind(client);
    const stuck = vi.spyOn(client, 'sendCommand').mockImplementation((command, ...stream) => {
      const sent = Array.from({ length: times }, () => send(command, ...stream))[0];
      if (command.name !== 'evalsha') return sent;
      stuck.mockRestore();
      // Everything goes out at the end of the turn, and by then it is late.
      const until = performance.now() + 900;
      while (performance.now() < until);
      return sent;
    });
    const error: unknown = await queue
      .add('a', {}, { jobId: `out-${times}` })
      .catch((reason) => reason);
    expect(error).toMatchObject({ message: expect.stringMatching(/^LATE /) });
    expect(isNotTakenIn(error)).toBe(certain);
    expect(await queue.getJob(`out-${times}`)).toBeUndefined();
  });

  it('does not replay for an order that arrives late', async () => {
    createReplayOnce(ours, () => undefined);
    const { lua, numberOfKeys } = scriptOf(ours, 'reprocessJob:once');
    const keys = Array.from(
      { length: numberOfKeys },
      (_, index) => `${redis.prefix}:replay-${index}`,
    );
    await plain.hset(keys[0] ?? '', { atm: '1' });
    await plain.zadd(keys[2] ?? '', 1, 'id');
    const order = ['id', 'LPUSH', 'failedReason', 'failed', '0', '0', '1', 'note'];
    const send = (until: number) => plain.eval(lua, numberOfKeys, ...keys, ...order, String(until));
    await expect(send(Date.now() - 1000)).rejects.toThrow(/^LATE /);
    expect(await plain.hgetall(keys[0] ?? '')).toEqual({ atm: '1' });
    expect(await send(Date.now() + 60_000)).toBe(1);
    expect(await plain.lrange(keys[3] ?? '', 0, -1)).toEqual(['id']);
  });

  it('is given no time by connections that never give up', () => {
    expect(scriptOf(plain, 'addStandardJob').lua).not.toMatch(/^do\n/);
  });
});
