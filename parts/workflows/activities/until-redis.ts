/** How long activities wait for Redis. */
import { setTimeout as delay } from 'node:timers/promises';
import { isRedisAway } from '../../../packages/engine/src/redis/to-error.ts';

/**
 * Tries of an activity that adds a job: Redis may be away, or full, for long. When it answers
 * again, what is due runs within five seconds.
 */
export const untilRedisAnswers = {
  attempts: Number.POSITIVE_INFINITY,
  backoffMs: 250,
  maxBackoffMs: 2000,
};

/** The same within one try, which is not spent: nothing was asked of anybody. */
export const onceRedisAnswers = async <T>(
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> => {
  const { backoffMs, maxBackoffMs } = untilRedisAnswers;
  for (let pauseMs = backoffMs; ; pauseMs = Math.min(pauseMs * 2, maxBackoffMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isRedisAway(error)) throw error;
      await delay(pauseMs, undefined, { signal });
    }
  }
};
