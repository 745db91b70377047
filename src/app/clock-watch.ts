/**
 * Logs when the clock of this process begins to differ from that of Redis, and when it agrees
 * again.
 *
 * Redis is asked once a minute. In between, a jump against the monotonic clock shows that the clock
 * was set, or that the machine was asleep.
 */
import type { Logger } from 'pino';
import type { RedisClock } from '../../packages/engine/src/redis/clock.ts';
import { toleratedOffsetMs } from '../transactions/history/processes.ts';

const everyMs = 1000;
/** A jump that is larger than the usual adjustment of a clock within one second. */
const jumpMs = 250;

/** Starts the watch. @returns A function that ends it. */
export const watchClock = (
  clock: Pick<RedisClock, 'offsetMs' | 'refresh'>,
  hostNow: () => number,
  logger: Logger,
): (() => void) => {
  const differenceNow = (): number => hostNow() - performance.now();
  let differenceMs = differenceNow();
  let isWrong = false;
  const look = async (): Promise<void> => {
    const wasMs = differenceMs;
    differenceMs = differenceNow();
    if (Math.abs(differenceMs - wasMs) > jumpMs) await clock.refresh();
    const exactMs = clock.offsetMs();
    if (exactMs === undefined || Math.abs(exactMs) > toleratedOffsetMs === isWrong) return;
    isWrong = !isWrong;
    const offsetMs = Math.round(exactMs);
    if (isWrong) logger.warn({ offsetMs }, 'the clock differs from that of Redis');
    else logger.info({ offsetMs }, 'the clock agrees with that of Redis again');
  };
  const timer = setInterval(() => void look(), everyMs).unref();
  return () => clearInterval(timer);
};
