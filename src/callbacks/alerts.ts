/**
 * Alerts: messages to operators when the share of attempts that fail reaches a threshold, and when
 * it is over. They are sent like callbacks, with the same tries.
 *
 * One process at a time looks. It writes the state first, with the message in it, and adds the job
 * from the state. The job's id counts: what is interrupted is done again and adds no second job.
 */
import { z } from 'zod';
import { type AlertData, alertSchema } from '../../machines/callback.machine.ts';
import { shardKeys } from '../history/keys.ts';
import { createLeaderTask } from '../history/leader-task.ts';
import { type Overview, overview } from '../history/overview.ts';
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
  /** Its job may not have been added yet. */
  untold: alertSchema.optional(),
});
type State = Readonly<z.infer<typeof stateSchema>>;

const minuteMs = 60_000;
/** Shorter than a lease, so that it is renewed. */
const stepMs = 2000;

export const createAlerts = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly shards: readonly Shard[];
  readonly alerts: readonly AlertRule[];
  readonly now: () => number;
  readonly onError: (error: Error) => void;
  readonly tries?: number | undefined;
  readonly leaseMs?: number | undefined;
  /** Default 2 s, and for long windows a sixtieth of them. */
  readonly lookEveryMs?: number | undefined;
}) => {
  const { redis, prefix, shards, alerts, now, onError, tries = 10, leaseMs, lookEveryMs } = options;
  const base = `{${prefix}-callbacks}:alerts`;
  const keys = shards.map(({ index }) => shardKeys(prefix, index));
  const duty = createLeaderTask({ redis, key: `${base}:lease`, leaseMs, onError });

  const look = async (rule: AlertRule, { signed, failed, faults }: Overview, at: number): Promise<void> => {
    const { name, percent, windowMinutes, minAttempts } = rule;
    const counted = faults.filter(({ code }) => rule.faults?.includes(code) ?? true);
    const failures = counted.reduce((sum, { count }) => sum + count, 0);
    const ended = signed + failed;
    const isReached = ended >= minAttempts && failures * 100 >= percent * ended;
    const tell = async ({ untold, ...told }: State): Promise<State> => {
      if (untold === undefined) return told;
      const id = `alert-${name}-${told.number}-${untold.what}`;
      await shards[0]?.callbacks.queue.addBulk([callbackJob(id, untold, tries)]);
      return keep(told);
    };
    const keep = async (next: State): Promise<State> => {
      await redis.hset(base, name, JSON.stringify(next));
      return tell(next);
    };
    const message = (what: AlertData['what'], since: number): AlertData => ({
      ...{ alert: name, what, at, since, percent, windowMinutes, failures, ended },
      ...(rule.faults !== undefined && { faults: [...rule.faults] }),
    });
    const stored = stateSchema.safeParse(parsed(await redis.hget(base, name))).data;
    const { number, since, reachedAt } = await tell(stored ?? { number: 0, reachedAt: 0 });
    if (isReached && since === undefined) {
      await keep({ number: number + 1, since: at, reachedAt: at, untold: message('begun', at) });
    } else if (isReached) await keep({ number, since, reachedAt: at });
    // Not at once: a share around the threshold would begin and end again and again.
    else if (since !== undefined && at - reachedAt >= windowMinutes * minuteMs) {
      await keep({ number, reachedAt, untold: message('ended', since) });
    }
  };

  const windows = new Set(alerts.map(({ windowMinutes }) => windowMinutes));
  const lookedAt = new Map<number, number>();
  const lookAt = async (windowMinutes: number): Promise<void> => {
    const windowMs = windowMinutes * minuteMs;
    const time = performance.now();
    const everyMs = lookEveryMs ?? Math.max(stepMs, windowMs / 60);
    if (time - (lookedAt.get(windowMinutes) ?? -Infinity) < everyMs) return;
    const at = now();
    const counts = await overview(redis, keys, at - windowMs, at);
    for (const rule of alerts) if (rule.windowMinutes === windowMinutes) await look(rule, counts, at);
    lookedAt.set(windowMinutes, time);
  };

  return {
    start: (): void =>
      duty.start(async () => {
        for (const windowMinutes of windows) await lookAt(windowMinutes);
        return lookEveryMs ?? stepMs;
      }),
    close: duty.close,
  };
};
