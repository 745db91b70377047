/** The thread of index-keeper.ts. It posts errors, and ends at the first message. */
import { parentPort, workerData } from 'node:worker_threads';
import { type IndexSettings, keepIndexHere, type PostedError } from './index-keeper.ts';

if (parentPort === null) throw new Error('This is a thread, not a program');
const parent = parentPort;

const keeper = keepIndexHere(workerData as IndexSettings, {
  now: Date.now,
  onError: ({ name, message, ...more }) =>
    parent.postMessage({
      name,
      message,
      code: 'code' in more ? String(more.code) : undefined,
    } satisfies PostedError),
});
// The port keeps the thread until then.
parent.once('message', async () => {
  await keeper.close();
  parent.close();
});
