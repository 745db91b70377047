/**
 * The two sides that most scenarios compare, each on a Redis of its own: the product's processes,
 * and the floor's.
 */

import { type ParaphOptions, type ParaphProcess, startParaph } from './paraph.ts';
import { startProgram } from './program.ts';
import type { BenchRedis, BenchRedisOptions } from './redis.ts';
import { type BenchContext, own } from './scenario.ts';

/** One process that is measured. */
export interface Measured {
  readonly pid: number;
  /** Empty for one that has none. */
  readonly url: string;
}

export interface Side {
  readonly redis: BenchRedis;
  /** Of the queue `signatures`. */
  readonly prefix: string;
  /** Makes the side as if it had never been asked anything; keys and queues stay. */
  clear(): Promise<void>;
}

const sideOn = (redis: BenchRedis, prefix: string): Side => {
  // Not `meta`, `marker` and the locks of stalled checks, which queue and workers hold.
  const leftovers = ['[0-9a-fH]*', 'wait', 'id'].map((name) => `${prefix}:signatures:${name}`);
  return {
    redis,
    prefix,
    clear: async () => {
      for (const pattern of leftovers) await redis.deleteKeys(pattern);
    },
  };
};

/** Some scenarios are a flood without a worker, which must not be refused. */
const unrefused = { queue: { maxWaiting: 10_000_000 } };

export interface ProductSide extends Side {
  start(
    part: ParaphOptions['part'],
    configuration?: ParaphOptions['configuration'],
  ): Promise<ParaphProcess>;
}

export const productSide = async (
  context: BenchContext,
  options?: BenchRedisOptions,
): Promise<ProductSide> => {
  const redis = await context.redis(options);
  return {
    ...sideOn(redis, '{paraph-0}'),
    start: (part, configuration = {}) =>
      own(
        context,
        startParaph({
          part,
          redisUrl: redis.url,
          configuration: { ...unrefused, ...configuration },
        }),
      ),
  };
};

export interface FloorSide extends Side {
  startHttp(): Promise<Measured>;
  startWorker(): Promise<Measured>;
}

export const floorSide = async (
  context: BenchContext,
  options?: BenchRedisOptions,
): Promise<FloorSide> => {
  const redis = await context.redis(options);
  const start = async (file: string): Promise<Measured> => {
    const program = await own(
      context,
      startProgram<string, string | undefined>(file, [redis.connection.path]),
    );
    return { pid: program.pid, url: (await program.ask('url')) ?? '' };
  };
  return {
    ...sideOn(redis, '{floor}'),
    startHttp: () => start('bench/floors/bare-http.ts'),
    startWorker: () => start('bench/floors/bare-worker.ts'),
  };
};
