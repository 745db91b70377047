/**
 * The applications that subscribe to callbacks, from the configurations of all running processes.
 *
 * Each process reports its own at intervals. A report that is not repeated expires.
 */
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import type { RedisClient } from '../../src/redis/connect.ts';

const sayEveryMs = 5000;
/** Time after which a report expires; longer than short outages of a process or Redis. */
const knownForMs = 600_000;

export const createCallbackSubscribers = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly apIds: ReadonlySet<string>;
  /** The clock of Redis, which all processes share. */
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}) => {
  const { redis, prefix, apIds, now, onError } = options;
  const key = `{${prefix}-callbacks}:applications`;
  let timer: NodeJS.Timeout | undefined;
  let isSaying = false;

  const say = async (): Promise<void> => {
    // One report at a time, also while Redis is away.
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
    /** Reports the applications of this process, now and regularly. */
    start: (): void => {
      void say();
      timer ??= setInterval(say, sayEveryMs);
    },
    /** The subscribers of all running processes. Read them after the events, to miss none. */
    all: async (): Promise<ReadonlySet<string>> =>
      new Set([...apIds, ...(await redis.zrange(key, 0, '-1'))]),
    close: (): void => clearInterval(timer),
  };
};
