/**
 * Finds transactions without the events, in the queues' own lists: all of them for a rebuild, or for a gap those that may
 * have changed since a time, which are the open ones and those that have ended since.
 *
 * A transaction that moves while this runs may be met twice or not at all; its move is an event, and who walks has noted
 * before where the events stood.
 */

import { aheadCount } from '../engine/redis/fair-order.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { ShardKeys } from './keys.ts';
import type { EventPosition } from './position.ts';

/**
 * By how much the clocks of the machines may differ. Ends are stamped by workers, events by Redis: who looks for what has
 * ended since a time goes back further by so much.
 */
export const clocksDifferMs = 60_000;

const atOnce = 1000;
/** Lists grow at the left and shrink at the right, so nothing is skipped from the left unless one is taken from between. */
const overlap = 50;

/** BullMQ's name for a job that marks something and is none. */
const isMarker = (id: string): boolean => id.startsWith('0:');

async function* listed(redis: RedisClient, key: string): AsyncGenerator<readonly string[]> {
  let before = new Set<string>();
  for (let first = 0; ; first += atOnce - overlap) {
    const ids = await redis.lrange(key, first, first + atOnce - 1);
    yield ids.filter((id) => !before.has(id));
    before = new Set(ids);
    if (ids.length < atOnce) return;
  }
}

async function* sleeping(redis: RedisClient, key: string): AsyncGenerator<readonly string[]> {
  let cursor = '0';
  do {
    const [next, members] = await redis.zscan(key, cursor, 'COUNT', atOnce);
    yield members.filter((_, index) => index % 2 === 0);
    cursor = next;
  } while (cursor !== '0');
}

/** A job that has ended, and when, by the clock of whoever ended it. */
export interface Ended {
  readonly id: string;
  readonly at: number;
}

/**
 * Jobs by the time of their end, oldest first. One may come twice; none is skipped when others leave meanwhile, unless
 * more than a thousand ended in one millisecond.
 *
 * @param key A queue's `completed` or `failed`.
 */
export async function* endedSince(
  redis: RedisClient,
  key: string,
  sinceMs: number,
): AsyncGenerator<readonly Ended[]> {
  let from = sinceMs;
  let skip = 0;
  for (;;) {
    const found = await redis.zrange(
      key,
      String(from),
      '+inf',
      'BYSCORE',
      'LIMIT',
      skip,
      atOnce,
      'WITHSCORES',
    );
    const ended: Ended[] = [];
    for (let index = 0; index < found.length; index += 2) {
      ended.push({ id: found[index] ?? '', at: Number(found[index + 1]) });
    }
    yield ended;
    const last = ended.at(-1)?.at ?? from;
    if (ended.length < atOnce) return;
    // Those of the last millisecond come again, unless there are more of them than are read at once.
    skip = last === from ? skip + atOnce : 0;
    from = last;
  }
}

/** From when on a queue is looked through, milliseconds by the clock of whoever ends jobs, 0 for all; without, it is not. */
export type Since = { readonly [queue in keyof EventPosition]?: number };

const idsOf = async (ended: readonly Ended[]): Promise<readonly string[]> => ended.map(({ id }) => id);

/**
 * Ids may come more than once.
 *
 * @param worthIt Of signatures that have ended, those that are to be looked at; all by default.
 */
export async function* walk(
  redis: RedisClient,
  keys: ShardKeys,
  { signatures, receipts }: Since,
  worthIt: (ended: readonly Ended[]) => Promise<readonly string[]> = idsOf,
): AsyncGenerator<readonly string[]> {
  if (receipts !== undefined) {
    for await (const ended of endedSince(redis, keys.receipts('completed'), receipts)) {
      yield ended.map(({ id }) => id.replace(/-receipt$/, ''));
    }
  }
  if (signatures === undefined) return;
  for (const set of ['completed', 'failed']) {
    for await (const ended of endedSince(redis, keys.signatures(set), signatures)) {
      yield await worthIt(ended);
    }
  }
  let lastWaiting: readonly string[] = [];
  for (const list of ['wait', 'paused', 'active']) {
    for await (const ids of listed(redis, keys.signatures(list))) {
      if (list === 'wait') lastWaiting = ids;
      yield ids.filter((id) => !isMarker(id));
    }
  }
  for (const set of ['delayed', 'prioritized']) yield* sleeping(redis, keys.signatures(set));
  // The fair order moves jobs to and fro between the two without an event (engine/redis/fair-order.ts).
  const ahead = await redis.lrange(keys.signatures('wait'), -aheadCount, -1);
  yield ahead.filter((id) => !isMarker(id) && !lastWaiting.includes(id));
}

/** How many there are about to be walked through; for progress, so roughly. */
export const countAll = async (redis: RedisClient, keys: ShardKeys): Promise<number> => {
  const pipeline = redis.pipeline();
  for (const set of ['completed', 'failed', 'delayed', 'prioritized']) pipeline.zcard(keys.signatures(set));
  for (const list of ['wait', 'paused', 'active']) pipeline.llen(keys.signatures(list));
  const answers = (await pipeline.exec()) ?? [];
  return answers.reduce((sum, [, count]) => sum + Number(count ?? 0), 0);
};
