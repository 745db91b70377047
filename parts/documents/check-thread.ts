/** The thread of check.ts: takes the bytes of a file, and answers with what is known of it. */
import { parentPort } from 'node:worker_threads';
import { checkPdf } from './pdf/index.ts';

parentPort?.on('message', async (bytes: Uint8Array) => {
  parentPort?.postMessage(await checkPdf(bytes));
});
