/**
 * A worker process whose activity never answers: it is killed while it holds a try.
 *
 * `node hold-worker.ts <redis socket or url> <prefix>`
 */
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { assign, fromPromise, setup } from 'xstate';
import { defineWorkflow, type Workflow } from '../src/define.ts';
import { startWorkflowWorker } from '../src/worker.ts';

export const slowIn = (run: () => Promise<string>): Workflow =>
  defineWorkflow({
    name: 'slow',
    version: 1,
    chart: setup({
      types: { context: {} as { answer: string } },
      actors: { ask: fromPromise(run) },
    }).createMachine({
      context: { answer: '' },
      initial: 'asking',
      states: {
        asking: {
          invoke: {
            src: 'ask',
            onDone: { target: 'done', actions: assign({ answer: ({ event }) => event.output }) },
          },
        },
        done: { type: 'final' },
      },
      output: ({ context }) => context.answer,
    }),
  });

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , address = '', prefix = ''] = process.argv;
  const connection = new Redis(address, { maxRetriesPerRequest: null });
  const queue = new Queue('workflows', { connection, prefix });
  const workflow = slowIn(() => {
    // Said when the job sleeps: then the try is held.
    setTimeout(() => process.stdout.write('trying\n'), 200);
    return new Promise(() => undefined);
  });
  startWorkflowWorker({
    queue,
    connection,
    workflows: [workflow],
    concurrency: 1,
    now: Date.now,
    onError: (error) => process.stderr.write(`${error.stack}\n`),
    holdMs: 500,
    worker: { lockDuration: 500, stalledInterval: 200 },
  });
}
