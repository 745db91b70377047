/**
 * Replays that nobody orders: of transactions that failed by the service's own fault, where the configuration says so.
 *
 * The queue's set of failed jobs, ordered by time, is read from where it was read last. What a rule fits is written down with its
 * time, which is one backoff after the end, doubling with each attempt. A restart goes on from there. What is written down
 * is one end of one transaction, so it does not matter how often that happens, nor when somebody was quicker.
 *
 * What failed more than an hour before the first look is left to people: a service that was away for a day should not wake
 * everybody at night, and switching a rule on should not replay the past.
 *
 * Each application has a line of its own, so that one whose rate is low, and whose line is long, keeps nobody else waiting.
 *
 * Every process may see to it, and one at a time does. That its lease may lapse unnoticed does no harm: see replay-once.ts.
 */

import { createReplayOnce } from '../engine/redis/replay-once.ts';
import { createLeaderTask } from '../history/leader-task.ts';
import { endedSince, maxClockSkewMs } from '../history/scan-queues.ts';
import { isLogin } from '../registry/login-ap-id.ts';
import type { RateLimit } from '../registry/rate-limiter.ts';
import { queueIn } from '../transactions/answers.ts';
import type { Shard } from '../transactions/shards.ts';
import type { ReplayWork } from './bulk-run.ts';
import { replayKey } from './bulk-store.ts';
import { readStandings, type Standing } from './failed-end.ts';
import { automaticName } from './operator.ts';

export interface AutomaticRule {
  readonly apId: string;
  /** 209 and 900 are the service's own. */
  readonly faults: readonly number[];
  /** In all, with the first. */
  readonly maxAttempts: number;
  /** Before the second attempt; twice as long before each further one. */
  readonly backoffSeconds: number;
  /** Of this application. */
  readonly perSecond: number;
}

export interface AutomaticReplays {
  start(): void;
  /** Finishes the replay in hand and lets others take over at once. */
  close(): Promise<void>;
}

const lookBackMs = 3_600_000;
/** Of one application, before it is the next one's turn. */
const replayAtOnce = 25;
const maxBackoffMs = 86_400_000;
const lookEveryMs = 1000;
/** While there is something to replay. */
const stepEveryMs = 20;
const closeTimeoutMs = 3000;

/** A second's worth at once, since that is how often is looked for tokens. */
const paceOf = ({ perSecond }: AutomaticRule): RateLimit => {
  const requests = Math.ceil(perSecond);
  return { requests, perSeconds: requests / perSecond };
};

export interface AutomaticReplaysOptions extends ReplayWork {
  readonly rules: readonly AutomaticRule[];
  /** How long after its last sign of life another process takes over; default 5000. */
  readonly leaseMs?: number;
}

