/**
 * An activity that is answered later, from any process: `later` frees the worker, its token
 * answers.
 */
import { activity, defineWorkflow, later } from '@paraph/engine';
import { setup } from 'xstate';
import { withEngine } from './run.ts';

const tokens: string[] = [];
const chart = setup({
  types: { output: {} as string },
  actors: {
    ask: activity<string, string>(async ({ input, token }) => {
      console.log(`asked: ${input}`);
      tokens.push(token); // Such as: a link in a mail.
      return later;
    }),
  },
}).createMachine({
  initial: 'asking',
  states: {
    asking: {
      invoke: { src: 'ask', input: 'May we go on?', onDone: 'approved' },
      after: { 86400000: 'late' },
    },
    approved: { type: 'final' },
    late: { type: 'final' },
  },
});
const approval = defineWorkflow({ name: 'approval', version: 1, chart });

await withEngine([approval], async (engine, id) => {
  const approvals = engine.of(approval);
  await approvals.start(id);
  while (tokens.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  console.log(`answer: ${await engine.answer(tokens[0] ?? '', { output: 'yes' })}`);
  const { snapshot } = await approvals.ended(id);
  console.log(`approval: ${String(snapshot?.value)}`);
});
