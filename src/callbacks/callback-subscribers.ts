/**
 * Which applications want to hear of the ends of their transactions, by the configurations of all processes that run.
 *
 * Each process says now and then which it knows. One that has not been heard of for a while has gone, and an application that
 * nobody else knows has been taken out of the configuration.
 */
import type { RedisClient } from '../redis/connect.ts';
import { toError } from '../redis/to-error.ts';

export interface CallbackSubscribers {
  /** Says at once and from then on which this process knows. */
  start(): void;
  /** Of all running processes. Ask after reading the ends: earlier subscribers are in it. */
  all(): Promise<ReadonlySet<string>>;
  close(): void;
}

const sayEveryMs = 5000;
/** Longer than a process, or Redis, is away for and comes back. */
const knownForMs = 600_000;

export const createCallbackSubscribers = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly apIds: ReadonlySet<string>;
  /** The clock of Redis, which all processes share. */
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}): CallbackSubscribers => {
  const { redis, prefix, apIds, now, onError } = options;
  const key = `{${prefix}-callbacks}:applications`;
  let timer: NodeJS.Timeout | undefined;
  let isSaying = false;

  const say = async (): Promise<void> => {
    // While Redis is away, one is enough.
    if (isSaying) return;
    isSaying = true;
    try {
      const time = now();
      await redis.zadd(key, ...[...apIds].flatMap((apId) => [time, apId]));
      await redis.zremrangebyscore(key, '-inf', time - knownForMs);
    } catch (error) {
      onError(toError(error));
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
