/**
 * Notices that signature jobs wait for a worker and none is taken: no worker runs, none reaches Redis, or those that run take nothing.
 *
 * A worker takes the job in front. So once a second whoever is in front is looked at: while it stays the same one, nothing is
 * taken, however many jobs there are and whatever those that died hold in their hands.
 */
import type { RedisClient } from '../redis/connect.ts';
import { settlesWithin } from '../redis/timeout.ts';
import { toError } from '../redis/to-error.ts';
import type { Shard } from './shards.ts';

export interface Standstill {
  /** For how long nothing has been taken although something waits, in seconds, by shard; 0 while all goes well. */
  seconds(): readonly number[];
  close(): Promise<void>;
}

const lookEveryMs = 1000;
const closePatienceMs = 1000;
/** Longer than a worker that was killed keeps others from its jobs. */
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
  /** Monotonic: a clock that is set would look like a standstill. */
  readonly now?: () => number;
  /** Told when it has lasted for ten seconds, and then every minute. */
  readonly onStandstill: (shard: number, seconds: number) => void;
  readonly onError: (error: Error) => void;
}): Standstill => {
  const { redis, shards, now = () => performance.now(), onStandstill, onError } = options;
  const fronts = new Map<number, Front>();
  let looking: Promise<void> | undefined;

  const lookAt = async ({ index, signatures: { queue } }: (typeof shards)[number]): Promise<void> => {
    const first = await redis.lindex(queue.toKey('wait'), -1);
    const [id = first] = first === null ? await redis.zrange(queue.toKey('prioritized'), '0', '0') : [];
    const time = now();
    const last = fronts.get(index);
    if (id === null || id === undefined) fronts.delete(index);
    else if (last?.id !== id) fronts.set(index, { id, since: time, saidAt: Number.NEGATIVE_INFINITY });
    else if (time - last.since >= standsAfterMs && time - last.saidAt >= sayEveryMs) {
      fronts.set(index, { ...last, saidAt: time });
      onStandstill(index, Math.round((time - last.since) / 1000));
    }
  };

  const look = async (): Promise<void> => {
    await Promise.all(
      shards.map((shard) =>
        lookAt(shard).catch((error: unknown) => {
          // Whether something waits is not known. That Redis is away says itself.
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
    seconds: () =>
      shards.map(({ index }) => {
        const since = fronts.get(index)?.since;
        return since === undefined ? 0 : Math.max(now() - since, 0) / 1000;
      }),
    close: async () => {
      clearInterval(timer);
      if (looking !== undefined) await settlesWithin(looking, closePatienceMs);
    },
  };
};
