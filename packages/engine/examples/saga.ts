/** When a later step fails, what was done before is undone. */
import { activity, defineWorkflow } from '@paraph/engine';
import { setup } from 'xstate';
import { withEngine } from './run.ts';

const done: string[] = [];
const step = (name: string) =>
  activity<void, void>(async () => {
    done.push(name);
    if (name === 'book hotel') throw new Error('No room is free');
  });
const chart = setup({
  actors: {
    bookFlight: step('book flight'),
    bookHotel: step('book hotel'),
    cancelFlight: step('cancel flight'),
  },
}).createMachine({
  initial: 'flight',
  states: {
    flight: { invoke: { src: 'bookFlight', onDone: 'hotel', onError: 'failed' } },
    hotel: { invoke: { src: 'bookHotel', onDone: 'booked', onError: 'undoing' } },
    undoing: { invoke: { src: 'cancelFlight', onDone: 'failed' } },
    booked: { type: 'final' },
    // The job ends as failed, with the error of the activity as its reason.
    failed: { meta: { job: 'failed' } },
  },
});
const trip = defineWorkflow({ name: 'trip', version: 1, chart });

await withEngine([trip], async (engine, id) => {
  const trips = engine.of(trip);
  await trips.start(id);
  const { ended, reason } = await trips.ended(id);
  console.log(`trip: ${ended}, ${done.join(', ')}; ${reason}`);
});
