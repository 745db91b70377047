import { describe, expect, it, vi } from 'vitest';
import { createActor, fromPromise, SimulatedClock } from 'xstate';
import { type PingResult, type PingTry, pingMachine } from '../ping.machine.ts';

const input = { tenantId: 'default', reference: 'B1', lifetimeMs: 60_000, pausesMs: [1000, 3000] };

/** The chart by XState itself, with a clock that stands still. */
const begin = (there: Promise<boolean>, results: readonly PingResult[]) => {
  const tries: PingTry[] = [];
  const clock = new SimulatedClock();
  const chart = pingMachine.provide({
    actors: {
      untilSettled: fromPromise(() => there),
      ping: fromPromise(async ({ input: given }: { input: PingTry }) => {
        tries.push(given);
        return results[tries.length - 1] ?? 'failed';
      }),
    },
  });
  const actor = createActor(chart, { input, clock });
  actor.start();
  return {
    tries,
    reaches: (state: string) =>
      vi.waitFor(() => expect(actor.getSnapshot().value).toBe(state), 20_000),
    passes: (ms: number) => clock.increment(ms),
  };
};

describe('a ping', () => {
  it('is over after its first try when the client takes it, or wants it never', async () => {
    for (const [result, state] of [
      ['told', 'told'],
      ['unwanted', 'over'],
    ] as const) {
      const { tries, reaches } = begin(Promise.resolve(true), [result]);
      await reaches(state);
      expect(tries).toEqual([{ tenantId: 'default', reference: 'B1', isLast: false }]);
    }
  });

  it('is tried three times, later each time, and the last try knows that it is the last', async () => {
    const { tries, reaches, passes } = begin(Promise.resolve(true), []);
    await reaches('pausing');
    passes(999);
    expect(tries).toHaveLength(1);
    passes(1);
    await reaches('pausing');
    passes(2999);
    expect(tries).toHaveLength(2);
    passes(1);
    await reaches('over');
    expect(tries.map(({ isLast }) => isLast)).toEqual([false, false, true]);
  });

  it('is not tried when there is no request any more', async () => {
    const { tries, reaches } = begin(Promise.resolve(false), []);
    await reaches('over');
    expect(tries).toEqual([]);
  });

  it('is given up when its request expires, wherever it stands', async () => {
    const waiting = begin(new Promise(() => undefined), []);
    waiting.passes(60_000);
    await waiting.reaches('expired');
    const pausing = begin(Promise.resolve(true), []);
    await pausing.reaches('pausing');
    pausing.passes(60_000);
    // Both timers are due: the earlier one has begun another try, which the later one gives up.
    await pausing.reaches('expired');
  });
});
