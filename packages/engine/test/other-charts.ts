/** Charts that start and tell each other's instances. */
import { assign, fromPromise, setup } from 'xstate';
import { z } from 'zod';
import { defineWorkflow, workflow } from '../src/define.ts';
import { effectOf } from '../src/effect.ts';

/** A till that all trips pay into. */
const tillMachine = setup({
  types: { context: {} as { paid: readonly string[] }, events: {} as { type: 'PAY'; by: string } },
}).createMachine({
  context: { paid: [] },
  on: { PAY: { actions: assign({ paid: ({ context, event }) => [...context.paid, event.by] }) } },
});
export const till = defineWorkflow({ name: 'till', version: 1, chart: tillMachine });

/** @param did What was done in the world. */
export const tripsIn = (did: (what: string) => Promise<void>) => {
  const legMachine = setup({
    types: {
      input: {} as { to: string },
      context: {} as { to: string },
      events: {} as { type: 'ARRIVE' },
      output: {} as { at: string },
    },
    actors: {
      ride: fromPromise<void, string>(async ({ input }) => did(`ride ${input}`)),
    },
    actions: { gone: async (_, to: string) => did(`begin ${to}`) },
  }).createMachine({
    context: ({ input }) => input,
    initial: 'riding',
    entry: { type: 'gone', params: ({ context }) => context.to },
    output: ({ context }) => ({ at: context.to }),
    states: {
      riding: {
        invoke: {
          src: 'ride',
          input: ({ context }) => context.to,
          onDone: [
            { guard: ({ context }) => context.to === 'nowhere', target: 'lost' },
            { guard: ({ context }) => context.to === 'far', target: 'waiting' },
            { target: 'there' },
          ],
        },
      },
      waiting: { on: { ARRIVE: 'there' } },
      lost: { meta: { job: 'failed' } },
      there: { type: 'final' },
    },
  });
  const leg = defineWorkflow({
    name: 'leg',
    version: 1,
    chart: legMachine,
    input: z.object({ to: z.string().max(20) }),
    reasonOf: ({ to }) => `there is no way to ${to}`,
  });

  const tripMachine = setup({
    types: {
      input: {} as { name: string; to: readonly [string, string] },
      context: {} as { name: string; to: readonly [string, string]; seen: readonly string[] },
      events: {} as { type: 'HOME' },
      output: {} as readonly string[],
    },
    actors: { leg: workflow(leg) },
    actions: {
      pay: (given, by: string) => effectOf(given).send(till, 'the-till', { type: 'PAY', by }),
      see: assign({ seen: ({ context }, what: string) => [...context.seen, what] }),
    },
    guards: { isAll: ({ context }) => context.seen.length === 2 },
  }).createMachine({
    context: ({ input }) => ({ ...input, seen: [] }),
    initial: 'away',
    output: ({ context }) => context.seen.toSorted(),
    states: {
      away: {
        always: { guard: 'isAll', target: 'home' },
        on: { HOME: 'home' },
        invoke: [0, 1].map((index) => ({
          id: `leg ${index}`,
          src: 'leg' as const,
          input: ({ context }: { context: { to: readonly [string, string] } }) => ({
            to: context.to[index] ?? '',
          }),
          onDone: {
            actions: {
              type: 'see' as const,
              params: ({ event }: { event: { output: { at: string } } }) => event.output.at,
            },
          },
          onError: {
            actions: {
              type: 'see' as const,
              params: ({ event }: { event: { error: unknown } }) => String(event.error),
            },
          },
        })),
      },
      home: { entry: { type: 'pay', params: ({ context }) => context.name }, type: 'final' },
    },
  });
  const trip = defineWorkflow({ name: 'trip', version: 1, chart: tripMachine });
  return { leg, trip };
};
