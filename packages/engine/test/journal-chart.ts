import { setup } from 'xstate';
import { activity, defineWorkflow } from '../src/define.ts';

/** Charges, tells it, and waits for OK. */
export const tellingWorkflow = (notify: () => Promise<void>) =>
  defineWorkflow({
    name: 'telling',
    version: 1,
    chart: setup({
      actors: { charge: activity<unknown, string>(async () => 'paid') },
      actions: { notify: () => notify() as never },
    }).createMachine({
      initial: 'charging',
      states: {
        charging: { invoke: { src: 'charge', onDone: 'telling' } },
        telling: { entry: 'notify', on: { OK: 'end' } },
        end: { type: 'final' },
      },
    }),
  });
