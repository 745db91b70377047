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
 * Keys, beside those of the bulks: `:automatic`, hash, shard -> time up to which was read; `:due`, zset,
 * `<transaction> <ended runs>` -> when.
 */
import type { RedisClient } from '../redis/connect.ts';
import type { RateLimiter } from '../registry/rate-limiter.ts';
import type { Shard } from '../transactions/shards.ts';
import type { Audit } from './audit.ts';
import { replayKey } from './bulk-store.ts';
import { readStandings, type Standing } from './failed-end.ts';
import { automaticName } from './operator.ts';
import type { ReplayOnce } from './replay-once.ts';

export interface AutomaticRule {
  readonly apId: string;
  /** 209 and 900 are the service's own. */
  readonly faults: readonly number[];
  /** In all, with the first. */
  readonly maxAttempts: number;
  /** Before the second attempt; twice as long before each further one. */
  readonly backoffSeconds: number;
  /** Of this application; others wait. */
  readonly perSecond: number;
}

export interface AutomaticReplays {
  /** Looks for what has failed, and replays what is due. */
  step(): Promise<void>;
}

const lookBackMs = 3_600_000;
/** Ends are stamped by workers, whose clocks differ a little, and may be written a little later than stamped. */
const overlapMs = 30_000;
const readAtOnce = 1000;
const replayAtOnce = 100;
const mostBackoffMs = 86_400_000;

export const createAutomaticReplays = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: readonly Shard[];
  readonly rules: readonly AutomaticRule[];
  readonly audit: Audit;
  readonly limiter: RateLimiter;
  readonly replayOnce: ReplayOnce;
  readonly now: () => number;
  readonly mayGoOn: () => Promise<boolean>;
}): AutomaticReplays => {
  const { redis, prefix, shards, rules, audit, limiter, replayOnce, now, mayGoOn } = options;
  const readToKey = replayKey(prefix, 'automatic');
  const dueKey = replayKey(prefix, 'due');
  /** Ends that this process has judged and will meet again, because of the overlap; by shard, with their time. */
  const judgedIn = shards.map(() => new Map<string, number>());

  const ruleFor = ({ row }: Standing): AutomaticRule | undefined =>
    rules.find(({ apId, faults, maxAttempts }) => {
      const code = row.fault?.code;
      return row.apId === apId && code !== undefined && faults.includes(code) && row.attempt < maxAttempts;
    });

  const judge = async (ids: readonly string[]): Promise<void> => {
    for (const standing of await readStandings(redis, shards, ids)) {
      const rule = standing && ruleFor(standing);
      if (standing === undefined || rule === undefined) continue;
      const { row, endedRuns } = standing;
      const backoffMs = Math.min(rule.backoffSeconds * 1000 * 2 ** (row.attempt - 1), mostBackoffMs);
      await redis.zadd(dueKey, 'NX', (row.endedAt ?? now()) + backoffMs, `${row.msspTransId} ${endedRuns}`);
    }
  };

  const readShard = async ({ index, signatures }: Shard): Promise<void> => {
    const time = now();
    const stored = Number((await redis.hget(readToKey, String(index))) ?? 0);
    // A process whose clock was ahead may have written a time that is to come.
    const readTo = Math.max(Math.min(stored, time), time - lookBackMs);
    const since = readTo - overlapMs;
    const judged = judgedIn[index] ?? new Map<string, number>();
    for (const [end, at] of judged) if (at < since) judged.delete(end);
    let skip = 0;
    let latest = readTo;
    for (;;) {
      const found = await redis.zrange(
        signatures.queue.toKey('failed'),
        String(since),
        '+inf',
        'BYSCORE',
        'LIMIT',
        skip,
        readAtOnce,
        'WITHSCORES',
      );
      const fresh: string[] = [];
      for (let at = 0; at < found.length; at += 2) {
        const [id = '', score = ''] = found.slice(at, at + 2);
        latest = Math.max(latest, Number(score));
        const end = `${id} ${score}`;
        if (!judged.has(end)) fresh.push(id);
        judged.set(end, Number(score));
      }
      await judge(fresh);
      if (found.length < readAtOnce * 2) break;
      skip += readAtOnce;
    }
    await redis.hset(readToKey, String(index), Math.min(latest, time));
  };

  const replayDue = async (): Promise<void> => {
    const due = await redis.zrange(dueKey, '-inf', String(now()), 'BYSCORE', 'LIMIT', 0, replayAtOnce);
    const exhausted = new Set<string>();
    for (const entry of due) {
      if (!(await mayGoOn())) return;
      const [msspTransId = '', runs = ''] = entry.split(' ');
      const [standing] = await readStandings(redis, shards, [msspTransId]);
      const rule = standing && ruleFor(standing);
      if (rule !== undefined && standing?.endedRuns === Number(runs)) {
        const { apId, perSecond } = rule;
        const mayReplay =
          !exhausted.has(apId) &&
          (await limiter.take(`replays:automatic:${apId}`, { requests: 1, perSeconds: 1 / perSecond }));
        if (!mayReplay) {
          exhausted.add(apId);
          continue;
        }
        const details = { fault: standing.row.fault?.code ?? 0, attempt: standing.row.attempt + 1 };
        const order = await audit.record(
          { who: automaticName, via: 'service', action: 'replay', target: msspTransId, details },
          `${automaticName}:${msspTransId}:${runs}`,
        );
        await replayOnce(msspTransId, Number(runs), { by: automaticName, order });
      }
      await redis.zrem(dueKey, entry);
    }
  };

  return {
    step: async () => {
      if (rules.length === 0) return;
      for (const shard of shards) if (await mayGoOn()) await readShard(shard);
      await replayDue();
    },
  };
};
