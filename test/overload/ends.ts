/** What became of transactions, from the queue's own notes. */
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchRedis } from '../../bench/harness/redis.ts';
import type { Latency } from './load.ts';

const queue = '{paraph-0}:signatures';

/** Transactions that have not ended, wherever they are. */
const openCount = async ({ client }: BenchRedis): Promise<number> => {
  const [waiting, active, delayed] = await Promise.all([
    client.llen(`${queue}:wait`),
    client.llen(`${queue}:active`),
    client.zcard(`${queue}:delayed`),
  ]);
  return waiting + active + delayed;
};

/** @returns Whether everything has ended in time. */
export const allEnd = async (redis: BenchRedis, patienceMs: number): Promise<boolean> => {
  const until = Date.now() + patienceMs;
  while (Date.now() < until) {
    if ((await openCount(redis)) === 0) return true;
    await delay(100);
  }
  return false;
};

export interface Ends {
  /** From the moment a transaction was accepted to its outcome. */
  readonly latency: Latency;
  /** When the last of them ended; milliseconds since the epoch. */
  readonly lastAt: number;
  readonly signed: number;
  /** Reasons of those that failed. */
  readonly failed: Readonly<Record<string, number>>;
  /** Ids that were answered and are not there, or have not ended. */
  readonly missing: readonly string[];
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

export const endsOf = async ({ client }: BenchRedis, ids: readonly string[]): Promise<Ends> => {
  const latencies: number[] = [];
  const missing: string[] = [];
  const failed: Record<string, number> = {};
  let signed = 0;
  let lastAt = 0;
  for (let from = 0; from < ids.length; from += 1000) {
    const some = ids.slice(from, from + 1000);
    const jobs = await Promise.all(
      some.map((id) => client.hmget(`${queue}:${id}`, 'timestamp', 'finishedOn', 'failedReason')),
    );
    for (const [index, [timestamp, finishedOn, failedReason]] of jobs.entries()) {
      if (finishedOn == null) missing.push(some[index] ?? '');
      else latencies.push(Number(finishedOn) - Number(timestamp));
      lastAt = Math.max(lastAt, Number(finishedOn));
      if (failedReason != null) failed[failedReason] = (failed[failedReason] ?? 0) + 1;
      else if (finishedOn != null) signed += 1;
    }
  }
  const sorted = latencies.toSorted((a, b) => a - b);
  return {
    latency: {
      count: sorted.length,
      p50Ms: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
      maxMs: sorted.at(-1) ?? 0,
    },
    lastAt,
    signed,
    failed,
    missing,
  };
};
