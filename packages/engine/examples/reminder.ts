/** A timer is a time in the record: it fires in any process, however long that one did not run. */
import { defineWorkflow } from '@paraph/engine';
import { assign, setup } from 'xstate';
import { withEngine } from './run.ts';

const chart = setup({
  types: {
    context: {} as { reminders: number },
    events: {} as { type: 'ANSWERED' },
    output: {} as number,
  },
  guards: { isEnough: ({ context }) => context.reminders >= 3 },
  delays: { pause: 100 },
}).createMachine({
  context: { reminders: 0 },
  initial: 'waiting',
  states: {
    waiting: {
      on: { ANSWERED: 'over' },
      always: { guard: 'isEnough', target: 'over' },
      after: {
        pause: {
          target: 'waiting',
          reenter: true,
          actions: assign({ reminders: ({ context }) => context.reminders + 1 }),
        },
      },
    },
    over: { type: 'final' },
  },
  output: ({ context }) => context.reminders,
});
const reminder = defineWorkflow({ name: 'reminder', version: 1, chart });

await withEngine([reminder], async (engine, id) => {
  const reminders = engine.of(reminder);
  await reminders.start(id);
  const { output } = await reminders.ended(id);
  console.log(`reminders: ${output}`);
});
