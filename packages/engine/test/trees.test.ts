/** Trees of charts are what they are in XState, whatever their actors tell each other and know. */
import { describe, expect, it } from 'vitest';
import {
  type AnyActorRef,
  type AnyStateMachine,
  assign,
  createMachine,
  emit,
  enqueueActions,
  forwardTo,
  fromPromise,
  fromTransition,
  raise,
  sendParent,
  sendTo,
  setup,
  spawnChild,
  stopChild,
} from 'xstate';
import { runBoth, type Step } from './same-as-xstate.ts';

type Did = (what: unknown) => void;
type Make = (did: Did) => AnyStateMachine;
type Spawn = (logic: unknown, options: object) => AnyActorRef;
interface Kin {
  readonly sibling: AnyActorRef;
  readonly parent: AnyActorRef;
}
const event = (type: string, more: object = {}) => ({ type, ...more });

const pong = (did: Did) =>
  createMachine({
    id: 'pong',
    on: {
      PING: {
        actions: [
          ({ event: { sender } }) => did(['pinged by', sender]),
          sendTo(({ event: { sender } }) => sender as AnyActorRef, { type: 'PONG' }),
        ],
      },
    },
  });

const charts: Readonly<Record<string, readonly [Make, readonly Step[]]>> = {
  'a sender in an event is answered': [
    (did) =>
      createMachine({
        invoke: { id: 'pong', src: pong(did) },
        initial: 'idle',
        states: {
          idle: {
            on: {
              GO: { actions: sendTo('pong', ({ self }) => ({ type: 'PING', sender: self })) },
              PONG: 'answered',
            },
          },
          answered: {
            on: { GO: { actions: sendTo('pong', ({ self }) => ({ type: 'PING', sender: self })) } },
          },
        },
      }),
    [event('GO'), event('GO')],
  ],
  'a parent and a sibling come with the input': [
    (did) =>
      createMachine({
        context: {} as never,
        entry: assign({
          first: ({ spawn }) => spawn(pong(did), { id: 'first' }),
        }),
        on: {
          SECOND: {
            actions: assign({
              second: ({ spawn, context, self }) =>
                (spawn as Spawn)(
                  createMachine({
                    context: ({ input }: { input: unknown }) => ({ ...(input as Kin), pongs: 0 }),
                    on: {
                      GO: {
                        actions: [
                          sendTo(
                            ({ context: { sibling } }) => sibling,
                            ({ self: sender }) => ({ type: 'PING', sender }),
                          ),
                          sendTo(({ context: { parent } }) => parent, { type: 'TOLD' }),
                        ],
                      },
                      PONG: { actions: assign({ pongs: ({ context: { pongs } }) => pongs + 1 }) },
                    },
                  }) as never,
                  {
                    id: 'second',
                    input: {
                      sibling: (context as { first: unknown }).first,
                      parent: self,
                    } as never,
                  },
                ),
            }),
          },
          GO: { actions: forwardTo('second') },
          TOLD: { actions: assign({ told: true }) },
        },
      } as never),
    [event('SECOND'), event('GO'), event('GO')],
  ],
  'actors find each other by system id, also one spawned in the same step': [
    (did) =>
      createMachine({
        entry: [
          spawnChild(pong(did), { id: 'a', systemId: 'the pong' }),
          sendTo(
            ({ system }) => system.get('the pong'),
            ({ self }) => ({ type: 'PING', sender: self }),
          ),
        ],
        invoke: {
          id: 'b',
          systemId: 'other',
          src: createMachine({
            on: {
              GO: {
                actions: sendTo(
                  ({ system }) => system.get('the pong'),
                  ({ self }) => ({ type: 'PING', sender: self }),
                ),
              },
              PONG: { actions: () => did('b has its pong') },
            },
          }),
        },
        on: {
          GO: { actions: sendTo(({ system }) => system.get('other'), { type: 'GO' }) },
          PONG: { actions: () => did('root has its pong') },
        },
      }),
    [event('GO'), event('GO')],
  ],
  'a child knows its own id and its parent knows its snapshot': [
    (did) =>
      createMachine({
        context: {} as never,
        invoke: {
          id: 'child',
          src: createMachine({
            context: ({ self }: { self: AnyActorRef }) => ({ me: self.id }),
            initial: 'a',
            states: { a: { on: { NEXT: 'b' } }, b: {} },
          }),
        },
        on: {
          NEXT: { actions: sendTo('child', { type: 'NEXT' }) },
          LOOK: {
            actions: [
              assign({
                seen: ({ self }) =>
                  (
                    self.getSnapshot() as { children: Record<string, AnyActorRef> }
                  ).children.child?.getSnapshot().value,
              }),
              ({ context }: { context: unknown }) => did(context),
            ],
          },
        },
      } as never),
    [event('LOOK'), event('NEXT'), event('LOOK')],
  ],
  'self in the context leads back to itself': [
    () =>
      setup({ types: { context: {} as { me: AnyActorRef; n: number } } }).createMachine({
        context: ({ self }) => ({ me: self, n: 0 }),
        on: {
          GO: { actions: sendTo(({ context }) => context.me, { type: 'COUNT' }) },
          COUNT: { actions: assign({ n: ({ context }) => context.n + 1 }) },
        },
      }),
    [event('GO'), event('GO')],
  ],
  'a parent follows the snapshots of its child': [
    (did) =>
      createMachine({
        invoke: {
          id: 'child',
          src: createMachine({
            initial: 'a',
            states: { a: { on: { NEXT: 'b' } }, b: { on: { NEXT: 'c' } }, c: { type: 'final' } },
          }),
          onSnapshot: {
            actions: ({ event }: { event: unknown }) =>
              did((event as { snapshot: { value: unknown } }).snapshot.value),
          },
          onDone: { actions: () => did('done') },
        },
        on: { NEXT: { actions: sendTo('child', { type: 'NEXT' }) } },
      }),
    [event('NEXT'), event('NEXT'), event('NEXT')],
  ],
  'a delayed message does not reach a later child of the same name': [
    (did) => {
      const child = createMachine({
        on: { TICK: { actions: ({ self }) => did(['ticked', self.id]) } },
      });
      return createMachine({
        initial: 'a',
        states: {
          a: {
            invoke: { id: 'child', src: child },
            on: {
              LATER: { actions: sendTo('child', { type: 'TICK' }, { delay: 20, id: 'tick' }) },
              AGAIN: { target: 'a', reenter: true },
            },
          },
        },
      });
    },
    [event('LATER'), 30, event('LATER'), event('AGAIN'), 30],
  ],
  'a guard of a child that throws is an error of its parent': [
    () =>
      createMachine({
        initial: 'a',
        states: {
          a: {
            invoke: {
              id: 'child',
              src: createMachine({
                on: {
                  GO: {
                    guard: () => {
                      throw new TypeError('no such thing');
                    },
                    actions: raise({ type: 'X' }),
                  },
                },
              }),
              onError: {
                target: 'b',
                actions: assign({ why: ({ event }) => (event.error as Error).message }),
              },
            },
            on: { GO: { actions: sendTo('child', { type: 'GO' }) } },
          },
          b: {},
        },
        context: {} as never,
      } as never),
    [event('GO')],
  ],
  'an error that nobody takes ends the tree': [
    () =>
      createMachine({
        invoke: {
          src: createMachine({
            on: {
              GO: {
                actions: assign(() => {
                  throw new Error('broken');
                }),
              },
            },
          }),
          id: 'child',
        },
        on: { GO: { actions: sendTo('child', { type: 'GO' }) } },
      }),
    [event('GO'), event('GO')],
  ],
  'a chart spawns itself': [
    (did) => {
      const tree: AnyStateMachine = setup({
        types: { context: {} as { depth: number } },
      }).createMachine({
        context: ({ input }: { input: unknown }) => ({
          depth: (input as { depth?: number } | undefined)?.depth ?? 0,
        }),
        on: {
          GROW: [
            {
              guard: ((args: { self: AnyActorRef }) =>
                Object.keys(args.self.getSnapshot().children).length > 0) as never,
              actions: forwardTo('child'),
            },
            { target: '.grown' },
          ],
        },
        initial: 'leaf',
        states: {
          leaf: {},
          grown: {
            entry: enqueueActions(({ enqueue, context }) => {
              enqueue.spawnChild(
                tree as never,
                {
                  id: 'child',
                  input: { depth: (context as { depth: number }).depth + 1 },
                } as never,
              );
              enqueue(({ context: { depth } }) => did(['grown at', depth]));
            }),
          },
        },
      });
      return tree;
    },
    [event('GROW'), event('GROW'), event('GROW')],
  ],
  'inline parts do what named ones do': [
    (did) => {
      const child = createMachine({
        entry: sendParent({ type: 'HELLO' }),
        on: { STOP: '.over' },
        initial: 'open',
        states: { open: {}, over: { type: 'final' } },
        output: 42,
      });
      return createMachine({
        context: { outputs: [] as unknown[] },
        entry: [() => did('entry'), { type: 'unused' }].slice(0, 1),
        initial: 'a',
        states: {
          a: {
            entry: spawnChild(child, { id: 'spawned one' }),
            invoke: {
              src: child,
              onDone: {
                target: 'b',
                actions: assign({
                  outputs: ({ context, event }) => [...context.outputs, event.output],
                }),
              },
            },
            on: {
              STOP: { actions: [sendTo('0.(machine).a', { type: 'STOP' }), () => did('stopping')] },
            },
          },
          b: { entry: stopChild('spawned one'), always: { guard: () => true, target: 'c' } },
          c: {
            after: {
              10: { target: 'd', actions: [emit({ type: 'late' }), ({ event }) => did(event)] },
            },
          },
          d: {},
        },
        on: { HELLO: { actions: ({ event }) => did(event) } },
      });
    },
    [event('STOP'), 15],
  ],
  'a state of fromTransition is kept': [
    () => {
      const counter = fromTransition(
        (n: number, { type }: { type: string }) => (type === 'UP' ? n + 1 : n),
        5,
      );
      return createMachine({
        context: {} as never,
        invoke: { id: 'counter', src: counter },
        on: {
          UP: {
            actions: [sendTo('counter', { type: 'UP' })],
          },
          LOOK: {
            actions: assign({
              n: ({ self }) =>
                (
                  self.getSnapshot() as { children: Record<string, AnyActorRef> }
                ).children.counter?.getSnapshot().context,
            }),
          },
        },
      } as never);
    },
    [event('UP'), event('UP'), event('LOOK')],
  ],
  'names of children hold spaces, dots and slashes': [
    (did) => {
      const child = (name: string) =>
        createMachine({
          after: { 10: { actions: () => did(name) } },
          on: { GO: { actions: () => did(`${name} goes`) } },
        });
      return createMachine({
        id: 'line',
        invoke: [
          { id: 'a b', src: child('a b') },
          { id: 'a.b', src: child('a.b') },
          { id: 'a/b', src: child('a/b') },
        ],
        on: { GO: { actions: ['a b', 'a.b', 'a/b'].map((id) => sendTo(id, { type: 'GO' })) } },
      });
    },
    [event('GO'), 12],
  ],
  'grandchildren speak, sleep and end': [
    (did) => {
      const leaf = createMachine({
        initial: 'wait',
        states: { wait: { after: { 20: 'over' }, on: { STOP: 'over' } }, over: { type: 'final' } },
        output: 'leaf',
      });
      const branch = createMachine({
        initial: 'on',
        states: {
          on: { invoke: { id: 'leaf', src: leaf, onDone: 'off' } },
          off: { type: 'final' },
        },
        on: { STOP: { actions: sendTo('leaf', { type: 'STOP' }) } },
        output: 'branch',
      });
      return createMachine({
        type: 'parallel',
        states: {
          one: {
            initial: 'x',
            states: {
              x: { invoke: { id: 'one', src: branch, onDone: 'y' } },
              y: { entry: () => did('one') },
            },
          },
          two: {
            initial: 'x',
            states: {
              x: { invoke: { id: 'two', src: branch, onDone: 'y' }, on: { LEAVE: 'z' } },
              y: { entry: () => did('two') },
              z: {},
            },
          },
        },
        on: { STOP: { actions: sendTo('one', { type: 'STOP' }) } },
      });
    },
    [5, event('STOP'), event('LEAVE'), 30],
  ],
  'values that JSON does not have are kept': [
    (did) =>
      setup({ types: { context: {} as object } }).createMachine({
        context: {
          when: new Date(5),
          map: new Map([['a', { deep: new Set([1, 2]) }]]),
          big: 12n,
          odd: [Number.NaN, Number.POSITIVE_INFINITY, undefined],
          error: Object.assign(new RangeError('far'), { code: 'E_FAR', status: 418 }),
        },
        on: {
          GO: {
            actions: ({ context }) => {
              const { when, map, big, odd, error } = context as never as {
                when: Date;
                map: Map<string, { deep: Set<number> }>;
                big: bigint;
                odd: unknown[];
                error: Error & { code: string };
              };
              did([
                when.getTime(),
                [...(map.get('a')?.deep ?? [])],
                String(big + 1n),
                odd.map(String),
                [error instanceof Error, error.name, error.message, error.code],
              ]);
            },
          },
        },
      }),
    [event('GO')],
  ],
  'delays that are no times': [
    (did) =>
      createMachine({
        initial: 'a',
        states: {
          a: {
            entry: [
              raise({ type: 'NEVER' }, { delay: Number.POSITIVE_INFINITY }),
              raise({ type: 'SOON' }, { delay: Number.NaN }),
            ],
            on: { NEVER: { actions: () => did('never') }, GO: 'b' },
          },
          b: {},
        },
      }),
    [event('GO')],
  ],
};

describe('a tree of charts is as in XState, stored and taken up between any two events:', () => {
  it.each(Object.entries(charts))('%s', (_, [make, steps]) => {
    const { xstate, engine } = runBoth(make, steps);
    expect(engine).toEqual(xstate);
  });
});

describe('an activity of a grandchild', () => {
  it('is found by its path', () => {
    const leaf = createMachine({ invoke: { id: 'ask', src: fromPromise(async () => 1) } });
    const branch = createMachine({ invoke: { id: 'the leaf', src: leaf } });
    const { engine } = runBoth(() => createMachine({ invoke: { id: 'branch', src: branch } }), []);
    expect(engine[0]).toMatchObject([
      { children: { branch: { children: { 'the leaf': { children: { ask: 'activity' } } } } } },
      [],
    ]);
  });
});
