/** Another instance as an activity: started, awaited, and stopped when the state is left. */
import { defineWorkflow, workflow } from '@paraph/engine';
import { assign, setup } from 'xstate';
import { withEngine } from './run.ts';

const parcel = defineWorkflow({
  name: 'parcel',
  version: 1,
  chart: setup({
    types: { input: {} as { to: string }, context: {} as { to: string }, output: {} as string },
  }).createMachine({
    context: ({ input }) => input,
    initial: 'travelling',
    states: { travelling: { after: { 50: 'there' } }, there: { type: 'final' } },
    output: ({ context }) => `delivered to ${context.to}`,
  }),
});
const order = defineWorkflow({
  name: 'order',
  version: 1,
  chart: setup({
    types: { context: {} as { how?: string } },
    actors: { parcel: workflow(parcel) },
  }).createMachine({
    context: {},
    initial: 'sending',
    states: {
      sending: {
        invoke: {
          src: 'parcel',
          input: { to: 'Anna' },
          onDone: { target: 'over', actions: assign({ how: ({ event }) => event.output }) },
        },
      },
      over: { type: 'final' },
    },
  }),
});

await withEngine([order, parcel], async (engine, id) => {
  const orders = engine.of(order);
  await orders.start(id);
  const { snapshot } = await orders.ended(id);
  console.log(`order: ${snapshot?.context.how}`);
});
