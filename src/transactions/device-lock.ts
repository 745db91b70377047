/**
 * A lock on the screen of a person's device: it shows one prompt at a time.
 *
 * A SIM that shows a prompt is busy, and a second request is refused. An App shows the newest
 * request, and the one before ends as if its user had cancelled it. A claim names transaction and
 * attempt, so the same prompt can claim again after a crash. It expires a little after the deadline
 * of the prompt.
 *
 * An attempt whose worker dies after the claim and before the record of it may end without a
 * prompt, and then releases nothing. So a claim of an attempt that is over no longer counts.
 */

import type { RedisClient } from '../redis/connect.ts';
import { letGoOfKey, takeKey } from './jobs/held-key.ts';

export interface Holder {
  readonly transactionId: string;
  readonly attempt: number;
}

export type DeviceLock = ReturnType<typeof createDeviceLock>;

/** Time by which a claim outlasts its prompt: more than a wake-up takes. */
const slackMs = 3000;

const nameOf = ({ transactionId, attempt }: Holder): string => `${transactionId} ${attempt}`;

const parseHolder = (name: string): Holder => {
  const [transactionId = '', attempt = '1'] = name.split(' ');
  return { transactionId, attempt: Number(attempt) };
};

/** @param isOver Whether an attempt that holds a screen has ended. */
export const createDeviceLock = (
  redis: RedisClient,
  prefix: string,
  now: () => number,
  isOver: (holder: Holder) => Promise<boolean>,
) => {
  const keyOf = (screen: string): string => `${prefix}:screen:${screen}`;
  /**
   * A claim lasts until its deadline by the clock of Redis or by that of the process, whichever is
   * later. One of them may be wrong; a claim that lasts too long is released anyway.
   */
  const take = (screen: string, holder: Holder, untilMs: number, from?: Holder) =>
    takeKey(redis, keyOf(screen), nameOf(holder), {
      ms: Math.max(untilMs - now(), 0) + slackMs,
      untilMs: untilMs + slackMs,
      ...(from !== undefined && { from: nameOf(from) }),
    });
  return {
    /**
     * @param untilMs The deadline of the prompt; milliseconds since the epoch.
     * @returns Undefined when the claim succeeds, otherwise the holder.
     */
    claim: async (screen: string, holder: Holder, untilMs: number): Promise<Holder | undefined> => {
      const held = await take(screen, holder, untilMs);
      if (held === undefined) return undefined;
      const other = parseHolder(held);
      if (!(await isOver(other))) return other;
      const next = await take(screen, holder, untilMs, other);
      return next === undefined ? undefined : parseHolder(next);
    },
    /** Takes the screen if it is free or `from` still holds it. */
    takeOver: async (
      screen: string,
      from: Holder,
      holder: Holder,
      untilMs: number,
    ): Promise<boolean> => (await take(screen, holder, untilMs, from)) === undefined,
    release: (screen: string, holder: Holder): Promise<void> =>
      letGoOfKey(redis, keyOf(screen), nameOf(holder)),
  };
};

export const deviceKey = (msisdn: string, sscdId: string): string => `${msisdn}:${sscdId}`;
