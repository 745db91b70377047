/** The order of dead callbacks over all shards, however many died at once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeShards, openShards, type Shard } from '../../../src/transactions/shards.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { cursorText, diedBefore, type Place, readCursor, walkSet } from '../places.ts';
import { callbacksOf as queueIn } from '../queue.ts';

const redis = testRedis();
const client = redis.client();
let shards: readonly Shard[];
/** Newest first; the second time is that of more than one look finds. */
const all: Place[] = [];

const walked = async (from?: Place): Promise<readonly string[]> => {
  const ids: string[] = [];
  for await (const places of walkSet(client, shards, 'failed', from))
    ids.push(...places.map(({ id }) => id));
  return ids;
};
const idsOf = (places: readonly Place[]): readonly string[] => places.map(({ id }) => id);

beforeAll(async () => {
  shards = openShards({
    queues: ['callbacks'],
    redis: client,
    prefix: redis.prefix.slice(-32),
    shards: 3,
    onError: () => undefined,
  });
  for (const shard of shards) {
    const { index } = shard;
    const callbacks = queueIn(shard);
    const key = callbacks.queue.toKey('failed');
    for (const [at, howMany] of [
      [3000, 5],
      [2000, index === 1 ? 1200 : 40],
      [1000, 600],
    ] as const) {
      const places = Array.from({ length: howMany }, (_, number) => ({
        at,
        id:
          `H0${index}-${number}-signed`.replace(/^H/, String.fromCharCode(65 + (number % 26))) + at,
      }));
      all.push(...places);
      await client.zadd(key, ...places.flatMap(({ id }) => [at, id]));
    }
  }
  all.sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
});
afterAll(() => closeShards(shards));

describe('dead callbacks', () => {
  it('are walked once each, newest first', async () => {
    expect(await walked()).toEqual(idsOf(all));
  });

  it('go on behind any place', async () => {
    for (const index of [0, 14, 15, 700, 1294, 1295, all.length - 1]) {
      const place = readCursor(cursorText(all[index] ?? { at: 0, id: '' }));
      expect(await walked(place), String(index)).toEqual(idsOf(all.slice(index + 1)));
    }
  });

  it('that died before a time are those that died earlier', async () => {
    expect(await walked(diedBefore(2000))).toEqual(idsOf(all.filter(({ at }) => at < 2000)));
  });

  it('have no place in a text that is no cursor', () => {
    for (const text of ['', '!!', 'a', 'aaaaaaaaaaaa.H', `1.${'x'.repeat(90)}`]) {
      expect(readCursor(text)).toBeUndefined();
    }
  });
});
