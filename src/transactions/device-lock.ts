/**
 * A lock on the screen of a person's device: it shows one prompt at a time.
 *
 * A SIM that shows a prompt is busy, and a second request is refused. An App shows the newest
 * request, and the one before ends as if its user had cancelled it. A claim names transaction and
 * attempt, so the same prompt can claim again after a crash. It expires a little after the deadline
 * of the prompt.
 */
import type { RedisClient } from '../redis/connect.ts';

export interface Holder {
  readonly transactionId: string;
  readonly attempt: number;
}

export type DeviceLock = ReturnType<typeof createDeviceLock>;

/** A claim lasts so much longer than its prompt: more than a wake-up takes. */
const slackMs = 3000;

/**
 * How long a claim lasts: until its deadline by the clock of Redis or by that of the process,
 * whichever is later. One of them may be wrong; a claim that lasts too long is released anyway.
 */
const ttlOf = (until: string, left: string): string => `
local time = redis.call('TIME')
local left = tonumber(${until}) - (time[1] * 1000 + math.floor(time[2] / 1000))
local ttl = math.max(left, tonumber(${left}), 0) + ${slackMs}`;

const claimScript = `${ttlOf('ARGV[2]', 'ARGV[3]')}
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return held end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ttl)
return ''`;

const takeOverScript = `${ttlOf('ARGV[3]', 'ARGV[4]')}
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] and held ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ttl)
return 1`;

const releaseScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

const nameOf = ({ transactionId, attempt }: Holder): string => `${transactionId} ${attempt}`;

const parseHolder = (name: string): Holder => {
  const [transactionId = '', attempt = '1'] = name.split(' ');
  return { transactionId, attempt: Number(attempt) };
};

export const createDeviceLock = (redis: RedisClient, prefix: string, now: () => number) => {
  const keyOf = (screen: string): string => `${prefix}:screen:${screen}`;
  return {
    /**
     * @returns Undefined when the claim succeeds, otherwise the holder. @param untilMs Since the
     * epoch.
     */
    claim: async (screen: string, holder: Holder, untilMs: number): Promise<Holder | undefined> => {
      const held = String(
        await redis.eval(claimScript, 1, keyOf(screen), nameOf(holder), untilMs, untilMs - now()),
      );
      return held === '' ? undefined : parseHolder(held);
    },
    /** Takes the screen if it is free or `from` still holds it. */
    takeOver: async (screen: string, from: Holder, holder: Holder, untilMs: number): Promise<boolean> =>
      (await redis.eval(
        takeOverScript,
        1,
        keyOf(screen),
        nameOf(from),
        nameOf(holder),
        untilMs,
        untilMs - now(),
      )) === 1,
    release: async (screen: string, holder: Holder): Promise<void> => {
      await redis.eval(releaseScript, 1, keyOf(screen), nameOf(holder));
    },
  };
};

export const deviceKey = (msisdn: string, sscdId: string): string => `${msisdn}:${sscdId}`;
