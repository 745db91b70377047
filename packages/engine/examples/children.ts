/** A child chart lies in the record of its parent. Messages between them keep XState's order. */
import { defineWorkflow } from '@paraph/engine';
import { assign, sendParent, sendTo, setup } from 'xstate';
import { withEngine } from './run.ts';

const door = setup({}).createMachine({
  initial: 'closed',
  states: {
    closed: { on: { PUSH: 'open' } },
    open: { entry: sendParent({ type: 'OPENED' }), after: { 50: 'shut' } },
    shut: { type: 'final' },
  },
});
const chart = setup({
  types: {
    context: {} as { heard: string[] },
    events: {} as { type: 'PUSH' } | { type: 'OPENED' },
  },
  actors: { door },
  actions: { hear: assign({ heard: ({ context, event }) => [...context.heard, event.type] }) },
}).createMachine({
  context: { heard: [] },
  initial: 'guarding',
  states: {
    guarding: {
      invoke: { id: 'front', src: 'door', onDone: 'over' },
      on: {
        PUSH: { actions: ['hear', sendTo('front', { type: 'PUSH' })] },
        OPENED: { actions: 'hear' },
      },
    },
    over: { type: 'final' },
  },
});
const house = defineWorkflow({ name: 'house', version: 1, chart });

await withEngine([house], async (engine, id) => {
  const houses = engine.of(house);
  await houses.start(id);
  await houses.send(id, { type: 'PUSH' }, { key: 'visitor-1' });
  const { snapshot } = await houses.ended(id);
  console.log(`house: ${snapshot?.context.heard.join(', ')}`);
});
