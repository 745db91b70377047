/** The thread of index-keeper.ts. It tells of errors, and ends when it is told anything. */
import { parentPort, workerData } from 'node:worker_threads';
import { type IndexSettings, keepIndexHere, type ToldError } from './index-keeper.ts';

if (parentPort === null) throw new Error('This is a thread, not a program');
const parent = parentPort;

const keeper = keepIndexHere(workerData as IndexSettings, {
  now: Date.now,
  // A thread can be told an error, but not what makes it more than a message.
  onError: ({ name, message, ...more }) =>
    parent.postMessage({
      name,
      message,
      code: 'code' in more ? String(more.code) : undefined,
    } satisfies ToldError),
});
// The port keeps the thread until then.
parent.once('message', async () => {
  await keeper.close();
  parent.close();
});
