/**
 * The depth of the queues and the age of the oldest jobs, read when the metrics are scraped.
 *
 * One small script for each queue, all in one packet; the result is kept for a second. When Redis
 * does not answer, the gauges are absent: an old number would look healthy.
 *
 * waiting  Jobs that wait for a worker. The age counts from the submission, or from the scheduled
 *          time. For jobs that have run before (woken, replayed) it counts from the time at which
 *          this process first saw them in front. The fair order puts new jobs before older ones of
 *          another application, so the oldest is looked for among the next ones: each waiting
 *          application has one there.
 * active   Jobs with a worker. The age counts from the time at which the worker took the job.
 * delayed  Sleeping jobs, mostly while a person thinks. The age is the time by which the first one
 *          is overdue.
 * failed   Jobs kept for a replay (callbacks: dead). The age counts from the end.
 */
import type { Gauge, Registry } from 'prom-client';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import type { RedisClient } from '../redis/connect.ts';
import { gauge } from './registry.ts';

const lifeMs = 1000;
const timeoutMs = 500;

/** The score of a delayed job is its time multiplied by this, plus a counter. */
const delayedScale = 0x1000;

const states = ['waiting', 'active', 'delayed', 'failed'] as const;
type State = (typeof states)[number];

const script = `
local function field(id, name) return id and redis.call('HGET', ARGV[1] .. id, name) or false end
local function delayOf(id)
  local read, opts = pcall(cjson.decode, field(id, 'opts') or '{}')
  local delay = read and type(opts) == 'table' and tonumber(opts.delay) or 0
  return string.format('%.0f', math.max(delay, 0))
end
local waiting = redis.call('LINDEX', KEYS[1], -1) or redis.call('ZRANGE', KEYS[2], 0, 0)[1]
local oldest
for _, id in ipairs(redis.call('LRANGE', KEYS[1], -64, -1)) do
  local added = tonumber(field(id, 'timestamp') or '')
  local since = added and not field(id, 'ats') and added + tonumber(delayOf(id))
  if since and (not oldest or since < oldest) then oldest, waiting = since, id end
end
local active = redis.call('LINDEX', KEYS[3], -1)
return {
  redis.call('LLEN', KEYS[1]) + redis.call('ZCARD', KEYS[2]),
  redis.call('LLEN', KEYS[3]), redis.call('ZCARD', KEYS[4]), redis.call('ZCARD', KEYS[5]),
  waiting or false, field(waiting, 'timestamp'), delayOf(waiting), field(waiting, 'ats'), field(active, 'processedOn'),
  redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')[2] or false,
  redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')[2] or false }`;

const keyNames = ['wait', 'prioritized', 'active', 'delayed', 'failed'];

interface Look {
  readonly queue: string;
  readonly shard: number;
  readonly jobs: Readonly<Record<State, number>>;
  readonly ageMs: Readonly<Record<State, number>>;
}

export interface WatchedQueue {
  readonly shard: number;
  readonly queue: { readonly name: string; toKey(name: string): string };
}

export interface QueueMetricsOptions {
  readonly redis: RedisClient;
  readonly queues: readonly WatchedQueue[];
  readonly now: () => number;
}

const createLookAt = (redis: RedisClient, { queue, shard }: WatchedQueue, now: () => number) => {
  const keys = keyNames.map((name) => queue.toKey(name));
  let front: { readonly id: string; readonly since: number } | undefined;
  /** @param dueAt The time of its submission or schedule; in the future if a tool promoted it. */
  const waitingSince = (id: string | null, dueAt: number, started: string | null): number => {
    const time = now();
    if (id === null) {
      front = undefined;
      return time;
    }
    if (front?.id !== id)
      front = { id, since: Number(started ?? 0) > 0 ? time : Math.min(dueAt || time, time) };
    return front.since;
  };
  return async (): Promise<Look> => {
    const answer = await redis.eval(script, keys.length, ...keys, queue.toKey(''));
    const [waiting, active, delayed, failed, ...more] = answer as [
      number,
      number,
      number,
      number,
      ...(string | null)[],
    ];
    const [
      id = null,
      timestamp = null,
      delay = null,
      started = null,
      processedOn,
      due,
      finishedOn,
    ] = more;
    const dueAt = Number(timestamp ?? now()) + Number(delay ?? 0);
    const since = (time: string | null | undefined, scale = 1): number =>
      time == null ? 0 : Math.max(now() - Number(time) / scale, 0);
    return {
      queue: queue.name,
      shard,
      jobs: { waiting, active, delayed, failed },
      ageMs: {
        waiting: Math.max(now() - waitingSince(id, dueAt, started), 0),
        active: since(processedOn),
        delayed: since(due, delayedScale),
        failed: since(finishedOn),
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
    of: (look: Look, state: State) => number,
  ): Promise<void> => {
    const looks = await lookAtAll();
    into.reset();
    for (const look of looks) {
      const { queue, shard } = look;
      for (const state of states) into.set({ queue, shard, state }, of(look, state));
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