export const createAutomaticReplays = (options: AutomaticReplaysOptions): AutomaticReplays => {
  const { redis, prefix, shards, rules, audit, limiter, now } = options;
  const replayOnce = createReplayOnce(redis, queueIn(shards));
  const duty = createLeaderTask({ ...options, key: replayKey(prefix, 'lease'), closeTimeoutMs });
  const { mayGoOn } = duty;
  const readToKey = replayKey(prefix, 'automatic');
  const linesKey = replayKey(prefix, 'automatic:due');
  const lineKey = (apId: string): string => replayKey(prefix, `automatic:due:${apId}`);
  /** Ends that this process has judged and will meet again, because of the overlap; by shard, with their time. */
  const judgedIn = shards.map(() => new Map<string, number>());

  const ruleFor = ({ row }: Standing): AutomaticRule | undefined =>
    rules.find(({ apId, faults, maxAttempts }) => {
      const code = row.fault?.code;
      if (row.apId !== apId || isLogin(apId)) return false;
      return code !== undefined && faults.includes(code) && row.attempt < maxAttempts;
    });

  const judge = async (ids: readonly string[]): Promise<void> => {
    for (const standing of await readStandings(redis, shards, ids)) {
      const rule = standing && ruleFor(standing);
      if (standing === undefined || rule === undefined) continue;
      const { row, endedRuns } = standing;
      const backoffMs = Math.min(rule.backoffSeconds * 1000 * 2 ** (row.attempt - 1), maxBackoffMs);
      const dueAt = (row.endedAt ?? now()) + backoffMs;
      await redis.sadd(linesKey, row.apId);
      await redis.zadd(lineKey(row.apId), 'NX', dueAt, `${row.msspTransId} ${endedRuns}`);
    }
  };

  const readShard = async ({ index, signatures }: Shard): Promise<void> => {
    const time = now();
    const stored = Number((await redis.hget(readToKey, String(index))) ?? 0);
    // A process whose clock was ahead may have written a time that is to come.
    const readTo = Math.max(Math.min(stored, time), time - lookBackMs);
    const since = readTo - maxClockSkewMs;
    const judged = judgedIn[index] ?? new Map<string, number>();
    for (const [end, at] of judged) if (at < since) judged.delete(end);
    let latest = readTo;
    for await (const ended of endedSince(redis, signatures.queue.toKey('failed'), since)) {
      const fresh = ended.filter(({ id, at }) => !judged.has(`${id} ${at}`));
      await judge(fresh.map(({ id }) => id));
      for (const { id, at } of fresh) judged.set(`${id} ${at}`, at);
      latest = Math.max(latest, ended.at(-1)?.at ?? 0);
    }
    await redis.hset(readToKey, String(index), Math.min(latest, time));
  };

  const replay = async ({ row, endedRuns }: Standing): Promise<void> => {
    const { msspTransId, fault, attempt } = row;
    const details = { fault: fault?.code ?? 0, attempt: attempt + 1 };
    const order = await audit.record(
      { who: automaticName, via: 'service', action: 'replay', target: msspTransId, details },
      `${automaticName}:${msspTransId}:${endedRuns}`,
    );
    await replayOnce(msspTransId, endedRuns, { by: automaticName, order });
  };

  /** @returns Whether there is more that may be replayed at once. */
  const replayDueOf = async (apId: string): Promise<boolean> => {
    const key = lineKey(apId);
    const due = await redis.zrange(key, '-inf', String(now()), 'BYSCORE', 'LIMIT', 0, replayAtOnce);
    for (const entry of due) {
      if (!(await mayGoOn())) return false;
      const [msspTransId = '', runs = ''] = entry.split(' ');
      const [standing] = await readStandings(redis, shards, [msspTransId]);
      const rule = standing && ruleFor(standing);
      if (rule !== undefined && standing?.endedRuns === Number(runs)) {
        if (!(await limiter.take(`replays:automatic:${apId}`, paceOf(rule)))) return false;
        await replay(standing);
      }
      await redis.zrem(key, entry);
    }
    return due.length === replayAtOnce;
  };

  const replayAllDue = async (): Promise<boolean> => {
    let more = false;
    for (const apId of await redis.smembers(linesKey)) {
      if (rules.some((rule) => rule.apId === apId)) {
        more = (await replayDueOf(apId)) || more;
      } else {
        // Its rule is gone; should it come back, this is not what it is about.
        await redis.del(lineKey(apId));
        await redis.srem(linesKey, apId);
      }
    }
    return more;
  };

  let lookedAt = Number.NEGATIVE_INFINITY;
  const step = async (): Promise<number> => {
    const time = performance.now();
    if (time >= lookedAt + lookEveryMs) {
      lookedAt = time;
      for (const shard of shards) if (await mayGoOn()) await readShard(shard);
    }
    if (await replayAllDue()) return stepEveryMs;
    return Math.max(lookedAt + lookEveryMs - performance.now(), stepEveryMs);
  };

  return {
    start: () => {
      if (rules.length > 0) duty.start(step);
    },
    close: duty.close,
  };
};
