/**
 * What plain XState does with a chart of kills.ts: in simulated time, several times. Each time the
 * activities are faster or slower, because a kill delays them: each of these ends is a right one.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { type AnyEventObject, createActor, SimulatedClock } from 'xstate';
import { plain, type Seen, seenBy } from '../same-as-xstate.ts';
import { collected, type KillChart } from './kill-charts.ts';

export interface Expected {
  readonly tree: Seen | 'activity';
  /** In order. */
  readonly effects: readonly string[];
  /** Sorted: which of two ends first is chance. */
  readonly answers: readonly string[];
}

export interface ForeignGlobals {
  setTimeout(run: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
  setInterval(): undefined;
  clearInterval(): undefined;
  random(): number;
  fetch(): Promise<Response>;
  readonly console: object;
}

const stepMs = 20;
const simulatedMs = 40_000;
const factors = [1, 0.02, 5, 1000, 0.3];

const aTime = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** Without the order of members, and without times. */
export const sortedText = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : typeof part === 'string'
        ? part.replaceAll(aTime, 'a time')
        : part,
  );

const runOnce = async (
  { machine, input, events }: KillChart,
  instance: string,
  factor: (call: number) => number,
  globals: ForeignGlobals,
): Promise<Expected> => {
  const clock = new SimulatedClock();
  const { timeouts } = clock as unknown as { readonly timeouts: ReadonlyMap<number, unknown> };
  const effects: string[] = [];
  const answers: string[] = [];
  let calls = 0;
  globals.setTimeout = (run, ms) => clock.setTimeout(run, ms * factor(calls++));
  globals.clearTimeout = (timer) => clock.clearTimeout(timer as number);
  collected.noteActions((what: unknown) => {
    effects.push(sortedText(plain(what)));
  });
  collected.noteAnswers(async (_, answer) => {
    answers.push(sortedText(plain(answer)));
  });
  const tree = await collected.place.run({ instance }, async () => {
    const actor = createActor(machine, {
      id: instance,
      input,
      clock,
      logger: () => undefined,
    } as never);
    actor.subscribe({ error: () => undefined });
    actor.start();
    const left: AnyEventObject[] = [...events];
    for (let passed = 0; passed < simulatedMs; passed += stepMs) {
      for (let round = 0; round < 3; round += 1) await turn();
      const [next] = left;
      if (next !== undefined && actor.getSnapshot().can(next)) {
        left.shift();
        actor.send(next);
      } else if (timeouts.size > 0) clock.increment(stepMs);
      // Nothing can happen any more.
      else if (next === undefined || actor.getSnapshot().status !== 'active') break;
    }
    const seen = seenBy(actor);
    actor.stop();
    return seen;
  });
  return { tree, effects, answers: answers.toSorted() };
};

/** Each different one once. */
export const expectedOf = async (
  chart: KillChart,
  instance: string,
  globals: ForeignGlobals,
): Promise<readonly Expected[]> => {
  const found = new Map<string, Expected>();
  for (const [index, factor] of factors.entries()) {
    const mixed = (call: number): number =>
      index < 3 ? factor : (factors[(call + index) % 5] ?? 1);
    const expected = await runOnce(chart, instance, mixed, globals);
    found.set(sortedText(expected), expected);
  }
  return [...found.values()];
};
