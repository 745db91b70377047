/**
 * Charts chosen to break: each is as in XState, or refused with the place of what cannot be kept.
 */
import { describe, expect, it } from 'vitest';
import {
  type AnyStateMachine,
  and,
  assign,
  cancel,
  createActor,
  emit,
  enqueueActions,
  forwardTo,
  fromCallback,
  fromPromise,
  fromTransition,
  log,
  not,
  or,
  raise,
  sendParent,
  sendTo,
  spawnChild,
  stateIn,
  stopChild,
} from 'xstate';
import { type Construct, chart, ignore, isAsInXState, step, wait } from './construct.ts';
import { type ReplayStep, replayEngine } from './replay.ts';

const child = chart({
  context: ({ input }: { input: unknown }) => ({ input, n: 0 }),
  initial: 'a',
  states: {
    a: { on: { HIT: { actions: assign({ n: ({ context }) => context.n + 1 }) }, END: 'b' } },
    b: { type: 'final' },
  },
  output: ({ context }: { context: { n: number } }) => ({ n: context.n }),
});
const twoStates = (region: string) => ({
  initial: 'a',
  states: { a: { on: { [region]: 'b' } }, b: { type: 'final' } },
});
const inContext = (value: unknown) =>
  chart({ context: { value: null }, on: { GO: { actions: assign(() => ({ value })) } } });
const throwing = (thrown: unknown) =>
  chart({
    initial: 'a',
    states: {
      a: {
        invoke: {
          src: fromPromise(() => Promise.reject(thrown)),
          onError: {
            target: 'b',
            actions: assign(({ event }) => ({
              error: (event as unknown as { error: unknown }).error,
            })),
          },
        },
      },
      b: {},
    },
  });
const never = new (class Thing {
  readonly x = 1;
})();
const cycle: Record<string, unknown> = {};
cycle.self = cycle;

