/** More charts chosen to break: what a step makes inside `enqueueActions` and `assign`. */
import { describe, it } from 'vitest';
import { assign, enqueueActions, spawnChild, stopChild } from 'xstate';
import {
  add,
  type Construct,
  chart,
  collect,
  counter,
  type Given,
  isAsInXState,
  step,
} from './construct.ts';

const constructs: readonly Construct[] = [
  [
    'enqueueActions in each other',
    (did) =>
      chart({
        context: { n: 0 },
        on: {
          GO: {
            actions: collect(({ enqueue, check, context }) => {
              enqueue(() => did('first'));
              enqueue(
                collect((inner) => {
                  inner.enqueue.assign({ n: 1 });
                  inner.enqueue(
                    collect((innermost) => {
                      innermost.enqueue(() => did(['third', innermost.context.n]));
                      innermost.enqueue.raise({ type: 'IN' });
                    }),
                  );
                }),
              );
              if (check(() => context.n === 0))
                enqueue.sendTo(({ self }: Given) => self, { type: 'AFTER' });
              enqueue.spawnChild(counter, { id: 'c' });
              enqueue.sendTo('c', { type: 'ADD' });
              enqueue.emit({ type: 'said' });
            }),
          },
          IN: { actions: [add('n'), ({ context }: Given) => did(['in', context.n])] },
          AFTER: { actions: [add('n'), stopChild('c')] },
        },
      }),
    [step('GO'), step('X')],
  ],
  [
    'enqueueActions that reads the snapshot of its children',
    () =>
      chart({
        context: {},
        invoke: { id: 'c', src: counter },
        on: {
          ASK: {
            actions: collect(({ enqueue, self }) => {
              const { c } = self.getSnapshot().children;
              enqueue.assign({ seen: c?.getSnapshot().context });
            }),
          },
        },
      }),
    [step('ASK'), step('ADD', 1, ['c']), step('ASK')],
  ],
  [
    'inline actions of enqueueActions in enqueueActions, each with its own place',
    (did) =>
      chart({
        context: { n: 0 },
        on: {
          GO: {
            actions: collect(({ enqueue }) => {
              enqueue(collect((one) => one.enqueue(() => did('one'))));
              enqueue.assign({ n: 5 });
              enqueue(
                collect((two) => {
                  const { n } = two.context;
                  two.enqueue(() => did(['two', n]));
                  two.enqueue(
                    collect((three) => three.enqueue(() => did(['three', n, three.context.n]))),
                  );
                  two.enqueue(() => did(['four', n]));
                }),
              );
              enqueue(() => did('five'));
            }),
          },
        },
      }),
    [step('GO'), step('GO')],
  ],
  [
    'enqueueActions in enqueueActions that check guards in between',
    (did) =>
      chart({
        context: { n: 0 },
        on: {
          GO: {
            actions: collect(({ enqueue, check }) => {
              if (check(() => false)) enqueue(() => did('never'));
              enqueue.assign({ n: 1 });
              enqueue(
                collect((inner) => {
                  if (inner.check(({ context }: Given) => context.n === 1))
                    inner.enqueue(() => did('yes'));
                  else inner.enqueue(() => did('no'));
                }),
              );
              if (check(() => true)) enqueue(() => did('last'));
            }),
          },
        },
      }),
    [step('GO'), step('GO')],
  ],
  [
    'a named action that is enqueueActions with inline actions, enqueued by name',
    (did) =>
      chart(
        {
          context: { n: 7 },
          on: { GO: { actions: collect(({ enqueue }) => enqueue({ type: 'inner', params: 3 })) } },
        },
        {
          actions: {
            inner: enqueueActions((({ enqueue, context }: Given, params: unknown) => {
              enqueue(() => did([context.n, params]));
            }) as never),
          },
        },
      ),
    [step('GO')],
  ],
  [
    'an inline action of enqueueActions that reads self and system',
    (did) =>
      chart({
        invoke: { id: 'c', src: counter, systemId: 'it' },
        on: {
          GO: {
            actions: collect(({ enqueue, self, system }) => {
              const { id } = self;
              const other = system.get('it').id;
              enqueue(() => did([id, other]));
            }),
          },
        },
      }),
    [step('GO'), step('ADD', 1, ['c']), step('GO')],
  ],
  [
    'assign by enqueue that spawns a chart which is made there',
    () =>
      chart({
        context: { n: 1 },
        on: {
          GO: {
            actions: collect(({ enqueue }) => {
              enqueue.assign({ n: 3 });
              enqueue(
                assign((({ spawn, context }: Given) => ({
                  ref: spawn(
                    chart({ context: { n: context.n }, on: { ADD: { actions: add('n') } } }),
                    {
                      id: 'c',
                    },
                  ),
                })) as never),
              );
              enqueue.assign((({ spawn, context }: Given) => ({
                other: spawn(
                  chart({ context: { n: context.n + 1 }, on: { ADD: { actions: add('n') } } }),
                  {
                    id: 'd',
                  },
                ),
              })) as never);
            }),
          },
        },
      }),
    [step('GO'), step('ADD', 1, ['c']), step('ADD', 1, ['d'])],
  ],
  [
    'spawnChild by enqueue of a chart that is made there, in enqueueActions',
    () =>
      chart({
        on: {
          GO: {
            actions: collect(({ enqueue }) => {
              enqueue(
                spawnChild(chart({ context: { n: 0 }, on: { ADD: { actions: add('n') } } }), {
                  id: 'c',
                }),
              );
              enqueue(
                collect((inner) =>
                  inner.enqueue.spawnChild(
                    chart({ context: { n: 5 }, on: { ADD: { actions: add('n') } } }),
                    {
                      id: 'd',
                    },
                  ),
                ),
              );
            }),
          },
        },
      }),
    [step('GO'), step('ADD', 1, ['c']), step('ADD', 1, ['d'])],
  ],
  [
    'an action of a chart that a nested enqueueActions has made',
    (did) =>
      chart({
        on: {
          GO: {
            actions: collect(({ enqueue }) =>
              enqueue(
                collect((inner) =>
                  inner.enqueue.spawnChild(
                    chart({
                      on: {
                        SAY: {
                          actions: collect((own) => own.enqueue(({ event }: Given) => did(event))),
                        },
                      },
                    }),
                    { id: 'c' },
                  ),
                ),
              ),
            ),
          },
        },
      }),
    [step('GO'), step('SAY', 1, ['c'])],
  ],
  [
    'a spawn of a chart that is made there, beside a date and a reference of the context',
    () =>
      chart({
        context: ({ spawn }: Given) => ({ at: new Date(5), ref: spawn(counter, { id: 'first' }) }),
        on: {
          GO: {
            actions: assign((({ spawn, context, self }: Given) => ({
              made: spawn(
                chart({ context: { at: context.at.getTime(), of: context.ref.id, self: self.id } }),
                { id: 'c' },
              ),
            })) as never),
          },
        },
      }),
    [step('GO'), step('X', 1, ['c']), step('X')],
  ],
  [
    'a first context that spawns what it makes of self and of the input',
    () =>
      chart({
        context: (({ spawn, self, input }: Given & { input: { n: number } }) => {
          const id = `${self.id}-${input.n}`;
          return { ref: spawn(chart({ context: { id } }), { id }) };
        }) as never,
      }),
    [step('X')],
    { n: 3 },
  ],
];

describe('what a step makes is as in XState:', () => {
  it.each(constructs.map((construct) => ({ name: construct[0], construct })))(
    '$name',
    ({ construct }) => isAsInXState(construct),
  );
});
