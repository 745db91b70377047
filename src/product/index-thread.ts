/** The thread of index-keeper.ts. It tells of errors, and ends when it is told anything. */
import { parentPort, workerData } from 'node:worker_threads';
import { type IndexSettings, keepIndexHere } from './index-keeper.ts';

if (parentPort === null) throw new Error('This is a thread, not a program');
const parent = parentPort;

const keeper = keepIndexHere(workerData as IndexSettings, {
  now: Date.now,
  onError: (error) => parent.postMessage(error),
});
// The port keeps the thread until then.
parent.once('message', async () => {
  await keeper.close();
  parent.close();
});
