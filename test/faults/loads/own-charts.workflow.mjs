/**
 * Charts of an application, for the fault test: timers, activities, children and events. Effects
 * and activities leave marks at an address of the run.
 *
 * What comes out depends on the input and the events alone, so that plain XState says what it must
 * be.
 */
import { activity, defineWorkflow } from 'paraph/workflow';
import { assign, setup } from 'xstate';
import { z } from 'zod';

const withinMs = 5000;

const mark = async (/** @type {string} */ url, /** @type {object} */ about) => {
  const { ok, status } = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(about),
    signal: AbortSignal.timeout(withinMs),
  });
  if (!ok) throw new Error(`the mark was answered with ${status}`);
};

const often = { attempts: 100, backoffMs: 200, maxBackoffMs: 1000, timeoutMs: withinMs };

const double = activity(
  async (
    /** @type {{ input: { marks: string, name: string, n: number }, token: string }} */ given,
  ) => {
    const { marks, name, n } = given.input;
    await mark(marks, { kind: 'activity', instance: name, says: String(n), key: given.token });
    return 2 * n + 1;
  },
  often,
);

/** An effect: once for each time that the chart comes by. */
const tell = async (
  /** @type {{ context: { marks: string, name: string }, effect: { id: string } }} */ {
    context,
    effect,
  },
  /** @type {string} */ says,
) => mark(context.marks, { kind: 'effect', instance: context.name, says, key: effect.id });

/** A pause, an activity, an effect; so many rounds. */
const rounds = setup({
  actors: { double },
  actions: {
    tell: /** @type {never} */ (tell),
    add: assign({
      n: ({ event }) => event.output,
      left: ({ context }) => context.left - 1,
    }),
  },
  guards: { isOver: ({ context }) => context.left === 0 },
  delays: { pause: ({ context }) => context.pauseMs },
}).createMachine({
  context: ({ input }) => ({ ...input }),
  initial: 'resting',
  output: ({ context }) => context.n,
  states: {
    resting: { after: { pause: 'working' } },
    working: {
      invoke: {
        src: 'double',
        input: ({ context: { marks, name, n } }) => ({ marks, name, n }),
        onDone: {
          target: 'done',
          actions: ['add', { type: 'tell', params: ({ context }) => `n ${context.n}` }],
        },
      },
    },
    done: { always: [{ guard: 'isOver', target: 'over' }, { target: 'resting' }] },
    over: { type: 'final' },
  },
});

const child = (/** @type {string} */ key) => ({
  initial: 'running',
  states: {
    running: {
      invoke: {
        src: 'rounds',
        id: key,
        input: ({ context }) => ({
          ...context.parts[key],
          marks: context.marks,
          name: `${context.name}/${key}`,
        }),
        onDone: {
          target: 'done',
          actions: [{ type: 'keep', params: ({ event }) => ({ key, n: event.output }) }],
        },
      },
    },
    done: { type: 'final' },
  },
});

/** Three children side by side. */
const family = setup({
  actors: { rounds },
  actions: {
    tell: /** @type {never} */ (tell),
    keep: assign({ sums: ({ context }, { key, n }) => ({ ...context.sums, [key]: n }) }),
  },
}).createMachine({
  context: ({ input }) => ({ ...input, sums: {} }),
  initial: 'together',
  output: ({ context: { sums } }) => ({ a: sums.a, b: sums.b, c: sums.c }),
  states: {
    together: {
      type: 'parallel',
      states: { a: child('a'), b: child('b'), c: child('c') },
      onDone: {
        target: 'over',
        actions: {
          type: 'tell',
          params: ({ context: { sums } }) => `${sums.a} ${sums.b} ${sums.c}`,
        },
      },
    },
    over: { type: 'final' },
  },
});

/** Counts what comes from outside. */
const till = setup({
  actions: {
    tell: /** @type {never} */ (tell),
    count: assign({ sum: ({ context, event }) => context.sum + event.n }),
  },
}).createMachine({
  context: ({ input }) => ({ ...input, sum: 0 }),
  initial: 'open',
  output: ({ context }) => context.sum,
  states: {
    open: {
      on: {
        ADD: {
          actions: ['count', { type: 'tell', params: ({ context }) => `sum ${context.sum}` }],
        },
        CLOSE: 'closed',
      },
    },
    closed: { type: 'final' },
  },
});

/** For plain XState. */
export const charts = { rounds, family, till };

const part = z.strictObject({ n: z.int(), left: z.int().min(1), pauseMs: z.int().min(0) });
const named = { marks: z.url(), name: z.string() };

export const roundsWorkflow = defineWorkflow({
  name: 'rounds',
  version: 1,
  chart: rounds,
  input: z.strictObject({ ...named, ...part.shape }),
});
export const familyWorkflow = defineWorkflow({
  name: 'family',
  version: 1,
  chart: family,
  input: z.strictObject({ ...named, parts: z.strictObject({ a: part, b: part, c: part }) }),
});
export const tillWorkflow = defineWorkflow({
  name: 'till',
  version: 1,
  chart: till,
  input: z.strictObject(named),
  events: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('ADD'), n: z.int() }),
    z.strictObject({ type: z.literal('CLOSE') }),
  ]),
});
