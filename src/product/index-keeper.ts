/**
 * Who keeps the search index in a process that signs.
 *
 * Signing is one thread's work, and what the index takes of that thread it takes from the signatures: its answers are large,
 * and reading them holds up all others. In a thread of its own it costs them nothing but the processor. It has a connection of
 * its own for the same reason.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Retention } from '../history/filter.ts';
import { createIndexer } from '../history/indexer.ts';
import { connectForBlocking, disconnect } from '../redis/connect.ts';
import { settlesWithin } from '../redis/timeout.ts';

/** What a thread can be told. */
export interface IndexSettings {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly shards: number;
  readonly retention: Retention;
}

/** What a thread tells of an error. */
export interface ToldError {
  readonly name: string;
  readonly message: string;
  readonly code: string | undefined;
}

export interface IndexKeeper {
  /** Finishes the step in hand and lets others take over at once. */
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

/** What the thread runs, as compiled: Node cannot read its source. */
const threadFile = new URL('./index-thread.js', import.meta.url);
const againMs = 1000;
const closePatienceMs = 5000;

/** For compiled programs. Should the thread die, there is another a second later; what it knew is in Redis. */
export const keepIndexInThread = (
  settings: IndexSettings,
  { onError }: { readonly onError: (error: Error) => void },
  file: URL = threadFile,
): IndexKeeper => {
  let closing = false;
  const begin = (): Worker => {
    const begun = new Worker(file, { workerData: settings, name: 'index' });
    begun.on('message', ({ name, message, code }: ToldError) =>
      onError(Object.assign(new Error(message), { name, ...(code !== undefined && { code }) })),
    );
    begun.on('error', onError);
    begun.once('exit', () => {
      if (closing) return;
      onError(new Error('The thread that keeps the search index has ended'));
      setTimeout(() => {
        if (!closing) thread = begin();
      }, againMs).unref();
    });
    return begun;
  };
  let thread = begin();
  return {
    close: async () => {
      closing = true;
      const ended = once(thread, 'exit');
      thread.postMessage('close');
      // One that has ended says so never again.
      if (thread.threadId === -1 || (await settlesWithin(ended, closePatienceMs))) return;
      await thread.terminate();
    },
  };
};
