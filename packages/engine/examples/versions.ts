/** An instance goes on in the version that it began with, beside instances of the next one. */
import { defineWorkflow } from '@paraph/engine';
import { setup } from 'xstate';
import { withEngine } from './run.ts';

const chartOf = (text: string) =>
  setup({ types: { events: {} as { type: 'GO' }, output: {} as string } }).createMachine({
    initial: 'waiting',
    states: { waiting: { on: { GO: 'over' } }, over: { type: 'final' } },
    output: () => text,
  });
const first = defineWorkflow({ name: 'greeting', version: 1, chart: chartOf('Good day') });
const second = defineWorkflow({ name: 'greeting', version: 2, chart: chartOf('Hello') });

await withEngine([first, second], async (engine, id) => {
  const [old, current] = [`${id}-old`, `${id}-new`];
  await engine.of(first).start(old);
  await engine.of(second).start(current);
  for (const each of [old, current]) await engine.of(second).send(each, { type: 'GO' });
  console.log(`old: ${(await engine.of(first).ended(old)).output}`);
  console.log(`new: ${(await engine.of(second).ended(current)).output}`);
});
