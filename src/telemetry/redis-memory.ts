/**
 * Reads whether Redis removes keys when its memory is full, and the number of keys that it has
 * removed since its start. On a cluster each master is asked.
 */

import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import { nodesOf, type RedisClient } from '../redis/connect.ts';

export interface RedisMemory {
  /** Whether it has a limit of memory and a policy other than `noeviction`. */
  readonly mayEvict: boolean;
  readonly evictedKeys: number;
}

const timeoutMs = 1000;
/** Time for which a result is reused. */
const freshMs = 1000;

const fieldOf = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*?)\r?$`, 'm').exec(info)?.[1];

const countIn = (info: string, name: string): number => Number(fieldOf(info, name) ?? 0);

export const createRedisMemoryProbe = (redis: RedisClient) => {
  const ask = async (): Promise<RedisMemory> => {
    const nodes = await Promise.all(
      nodesOf(redis).map(async (node) => {
        const [memory, stats] = await Promise.all([node.info('memory'), node.info('stats')]);
        const policy = fieldOf(memory, 'maxmemory_policy') ?? 'noeviction';
        return {
          mayEvict: policy !== 'noeviction' && countIn(memory, 'maxmemory') > 0,
          evictedKeys: countIn(stats, 'evicted_keys'),
        };
      }),
    );
    return {
      mayEvict: nodes.some(({ mayEvict }) => mayEvict),
      evictedKeys: nodes.reduce((sum, { evictedKeys }) => sum + evictedKeys, 0),
    };
  };
  let last: { readonly at: number; readonly asking: Promise<RedisMemory | undefined> } | undefined;

  return {
    /** @returns Undefined when Redis does not answer within a second. Never rejects. */
    read: async (): Promise<RedisMemory | undefined> => {
      const at = performance.now();
      if (last === undefined || at - last.at >= freshMs)
        last = { at, asking: ask().catch(() => undefined) };
      const { asking } = last;
      return (await settlesWithin(asking, timeoutMs)) ? asking : undefined;
    },
  };
};

export type RedisMemoryProbe = ReturnType<typeof createRedisMemoryProbe>;
