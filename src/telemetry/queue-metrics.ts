/**
 * The depth of the queues and the age of the oldest jobs, read when the metrics are scraped.
 *
 * The result is kept for a second. When Redis does not answer, the gauges are absent: an old number
 * would look healthy.
 *
 * waiting  Jobs that wait for a worker. The age counts from the submission, or from the scheduled
 *          time. For jobs that have run before (woken, replayed) it counts from the time at which
 *          this process first saw them in front.
 * active   Jobs with a worker. The age counts from the time at which the worker took the job.
 * delayed  Sleeping jobs, mostly while a person thinks. The age is the time by which the first one
 *          is overdue.
 * failed   Jobs kept for a replay (callbacks: dead). The age counts from the end.
 */
import type { Gauge, Registry } from 'prom-client';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import type { RedisClient } from '../redis/connect.ts';
import {
  type QueueDepth,
  type QueueState,
  queueStates,
  type ReadableQueue,
  readQueueDepth,
} from '../redis/queue-depth.ts';
import { gauge } from './registry.ts';

const lifeMs = 1000;
const timeoutMs = 500;

interface Look {
  readonly queue: string;
  readonly shard: number;
  readonly jobs: QueueDepth['jobs'];
  readonly ageMs: Readonly<Record<QueueState, number>>;
}

export interface WatchedQueue {
  readonly shard: number;
  readonly queue: ReadableQueue;
}

export interface QueueMetricsOptions {
  readonly redis: RedisClient;
  readonly queues: readonly WatchedQueue[];
  readonly now: () => number;
}

const createLookAt = (redis: RedisClient, { queue, shard }: WatchedQueue, now: () => number) => {
  let front: { readonly id: string; readonly since: number } | undefined;
  const waitingSince = (next: QueueDepth['next']): number | undefined => {
    if (next === undefined) {
      front = undefined;
      return undefined;
    }
    const { id, dueAt, hasRun } = next;
    if (front?.id !== id) {
      const time = now();
      // The time of its schedule is in the future if a tool promoted it.
      front = { id, since: hasRun ? time : Math.min(dueAt ?? time, time) };
    }
    return front.since;
  };
  const ageOf = (since: number | undefined): number =>
    since === undefined ? 0 : Math.max(now() - since, 0);
  return async (): Promise<Look> => {
    const { jobs, next, activeSince, firstDueAt, failedSince } = await readQueueDepth(redis, queue);
    return {
      queue: queue.name,
      shard,
      jobs,
      ageMs: {
        waiting: ageOf(waitingSince(next)),
        active: ageOf(activeSince),
        delayed: ageOf(firstDueAt),
        failed: ageOf(failedSince),
      },
    };
  };
};

/** @returns A function that takes the source of the seconds of standstill by shard. */
export const createStandstillMetric = (
  registry: Registry,
): ((seconds: () => readonly number[]) => void) => {
  let secondsOf: () => readonly number[] = () => [];
  const standstill = gauge(
    registry,
    'queue_standstill_seconds',
    'How long no worker has taken a signature job although some wait, by shard; else 0.',
    ['shard'],
    () => {
      standstill.reset();
      for (const [shard, seconds] of secondsOf().entries()) standstill.set({ shard }, seconds);
    },
  );
  return (seconds) => {
    secondsOf = seconds;
  };
};

export const createQueueMetrics = (
  registry: Registry,
): ((options: QueueMetricsOptions) => void) => {
  const labelNames = ['queue', 'shard', 'state'] as const;
  let lookAtAll: () => Promise<readonly Look[]> = async () => [];
  type QueueGauge = Gauge<(typeof labelNames)[number]>;
  const collected = async (
    into: QueueGauge,
    of: (look: Look, state: QueueState) => number,
  ): Promise<void> => {
    const looks = await lookAtAll();
    into.reset();
    for (const look of looks) {
      const { queue, shard } = look;
      for (const state of queueStates) into.set({ queue, shard, state }, of(look, state));
    }
  };
  const jobs: QueueGauge = gauge(
    registry,
    'queue_jobs',
    'Jobs in each queue, by state. Every process reports the same queues.',
    labelNames,
    () => collected(jobs, (look, state) => look.jobs[state]),
  );
  const age: QueueGauge = gauge(
    registry,
    'queue_oldest_age_seconds',
    'Age of the oldest job: waiting since submission, active since taken, delayed past its time, failed.',
    labelNames,
    () => collected(age, (look, state) => look.ageMs[state] / 1000),
  );

  return ({ redis, queues, now }) => {
    const looks = queues.map((watched) => createLookAt(redis, watched, now));
    let last: { readonly at: number; readonly looking: Promise<readonly Look[]> } | undefined;
    const look = async (): Promise<readonly Look[]> => {
      const looking = Promise.all(looks.map((lookAt) => lookAt()));
      // After the timeout a failure is ignored, too.
      looking.catch(() => undefined);
      if (!(await settlesWithin(looking, timeoutMs))) return [];
      return looking.catch(() => []);
    };
    lookAtAll = () => {
      if (last === undefined || now() - last.at >= lifeMs) last = { at: now(), looking: look() };
      return last.looking;
    };
  };
};
