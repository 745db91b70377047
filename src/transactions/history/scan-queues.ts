/**
 * Finds transactions without the events, in the queues' own lists: all of them for a rebuild; for a
 * gap the open ones, and those that have ended since a time.
 *
 * A transaction that moves during the scan may be met twice or not at all. Its move is an event,
 * and the caller has noted the position of the events before the scan.
 */

import type { RedisClient } from '../../redis/connect.ts';
import { aheadCount } from '../jobs/fair-order.ts';
import type { ShardKeys } from './keys.ts';
import type { EventPosition } from './position.ts';

/**
 * The largest difference between the clocks of machines. Workers stamp ends, Redis stamps events: a
 * scan for ends since an event goes back further by this time.
 */
export const maxClockSkewMs = 60_000;

const maxRead = 1000;
/**
 * Jobs by which two reads of a list overlap. Lists grow at the left, so none is skipped unless more
 * jobs than this leave between two reads.
 */
const overlap = 50;

async function* scanList(redis: RedisClient, key: string): AsyncGenerator<readonly string[]> {
  let before = new Set<string>();
  for (let first = 0; ; first += maxRead - overlap) {
    const ids = await redis.lrange(key, first, first + maxRead - 1);
    yield ids.filter((id) => !before.has(id));
    before = new Set(ids);
    if (ids.length < maxRead) return;
  }
}

async function* scanSet(redis: RedisClient, key: string): AsyncGenerator<readonly string[]> {
  let cursor = '0';
  do {
    const [next, members] = await redis.zscan(key, cursor, 'COUNT', maxRead);
    yield members.filter((_, index) => index % 2 === 0);
    cursor = next;
  } while (cursor !== '0');
}

/** A job that has ended, and when, by the clock of the process that ended it. */
interface EndedJob {
  readonly id: string;
  readonly at: number;
}

/**
 * Yields jobs by the time of their end, oldest first. A job may come twice. None is skipped when
 * others leave meanwhile, unless more than a thousand ended in one millisecond.
 *
 * @param key The key of the set `completed` or `failed` of a queue.
 */
async function* endedSince(
  redis: RedisClient,
  key: string,
  sinceMs: number,
): AsyncGenerator<readonly EndedJob[]> {
  let from = sinceMs;
  let skip = 0;
  for (;;) {
    const range = [String(from), '+inf', 'BYSCORE', 'LIMIT', skip, maxRead, 'WITHSCORES'] as const;
    const found = await redis.zrange(key, ...range);
    const ended: EndedJob[] = [];
    for (let index = 0; index < found.length; index += 2) {
      ended.push({ id: found[index] ?? '', at: Number(found[index + 1]) });
    }
    yield ended;
    const last = ended.at(-1)?.at ?? from;
    if (ended.length < maxRead) return;
    // The jobs of the last millisecond come again, unless they fill a whole read.
    skip = last === from ? skip + maxRead : 0;
    from = last;
  }
}

/**
 * The time from which each queue is scanned: milliseconds since the epoch, by the clock of the
 * processes that end jobs; 0 for all jobs. A queue without a time is not scanned.
 */
export type Since = { readonly [queue in keyof EventPosition]?: number };

const lists = ['wait', 'active'];
const endedSets = ['completed', 'failed'];
const openSets = ['delayed', 'prioritized'];

const idsOf = (ended: readonly EndedJob[]): readonly string[] => ended.map(({ id }) => id);

/** Yields ids of transactions. An id may come more than once. */
export async function* scanQueues(
  redis: RedisClient,
  keys: ShardKeys,
  { signatures, receipts }: Since,
): AsyncGenerator<readonly string[]> {
  if (receipts !== undefined) {
    for await (const ended of endedSince(redis, keys.receipts('completed'), receipts)) {
      yield idsOf(ended).map((id) => id.replace(/-receipt$/, ''));
    }
  }
  if (signatures === undefined) return;
  for (const set of endedSets) {
    for await (const ended of endedSince(redis, keys.signatures(set), signatures))
      yield idsOf(ended);
  }
  let lastWaiting: readonly string[] = [];
  for (const list of lists) {
    for await (const ids of scanList(redis, keys.signatures(list))) {
      if (list === 'wait') lastWaiting = ids;
      yield ids;
    }
  }
  for (const set of openSets) yield* scanSet(redis, keys.signatures(set));
  // The fair order moves jobs between `prioritized` and `wait` without an event (fair-order.ts).
  const ahead = await redis.lrange(keys.signatures('wait'), -aheadCount, -1);
  yield ahead.filter((id) => !lastWaiting.includes(id));
}

/** An estimate of the number of jobs that a scan meets, to show progress. */
export const countAll = async (redis: RedisClient, keys: ShardKeys): Promise<number> => {
  const pipeline = redis.pipeline();
  for (const set of [...endedSets, ...openSets]) pipeline.zcard(keys.signatures(set));
  for (const list of lists) pipeline.llen(keys.signatures(list));
  const answers = (await pipeline.exec()) ?? [];
  return answers.reduce((sum, [, count]) => sum + Number(count ?? 0), 0);
};
