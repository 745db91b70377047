/**
 * The running processes of the service. Each part reports every few seconds that it runs. A part
 * without a recent report is not shown.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { toError } from '../../../packages/engine/src/redis/to-error.ts';
import { settlesWithin } from '../../../packages/engine/src/settles-within.ts';
import type { RedisClient } from '../../redis/connect.ts';

export interface ProcessReport {
  /** An API and workers in one process are two parts of it. */
  readonly part: 'api' | 'workers';
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** Milliseconds since the epoch, like `at`. */
  readonly startedAt: number;
  /** Only for workers: their current signatures; `concurrency` is the maximum. */
  readonly running?: number;
  readonly concurrency?: number;
  /** How much the clock of the machine is ahead of that of Redis; absent while it is unknown. */
  readonly clockOffsetMs?: number;
  /** The time of the last report. */
  readonly at: number;
}

/** The difference to the clock of Redis above which the clock of a process counts as wrong. */
export const toleratedOffsetMs = 1000;

const sayEveryMs = 5000;
/** Time without a report after which a process counts as gone. */
const silentMs = 20_000;

const closeTimeoutMs = 1000;

const keyOf = (prefix: string): string => `{${prefix}-processes}`;

export const createProcessReports = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly about: Pick<ProcessReport, 'part' | 'version' | 'concurrency'>;
  readonly running?: () => number;
  readonly clock: { offsetMs(): number | undefined };
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}) => {
  const { redis, prefix, about, running, clock, now, onError } = options;
  const key = keyOf(prefix);
  const id = randomUUID();
  const fixed = { ...about, host: hostname(), pid: process.pid, startedAt: now() };
  let isSaying = false;

  const say = async (): Promise<void> => {
    // One report at a time, also while Redis is away.
    if (isSaying) return;
    isSaying = true;
    try {
      const offsetMs = clock.offsetMs();
      const report: ProcessReport = {
        ...fixed,
        ...(running && { running: running() }),
        ...(offsetMs !== undefined && { clockOffsetMs: Math.round(offsetMs) }),
        at: now(),
      };
      await redis.hset(key, id, JSON.stringify(report));
      await redis.pexpire(key, 2 * silentMs);
      const silent = (await readAll(redis, prefix)).filter(([, { at }]) => at < now() - silentMs);
      if (silent.length > 0) await redis.hdel(key, ...silent.map(([field]) => field));
    } catch (error) {
      onError(toError(error));
    } finally {
      isSaying = false;
    }
  };
  void say();
  const timer = setInterval(say, sayEveryMs);
  return {
    close: async (): Promise<void> => {
      clearInterval(timer);
      // Without Redis the report disappears by itself.
      await settlesWithin(redis.hdel(key, id), closeTimeoutMs);
    },
  };
};

const readAll = async (redis: RedisClient, prefix: string) =>
  Object.entries(await redis.hgetall(keyOf(prefix))).map(
    ([id, text]) => [id, JSON.parse(text) as ProcessReport] as const,
  );

/** The processes, ordered by host, process and part. */
export const readProcesses = async (
  redis: RedisClient,
  prefix: string,
  now: number,
): Promise<readonly ProcessReport[]> =>
  (await readAll(redis, prefix))
    .map(([, report]) => report)
    .filter(({ at }) => at >= now - silentMs)
    .toSorted(
      (a, b) => a.host.localeCompare(b.host) || a.pid - b.pid || a.part.localeCompare(b.part),
    );
