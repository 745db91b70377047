/** Charts chosen to break, made loosely, and what must be the same of them. */
import { expect } from 'vitest';
import { type AnyStateMachine, assign, createMachine, enqueueActions, sendParent } from 'xstate';
import { differenceOf, type ReplayStep, replayEngine, replayXState } from './replay.ts';

type Config = Parameters<typeof createMachine>[0];
/** `createMachine` without the types of TypeScript, as JavaScript calls it. */
export const chart = (config: unknown, implementations?: unknown): AnyStateMachine =>
  createMachine(config as Config, implementations as never) as AnyStateMachine;

export const step = (
  event: string | { type: string },
  afterMs = 1,
  path: readonly string[] = [],
): ReplayStep => ({ afterMs, path, event: typeof event === 'string' ? { type: event } : event });
export const wait = (afterMs: number): ReplayStep => ({ afterMs, event: undefined });
export const ignore = (): void => undefined;

/** Notes what an action of the chart does. */
export type Did = (what: unknown) => void;

/** Its name, the chart, what happens to it, and its input. */
export type Construct = readonly [
  string,
  (did: Did) => AnyStateMachine,
  readonly ReplayStep[],
  unknown?,
];

interface Ref {
  getSnapshot(): {
    readonly status: string;
    readonly context: Readonly<Record<string, number>>;
    readonly children: Readonly<Record<string, Ref>>;
  };
  readonly id: string;
}
/** Arguments of expressions, as loosely as the charts. */
export interface Given {
  readonly context: {
    readonly [name: string]: unknown;
    readonly n: number;
    readonly ms: number;
    readonly depth: number;
    readonly ref: Ref;
    readonly list: readonly unknown[];
    readonly at: Date;
  };
  readonly event: {
    readonly type: string;
    readonly id: string;
    readonly ms: number;
    readonly output: { readonly n: number };
    readonly snapshot: { readonly context: number };
  };
  readonly self: Ref;
  readonly system: { get(name: string): Ref };
  readonly spawn: (src: unknown, options?: object) => never;
  readonly enqueue: ((action: unknown) => void) & {
    readonly [name in 'assign' | 'raise' | 'sendTo' | 'spawnChild' | 'emit' | 'stopChild']: (
      ...args: unknown[]
    ) => void;
  };
  readonly check: (guard: unknown) => boolean;
}
export const collect = (run: (given: Given) => void) => enqueueActions(run as never);
export const add = (name: string) =>
  assign(({ context }) => ({ [name]: ((context as never)[name] ?? 0) + 1 }));
export const sleep = (ms: number, value?: unknown) =>
  new Promise((resolve) => {
    setTimeout(() => resolve(value), ms);
  });

export const counter = chart({
  context: { n: 0 },
  on: {
    ADD: { actions: add('n') },
    TELL: { actions: sendParent(({ context }) => ({ type: 'TOLD', ...context })) },
  },
});
export const ending = chart({
  initial: 'a',
  states: { a: { on: { END: 'z' } }, z: { type: 'final' } },
  output: { ended: true },
});
export const got = assign(({ event }) => ({ got: event }));

/** Stored and taken up after every event. */
export const isAsInXState = async ([, make, steps, input]: Construct): Promise<void> => {
  let note: Did | undefined;
  const made = () => make((what) => note?.(what));
  const noteActions = (to: Did | undefined): void => {
    note = to;
  };
  const xstate = await replayXState(made(), input, steps, noteActions);
  const engine = await replayEngine(made(), input, steps, noteActions);
  expect(engine).toMatchObject({ kind: 'ran' });
  if (engine.kind === 'ran') expect(differenceOf(xstate.sights, engine.sights)).toBeUndefined();
};
