/**
 * Removes rows from the index: those of transactions whose retention is over, and those whose job
 * is gone without an event, because BullMQ does not name the jobs that it removes in bulk. It also
 * removes the remains of a rebuild.
 */
import type { RedisClient } from '../../redis/connect.ts';
import { isOver, type Retention } from './filter.ts';
import type { IndexStore } from './index-store.ts';
import type { ShardKeys } from './keys.ts';
import { transactionFacts, transactionLayout } from './packed-row.ts';
import { removeRows } from './row-removal.ts';

/** Time after which a sweep checks whether the job of an open transaction still exists. */
const openMs = 86_400_000;

/** The time between two sweeps: the longer retention, 10 s to 1 h. A sweep reads all rows. */
const sweepEveryMs = ({ signedMs, failedMs }: Retention): number =>
  Math.min(Math.max(signedMs, failedMs, 10_000), 3_600_000);

/**
 * The time of the last sweep is stored, because processes may restart more often than it is due. A
 * time in the future was written by a clock that was ahead.
 *
 * @returns The milliseconds until the next sweep is due; 0 when it is due.
 */
export const sweepDueIn = async (
  redis: RedisClient,
  keys: ShardKeys,
  retention: Retention,
  now: number,
): Promise<number> => {
  await redis.hsetnx(keys.state, 'swept', now);
  const swept = Number(await redis.hget(keys.state, 'swept'));
  return swept > now ? 0 : Math.max(0, swept + sweepEveryMs(retention) - now);
};

/** @returns The number of removed rows. */
export const sweepShard = async (options: {
  readonly redis: RedisClient;
  readonly keys: ShardKeys;
  readonly store: IndexStore;
  readonly retention: Retention;
  readonly now: number;
}): Promise<number> => {
  const { redis, keys, store, retention, now } = options;
  await store.removeLeft();
  const position = await store.position();
  if (position === undefined) return 0;
  const generation = keys.generation(position.generation);
  const removed = await removeRows(redis, transactionLayout, generation, async (facts, idOf) => {
    const { state, submittedAt, endedAt } = transactionFacts;
    const rows = Array.from({ length: facts.count }, (_, row) => row).filter(
      (row) => facts.read(state, row) !== 0,
    );
    const over = rows.filter((row) => isOver(facts, row, retention, now));
    const old = rows.filter(
      (row) => facts.read(endedAt, row) === 0 && now - facts.read(submittedAt, row) > openMs,
    );
    const pipeline = redis.pipeline();
    for (const row of old) pipeline.exists(keys.signatures(idOf(row)));
    const there = (await pipeline.exec()) ?? [];
    return [...over, ...old.filter((_, index) => there[index]?.[1] === 0)];
  });
  await redis.hset(keys.state, 'swept', now);
  return removed;
};
