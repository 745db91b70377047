/** More charts chosen to break: children, their ids, ends, errors and messages. */
import { describe, it } from 'vitest';
import {
  assign,
  cancel,
  createMachine,
  forwardTo,
  fromPromise,
  fromTransition,
  log,
  raise,
  sendParent,
  sendTo,
  setup,
  spawnChild,
  stopChild,
} from 'xstate';
import {
  add,
  type Construct,
  chart,
  collect,
  counter,
  ending,
  type Given,
  got,
  isAsInXState,
  step,
  wait,
} from './construct.ts';

const constructs: readonly Construct[] = [
  [
    'a systemId that is taken',
    () =>
      chart({
        invoke: [
          { id: 'one', src: counter, systemId: 'it' },
          { id: 'two', src: counter, systemId: 'it' },
        ],
      }),
    [step('X')],
  ],
  [
    'a systemId of a grandchild',
    () =>
      chart({
        invoke: { id: 'c', src: chart({ invoke: { id: 'g', src: counter, systemId: 'deep' } }) },
        on: { HIT: { actions: sendTo(({ system }) => system.get('deep'), { type: 'ADD' }) } },
      }),
    [step('HIT'), step('HIT')],
  ],
  [
    'a systemId of a child that has ended',
    () =>
      chart({
        context: {},
        invoke: { id: 'c', src: ending, systemId: 'it' },
        on: {
          ASK: { actions: assign(({ system }) => ({ there: system.get('it') !== undefined })) },
        },
      }),
    [step('ASK'), step('END', 1, ['c']), step('ASK')],
  ],
  [
    'a reentered state invokes the same id anew',
    () =>
      chart({
        initial: 'a',
        states: {
          a: {
            invoke: { id: 'c', src: counter },
            on: {
              AGAIN: { target: 'a', reenter: true },
              HIT: { actions: sendTo('c', { type: 'ADD' }) },
            },
          },
        },
      }),
    [step('HIT'), step('HIT'), step('AGAIN'), step('HIT')],
  ],
  [
    'a child of the same name in the next state',
    () =>
      chart({
        initial: 'a',
        states: {
          a: { invoke: { id: 'c', src: counter }, on: { N: 'b' } },
          b: { invoke: { id: 'c', src: ending, onDone: { target: 'a', actions: got } } },
        },
      }),
    [step('ADD', 1, ['c']), step('N'), step('END', 1, ['c']), step('ADD', 1, ['c'])],
  ],
  [
    'stopping a child in the entry that spawned it',
    () =>
      chart({
        initial: 'a',
        states: {
          a: { on: { N: 'b' } },
          b: { entry: [spawnChild(counter, { id: 'c' }), stopChild('c'), log('after')] },
        },
      }),
    [step('N'), step('X')],
  ],
  [
    'a child that is spawned twice under one id',
    () =>
      chart({
        on: {
          GO: { actions: spawnChild(counter, { id: 'c' }) },
          HIT: { actions: sendTo('c', { type: 'ADD' }) },
        },
      }),
    [step('GO'), step('HIT'), step('GO'), step('HIT'), step('HIT')],
  ],
  [
    'stopChild by reference and by a function',
    () =>
      chart({
        context: ({ spawn }: Given) => ({
          one: spawn(counter, { id: 'one' }),
          two: spawn(counter, { id: 'two' }),
        }),
        on: {
          ONE: { actions: stopChild(({ context }) => context.one) },
          TWO: { actions: stopChild((({ event }: Given) => event.id) as never) },
        },
      }),
    [step('ONE'), step({ type: 'TWO', id: 'two' } as never), step('ONE')],
  ],
  [
    'stopChild of what is not there',
    () => chart({ on: { GO: { actions: [stopChild('no'), log('x')] } } }),
    [step('GO')],
  ],
  [
    'a delayed event to a child that was stopped since',
    () =>
      chart({
        invoke: { id: 'keep', src: counter },
        entry: spawnChild(counter, { id: 'c' }),
        on: {
          LATE: {
            actions: [
              sendTo('c', { type: 'ADD' }, { delay: 10 }),
              sendTo('keep', { type: 'ADD' }, { delay: 10 }),
            ],
          },
          STOP: { actions: stopChild('c') },
          NEW: { actions: spawnChild(counter, { id: 'c' }) },
        },
      }),
    [step('LATE'), step('STOP'), step('NEW'), wait(20)],
  ],
  [
    'a delayed event of a child that was stopped since',
    () =>
      chart({
        context: { n: 0 },
        initial: 'a',
        on: { UP: { actions: add('n') } },
        states: {
          a: {
            invoke: { id: 'c', src: chart({ entry: sendParent({ type: 'UP' }, { delay: 10 }) }) },
            on: { N: 'b' },
          },
          b: {},
        },
      }),
    [step('N'), wait(20)],
  ],
  [
    'history in the history of a child chart',
    () =>
      chart({
        invoke: {
          id: 'c',
          src: chart({
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
        },
      }),
    [step('N', 1, ['c']), step('OUT', 1, ['c']), step('BACK', 1, ['c'])],
  ],
  [
    'forwardTo a child by a function, with all fields of the event',
    () =>
      chart({
        invoke: { id: 'c', src: chart({ context: {}, on: { '*': { actions: got } } }) },
        on: { 'a.*': { actions: forwardTo(() => 'c') } },
      }),
    [step({ type: 'a.b', at: 5, deep: { x: [1] } } as never)],
  ],
  [
    'forwardTo a child that is gone',
    () =>
      chart({
        context: ({ spawn }: Given) => ({ ref: spawn(counter, { id: 'c' }) }),
        on: {
          STOP: { actions: stopChild('c') },
          GO: { actions: [forwardTo(({ context }) => context.ref), log('went')] },
        },
      }),
    [step('STOP'), step('GO')],
  ],
  [
    'sendTo a name that nobody has',
    () =>
      chart({
        on: { GO: { actions: [log('before'), sendTo('nobody', { type: 'X' }), log('after')] } },
      }),
    [step('GO'), step('GO')],
  ],
  [
    'sendParent through a grandchild and its parent',
    () =>
      chart({
        context: { n: 0 },
        invoke: {
          id: 'c',
          src: chart({
            context: { m: 0 },
            invoke: { id: 'g', src: counter },
            on: {
              TOLD: { actions: [add('m'), sendParent(({ event }) => ({ type: 'UP', of: event }))] },
            },
          }),
        },
        on: { UP: { actions: [add('n'), got] } },
      }),
    [step('ADD', 1, ['c', 'g']), step('TELL', 1, ['c', 'g']), step('TELL', 1, ['c', 'g'])],
  ],
  [
    'sendParent of the root',
    () =>
      chart({ on: { GO: { actions: [log('before'), sendParent({ type: 'X' }), log('after')] } } }),
    [step('GO'), step('GO')],
  ],
  [
    'an error of a grandchild that nobody handles',
    () => {
      const broken = chart({
        on: {
          BREAK: {
            actions: assign(() => {
              throw new Error('broken');
            }),
          },
        },
      });
      return chart({
        context: {},
        initial: 'a',
        states: {
          a: {
            invoke: {
              id: 'c',
              src: chart({ invoke: { id: 'g', src: broken } }),
              onError: {
                target: 'b',
                actions: assign({ message: ({ event }) => (event.error as Error).message }),
              },
            },
          },
          b: {},
        },
      });
    },
    [step('BREAK', 1, ['c', 'g']), step('X')],
  ],
  [
    'an error of a grandchild that its parent handles and throws again',
    () => {
      const broken = chart({
        on: {
          BREAK: {
            guard: () => {
              throw new TypeError('broken');
            },
            actions: log('never'),
          },
        },
      });
      const between = chart({
        invoke: {
          id: 'g',
          src: broken,
          onError: {
            actions: assign(({ event }) => {
              throw new RangeError(`again: ${(event.error as Error).message}`);
            }),
          },
        },
      });
      return chart({
        context: {},
        initial: 'a',
        states: {
          a: {
            invoke: {
              id: 'c',
              src: between,
              onError: { target: 'b', actions: assign({ error: ({ event }) => event.error }) },
            },
          },
          b: {},
        },
      });
    },
    [step('BREAK', 1, ['c', 'g'])],
  ],
  [
    'a promise of a child that rejects and nobody handles it',
    () =>
      chart({
        initial: 'a',
        states: {
          a: {
            invoke: {
              id: 'c',
              src: chart({ invoke: { src: fromPromise(() => Promise.reject(new Error('no'))) } }),
              onError: 'b',
            },
          },
          b: {},
        },
      }),
    [wait(1)],
  ],
  [
    'an event that is sent twice with one id, from a child that is stopped',
    () =>
      chart({
        context: { n: 0 },
        initial: 'a',
        on: { UP: { actions: add('n') } },
        states: {
          a: {
            invoke: {
              id: 'c',
              src: chart({
                on: { SEND: { actions: sendParent({ type: 'UP' }, { id: 'one', delay: 10 }) } },
              }),
            },
            on: { N: 'b' },
          },
          b: {},
        },
      }),
    [step('SEND', 1, ['c']), step('SEND', 1, ['c']), step('N'), wait(20)],
  ],
  [
    'cancel of the same id of a child does not reach its parent',
    () =>
      chart({
        context: { n: 0 },
        entry: raise({ type: 'T' }, { id: 'one', delay: 10 }),
        on: { T: { actions: add('n') } },
        invoke: {
          id: 'c',
          src: chart({
            context: { n: 0 },
            entry: raise({ type: 'T' }, { id: 'one', delay: 10 }),
            on: { T: { actions: add('n') }, NO: { actions: cancel('one') } },
          }),
        },
      }),
    [step('NO', 1, ['c']), wait(20)],
  ],
  [
    'input functions of invoke read context, event and self',
    () =>
      chart({
        id: 'root',
        context: { n: 4 },
        initial: 'a',
        states: {
          a: { on: { GO: 'b' } },
          b: {
            invoke: {
              id: 'c',
              src: chart({ context: ({ input }: { input: unknown }) => ({ input }) }),
              input: ({ context, event, self }: Given) => ({ n: context.n, event, self: self.id }),
            },
          },
        },
      }),
    [step({ type: 'GO', x: 1 } as never)],
  ],
  [
    'input functions of spawnChild, and one that nobody gives',
    () =>
      chart({
        context: { n: 4 },
        on: {
          GO: {
            actions: [
              spawnChild(chart({ context: ({ input }: { input: unknown }) => ({ input }) }), {
                id: 'c',
                input: ({ context, event }: Given) => [context.n, event.type],
              } as never),
              spawnChild(
                chart({
                  context: ({ input }: { input: unknown }) => ({ none: input === undefined }),
                }),
                { id: 'd' },
              ),
            ],
          },
        },
      }),
    [step('GO')],
  ],
  [
    'a child that ends in its first step',
    () =>
      chart({
        context: {},
        initial: 'a',
        states: {
          a: {
            invoke: {
              id: 'c',
              src: chart({ initial: 'z', states: { z: { type: 'final' } }, output: 5 }),
              onDone: { target: 'b', actions: got },
            },
          },
          b: {},
        },
      }),
    [step('X')],
  ],
  [
    'a child that answers in its entry before its parent has settled',
    (did) =>
      chart({
        context: { n: 0 },
        initial: 'a',
        states: {
          a: {
            entry: () => did('a'),
            invoke: {
              id: 'c',
              src: chart({ entry: [sendParent({ type: 'UP' }), sendParent({ type: 'UP' })] }),
            },
            on: { UP: { target: 'b', actions: add('n') } },
          },
          b: { entry: () => did('b'), on: { UP: { actions: add('n') } } },
        },
      }),
    [step('X')],
  ],
  [
    'a child that its parent leaves in the same step in which it ends',
    () =>
      chart({
        initial: 'a',
        states: {
          a: {
            invoke: { id: 'c', src: ending, onDone: 'b' },
            on: { BOTH: { target: 'q', actions: sendTo('c', { type: 'END' }) } },
          },
          b: {},
          q: {},
        },
      }),
    [step('BOTH'), step('X')],
  ],
  [
    'two children that speak to each other until one has enough',
    () => {
      const player = (to: string) =>
        chart({
          context: { n: 0 },
          on: {
            BALL: {
              guard: ({ context }: Given) => context.n < 5,
              actions: [add('n'), sendTo(({ system }) => system.get(to), { type: 'BALL' })],
            },
          },
        });
      return chart({
        invoke: [
          { id: 'one', src: player('two'), systemId: 'one' },
          { id: 'two', src: player('one'), systemId: 'two' },
        ],
        on: { GO: { actions: sendTo('one', { type: 'BALL' }) } },
      });
    },
    [step('GO'), step('GO')],
  ],
  [
    'a parent is handed to a grandchild that speaks to it',
    () =>
      chart({
        context: { n: 0 },
        on: { HELLO: { actions: add('n') } },
        invoke: {
          id: 'c',
          input: ({ self }: Given) => ({ top: self }),
          src: chart({
            context: ({ input }: { input: object }) => input,
            invoke: {
              id: 'g',
              input: ({ context }: Given) => context,
              src: chart({
                context: ({ input }: { input: object }) => input,
                on: { GO: { actions: sendTo(({ context }) => context.top, { type: 'HELLO' }) } },
              }),
            },
          }),
        },
      }),
    [step('GO', 1, ['c', 'g']), step('GO', 1, ['c', 'g'])],
  ],
  [
    'a child handed on in an event, and stopped by who spawned it',
    () =>
      chart({
        context: ({ spawn }: Given) => ({ ref: spawn(counter, { id: 'c' }) }),
        invoke: {
          id: 'other',
          src: chart({
            context: {},
            on: {
              TAKE: { actions: assign(({ event }) => ({ ref: event.ref })) },
              HIT: { actions: sendTo(({ context }) => context.ref, { type: 'ADD' }) },
            },
          }),
        },
        on: {
          GIVE: { actions: sendTo('other', ({ context }) => ({ type: 'TAKE', ref: context.ref })) },
          STOP: { actions: stopChild('c') },
        },
      }),
    [step('GIVE'), step('HIT', 1, ['other']), step('STOP'), step('HIT', 1, ['other'])],
  ],
  [
    'spawn in a child of a child, by assign in a loop',
    () =>
      chart({
        invoke: {
          id: 'c',
          src: chart({
            context: { list: [] },
            on: {
              MANY: {
                actions: assign(({ spawn, context }) => ({
                  list: [
                    ...(context.list as unknown[]),
                    ...[1, 2, 3].map((n) =>
                      spawn(
                        counter as never,
                        { id: `n${n}-${(context.list as unknown[]).length}` } as never,
                      ),
                    ),
                  ],
                })),
              },
              ALL: {
                actions: collect(({ enqueue, context }) => {
                  for (const each of context.list) enqueue.sendTo(each, { type: 'ADD' });
                }),
              },
            },
          }),
        },
      }),
    [step('MANY', 1, ['c']), step('ALL', 1, ['c']), step('MANY', 1, ['c']), step('ALL', 1, ['c'])],
  ],
  [
    'a chart that spawns itself, three deep',
    () => {
      const self: { chart?: unknown } = {};
      const made = setup({ actors: {} }).createMachine({
        context: ({ input }: { input: { depth?: number } | undefined }) => ({
          depth: input?.depth ?? 0,
        }),
        entry: collect(({ enqueue, context }) => {
          if (context.depth < 3)
            enqueue.spawnChild(
              self.chart as never,
              { id: 'next', input: { depth: context.depth + 1 } } as never,
            );
        }),
        on: { ADD: { actions: assign({ depth: ({ context }) => context.depth + 10 }) } },
      } as never);
      self.chart = made;
      return made as never;
    },
    [step('ADD', 1, ['next', 'next']), step('ADD')],
  ],
  [
    'onSnapshot of fromTransition, and its guard',
    () =>
      chart({
        context: {},
        initial: 'a',
        states: {
          a: {
            invoke: {
              id: 't',
              src: fromTransition(
                (n: number, { type }: { type: string }) => (type === 'ADD' ? n + 1 : n),
                0,
              ),
              onSnapshot: {
                guard: ({ event }: Given) => event.snapshot.context > 1,
                target: 'b',
                actions: got,
              },
            },
            on: { ADD: { actions: sendTo('t', { type: 'ADD' }) } },
          },
          b: {},
        },
      }),
    [step('ADD'), step('ADD'), step('ADD')],
  ],
  [
    'fromTransition with its input and its parent',
    () =>
      chart({
        context: { n: 0 },
        invoke: {
          id: 't',
          input: { from: 5 },
          src: fromTransition(
            (
              state: { n: number },
              event: { type: string },
              { self }: { self: { _parent?: { send(event: object): void } } },
            ) => {
              if (event.type === 'ADD') self._parent?.send({ type: 'UP' });
              return { n: state.n + 1 };
            },
            ({ input }: { input: { from: number } }) => ({ n: input.from }),
          ),
        },
        on: { UP: { actions: add('n') }, ADD: { actions: sendTo('t', { type: 'ADD' }) } },
      }),
    [step('ADD'), step('ADD')],
  ],
  [
    'done events of children by their full names',
    () =>
      chart({
        context: {},
        entry: spawnChild(ending, { id: 'a.b c' }),
        on: {
          'xstate.done.actor.a.b c': { actions: got },
          'xstate.done.*': { actions: log('wild') },
        },
      }),
    [step('END', 1, ['a.b c'])],
  ],
  [
    'getInitialSnapshot of a chart with children, by its parent',
    () => {
      const inner = createMachine({ initial: 'x', states: { x: {} }, context: { k: 1 } });
      return chart({
        context: () => ({ first: inner.resolveState({ value: 'x', context: { k: 2 } }).context }),
        invoke: { id: 'i', src: inner },
      });
    },
    [step('X')],
  ],
  [
    'an event to a child between its parent’s timers',
    () =>
      chart({
        context: { n: 0 },
        invoke: { id: 'c', src: counter },
        on: { TOLD: { actions: got } },
        initial: 'a',
        states: {
          a: { after: { 10: 'b' } },
          b: { entry: sendTo('c', { type: 'TELL' }, { delay: 10 }) },
        },
      }),
    [step('ADD', 5, ['c']), step('ADD', 10, ['c']), wait(20)],
  ],
  [
    'a child’s own timers, while its parent is left alone',
    () =>
      chart({
        context: {},
        initial: 'a',
        states: {
          a: {
            invoke: {
              id: 'c',
              src: chart({
                initial: 'x',
                states: {
                  x: { after: { 10: 'y' } },
                  y: { after: { 10: 'z' } },
                  z: { type: 'final' },
                },
                output: 'in time',
              }),
              onDone: { target: 'b', actions: got },
            },
            after: { 15: { actions: log('half') } },
          },
          b: {},
        },
      }),
    [wait(12), wait(5), wait(5)],
  ],
  [
    'an id of a child with the words of the engine',
    () =>
      chart({
        invoke: [
          { id: '__proto__x', src: counter },
          { id: 'constructor', src: counter },
          { id: 'a/b', src: counter },
          { id: '0', src: counter },
        ],
      }),
    [step('ADD', 1, ['constructor']), step('ADD', 1, ['a/b']), step('ADD', 1, ['0'])],
  ],
  [
    'keys of a context with the words of the engine',
    () => chart({ context: {}, on: { GO: { actions: got } } }),
    [
      step({
        type: 'GO',
        $: 1,
        '': 0,
        __proto: 1,
        constructor: { prototype: 1 },
        ref: { id: 'x', sessionId: 'y' },
      } as never),
    ],
  ],
];

describe('a construct with actors is as in XState:', () => {
  it.each(constructs.map((construct) => ({ name: construct[0], construct })))(
    '$name',
    ({ construct }) => isAsInXState(construct),
  );
});
