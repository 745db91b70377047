/**
 * One child for each item, side by side, in one record. A tree is bounded: for thousands use
 * `workflow(other)`.
 */
import { activity, defineWorkflow } from '@paraph/engine';
import { assign, setup } from 'xstate';
import { withEngine } from './run.ts';

const item = setup({
  types: { input: {} as { name: string }, context: {} as { name: string }, output: {} as string },
  actors: { resize: activity<string, void>(async () => undefined, { attempts: 3 }) },
}).createMachine({
  context: ({ input }) => input,
  initial: 'resizing',
  states: {
    resizing: { invoke: { src: 'resize', input: ({ context }) => context.name, onDone: 'over' } },
    over: { type: 'final' },
  },
  output: ({ context }) => context.name,
});
const chart = setup({
  types: { input: {} as { names: string[] }, context: {} as { left: number } },
  actors: { item },
  guards: { isEmpty: ({ context }) => context.left === 0 },
}).createMachine({
  context: ({ input, spawn }) => {
    for (const name of input.names) spawn('item', { id: name, input: { name } });
    return { left: input.names.length };
  },
  initial: 'working',
  states: {
    working: {
      always: { guard: 'isEmpty', target: 'over' },
      on: {
        'xstate.done.actor.*': { actions: assign({ left: ({ context }) => context.left - 1 }) },
      },
    },
    over: { type: 'final' },
  },
});
const album = defineWorkflow({ name: 'album', version: 1, chart });

await withEngine([album], async (engine, id) => {
  const albums = engine.of(album);
  await albums.start(id, { names: Array.from({ length: 20 }, (_, n) => `picture-${n}`) });
  const { snapshot } = await albums.ended(id);
  console.log(`album: ${snapshot?.context.left} pictures left`);
});
