/**
 * Runs each foreign test once to see which charts it runs with which events. Then it runs each of
 * them on its own: twice in XState and once in the engine. For each of these runs the test is run
 * again up to the place where it makes the actor, so that variables around the chart are fresh.
 */
import { appendFileSync } from 'node:fs';
import { afterAll, expect, vi } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import {
  differenceOf,
  type ReplayStep,
  replayEngine,
  replayXState,
  timersToFake,
} from './replay.ts';
import type { Verdict } from './verdict.ts';
import { inputOf, walkOf } from './walk.ts';
import {
  chartsNotRun,
  clockOf,
  grab,
  grabbed,
  noteActions,
  record,
  type Session,
  stopRecording,
} from './xstate-recorded.ts';

const resultFile = process.env.FOREIGN_RESULTS ?? '/dev/null';
const testMs = Number(process.env.FOREIGN_TEST_MS ?? 4000);
const isExamples = process.env.FOREIGN_EXAMPLES !== undefined;
/** The simulated time of an example, which costs nothing. */
const exampleMs = 40_000;
const walkSeeds = [11, 12, 13];

type TestBody = (...args: unknown[]) => unknown;
type Finding = Omit<Verdict, 'file' | 'test' | 'index'>;

/**
 * Examples wait for timers, and send events by intervals that never end. Loading them takes real
 * time.
 */
const withinSimulated = async (run: () => unknown, isLoaded: () => boolean): Promise<void> => {
  vi.useFakeTimers({ toFake: [...timersToFake] });
  let isOver = false;
  const over = Promise.resolve()
    .then(run)
    .catch(() => undefined)
    .finally(() => {
      isOver = true;
    });
  const pause = () => new Promise((resolve) => setImmediate(resolve));
  for (
    const until = performance.now() + testMs;
    !isOver && !isLoaded() && performance.now() < until;
  )
    await pause();
  for (let passed = 0; passed < exampleMs && grabbed === undefined; passed += 10) {
    await vi.advanceTimersByTimeAsync(10).catch(() => undefined);
    await pause();
  }
  await Promise.race([over, pause()]);
  vi.clearAllTimers();
  vi.useRealTimers();
};

const withinReal = async (run: () => unknown, ms: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([
    Promise.resolve()
      .then(run)
      .catch(() => undefined),
    over,
  ]);
  clearTimeout(timer);
  vi.useRealTimers();
};

const within = (run: () => unknown, isLoaded: () => boolean): Promise<void> =>
  isExamples ? withinSimulated(run, isLoaded) : withinReal(run, testMs);

const judge = async (
  body: () => unknown,
  session: Pick<Session, 'machine' | 'input'>,
  index: number | undefined,
  steps: readonly ReplayStep[],
): Promise<Finding> => {
  const fresh = async (): Promise<readonly [AnyStateMachine, unknown]> => {
    if (index === undefined) return [session.machine, session.input];
    grab(index);
    await within(body, () => grabbed !== undefined);
    stopRecording();
    return grabbed === undefined
      ? [session.machine, session.input]
      : [grabbed.machine, grabbed.input];
  };
  const xstate = await replayXState(...(await fresh()), steps, noteActions);
  const again = await replayXState(...(await fresh()), steps, noteActions);
  const seen = new Set(xstate.sights.map(({ tree }) => JSON.stringify(tree))).size;
  const varies = differenceOf(xstate.sights, again.sights);
  const engine = await replayEngine(...(await fresh()), steps, noteActions);
  if (engine.kind === 'refused') return { kind: 'refused', detail: engine.reason, seen: 0 };
  const difference = differenceOf(xstate.sights, engine.sights);
  if (difference === undefined) return { kind: 'same', detail: '', seen };
  if (varies !== undefined) return { kind: 'varies', detail: varies, seen };
  const threw = engine.thrown.length === 0 ? '' : `an action threw ${engine.thrown[0]}; `;
  return { kind: 'different', detail: threw + difference, seen };
};

