/**
 * Alerts: messages to operators when the share of attempts that fail reaches a threshold, and when
 * it is over. They are sent like callbacks, with the same tries.
 *
 * One process at a time looks. It adds the job first and writes the state after it, and the job's
 * id counts: what is interrupted in between is done again and adds no second job.
 */
import { z } from 'zod';
import type { AlertData } from '../../machines/callback.machine.ts';
import { shardKeys } from '../history/keys.ts';
import { createLeaderTask } from '../history/leader-task.ts';
import { overview } from '../history/overview.ts';
import { parsed } from '../history/row.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Shard } from '../transactions/shards.ts';
import { callbackJob } from './follower.ts';

export interface AlertRule {
  readonly name: string;
  readonly url: string;
  readonly secretVersion: number;
  /** Undefined: all. */
  readonly faults?: readonly number[] | undefined;
  readonly percent: number;
  readonly windowMinutes: number;
  /** With fewer attempts that ended in the window, there is no alert. */
  readonly minAttempts: number;
}

const stateSchema = z.object({
  /** Counts the alerts of this name. */
  number: z.number(),
  /** Of an alert that has begun and not ended. Milliseconds since the epoch. */
  since: z.number().optional(),
  /** When the threshold was last reached. */
  reachedAt: z.number(),
});
type State = Readonly<z.infer<typeof stateSchema>>;

const minuteMs = 60_000;

export const createAlerts = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: readonly Shard[];
  readonly alerts: readonly AlertRule[];
  readonly now: () => number;
  readonly onError: (error: Error) => void;
  readonly tries?: number | undefined;
  readonly leaseMs?: number | undefined;
  /** Default 2 s. */
  readonly lookEveryMs?: number | undefined;
}) => {
  const { redis, prefix, shards, alerts, now, onError, tries = 10, leaseMs, lookEveryMs = 2000 } = options;
  const base = `{${prefix}-callbacks}:alerts`;
  const keys = shards.map(({ index }) => shardKeys(prefix, index));
  const duty = createLeaderTask({ redis, key: `${base}:lease`, leaseMs, onError });

  const look = async (rule: AlertRule): Promise<void> => {
    const { name, percent, windowMinutes, minAttempts } = rule;
    const windowMs = windowMinutes * minuteMs;
    const at = now();
    const { signed, failed, faults } = await overview(redis, keys, at - windowMs, at);
    const counted = faults.filter(({ code }) => rule.faults?.includes(code) ?? true);
    const failures = counted.reduce((sum, { count }) => sum + count, 0);
    const ended = signed + failed;
    const isReached = ended >= minAttempts && failures * 100 >= percent * ended;
    const state: State = stateSchema.safeParse(parsed(await redis.hget(base, name))).data ?? {
      number: 0,
      reachedAt: 0,
    };
    const keep = (next: State) => redis.hset(base, name, JSON.stringify(next));
    const tell = async (what: AlertData['what'], number: number, since: number): Promise<void> => {
      const data: AlertData = {
        ...{ alert: name, what, at, since, percent, windowMinutes, failures, ended },
        ...(rule.faults !== undefined && { faults: [...rule.faults] }),
      };
      await shards[0]?.callbacks.queue.addBulk([callbackJob(`alert-${name}-${number}-${what}`, data, tries)]);
    };
    const { number, since } = state;
    if (isReached && since === undefined) {
      await tell('begun', number + 1, at);
      await keep({ number: number + 1, since: at, reachedAt: at });
    } else if (isReached) await keep({ ...state, reachedAt: at });
    // Not at once: a share around the threshold would begin and end again and again.
    else if (since !== undefined && at - state.reachedAt >= windowMs) {
      await tell('ended', number, since);
      await keep({ number, reachedAt: state.reachedAt });
    }
  };

  return {
    start: (): void =>
      duty.start(async () => {
        for (const rule of alerts) await look(rule);
        return lookEveryMs;
      }),
    close: duty.close,
  };
};
