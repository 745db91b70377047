/**
 * Notices that signature jobs wait and no worker takes them: no worker runs, none reaches Redis, or
 * the running ones take no jobs. Workers take the first job of the queue. So the first job is read
 * once a second: while it stays the same, no job is taken.
 */

import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Shard } from './shards.ts';

export type Standstill = ReturnType<typeof watchStandstill>;

const lookEveryMs = 1000;
const closeTimeoutMs = 1000;
/** Longer than the jobs of a killed worker stay locked. */
const standsAfterMs = 10_000;
const sayEveryMs = 60_000;

interface Front {
  readonly id: string;
  readonly since: number;
  readonly saidAt: number;
}

export const watchStandstill = (options: {
  readonly redis: RedisClient;
  readonly shards: readonly Pick<Shard, 'index' | 'signatures'>[];
  /** A monotonic clock, because setting a wall clock would look like a standstill. */
  readonly now?: () => number;
  /** Called after ten seconds, and then every minute. */
  readonly onStandstill: (shard: number, seconds: number) => void;
  readonly onError: (error: Error) => void;
}) => {
  const { redis, shards, now = () => performance.now(), onStandstill, onError } = options;
  const fronts = new Map<number, Front>();
  let looking: Promise<void> | undefined;

  const lookAt = async ({
    index,
    signatures: { queue },
  }: (typeof shards)[number]): Promise<void> => {
    const first = await redis.lindex(queue.toKey('wait'), -1);
    const [id = first] =
      first === null ? await redis.zrange(queue.toKey('prioritized'), '0', '0') : [];
    const time = now();
    const last = fronts.get(index);
    if (id === null || id === undefined) fronts.delete(index);
    else if (last?.id !== id)
      fronts.set(index, { id, since: time, saidAt: Number.NEGATIVE_INFINITY });
    else if (time - last.since >= standsAfterMs && time - last.saidAt >= sayEveryMs) {
      fronts.set(index, { ...last, saidAt: time });
      onStandstill(index, Math.round((time - last.since) / 1000));
    }
  };

  const look = async (): Promise<void> => {
    await Promise.all(
      shards.map((shard) =>
        lookAt(shard).catch((error: unknown) => {
          fronts.delete(shard.index);
          onError(toError(error));
        }),
      ),
    );
  };
  const timer = setInterval(() => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
  }, lookEveryMs);
  timer.unref();

  return {
    /** The seconds for which jobs of each shard wait and none is taken; usually 0. */
    seconds: (): readonly number[] =>
      shards.map(({ index }) => {
        const since = fronts.get(index)?.since;
        return since === undefined ? 0 : Math.max(now() - since, 0) / 1000;
      }),
    close: async (): Promise<void> => {
      clearInterval(timer);
      if (looking !== undefined) await settlesWithin(looking, closeTimeoutMs);
    },
  };
};
