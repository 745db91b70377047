/**
 * A worker process that tells ends, and is killed with -9 at a moment of its choice.
 *
 * `node told-worker.ts <redis socket or url> <prefix> <before the store|after the store|after the
 * telling|never>`
 */
import { fileURLToPath } from 'node:url';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { setup } from 'xstate';
import { defineWorkflow } from '../src/define.ts';
import { startWorkflowWorker } from '../src/worker.ts';

/** Ends at once, as its input says. */
export const toldChart = setup({
  types: { input: {} as { say: string }, context: {} as { say: string } },
  guards: { isYes: ({ context }) => context.say === 'yes' },
}).createMachine({
  context: ({ input }) => input,
  initial: 'deciding',
  states: {
    deciding: { always: [{ guard: 'isYes', target: 'yes' }, { target: 'no' }] },
    yes: { type: 'final' },
    no: { meta: { job: 'failed' }, on: { REPLAY: 'no' } },
  },
});

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , address = '', prefix = '', dies = ''] = process.argv;
  const connection = new Redis(address, { maxRetriesPerRequest: null });
  const ledger = connection.duplicate();
  const die = (): void => {
    process.kill(process.pid, 'SIGKILL');
  };
  if (dies === 'before the store') {
    const send = connection.sendCommand.bind(connection);
    connection.sendCommand = (command, ...rest) => {
      // The commit is the only script that is sent with `eval`.
      if (command.name === 'eval') die();
      return send(command, ...rest);
    };
  }
  startWorkflowWorker({
    queue: new Queue('workflows', { connection, prefix }),
    connection,
    workflows: [
      defineWorkflow({ name: 'ends', version: 1, chart: toldChart, reasonOf: () => 'it was no' }),
    ],
    concurrency: 1,
    now: Date.now,
    onError: (error) => process.stderr.write(`${error.stack}\n`),
    tellEnd:
      ({ id }) =>
      async ({ record }) => {
        if (dies === 'after the store') die();
        await ledger.rpush(
          `${prefix}:told`,
          `${id} ${JSON.stringify(record.value).replaceAll('"', '')}`,
        );
        if (dies === 'after the telling') die();
      },
    worker: { lockDuration: 300, stalledInterval: 150 },
  });
}
