/** An activity is tried again; the chart gets an error only after its last try. */
import { activity, defineWorkflow } from '@paraph/engine';
import { setup } from 'xstate';
import { withEngine } from './run.ts';

const charge = activity<{ cents: number }, string>(
  async ({ input, attempt, token, signal }) => {
    signal.throwIfAborted();
    if (attempt < 3) throw new Error('The bank does not answer');
    // The token is the same for each try: use it as an idempotency key.
    return `${token.length > 0 ? 'charged' : ''} ${input.cents}`;
  },
  { attempts: 5, backoffMs: 20, timeoutMs: 5000 },
);
const chart = setup({
  types: { input: {} as { cents: number }, context: {} as { cents: number } },
  actors: { charge },
}).createMachine({
  context: ({ input }) => input,
  initial: 'charging',
  states: {
    charging: {
      invoke: {
        src: 'charge',
        input: ({ context }) => context,
        onDone: 'charged',
        onError: 'refused',
      },
    },
    charged: { type: 'final' },
    refused: { type: 'final' },
  },
});
const payment = defineWorkflow({ name: 'payment', version: 1, chart });

await withEngine([payment], async (engine, id) => {
  const payments = engine.of(payment);
  await payments.start(id, { cents: 100 });
  const { snapshot } = await payments.ended(id);
  console.log(`payment: ${String(snapshot?.value)}`);
});
