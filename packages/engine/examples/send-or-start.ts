/** An event that starts the instance where there is none, in one step. */
import { defineWorkflow } from '@paraph/engine';
import { assign, setup } from 'xstate';
import { withEngine } from './run.ts';

const chart = setup({
  types: {
    context: {} as { items: string[] },
    events: {} as { type: 'ADD'; item: string } | { type: 'BUY' },
    output: {} as string[],
  },
}).createMachine({
  context: { items: [] },
  initial: 'open',
  states: {
    open: {
      on: {
        ADD: { actions: assign({ items: ({ context, event }) => [...context.items, event.item] }) },
        BUY: 'bought',
      },
    },
    bought: { type: 'final' },
  },
  output: ({ context }) => context.items,
});
const cart = defineWorkflow({ name: 'cart', version: 1, chart });

await withEngine([cart], async (engine, id) => {
  const carts = engine.of(cart);
  for (const item of ['bread', 'milk', 'milk'])
    await carts.sendOrStart(id, undefined, { type: 'ADD', item }, { key: `add-${item}` });
  console.log(`may buy: ${await carts.can(id, { type: 'BUY' })}`);
  await carts.send(id, { type: 'BUY' });
  const { output } = await carts.ended(id);
  console.log(`cart: ${output?.join(', ')}`);
});