const same: readonly Construct[] = [
  [
    'shallow history',
    () =>
      chart({
        initial: 'p',
        states: {
          p: {
            initial: 'a',
            states: { a: { on: { N: 'b' } }, b: {}, h: { type: 'history' } },
            on: { OUT: 'q' },
          },
          q: { on: { BACK: 'p.h' } },
        },
      }),
    [step('N'), step('OUT'), step('BACK')],
  ],
  [
    'deep history',
    () =>
      chart({
        initial: 'p',
        states: {
          p: {
            initial: 'a',
            states: {
              a: { initial: 'x', states: { x: { on: { N: 'y' } }, y: {} } },
              h: { type: 'history', history: 'deep' },
            },
            on: { OUT: 'q' },
          },
          q: { on: { BACK: 'p.h' } },
        },
      }),
    [step('N'), step('OUT'), step('BACK')],
  ],
  [
    'history with a default target',
    () =>
      chart({
        initial: 'q',
        states: {
          p: { initial: 'a', states: { a: {}, b: {}, h: { type: 'history', target: 'b' } } },
          q: { on: { BACK: 'p.h' } },
        },
      }),
    [step('BACK')],
  ],
  [
    'onDone of parallel',
    () =>
      chart({
        initial: 'p',
        states: {
          p: { type: 'parallel', states: { l: twoStates('L'), r: twoStates('R') }, onDone: 'end' },
          end: { type: 'final' },
        },
      }),
    [step('L'), step('R')],
  ],
  [
    'nested invoke',
    () =>
      chart({
        invoke: {
          id: 'outer',
          src: chart({ invoke: { id: 'inner', src: child, input: { deep: 1 } } }),
        },
      }),
    [step('HIT', 1, ['outer', 'inner'])],
  ],
  [
    'spawn in assign',
    () =>
      chart({
        context: {},
        on: { GO: { actions: assign(({ spawn }) => ({ ref: spawn(child, { id: 'c' }) })) } },
      }),
    [step('GO'), step('HIT', 1, ['c'])],
  ],
  [
    'spawn in the context',
    () =>
      chart({
        context: ({ spawn }: { spawn: (src: unknown, options: object) => unknown }) => ({
          ref: spawn(child, { id: 'c', input: 7 }),
        }),
      }),
    [step('HIT', 1, ['c'])],
  ],
  [
    'a promise spawned in the context',
    () =>
      chart({
        context: ({ spawn }: { spawn: (src: unknown, options: object) => unknown }) => ({
          ref: spawn(
            fromPromise(async () => 5),
            { id: 'c' },
          ),
        }),
        on: {
          'xstate.done.actor.c': {
            actions: assign({ got: ({ event }) => (event as { output?: unknown }).output }),
          },
        },
      }),
    [wait(1)],
  ],
  [
    'spawnChild in enqueueActions',
    () =>
      chart({
        on: {
          GO: { actions: enqueueActions(({ enqueue }) => enqueue.spawnChild(child, { id: 'c' })) },
        },
      }),
    [step('GO'), step('HIT', 1, ['c'])],
  ],
  [
    'stopChild',
    () =>
      chart({ entry: spawnChild(child, { id: 'c' }), on: { STOP: { actions: stopChild('c') } } }),
    [step('STOP')],
  ],
  [
    'a reference to a stopped actor takes nothing',
    () =>
      chart({
        context: ({ spawn }: { spawn: (src: unknown, options: object) => unknown }) => ({
          ref: spawn(child, { id: 'c' }),
        }),
        on: {
          STOP: { actions: stopChild('c') },
          SEND: { actions: sendTo(({ context }) => context.ref, { type: 'HIT' }) },
        },
      }),
    [step('STOP'), step('SEND'), step('SEND')],
  ],
  [
    'a child of fromTransition',
    () =>
      chart({
        invoke: { id: 'count', src: fromTransition((n: number) => n + 1, 0) },
        on: { GO: { actions: sendTo('count', { type: 'ADD' }) } },
      }),
    [step('GO'), step('GO')],
  ],
  [
    'the snapshot of a child has its methods',
    () =>
      chart({
        context: {},
        invoke: {
          id: 'c',
          src: child,
          onSnapshot: {
            actions: assign(({ event, context }) => ({
              before: (context as { last?: { matches(value: string): boolean } }).last?.matches(
                'a',
              ),
              last: (event as unknown as { snapshot: unknown }).snapshot,
            })),
          },
        },
      }),
    [step('HIT', 1, ['c']), step('HIT', 1, ['c'])],
  ],
  [
    'systemId',
    () =>
      chart({
        invoke: { id: 'c', src: child, systemId: 'the child' },
        on: { GO: { actions: sendTo(({ system }) => system.get('the child'), { type: 'HIT' }) } },
      }),
    [step('GO')],
  ],
  [
    'cancel',
    () =>
      chart({
        initial: 'a',
        states: {
          a: {
            entry: raise({ type: 'T' }, { id: 'one', delay: 10 }),
            on: { T: 'b', NO: { actions: cancel('one') } },
          },
          b: {},
        },
      }),
    [step('NO'), wait(20)],
  ],
  [
    'raise with a delay',
    () =>
      chart({
        initial: 'a',
        states: { a: { entry: raise({ type: 'T' }, { delay: 10 }), on: { T: 'b' } }, b: {} },
      }),
    [wait(9), wait(1)],
  ],
  [
    'sendTo self with a delay',
    () =>
      chart({
        initial: 'a',
        states: {
          a: { entry: sendTo(({ self }) => self, { type: 'T' }, { delay: 10 }), on: { T: 'b' } },
          b: {},
        },
      }),
    [wait(20)],
  ],
  [
    'a reference to an activity as JSON',
    () =>
      chart({
        context: {},
        invoke: { id: 'c', src: fromPromise(() => new Promise(ignore)) },
        on: {
          GO: {
            actions: assign(({ self }) => ({ text: JSON.stringify(self.getSnapshot().children) })),
          },
        },
      }),
    [step('GO')],
  ],
  [
    'forwardTo',
    () => chart({ invoke: { id: 'c', src: child }, on: { HIT: { actions: forwardTo('c') } } }),
    [step('HIT')],
  ],
  [
    'sendParent',
    () =>
      chart({
        context: { n: 0 },
        invoke: { src: chart({ entry: sendParent({ type: 'UP' }) }) },
        on: { UP: { actions: assign({ n: ({ context }) => context.n + 1 }) } },
      }),
    [],
  ],
  [
    'emit and log',
    () => chart({ on: { GO: { actions: [emit({ type: 'said', n: 1 }), log('text', 'label')] } } }),
    [step('GO')],
  ],
  [
    'guards by and, or, not, stateIn',
    () =>
      chart({
        type: 'parallel',
        states: {
          l: twoStates('L'),
          r: {
            initial: 'a',
            states: {
              a: {
                on: {
                  R: {
                    guard: and([stateIn({ l: 'b' }), or([() => false, not(() => false)])]),
                    target: 'b',
                  },
                },
              },
              b: {},
            },
          },
        },
      }),
    [step('R'), step('L'), step('R')],
  ],
  [
    'always with guards',
    () =>
      chart({
        context: { n: 0 },
        initial: 'a',
        states: {
          a: {
            always: {
              guard: ({ context }: { context: { n: number } }) => context.n > 1,
              target: 'b',
            },
            on: { GO: { actions: assign({ n: ({ context }) => context.n + 1 }) } },
          },
          b: {},
        },
      }),
    [step('GO'), step('GO')],
  ],
  [
    'wildcards',
    () =>
      chart({
        initial: 'a',
        states: { a: { on: { 'order.*': 'b', '*': 'c' } }, b: { on: { '*': 'c' } }, c: {} },
      }),
    [step('order.paid'), step('anything')],
  ],
  [
    'reenter',
    () =>
      chart({
        initial: 'a',
        states: {
          a: {
            entry: raise({ type: 'IN' }),
            on: { IN: { actions: log('in') }, GO: { target: 'a', reenter: true } },
          },
        },
      }),
    [step('GO')],
  ],
  [
    'a self transition that does not reenter',
    () => chart({ initial: 'a', states: { a: { entry: log('in'), on: { GO: { target: 'a' } } } } }),
    [step('GO')],
  ],
  [
    'output of a final state',
    () =>
      chart({
        initial: 'a',
        states: {
          a: { on: { GO: 'b' } },
          b: { type: 'final', output: ({ event }: { event: { n: number } }) => event.n },
        },
        output: ({ event }: { event: { output: number } }) => event.output,
      }),
    [step({ type: 'GO', n: 3 } as { type: string })],
  ],
  [
    'two children of one source',
    () =>
      chart({
        invoke: [
          { src: child, id: 'one' },
          { src: child, id: 'two' },
        ],
      }),
    [step('HIT', 1, ['one'])],
  ],
  [
    'a child ends with output',
    () =>
      chart({
        initial: 'a',
        states: {
          a: {
            invoke: {
              id: 'c',
              src: child,
              onDone: { target: 'b', actions: assign(({ event }) => ({ got: event.output })) },
            },
          },
          b: {},
        },
      }),
    [step('HIT', 1, ['c']), step('END', 1, ['c'])],
  ],
  [
    'an error in assign',
    () =>
      chart({
        on: {
          GO: {
            actions: assign(() => {
              throw new RangeError('no');
            }),
          },
        },
      }),
    [step('GO')],
  ],
  [
    'an error in a guard',
    () =>
      chart({
        on: {
          GO: {
            guard: () => {
              throw new Error('no');
            },
            actions: log('x'),
          },
        },
      }),
    [step('GO')],
  ],
  [
    'an error in output',
    () =>
      chart({
        initial: 'a',
        states: { a: { on: { GO: 'b' } }, b: { type: 'final' } },
        output: () => {
          throw new Error('no');
        },
      }),
    [step('GO')],
  ],
  [
    'an error in the input of a child',
    () =>
      chart({
        initial: 'a',
        states: {
          a: { on: { GO: 'b' } },
          b: {
            invoke: {
              src: child,
              input: () => {
                throw new Error('no');
              },
            },
          },
        },
      }),
    [step('GO')],
  ],
  [
    'an error in the context',
    () =>
      chart({
        context: () => {
          throw new Error('no');
        },
      }),
    [],
  ],
  [
    'an error of a child reaches onError',
    () =>
      chart({
        initial: 'a',
        states: {
          a: {
            invoke: {
              src: chart({
                entry: assign(() => {
                  throw new Error('no');
                }),
              }),
              onError: 'b',
            },
          },
          b: {},
        },
      }),
    [],
  ],
  [
    'a rejection with an error with fields',
    () =>
      throwing(
        Object.assign(new TypeError('no', { cause: new Error('why') }), {
          code: 'E1',
          status: 404,
        }),
      ),
    [wait(1)],
  ],
  ['a rejection with an object', () => throwing({ code: 7 }), [wait(1)]],
  ['a rejection with a text', () => throwing('no'), [wait(1)]],
  ['a Date in the context', () => inContext(new Date(5)), [step('GO'), step('X')]],
  [
    'a Map in the context',
    () => inContext(new Map([[1, new Set(['a'])]])),
    [step('GO'), step('X')],
  ],
  ['a bigint in the context', () => inContext(12n), [step('GO'), step('X')]],
  [
    'NaN and the infinities',
    () => inContext([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]),
    [step('GO'), step('X')],
  ],
  ['undefined in an array', () => inContext([undefined, 1]), [step('GO'), step('X')]],
  [
    'a Date in an event',
    () => chart({ on: { GO: { actions: assign(({ event }) => ({ event })) } } }),
    [step({ type: 'GO', at: new Date(9) } as { type: string })],
  ],
  [
    'an event with at',
    () => chart({ on: { GO: { actions: assign(({ event }) => ({ event })) } } }),
    [step({ type: 'GO', at: 'noon' } as { type: string })],
  ],
  [
    'a machine id with dots',
    () =>
      chart({
        id: 'a.b.c',
        initial: 'x y',
        states: {
          'x y': { on: { GO: 'z', BACK: 'h' } },
          z: { initial: 'one', states: { one: { on: { N: 'two' } }, two: {} }, on: { OUT: 'x y' } },
          h: { type: 'history', target: 'z' },
        },
      }),
    [step('GO')],
  ],
  [
    'delays by name and by expression',
    () =>
      chart(
        {
          initial: 'a',
          states: { a: { after: { named: 'b' } }, b: { after: { computed: 'c' } }, c: {} },
        },
        {
          delays: {
            named: 10,
            computed: ({ context }: { context: unknown }) => (context === undefined ? 1 : 20),
          },
        },
      ),
    [wait(10), wait(20)],
  ],
  [
    'a negative delay',
    () =>
      chart({
        initial: 'a',
        states: { a: { entry: raise({ type: 'T' }, { delay: -5 }), on: { T: 'b' } }, b: {} },
      }),
    [wait(2)],
  ],
  [
    'input',
    () => chart({ context: ({ input }: { input: unknown }) => ({ input }) }),
    [step('X')],
    { deep: [new Date(3)] },
  ],
];

