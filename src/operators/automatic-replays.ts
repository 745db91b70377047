/**
 * Automatic replays: of transactions that failed by a fault of the service, where the configuration
 * allows it.
 *
 * The queue's set of failed jobs, ordered by time, is read from the last position on. What a rule
 * matches is stored with the time of its replay: one backoff after the end, doubling with each
 * attempt. A stored entry names one end of one transaction, so storing or replaying it twice does
 * no harm, and neither does a restart or a lapsed lease (replay-once.ts).
 *
 * Transactions that failed more than an hour before the first look are left to operators, and so is
 * a replay that could not begin within an hour of its time: a service that was down for a day should
 * not wake people at night, and a new rule should not replay the past. That is so, too, for what
 * only the rate of its application held back: of those due at once, at most 3600 times `perSecond`
 * are replayed. The audit log says why a stored replay was not done.
 *
 * Each application has its own list, so a slow one delays no other. Any process can do this work;
 * one at a time does.
 */

import { createLeaderTask } from '../history/leader-task.ts';
import { endedSince, maxClockSkewMs } from '../history/scan-queues.ts';
import { createReplayOnce } from '../jobs/replay-once.ts';
import { isLogin } from '../registry/login-ap-id.ts';
import type { RateLimit } from '../registry/rate-limiter.ts';
import { queueIn, shardFor } from '../transactions/answers.ts';
import type { Shard } from '../transactions/shards.ts';
import type { ReplayWork } from './bulk-run.ts';
import { replayKey } from './bulk-store.ts';
import { automaticName } from './operator.ts';
import { readRuns, type TransactionRun } from './transaction-runs.ts';

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

const lookBackMs = 3_600_000;
const maxLateMs = 3_600_000;
/** Of one application, before the next one follows. */
const replayAtOnce = 25;
const maxBackoffMs = 86_400_000;
const lookEveryMs = 1000;
/** While there is something to replay. */
const stepEveryMs = 20;
const closeTimeoutMs = 3000;

/** A burst of one second, because that is how often due replays are looked for. */
const paceOf = ({ perSecond }: AutomaticRule): RateLimit => {
  const requests = Math.ceil(perSecond);
  return { requests, perSeconds: requests / perSecond };
};

interface AutomaticReplaysOptions extends ReplayWork {
  readonly rules: readonly AutomaticRule[];
  /** Another process takes over so long after the last sign of life; default 5000. */
  readonly leaseMs?: number;
}

export const createAutomaticReplays = (options: AutomaticReplaysOptions) => {
  const { redis, prefix, shards, rules, audit, limiter, now, onError } = options;
  const replayOnce = createReplayOnce(redis, queueIn(shards));
  const duty = createLeaderTask({ ...options, key: replayKey(prefix, 'lease'), closeTimeoutMs });
  const { mayGoOn } = duty;
  const readToKey = replayKey(prefix, 'automatic');
  const linesKey = replayKey(prefix, 'automatic:due');
  const lineKey = (apId: string): string => replayKey(prefix, `automatic:due:${apId}`);
  /** Ends of the overlap that were checked already; by shard, with their time. */
  const judgedIn = shards.map(() => new Map<string, number>());

  const ruleFor = ({ row, ofWorkflow }: TransactionRun): AutomaticRule | undefined =>
    rules.find(({ apId, faults, maxAttempts }) => {
      const code = row.fault?.code;
      if (row.apId !== apId || isLogin(apId) || ofWorkflow) return false;
      return code !== undefined && faults.includes(code) && row.attempt < maxAttempts;
    });

  const judge = async (ids: readonly string[]): Promise<void> => {
    for (const run of await readRuns(redis, shards, ids)) {
      const rule = run && ruleFor(run);
      if (run === undefined || rule === undefined) continue;
      const { row, endedRuns } = run;
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

  /** @param why Why it is not done. */
  const recordEnd = (
    target: string,
    endedRuns: number,
    about: Readonly<Record<string, number>>,
    why?: string,
  ): Promise<string> =>
    audit.record(
      {
        ...{ who: automaticName, via: 'service', action: 'replay', target },
        details: { ...about, ...(why && { outcome: why }) },
      },
      `${automaticName}:${target}:${endedRuns}${why === undefined ? '' : `:${why}`}`,
    );

  const record = ({ row, endedRuns }: TransactionRun, why?: string): Promise<string> => {
    const about = { fault: row.fault?.code ?? 0, attempt: row.attempt + 1 };
    return recordEnd(row.msspTransId, endedRuns, about, why);
  };

  /** Of an end that is no longer the last one. */
  const recordChanged = async (id: string, endedRuns: number): Promise<void> => {
    const key = shardFor(shards, id)?.signatures.queue.toKey(id) ?? '';
    const note = await redis.hget(key, `replay:${endedRuns}`);
    // Replayed from here, by a process that ended before it took the entry out.
    if (note?.startsWith(`{"by":"${automaticName}"`)) return;
    await recordEnd(id, endedRuns, { attempt: endedRuns + 1 }, 'changed');
  };

  const replay = async (run: TransactionRun): Promise<void> => {
    const order = await record(run);
    const result = await replayOnce(run.row.msspTransId, run.endedRuns, { by: automaticName, order });
    if (result !== 'replayed') await record(run, result);
  };

  /** @returns Whether there is more that may be replayed at once. */
  const replayDueOf = async (apId: string): Promise<boolean> => {
    const key = lineKey(apId);
    // Where its last rule is gone, all of it: if a rule comes back, it does not apply to the past.
    const isGone = !rules.some((rule) => rule.apId === apId);
    const until = isGone ? '+inf' : String(now());
    const due = await redis.zrange(key, '-inf', until, 'BYSCORE', 'LIMIT', 0, replayAtOnce, 'WITHSCORES');
    for (let index = 0; index < due.length; index += 2) {
      const [entry = '', dueAt = ''] = due.slice(index);
      if (!(await mayGoOn())) return false;
      const [msspTransId = '', runs = ''] = entry.split(' ');
      const [run] = await readRuns(redis, shards, [msspTransId]);
      const rule = run && ruleFor(run);
      if (run !== undefined && (run.endedRuns !== Number(runs) || run.row.fault === undefined)) {
        await recordChanged(msspTransId, Number(runs));
      } else if (run !== undefined) {
        if (rule === undefined) await record(run, 'no-rule');
        else if (now() - Number(dueAt) > maxLateMs) await record(run, 'too-late');
        else if (!(await limiter.take(`replays:automatic:${apId}`, paceOf(rule)))) return false;
        else await replay(run);
      }
      await redis.zrem(key, entry);
    }
    const hasMore = due.length === 2 * replayAtOnce;
    if (isGone && !hasMore) await redis.srem(linesKey, apId);
    return hasMore;
  };

  const replayAllDue = async (): Promise<boolean> => {
    let more = false;
    for (const apId of await redis.smembers(linesKey)) more = (await replayDueOf(apId)) || more;
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
    /** Without rules only where those of an earlier start have left something. */
    start: (): void => {
      if (rules.length > 0) duty.start(step);
      else redis.exists(linesKey).then((left) => left > 0 && duty.start(step), onError);
    },
    /** Finishes the replay in progress and lets other processes take over at once. */
    close: duty.close,
  };
};