const runRecorded = async (
  file: string,
  name: string,
  body: TestBody,
  args: unknown[],
): Promise<void> => {
  const sessions = record();
  const run = (): unknown => body(...args);
  await within(run, () => sessions.length > 0);
  const recorded = [...sessions].map((session) => ({
    session,
    restMs: clockOf(session) - session.lastAt,
  }));
  stopRecording();
  if (isExamples && recorded.length + chartsNotRun().length === 0)
    appendFileSync(
      resultFile,
      `${JSON.stringify({ file, test: name, index: 0, kind: 'none', detail: '', seen: 0 })}\n`,
    );
  // Charts that are there for their types alone may never end: some send themselves two events for
  // each.
  const notRun = file.includes('types.test') ? [] : chartsNotRun();
  const note = async (
    session: Pick<Session, 'machine' | 'input'>,
    index: number | undefined,
    steps: readonly ReplayStep[],
    place: number,
    isWalk = false,
  ): Promise<void> => {
    let verdict: Finding;
    try {
      verdict = await judge(run, session, index, steps);
    } catch (error) {
      verdict = {
        kind: 'different',
        detail: `harness: ${(error as Error).stack ?? String(error)}`,
        seen: 0,
      };
    }
    appendFileSync(
      resultFile,
      `${JSON.stringify({ file, test: name, index: place, ...(isWalk && { isWalk }), ...verdict })}\n`,
    );
  };
  for (const [index, { session, restMs }] of recorded.entries()) {
    const rest = Math.min(Math.max(Math.round(restMs), 50), 5000);
    const steps: ReplayStep[] = [
      ...session.sent,
      { afterMs: rest, event: undefined },
      { afterMs: 1000, event: undefined },
    ];
    await note(session, index, steps, index);
    if (isExamples)
      for (const seed of walkSeeds)
        await note(session, index, walkOf(session.machine, seed), index, true);
  }
  for (const [index, machine] of notRun.entries()) {
    const place = recorded.length + index;
    if (isExamples) {
      const input = inputOf(machine);
      for (const seed of walkSeeds)
        await note({ machine, input }, undefined, walkOf(machine, seed), place, true);
      continue;
    }
    const own = machine.events.filter((type) => !type.startsWith('xstate.') && !type.includes('*'));
    const steps: ReplayStep[] = [
      ...own.map((type) => ({ afterMs: 1, event: { type } })),
      { afterMs: 1000, event: undefined },
    ];
    await note({ machine, input: undefined }, undefined, steps, place);
  }
};

interface TestFunction {
  (name: unknown, ...more: unknown[]): unknown;
  readonly each: (...rows: unknown[]) => (name: unknown, ...more: unknown[]) => unknown;
  readonly skip: TestFunction;
  readonly only: TestFunction;
}
const bodyOf = (more: readonly unknown[]): TestBody | undefined =>
  more.find((each): each is TestBody => typeof each === 'function');

const wrap = (original: TestFunction): TestFunction => {
  const register =
    (to: (name: unknown, ...more: unknown[]) => unknown) =>
    (name: unknown, ...more: unknown[]): unknown => {
      const body = bodyOf(more);
      return body === undefined
        ? original.skip(name)
        : to(
            name,
            (...args: unknown[]) => {
              const { testPath = '', currentTestName = String(name) } = expect.getState();
              return runRecorded(testPath, currentTestName, body, args);
            },
            120_000,
          );
    };
  const only = register(original);
  return Object.assign(register(original), {
    skip: Object.assign((name: unknown) => original.skip(name, () => undefined), {
      each: () => () => undefined,
    }),
    only,
    todo: () => undefined,
    each: (...rows: unknown[]) => register(original.each(...rows)),
  }) as unknown as TestFunction;
};

// The tests of XState ask for a newer Node than this project.
if (!('withResolvers' in Promise)) {
  Object.defineProperty(Promise, 'withResolvers', {
    value: () => {
      const parts: Record<string, unknown> = {};
      parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
      return parts;
    },
  });
}

const scope = globalThis as unknown as Record<string, TestFunction>;
scope.it = wrap(scope.it as TestFunction);
scope.test = scope.it;
// Charts that nobody answers report their errors; here they are compared.
for (const level of ['log', 'warn', 'error', 'info'] as const)
  vi.spyOn(console, level).mockImplementation(() => undefined);
afterAll(() => {
  vi.useRealTimers();
  const { testPath = '' } = expect.getState();
  appendFileSync(resultFile, `${JSON.stringify({ finished: testPath })}\n`);
});
