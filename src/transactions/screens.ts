/**
 * One prompt at a time on a person's device.
 *
 * A SIM that shows a prompt is busy: a second request is refused. An App shows the newest: a second request takes the
 * screen and the first one ends as if its user had cancelled it. A claim names transaction and attempt, so the same
 * prompt can claim again after a crash, and lapses by itself a little after the prompt's deadline.
 */
import type { RedisClient } from '../redis/connect.ts';

export interface Holder {
  readonly transactionId: string;
  readonly attempt: number;
}

export interface Screens {
  /** @returns Who holds the screen when this holder does not get it, undefined when it does. */
  claim(screen: string, holder: Holder, untilMs: number): Promise<Holder | undefined>;
  /** Takes the screen if `from` still has it. */
  takeOver(screen: string, from: Holder, holder: Holder, untilMs: number): Promise<boolean>;
  release(screen: string, holder: Holder): Promise<void>;
}

/** A claim outlives its prompt by this much: longer than a wake-up takes, shorter than a person's patience. */
const slackMs = 3000;

/**
 * How long a claim lasts: as long as its prompt does by the clock of Redis or by that of the process, whichever is longer.
 * One of them may be wrong, and a claim that lasts too long does no harm, because it is given back.
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

export const createScreens = (redis: RedisClient, prefix: string, now: () => number): Screens => {
  const keyOf = (screen: string): string => `${prefix}:screen:${screen}`;
  return {
    claim: async (screen, holder, untilMs) => {
      const held = String(
        await redis.eval(claimScript, 1, keyOf(screen), nameOf(holder), untilMs, untilMs - now()),
      );
      return held === '' ? undefined : parseHolder(held);
    },
    takeOver: async (screen, from, holder, untilMs) =>
      (await redis.eval(
        takeOverScript,
        1,
        keyOf(screen),
        nameOf(from),
        nameOf(holder),
        untilMs,
        untilMs - now(),
      )) === 1,
    release: async (screen, holder) => {
      await redis.eval(releaseScript, 1, keyOf(screen), nameOf(holder));
    },
  };
};

/** The name of the screen of one SSCD. */
export const screenOf = (msisdn: string, sscdId: string): string => `${msisdn}:${sscdId}`;
