/**
 * An action is carried out after the step that decided it is stored. Its id makes a repetition
 * harmless.
 */
import { defineWorkflow, effectOf } from '@paraph/engine';
import { setup } from 'xstate';
import { withEngine } from './run.ts';

const mails = new Map<string, string>();
const chart = setup({
  actions: {
    mail: (given, params: { text: string }) => {
      // After a crash it may run again, with the same id.
      mails.set(effectOf(given).id, params.text);
    },
  },
}).createMachine({
  entry: [
    { type: 'mail', params: { text: 'Welcome' } },
    { type: 'mail', params: { text: 'Here is how to begin' } },
  ],
  initial: 'over',
  states: { over: { type: 'final' } },
});
const welcome = defineWorkflow({ name: 'welcome', version: 1, chart });

await withEngine([welcome], async (engine, id) => {
  const welcomes = engine.of(welcome);
  await welcomes.start(id);
  await welcomes.ended(id);
  console.log(`mails: ${[...mails.values()].join('; ')}`);
});