const refused: readonly (readonly [
  string,
  () => AnyStateMachine,
  readonly ReplayStep[],
  RegExp,
])[] = [
  [
    'a function in the context',
    () => inContext({ deep: [ignore] }),
    [step('GO')],
    /context\.value\.deep\[0\]: a function/,
  ],
  [
    'a symbol in the context',
    () => inContext(Symbol('s')),
    [step('GO')],
    /context\.value: a symbol/,
  ],
  [
    'a class instance in the context',
    () => inContext(never),
    [step('GO')],
    /context\.value: an instance of Thing/,
  ],
  ['a cycle in the context', () => inContext(cycle), [step('GO')], /a cycle cannot be stored/],
  [
    'a live actor of another system',
    () => inContext(createActor(child)),
    [step('GO')],
    /context\.value: an instance of Actor/,
  ],
  [
    'one in the first context',
    () => chart({ context: () => ({ other: createActor(child) }) }),
    [],
    /context\.other: an instance of Actor/,
  ],
  [
    'a function in an event',
    () => chart({}),
    [step({ type: 'GO', run: ignore } as { type: string })],
    /event\.run: a function/,
  ],
  [
    'a field of an event with the name of the marks of records',
    () => chart({}),
    [step({ type: 'GO', deep: { xstate$$type: 2 } } as { type: string })],
    /event\.deep: a member xstate\$\$type/,
  ],
  [
    'a function in the output',
    () =>
      chart({
        initial: 'a',
        states: { a: { on: { GO: 'b' } }, b: { type: 'final' } },
        output: () => ({ run: ignore }),
      }),
    [step('GO')],
    /output\.run: a function/,
  ],
  [
    'a callback',
    () => chart({ invoke: { src: fromCallback(ignore) } }),
    [],
    /lives in memory alone/,
  ],
  [
    'a callback that is spawned in the context',
    () =>
      chart({
        context: ({ spawn }: { spawn: (src: unknown) => unknown }) => ({
          ref: spawn(fromCallback(ignore)),
        }),
      }),
    [],
    /lives in memory alone/,
  ],
];

describe('a construct is as in XState, stored and taken up after every event:', () => {
  it.each(same.map((construct) => ({ name: construct[0], construct })))('$name', ({ construct }) =>
    isAsInXState(construct),
  );
});

describe('what cannot be kept is refused with its place:', () => {
  it.each(refused)('%s', async (_, make, steps, reason) => {
    const engine = await replayEngine(make(), undefined, steps, ignore);
    expect(engine.kind === 'refused' ? engine.reason : engine).toMatch(reason);
  });
});
