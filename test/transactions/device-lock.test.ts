/** How long a claim of a screen lasts, whatever the clock of the process says that claims it. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDeviceLock } from '../../src/transactions/device-lock.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const client = redis.client();
const deviceLock = createDeviceLock(
  client,
  redis.prefix,
  () => Date.now(),
  async () => false,
);
const older = { transactionId: 'H00older', attempt: 1 };
const newer = { transactionId: 'H00newer', attempt: 2 };

/** The clock that everybody shares, in milliseconds since the epoch. */
const trueTime = async (): Promise<number> => {
  const [seconds, microseconds] = await client.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
};

/**
 * When a claim lapses, on the same clock; both are read in one step, so that a slow test changes
 * nothing.
 */
const lapsesAt = async (screen: string): Promise<number> => {
  const script = `local time = redis.call('TIME')
return time[1] * 1000 + math.floor(time[2] / 1000) + redis.call('PTTL', KEYS[1])`;
  return Number(await client.eval(script, 1, `${redis.prefix}:screen:${screen}`));
};

/** When the clock of the process was set. It stands still from then on. */
let setAt = 0;

/** Only what the process takes for the time is wrong; its timers are as they were. */
const setClockWrongBy = async (ms: number): Promise<void> => {
  setAt = await trueTime();
  vi.useFakeTimers({ toFake: ['Date'], now: setAt + ms });
};

/**
 * Not before its prompt is over, and no more than a person's patience later, beside what the clock
 * is behind.
 */
const expectLifeOf = async (screen: string, until: number, wrongByMs: number): Promise<void> => {
  const at = await lapsesAt(screen);
  const stoodMs = (await trueTime()) - setAt;
  expect(at).toBeGreaterThanOrEqual(until);
  expect(at).toBeLessThan(until + 5000 + stoodMs + Math.max(0, -wrongByMs));
};

afterEach(() => {
  vi.useRealTimers();
});

describe.each([
  ['30 s ahead', 30_000],
  ['30 s behind', -30_000],
  ['two minutes ahead, past the end of the prompt', 120_000],
])('on a process whose clock is %s', (_, wrongByMs) => {
  it('a claim lasts as long as its prompt', async () => {
    const until = (await trueTime()) + 60_000;
    await setClockWrongBy(wrongByMs);
    const screen = `claimed-${wrongByMs}`;
    expect(await deviceLock.claim(screen, older, until)).toBeUndefined();
    await expectLifeOf(screen, until, wrongByMs);
    expect(await deviceLock.claim(screen, newer, until)).toEqual(older);
  });

  it('a screen that is taken over lasts as long as the new prompt', async () => {
    const until = (await trueTime()) + 60_000;
    await setClockWrongBy(wrongByMs);
    const screen = `taken-over-${wrongByMs}`;
    await deviceLock.claim(screen, older, until);
    expect(await deviceLock.takeOver(screen, older, newer, until + 60_000)).toBe(true);
    await expectLifeOf(screen, until + 60_000, wrongByMs);
  });
});

it('a claim lasts as long as the process reckons, although the clock of Redis is ahead', async () => {
  await setClockWrongBy(-90_000);
  const before = await trueTime();
  expect(await deviceLock.claim('redis-ahead', older, Date.now() + 60_000)).toBeUndefined();
  expect(await lapsesAt('redis-ahead')).toBeGreaterThanOrEqual(before + 60_000);
});
