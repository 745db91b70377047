/**
 * The time by the clock of Redis, without asking for it each time.
 *
 * Processes of one service must agree on when a deadline is, and their own clocks need not. So each measures now and then
 * by how much the time of Redis differs from its monotonic clock, which nobody sets, and adds that up. It is off by half a
 * round trip at most.
 */
import type { RedisClient } from './connect.ts';

export interface RedisClock {
  /** Milliseconds since the epoch. Until Redis has answered for the first time, by the clock of this process. */
  now(): number;
  /** By how much the clock of this process is ahead of that of Redis; negative when it is behind. Undefined until measured. */
  offsetMs(): number | undefined;
  /** Measures anew. Never rejects: while Redis is away the last measurement stands. */
  measure(): Promise<void>;
  close(): void;
}

export interface RedisClockOptions {
  /** The clock of this process. */
  readonly hostNow: () => number;
  readonly onMeasured?: (offsetMs: number) => void;
  readonly onError: (error: Error) => void;
}

/** Beyond this the clock of a process counts as wrong. */
export const toleratedOffsetMs = 1000;

const everyMs = 60_000;
const afterErrorMs = 5000;
const lookEveryMs = 1000;
/** More than a clock is adjusted by from one second to the next: it was set, or the machine was asleep. */
const jumpMs = 250;
/** The shortest round trip tells the most. */
const samples = 3;

export const createRedisClock = (
  redis: RedisClient,
  { hostNow, onMeasured, onError }: RedisClockOptions,
): RedisClock => {
  /** Time of Redis minus monotonic time. */
  let baseMs: number | undefined;
  let measuring: Promise<void> | undefined;
  let dueAt = 0;
  let hostBaseMs = 0;
  const hostBase = (): number => hostNow() - performance.now();

  const now = (): number => (baseMs === undefined ? hostNow() : Math.floor(performance.now() + baseMs));
  const offsetMs = (): number | undefined => (baseMs === undefined ? undefined : hostNow() - now());

  const sample = async (): Promise<{ readonly tripMs: number; readonly baseMs: number }> => {
    const sentAt = performance.now();
    const [seconds, microseconds] = await redis.time();
    const tripMs = performance.now() - sentAt;
    return { tripMs, baseMs: Number(seconds) * 1000 + Number(microseconds) / 1000 - sentAt - tripMs / 2 };
  };

  const measureNow = async (): Promise<void> => {
    dueAt = performance.now() + everyMs;
    hostBaseMs = hostBase();
    try {
      let best = await sample();
      for (let count = 1; count < samples; count += 1) {
        const next = await sample();
        if (next.tripMs < best.tripMs) best = next;
      }
      baseMs = best.baseMs;
      onMeasured?.(hostNow() - now());
    } catch (error) {
      dueAt = performance.now() + afterErrorMs;
      onError(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const measure = (): Promise<void> => {
    measuring ??= measureNow().finally(() => {
      measuring = undefined;
    });
    return measuring;
  };

  const look = (): void => {
    if (performance.now() >= dueAt || Math.abs(hostBase() - hostBaseMs) > jumpMs) void measure();
  };
  const timer = setInterval(look, lookEveryMs).unref();
  // It may be another Redis that answers now, with another clock.
  const onReady = (): void => void measure();
  redis.on('ready', onReady);

  return {
    now,
    offsetMs,
    measure,
    close: () => {
      clearInterval(timer);
      redis.off('ready', onReady);
    },
  };
};
