/**
 * Takes out what nobody may find any more: transactions whose retention is over, and those whose job has gone without a
 * word, because BullMQ tells of jobs that it removes in bulk by their number only. And what a rebuild has left.
 */
import type { RedisClient } from '../redis/connect.ts';
import { isOver, type Retention } from './filter.ts';
import type { IndexStore } from './index-store.ts';
import type { ShardKeys } from './keys.ts';
import { factsIn, idIn, isFailedCode, isOpenCode, namesWidth, rowsInChunk } from './packed-row.ts';
import { readChunks } from './reading.ts';

/** No transaction is open for longer than this without its job being looked for. */
const openMs = 86_400_000;

/**
 * Within bounds as often as the longer retention: all rows are read each time. What is over takes
 * up an hour's rows at most.
 */
const sweepEveryMs = ({ signedMs, failedMs }: Retention): number =>
  Math.min(Math.max(signedMs, failedMs, 10_000), 3_600_000);

/**
 * When it was last done is written down, since processes may come and go more often than it has to be. A time that is to
 * come was written by a clock that was ahead.
 *
 * @returns After how many milliseconds it is due; 0 when it is.
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

/** @returns How many rows were taken out. */
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
  const chunks = Object.keys(await redis.hgetall(generation.spans)).map(Number);
  let removed = 0;
  for (const chunk of chunks) {
    const [read] = await readChunks(redis, generation, [chunk], true);
    if (read === undefined) continue;
    const facts = factsIn(read.facts);
    const over: { number: number; facts: Uint8Array; id: string }[] = [];
    const doubtful: typeof over = [];
    for (let row = 0; row < facts.count; row += 1) {
      const state = facts.stateCode(row);
      if (state === 0) continue;
      const found = () => ({
        number: chunk * rowsInChunk + row,
        facts: facts.bytes(row),
        id: idIn(read.names.subarray(row * namesWidth, (row + 1) * namesWidth)),
      });
      if (isOver(facts.endedAt(row), isFailedCode(state), retention, now)) over.push(found());
      else if (isOpenCode(state) && now - facts.submittedAt(row) > openMs) doubtful.push(found());
    }
    if (doubtful.length > 0) {
      const pipeline = redis.pipeline();
      for (const { id } of doubtful) pipeline.exists(keys.signatures(id));
      const there = (await pipeline.exec()) ?? [];
      over.push(...doubtful.filter((_, index) => there[index]?.[1] === 0));
    }
    await store.remove(position.generation, over);
    removed += over.length;
    await store.dropIfEmpty(position.generation, chunk);
  }
  await redis.hset(keys.state, 'swept', now);
  return removed;
};
