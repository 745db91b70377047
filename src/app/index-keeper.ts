/**
 * Keeps the search index in a process that signs: in a thread and with a connection of its own,
 * because its large answers would hold up the signatures.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import { connectForBlocking, disconnect } from '../redis/connect.ts';
import type { Retention } from '../transactions/history/filter.ts';
import { createIndexer } from '../transactions/history/indexer.ts';

export interface IndexSettings {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly shards: number;
  readonly retention: Retention;
}

/** An error as a thread can post it. */
export type PostedError = Pick<Error, 'name' | 'message'> & { readonly code: string | undefined };

interface IndexKeeper {
  /** Finishes the current step, and lets another process take over at once. */
  close(): Promise<void>;
}

export const keepIndexHere = (
  { redisUrl, ...settings }: IndexSettings,
  { now, onError }: { readonly now: () => number; readonly onError: (error: Error) => void },
): IndexKeeper => {
  const redis = connectForBlocking({ url: redisUrl });
  redis.on('error', onError);
  const indexer = createIndexer({ ...settings, redis, now, onError });
  indexer.start();
  return {
    close: async () => {
      await indexer.close();
      await disconnect(redis);
    },
  };
};

/** The compiled thread, because Node cannot run its source. */
const threadFile = new URL('./index-thread.js', import.meta.url);
const restartMs = 1000;
const closeTimeoutMs = 5000;

/** Keeps the index in a thread, in compiled programs. A dead thread is replaced a second later. */
export const keepIndexInThread = (
  settings: IndexSettings,
  { onError }: { readonly onError: (error: Error) => void },
  file: URL = threadFile,
): IndexKeeper => {
  let closing = false;
  const begin = (): Worker => {
    const begun = new Worker(file, { workerData: settings, name: 'index' });
    begun.on('message', ({ name, message, code }: PostedError) =>
      onError(Object.assign(new Error(message), { name, ...(code !== undefined && { code }) })),
    );
    begun.on('error', onError);
    begun.once('exit', () => {
      if (closing) return;
      onError(new Error('The thread that keeps the search index has ended'));
      setTimeout(() => {
        if (!closing) thread = begin();
      }, restartMs).unref();
    });
    return begun;
  };
  let thread = begin();
  return {
    close: async () => {
      closing = true;
      const ended = once(thread, 'exit');
      thread.postMessage('close');
      // A thread that has ended does not emit `exit` again.
      if (thread.threadId === -1 || (await settlesWithin(ended, closeTimeoutMs))) return;
      await thread.terminate();
    },
  };
};
