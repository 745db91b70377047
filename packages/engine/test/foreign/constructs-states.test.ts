/**
 * More charts chosen to break: history, guards, delays, timers and what a step does in which order.
 */
import { describe, it } from 'vitest';
import {
  and,
  assign,
  cancel,
  emit,
  fromPromise,
  log,
  not,
  or,
  raise,
  sendTo,
  stateIn,
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
  sleep,
  step,
  wait,
} from './construct.ts';

const constructs: readonly Construct[] = [
  [
    'a systemId that is used again after its actor was stopped',
    () =>
      chart({
        initial: 'a',
        states: {
          a: { invoke: { id: 'one', src: counter, systemId: 'it' }, on: { N: 'b' } },
          b: { invoke: { id: 'two', src: counter, systemId: 'it' }, on: { N: 'a' } },
        },
        on: { HIT: { actions: sendTo(({ system }) => system.get('it'), { type: 'ADD' }) } },
      }),
    [step('HIT'), step('N'), step('HIT'), step('HIT'), step('N'), step('HIT')],
  ],
  [
    'a reentered state invokes the same promise anew, and the first one counts no more',
    () =>
      chart({
        context: { n: 0 },
        initial: 'a',
        states: {
          a: {
            entry: add('n'),
            invoke: {
              id: 'p',
              src: fromPromise(({ input }) => sleep(20, input)),
              input: ({ context }: Given) => context.n,
              onDone: { target: 'b', actions: got },
            },
            on: { AGAIN: { target: 'a', reenter: true } },
          },
          b: {},
        },
      }),
    [step('AGAIN', 15), wait(10), wait(20)],
  ],
  [
    'deep history of parallel states',
    () =>
      chart({
        initial: 'p',
        states: {
          p: {
            type: 'parallel',
            states: {
              l: {
                initial: 'a',
                states: {
                  a: { on: { L: 'b' } },
                  b: { initial: 'x', states: { x: { on: { M: 'y' } }, y: {} } },
                },
              },
              r: { initial: 'a', states: { a: { on: { R: 'b' } }, b: {} } },
              h: { type: 'history', history: 'deep' },
              s: { type: 'history' },
            },
            on: { OUT: 'q' },
          },
          q: { on: { DEEP: 'p.h', SHALLOW: 'p.s' } },
        },
      }),
    [step('L'), step('M'), step('R'), step('OUT'), step('DEEP'), step('OUT'), step('SHALLOW')],
  ],
  [
    'history of a state that invokes',
    () =>
      chart({
        initial: 'p',
        states: {
          p: {
            initial: 'a',
            states: {
              a: { on: { N: 'b' } },
              b: { invoke: { id: 'c', src: counter } },
              h: { type: 'history' },
            },
            on: { OUT: 'q' },
          },
          q: { on: { BACK: 'p.h' } },
        },
      }),
    [step('N'), step('ADD', 1, ['c']), step('OUT'), step('BACK'), step('ADD', 1, ['c'])],
  ],
  [
    'always with a history target',
    () =>
      chart({
        initial: 'p',
        states: {
          p: {
            initial: 'a',
            states: { a: { on: { N: 'b' } }, b: {}, h: { type: 'history', target: 'a' } },
            on: { OUT: 'q' },
          },
          q: { entry: log('q'), always: 'p.h' },
        },
      }),
    [step('N'), step('OUT')],
  ],
  [
    'final states with output in parallel regions',
    () => {
      const region = (name: string) => ({
        initial: 'a',
        states: {
          a: { on: { [name]: 'z' } },
          z: { type: 'final', output: ({ event }: Given) => ({ from: name, event }) },
        },
        onDone: { actions: log(({ event }) => event) },
      });
      return chart({
        type: 'parallel',
        states: { l: region('L'), r: region('R') },
        output: ({ event }: Given) => event,
      });
    },
    [step({ type: 'L', n: 1 } as never), step({ type: 'R', n: 2 } as never)],
  ],
  [
    'onDone of a compound state reads the output',
    () =>
      chart({
        context: {},
        initial: 'p',
        states: {
          p: {
            initial: 'a',
            states: {
              a: { on: { GO: 'z' } },
              z: { type: 'final', output: ({ context, event }: Given) => [context, event] },
            },
            onDone: { target: 'q', actions: got },
          },
          q: {},
        },
      }),
    [step({ type: 'GO', n: 3 } as never)],
  ],
  [
    'an output function that reads the context which the last step has set',
    () =>
      chart({
        context: { n: 0 },
        initial: 'a',
        states: {
          a: { on: { GO: { target: 'z', actions: add('n') } } },
          z: { type: 'final', entry: add('n') },
        },
        output: ({ context }: Given) => context.n,
        exit: add('n'),
      }),
    [step('GO')],
  ],
  [
    'partial wildcards, and which of them wins',
    () =>
      chart({
        context: {},
        initial: 'a',
        states: {
          a: {
            on: { 'x.*': { actions: log('in a: x.*') }, 'x.y.*': { actions: log('in a: x.y.*') } },
          },
        },
        on: {
          'x.y.z': { actions: log('x.y.z') },
          '*': { actions: log('*') },
          'q.*': { actions: log('q.*') },
        },
      }),
    [step('x'), step('x.y'), step('x.y.z'), step('x.q'), step('q'), step('q.a.b'), step('other')],
  ],
  [
    'a forbidden transition beside a wildcard',
    () =>
      chart({
        initial: 'a',
        states: { a: { on: { NO: undefined, '*': { actions: log('any') } } } },
        on: { NO: { actions: log('outer') } },
      }),
    [step('NO'), step('YES')],
  ],
  [
    'guards with parameters, composed and named',
    () =>
      chart(
        {
          type: 'parallel',
          context: { n: 1 },
          states: {
            l: { initial: 'a', states: { a: { on: { L: 'b' } }, b: {} } },
            r: {
              initial: 'a',
              states: {
                a: {
                  on: {
                    R: [
                      {
                        guard: and([
                          'more',
                          not({ type: 'than', params: { n: 5 } }),
                          stateIn({ l: 'b' }),
                        ]),
                        target: 'b',
                      },
                      {
                        guard: or([
                          not('more'),
                          { type: 'than', params: ({ context }: Given) => ({ n: context.n }) },
                        ]),
                        target: 'c',
                      },
                    ],
                  },
                },
                b: {},
                c: {},
              },
            },
          },
        },
        {
          guards: {
            more: ({ context }: Given) => context.n > 0,
            than: ({ context }: Given, { n }: { n: number }) => context.n > n,
          },
        },
      ),
    [step('R'), step('L'), step('R')],
  ],
  [
    'stateIn by id and by a deep value',
    () =>
      chart({
        type: 'parallel',
        states: {
          l: {
            initial: 'a',
            states: {
              a: { on: { L: 'b' } },
              b: { id: 'that', initial: 'x', states: { x: { on: { M: 'y' } }, y: {} } },
            },
          },
          r: {
            initial: 'a',
            states: {
              a: {
                on: {
                  R: [
                    { guard: stateIn({ l: { b: 'y' } }), target: 'c' },
                    { guard: stateIn('#that'), target: 'b' },
                  ],
                },
              },
              b: { on: { R: { guard: stateIn({ l: { b: 'y' } }), target: 'c' } } },
              c: {},
            },
          },
        },
      }),
    [step('R'), step('L'), step('R'), step('M'), step('R')],
  ],
  [
    'emit of what an expression makes, in the order of other actions',
    (did) =>
      chart({
        context: { n: 0 },
        entry: emit({ type: 'begun' }),
        on: {
          GO: {
            actions: [
              emit(({ context }) => ({ type: 'before', n: context.n })),
              add('n'),
              () => did('between'),
              emit(({ context, event }) => ({ type: 'after', n: context.n, event })),
            ],
          },
        },
      }),
    [step('GO'), step('GO')],
  ],
  [
    'a promise that rejects and nobody handles it ends the chart',
    () =>
      chart({
        invoke: { src: fromPromise(() => Promise.reject(new Error('no'))) },
        on: { X: { actions: log('x') } },
      }),
    [wait(1), step('X')],
  ],
  [
    'cancel of an id that was sent again',
    () =>
      chart({
        context: { n: 0 },
        on: {
          SEND: { actions: raise({ type: 'T' }, { id: 'one', delay: 10 }) },
          T: { actions: add('n') },
          BOTH: { actions: [cancel('one'), raise({ type: 'T' }, { id: 'one', delay: 10 })] },
          NO: { actions: cancel(() => 'one') },
        },
      }),
    [step('SEND'), step('BOTH', 5), wait(6), wait(10), step('SEND'), step('NO', 5), wait(20)],
  ],
  [
    'an id that is sent twice without cancel',
    () =>
      chart({
        context: { n: 0 },
        on: {
          SEND: { actions: raise({ type: 'T' }, { id: 'one', delay: 10 }) },
          T: { actions: add('n') },
          NO: { actions: cancel('one') },
        },
      }),
    [
      step('SEND'),
      step('SEND', 5),
      wait(6),
      wait(20),
      step('SEND'),
      step('SEND', 5),
      step('NO'),
      wait(20),
    ],
  ],
  [
    'an id that is sent again while the first one has not come, and cancelled after it has',
    () =>
      chart({
        context: { n: 0 },
        on: {
          SEND: { actions: raise({ type: 'T' }, { id: 'one', delay: 10 }) },
          T: { actions: add('n') },
          NO: { actions: cancel('one') },
        },
      }),
    [step('SEND'), step('SEND', 5), wait(6), step('NO'), wait(20)],
  ],
  [
    'after with a delay from the context, and again after reenter',
    () =>
      chart(
        {
          context: { ms: 10 },
          initial: 'a',
          states: {
            a: {
              after: { wait: 'b' },
              on: { MORE: { actions: assign({ ms: 30 }) }, AGAIN: { target: 'a', reenter: true } },
            },
            b: {},
          },
        },
        { delays: { wait: ({ context }: Given) => context.ms } },
      ),
    [step('MORE', 4), step('AGAIN', 4), wait(15), wait(20)],
  ],
  [
    'after with a delay from the event',
    () =>
      chart(
        { initial: 'a', states: { a: { on: { GO: 'b' } }, b: { after: { wait: 'c' } }, c: {} } },
        { delays: { wait: ({ event }: Given) => event.ms } },
      ),
    [step({ type: 'GO', ms: 12 } as never), wait(11), wait(2)],
  ],
  [
    'several afters of one state, with guards',
    () =>
      chart({
        context: { n: 0 },
        initial: 'a',
        states: {
          a: {
            after: {
              5: { actions: add('n') },
              10: [
                { guard: () => false, target: 'b' },
                { guard: ({ context }: Given) => context.n === 1, target: 'c' },
              ],
              20: 'b',
            },
          },
          b: {},
          c: {},
        },
      }),
    [wait(6), wait(5), wait(20)],
  ],
  [
    'afters of two levels that are due at once',
    () =>
      chart({
        initial: 'p',
        after: { 10: { actions: log('root') } },
        states: {
          p: {
            initial: 'a',
            after: { 10: 'q' },
            states: {
              a: { after: { 10: { target: 'b', actions: log('a') } } },
              b: { entry: log('b') },
            },
          },
          q: { entry: log('q') },
        },
      }),
    [wait(10), wait(10)],
  ],
  [
    'a delay of zero',
    () =>
      chart({
        initial: 'a',
        states: {
          a: {
            after: { 0: 'b' },
            entry: raise({ type: 'T' }, { delay: 0 }),
            on: { T: { actions: log('t') } },
          },
          b: { on: { T: { actions: log('t in b') } } },
        },
      }),
    [wait(1)],
  ],
  [
    'raise in entry, exit and transition, in order',
    (did) =>
      chart({
        initial: 'a',
        states: {
          a: {
            exit: raise({ type: 'EXIT' }),
            on: { GO: { target: 'b', actions: raise({ type: 'TRANSITION' }) } },
          },
          b: {
            entry: [raise({ type: 'ENTRY' }), () => did('in b')],
            always: { guard: ({ event }: Given) => event.type === 'ENTRY', target: 'c' },
          },
          c: { entry: () => did('in c') },
        },
        on: { '*': { actions: ({ event }: Given) => did(event.type) } },
      }),
    [step('GO')],
  ],
  [
    'the snapshot of an actor in a guard after it has ended',
    () =>
      chart({
        context: ({ spawn }: Given) => ({ ref: spawn(ending, { id: 'c' }) }),
        on: {
          ASK: {
            guard: ({ context }: Given) => context.ref.getSnapshot().status === 'done',
            actions: log('it has ended'),
          },
        },
      }),
    [step('ASK'), step('END', 1, ['c']), step('ASK')],
  ],
  [
    'onDone with several guards, in order',
    () =>
      chart({
        context: {},
        initial: 'a',
        states: {
          a: {
            invoke: {
              src: fromPromise(async () => ({ n: 2 })),
              onDone: [
                { guard: ({ event }: Given) => event.output.n > 2, target: 'b' },
                {
                  guard: ({ event }: Given) => event.output.n > 1,
                  target: 'c',
                  actions: got,
                },
                { target: 'd' },
              ],
            },
          },
          b: {},
          c: {},
          d: {},
        },
      }),
    [wait(1)],
  ],
  [
    'a promise that its state has left answers in vain',
    (did) =>
      chart({
        initial: 'a',
        states: {
          a: {
            invoke: {
              src: fromPromise(() => sleep(20)),
              onDone: 'b',
            },
            on: { LEAVE: 'c' },
          },
          b: {},
          c: { entry: () => did('c') },
        },
      }),
    [step('LEAVE', 5), wait(30)],
  ],
  [
    'promises that answer in another order than they began',
    () =>
      chart({
        context: { order: [] },
        type: 'parallel',
        states: Object.fromEntries(
          [30, 10, 20].map((ms) => [
            `s${ms}`,
            {
              initial: 'a',
              states: {
                a: {
                  invoke: {
                    src: fromPromise(() => sleep(ms, ms)),
                    onDone: {
                      target: 'z',
                      actions: assign(({ context, event }) => ({
                        order: [...(context.order as unknown[]), event.output],
                      })),
                    },
                  },
                },
                z: { type: 'final' },
              },
            },
          ]),
        ),
        output: ({ context }: Given) => context.order,
      }),
    [wait(15), wait(10), wait(10)],
  ],
  [
    'a transition of several regions to several targets',
    () =>
      chart({
        initial: 'off',
        states: {
          off: { on: { GO: ['on.l.b', 'on.r.b'] } },
          on: {
            type: 'parallel',
            states: {
              l: { initial: 'a', states: { a: {}, b: { entry: log('l.b') } } },
              r: {
                initial: 'a',
                states: { a: {}, b: { entry: log('r.b'), on: { N: '#c' } }, c: { id: 'c' } },
              },
            },
            on: { OFF: { target: 'off' } },
          },
        },
      }),
    [step('GO'), step('N'), step('OFF'), step('GO')],
  ],
  [
    'an initial transition with actions',
    () =>
      chart({
        context: { n: 0 },
        initial: { target: 'p', actions: [add('n'), log('first')] },
        states: {
          p: {
            initial: { target: 'a', actions: log('second') },
            states: { a: { entry: log('third') } },
          },
        },
      }),
    [step('X')],
  ],
  [
    'parameters of actions by functions, resolved before a later assign',
    (did) =>
      chart(
        {
          context: { n: 1 },
          on: {
            GO: {
              actions: [
                { type: 'say', params: ({ context, event }: Given) => [context.n, event.type] },
                add('n'),
                { type: 'say', params: ({ context }: Given) => [context.n] },
                { type: 'say' },
              ],
            },
          },
        },
        { actions: { say: ({ context }: Given, params: unknown) => did([context.n, params]) } },
      ),
    [step('GO'), step('GO')],
  ],
  [
    'an action that is named for a list of others',
    (did) =>
      chart(
        { context: { n: 0 }, on: { GO: { actions: ['both', 'say'] } } },
        {
          actions: {
            both: collect(({ enqueue }) => {
              enqueue('count');
              enqueue({ type: 'say', params: 'inside' });
            }),
            count: add('n'),
            say: ({ context }: Given, params: unknown) => did([context.n, params]),
          },
        },
      ),
    [step('GO')],
  ],
  [
    'a description, tags and meta that change nothing',
    () =>
      chart({
        initial: 'a',
        states: {
          a: {
            description: 'x',
            tags: ['t', 'failed'],
            meta: { any: [1] },
            on: { GO: { target: 'b', description: 'y', meta: { z: 1 } } },
          },
          b: { tags: 'completed' },
        },
      }),
    [step('GO')],
  ],
  [
    'exit actions of all levels when the root ends',
    (did) =>
      chart({
        exit: () => did('root'),
        initial: 'p',
        states: {
          p: {
            exit: () => did('p'),
            initial: 'a',
            states: {
              a: {
                exit: () => did('a'),
                on: { END: '#z' },
                invoke: { id: 'c', src: chart({ exit: log('child') }) },
              },
            },
          },
          z: { id: 'z', type: 'final', entry: () => did('z'), exit: () => did('exit z') },
        },
      }),
    [step('END')],
  ],
  [
    'what a chart raises when it has ended is lost',
    () =>
      chart({
        context: { n: 0 },
        initial: 'a',
        states: {
          a: { on: { END: 'z' } },
          z: { type: 'final', entry: [raise({ type: 'T' }), raise({ type: 'T' }, { delay: 5 })] },
        },
        on: { T: { actions: add('n') } },
      }),
    [step('END'), wait(10), step('T')],
  ],
  [
    'always that goes through several states, with assigns',
    (did) =>
      chart({
        context: { n: 0 },
        initial: 'a',
        states: {
          a: { on: { GO: 'b' } },
          b: {
            entry: add('n'),
            always: [
              { guard: ({ context }: Given) => context.n < 3, target: 'b', reenter: true },
              { target: 'c' },
            ],
          },
          c: {
            entry: ({ context }: Given) => did(context.n),
            always: { guard: ({ context }: Given) => context.n > 100, target: 'a' },
          },
        },
      }),
    [step('GO')],
  ],
];

describe('a construct with states and time is as in XState:', () => {
  it.each(constructs.map((construct) => ({ name: construct[0], construct })))(
    '$name',
    ({ construct }) => isAsInXState(construct),
  );
});
