/**
 * Whether a file is a PDF that people can sign, decided in a thread: a file may take seconds to
 * read, and one that was made to hurt takes all the memory and time that it gets.
 *
 * One file at a time: each is in memory as a whole. A program that is not compiled has no thread
 * (Node cannot run its source), and checks where it is.
 */
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import { type CheckedPdf, checkPdf } from './pdf/index.ts';

/** 20 MB of objects take some three seconds on a slow machine. */
const maxCheckMs = 30_000;
const maxMemoryMegabytes = 512;
/** An idle thread ends: uploads come seldom, and its memory is given back. */
const idleMs = 10_000;

const tooMuch: CheckedPdf = {
  ok: false,
  error: 'The file takes too much time or memory to read.',
};

export interface DocumentCheck {
  /** @param bytes Are gone afterwards. */
  check(bytes: Uint8Array<ArrayBuffer>): Promise<CheckedPdf>;
  close(): Promise<void>;
}

const compiled = new URL('./check-thread.js', import.meta.url);

const checkHere: DocumentCheck = { check: checkPdf, close: async () => undefined };

/** @param threadFile Compiled. */
export const createDocumentCheck = (threadFile: URL = compiled): DocumentCheck => {
  if (!existsSync(threadFile)) return checkHere;
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;

  const end = async (): Promise<void> => {
    const ending = thread;
    thread = undefined;
    clearTimeout(idle);
    await ending?.terminate();
  };

  const begin = (): Worker => {
    clearTimeout(idle);
    if (thread !== undefined) return thread;
    const resourceLimits = { maxOldGenerationSizeMb: maxMemoryMegabytes };
    thread = new Worker(threadFile, { name: 'documents', resourceLimits });
    // It does not keep a process alive.
    thread.unref();
    return thread;
  };

  const ask = (bytes: Uint8Array<ArrayBuffer>): Promise<CheckedPdf> =>
    new Promise((resolve, reject) => {
      const asked = begin();
      const forget = (): void => {
        if (thread === asked) thread = undefined;
      };
      // Each settles the promise once; what comes later changes nothing.
      asked.removeAllListeners();
      asked.once('message', resolve);
      asked.once('error', (error: NodeJS.ErrnoException) => {
        forget();
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve(tooMuch);
        else reject(error);
      });
      asked.once('exit', () => {
        forget();
        reject(new Error('The thread that checks documents has ended'));
      });
      asked.postMessage(bytes, [bytes.buffer]);
    });

  return {
    check: async (bytes) => {
      const asked = ask(bytes);
      if (!(await settlesWithin(asked, maxCheckMs))) {
        await end();
        return tooMuch;
      }
      idle = setTimeout(() => void end(), idleMs).unref();
      return asked;
    },
    close: end,
  };
};
