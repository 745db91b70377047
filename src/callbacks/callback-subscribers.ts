/**
 * Which applications want to hear of the ends of their transactions, by the configurations of all processes that run.
 *
 * Each process says now and then which it knows. One that has not been heard of for a while has gone, and an application that
 * nobody else knows has been taken out of the configuration.
 */
import type { RedisClient } from '../redis/connect.ts';

export interface CallbackSubscribers {
  /** Says at once and from then on which this process knows. */
  start(): void;
  /** Those of this process, and of all others that run. Ask after the ends were read: what was known before them is in it. */
  all(): Promise<ReadonlySet<string>>;
  close(): void;
}

const sayEveryMs = 5000;
/** Longer than a process, or Redis, is away for and comes back. */
const knownForMs = 600_000;

/** KEYS: the applications. ARGV: for how long they are known; those of this process. */
const sayScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ARGV[1]))
return 1`;

export const createCallbackSubscribers = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly apIds: ReadonlySet<string>;
  readonly onError: (error: Error) => void;
}): CallbackSubscribers => {
  const { redis, prefix, apIds, onError } = options;
  const key = `{${prefix}-callbacks}:applications`;
  let timer: NodeJS.Timeout | undefined;
  let isSaying = false;

  const say = async (): Promise<void> => {
    // While Redis is away, one is enough.
    if (isSaying) return;
    isSaying = true;
    try {
      await redis.eval(sayScript, 1, key, knownForMs, ...apIds);
    } catch (error) {
      onError(error instanceof Error ? error : new Error(String(error)));
    } finally {
      isSaying = false;
    }
  };

  return {
    start: () => {
      void say();
      timer ??= setInterval(say, sayEveryMs);
    },
    all: async () => new Set([...apIds, ...(await redis.zrange(key, 0, '-1'))]),
    close: () => clearInterval(timer),
  };
};
