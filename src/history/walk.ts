/**
 * Finds transactions without the events, in the queue's own lists: all of them for a rebuild, or for a gap those that may
 * have changed since a time, which are the open ones and those that have ended since.
 *
 * A transaction that moves while this runs may be met twice or not at all; its move is an event, and who walks has noted
 * before where the events stood.
 */
import type { RedisClient } from '../redis/connect.ts';
import type { ShardKeys } from './keys.ts';

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

/** By the time of their end, oldest first. */
async function* endedSince(
  redis: RedisClient,
  key: string,
  sinceMs: number,
): AsyncGenerator<readonly string[]> {
  let from: string = String(sinceMs);
  /** So many of those that ended at `from` are known already. */
  let skip = 0;
  for (;;) {
    const found = await redis.zrange(key, from, '+inf', 'BYSCORE', 'LIMIT', skip, atOnce, 'WITHSCORES');
    const ids = found.filter((_, index) => index % 2 === 0);
    const scores = found.filter((_, index) => index % 2 === 1);
    yield ids;
    if (ids.length < atOnce) return;
    const last = scores.at(-1) ?? from;
    const same = scores.filter((score) => score === last).length;
    skip = last === from ? skip + same : same;
    from = last;
  }
}

/** @param sinceMs By the clock of whoever ends transactions; 0 for all. Ids may come more than once. */
export async function* walk(
  redis: RedisClient,
  keys: ShardKeys,
  sinceMs: number,
): AsyncGenerator<readonly string[]> {
  for (const set of ['completed', 'failed']) {
    yield* endedSince(redis, keys.signatures(set), sinceMs);
  }
  for await (const ids of endedSince(redis, keys.receipts('completed'), sinceMs)) {
    yield ids.map((id) => id.replace(/-receipt$/, ''));
  }
  for (const list of ['wait', 'paused', 'active']) {
    for await (const ids of listed(redis, keys.signatures(list))) yield ids.filter((id) => !isMarker(id));
  }
  for (const set of ['delayed', 'prioritized']) yield* sleeping(redis, keys.signatures(set));
}

/** How many there are about to be walked through; for progress, so roughly. */
export const countAll = async (redis: RedisClient, keys: ShardKeys): Promise<number> => {
  const pipeline = redis.pipeline();
  for (const set of ['completed', 'failed', 'delayed', 'prioritized']) pipeline.zcard(keys.signatures(set));
  for (const list of ['wait', 'paused', 'active']) pipeline.llen(keys.signatures(list));
  const answers = (await pipeline.exec()) ?? [];
  return answers.reduce((sum, [, count]) => sum + Number(count ?? 0), 0);
};
