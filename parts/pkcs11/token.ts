/**
 * A PKCS#11 token, called from threads because its calls block.
 *
 * closed   It was not needed yet. The first call opens it.
 * opening  Logging in. Calls wait.
 * open     Calls go to the thread with the least to do.
 * away     It was lost, or could not be opened. Calls wait until it is back, or their time is over;
 *          it is tried again with pauses that double.
 *
 * Signing twice does no harm, so a call that meets a lost session is made again in the next one. A
 * key has an id before it is made, so the next try finds it.
 *
 * The library is one for the process: it is closed only when none of the threads is inside a call.
 * A call that never returns therefore stops the recovery, but not those who wait: their time ends.
 * A thread that is inside such a call gets no others until it returns. Node cannot end a thread
 * there, nor the process: see `holdsProcess`.
 *
 * A PIN that was refused is not tried again, because a token is locked after a few wrong ones. It
 * is read again at each try, and another one is tried.
 */
import { hash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import { PartSetupError } from '../../src/part/opened.ts';
import type {
  Answered,
  AskedCall,
  TokenCall,
  TokenFailure,
  TokenPlace,
  TokenValue,
} from './calls.ts';
import { pinErrors, refusals } from './pkcs11.ts';

export interface TokenSettings extends TokenPlace {
  readonly threads: number;
  /** The timeout of a call, also while it waits for a token that is away. */
  readonly timeoutSeconds: number;
}

/** The token is away, or did not answer in time. */
class TokenAwayError extends Error {}

/**
 * The token answers, and does not do it. `code`: CKR_…; undefined when it does not have the key.
 */
export class TokenRefusedError extends Error {
  readonly code: number | undefined;
  constructor(message: string, code: number | undefined) {
    super(message);
    this.code = code;
  }
}

export interface Token {
  /**
   * @param waitMs The time to wait for a token that is away. Default: `timeoutSeconds`.
   * @throws TokenAwayError or TokenRefusedError.
   */
  call(call: Exclude<TokenCall, { readonly kind: 'open' }>, waitMs?: number): Promise<TokenValue>;
  /** Opens it, or begins to try again and again. @throws PartSetupError */
  open(): Promise<void>;
  /** Why it cannot be used now; undefined when it can. */
  trouble(): string | undefined;
  /** Ends within a second, even when a call does not return. */
  close(): Promise<void>;
  /**
   * Whether a call does not return. The process then ends by a signal alone.
   *
   * @param perhaps Also when a call may still return.
   */
  holdsProcess(perhaps?: boolean): boolean;
}

interface Waiting {
  readonly call: TokenCall;
  readonly resolve: (value: TokenValue) => void;
  readonly reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
  isOver: boolean;
}

interface Thread {
  readonly worker: Worker;
  readonly inHand: Map<number, Waiting>;
  /** Since when it is busy with what it has in hand; of `performance.now()`. */
  busySince: number;
}

/**
 * A message between threads costs a tenth of a signature, so calls and answers travel together. A
 * thread has two lots at most, so that it has one when the other ends.
 */
const maxLot = 16;
const inHandOfThread = 2 * maxLot;

/** A token may take long to find an RSA key. */
const makeMs = 30_000;

const firstPauseMs = 250;
const longestPauseMs = 5000;
/** The interval at which an unused token is asked whether it is there. */
const probeMs = 5000;
/** A token that is lost sooner after it was opened is not opened at once. */
const steadyMs = 1000;
/**
 * A token that was opened for a key that it does not have is opened for this key less and less
 * often.
 */
const firstMissMs = 5000;
const longestMissMs = 30_000;
const maxMisses = 1000;
/** The time that threads have to end when the token is closed. */
const closeMs = 1000;

const silent = 'it does not answer';

const setupProblems: Partial<Record<TokenFailure['kind'], string>> = {
  package:
    'custody: the package pkcs11js is not installed. Install it beside Paraph: npm install pkcs11js (docs/operations/pkcs11.md)',
  library: 'custody.module: the PKCS#11 library cannot be loaded',
};

const pinRefused = (says: string): string =>
  `it refuses the PIN (${says}), which is not tried again until it is another one`;

const keyIdOf = ({ call }: Waiting): string => ('keyId' in call ? call.keyId : '');

/**
 * @param readPin    The PIN, as it is now. What it throws says where the PIN should be.
 * @param log        Told once for each time that the token goes and comes.
 * @param threadFile Compiled: Node runs no other threads.
 */
export const createToken = ({
  settings: { threads: threadCount, timeoutSeconds, ...place },
  readPin,
  log,
  threadFile = new URL('./token-thread.js', import.meta.url),
}: {
  readonly settings: TokenSettings;
  readonly readPin: () => string;
  readonly log: { readonly away: (reason: string) => void; readonly back: () => void };
  readonly threadFile?: URL;
}): Token => {
  const timeoutMs = timeoutSeconds * 1000;
  let state: 'closed' | 'opening' | 'open' | 'away' = 'closed';
  let isClosing = false;
  let reason = '';
  let openedAt = Number.NEGATIVE_INFINITY;
  /**
   * By the id of a key, the time until which the token is not opened for it (`performance.now()`).
   */
  const misses = new Map<string, { readonly until: number; readonly pauseMs: number }>();
  let failures = 0;
  let refusedPin: string | undefined;
  let nextId = 1;
  let threads: Thread[] = [];
  let queue: Waiting[] = [];
  let pause: NodeJS.Timeout | undefined;
  /** Told when no thread has a call in hand. */
  let onIdle: (() => void) | undefined;

  const end = (waiting: Waiting, result: (waiting: Waiting) => void): void => {
    if (waiting.isOver) return;
    waiting.isOver = true;
    clearTimeout(waiting.timer);
    result(waiting);
  };

  /** Rejects the call when it has not ended this many milliseconds from now. */
  const limit = (waiting: Waiting, ms: number): void => {
    if (waiting.isOver) return;
    clearTimeout(waiting.timer);
    waiting.timer = setTimeout(() => {
      queue = queue.filter((each) => each !== waiting);
      const why = trouble() ?? 'it did not answer in time';
      end(waiting, ({ reject }) => reject(new TokenAwayError(`the token is away: ${why}`)));
    }, ms);
  };

  const post = (thread: Thread, lot: readonly Waiting[]): void => {
    if (thread.inHand.size === 0) thread.busySince = performance.now();
    const asked = lot.map((waiting): AskedCall => {
      const id = nextId;
      nextId += 1;
      thread.inHand.set(id, waiting);
      // It may have waited for the token until now.
      if (waiting.call.kind === 'make') limit(waiting, Math.max(makeMs, timeoutMs));
      return { id, call: waiting.call };
    });
    thread.worker.postMessage(asked);
  };

  /** The first call of a thread is the one that it is inside of. */
  const isHung = ({ inHand }: Thread): boolean => [...inHand.values()][0]?.isOver === true;

  const sendLots = (): void => {
    while (state === 'open' && queue.length > 0) {
      const [least] = threads
        .filter((thread) => !isHung(thread))
        .toSorted((one, other) => one.inHand.size - other.inHand.size);
      if (least === undefined || least.inHand.size > inHandOfThread - maxLot) return;
      const size = Math.min(maxLot, Math.ceil(queue.length / threads.length));
      const lot = queue.splice(0, size).filter(({ isOver }) => !isOver);
      if (lot.length > 0) post(least, lot);
    }
  };

  let isDispatching = false;
  /** Sends the queue at the end of this turn, together with other calls that are made in it. */
  const dispatch = (): void => {
    if (isDispatching) return;
    isDispatching = true;
    queueMicrotask(() => {
      isDispatching = false;
      sendLots();
    });
  };

  const isIdle = (): boolean => threads.every(({ inHand }) => inHand.size === 0);

  /** Destroys a key that was made after its caller had stopped waiting. */
  const forget = (thread: Thread, keyId: string): void =>
    post(thread, [
      {
        call: { kind: 'destroy', keyId },
        timer: undefined,
        isOver: true,
        resolve: () => undefined,
        reject: () => undefined,
      },
    ]);

  /** A call of `open`: it has no time of its own. */
  const openThread = (
    thread: Thread,
    pin: string,
    fresh: boolean,
  ): Promise<TokenFailure | undefined> =>
    new Promise((resolve) => {
      const call = { kind: 'open', pin, fresh } as const;
      const tell = (error?: Error & { readonly failure?: TokenFailure }): void =>
        resolve(error?.failure);
      post(thread, [
        {
          call,
          timer: undefined,
          isOver: false,
          resolve: () => tell(),
          reject: tell,
        },
      ]);
    });

  const tell = (why: string): void => {
    if (isClosing || why === reason) return;
    log.away(why);
    reason = why;
  };

  const putOff = (why: string): void => {
    if (isClosing) return;
    tell(why);
    state = 'away';
    const pauseMs = Math.min(firstPauseMs * 2 ** Math.min(failures, 10), longestPauseMs);
    failures += 1;
    clearTimeout(pause);
    pause = setTimeout(() => void reopen(), pauseMs).unref();
  };

  /** @returns What is wrong. */
  const tryOpen = async (): Promise<TokenFailure | undefined> => {
    let pin: string;
    try {
      pin = readPin();
    } catch (error) {
      return { kind: 'no-token', says: error instanceof Error ? error.message : String(error) };
    }
    const digest = hash('sha256', pin, 'base64');
    if (digest === refusedPin) return { kind: 'no-token', says: reason };
    for (const [index, thread] of threads.entries()) {
      const failure = await openThread(thread, pin, index === 0);
      if (failure === undefined) continue;
      if (!pinErrors.has(failure.code ?? 0)) return failure;
      refusedPin = digest;
      return { kind: 'no-token', says: pinRefused(failure.says) };
    }
    refusedPin = undefined;
    return undefined;
  };

  const reopen = async (): Promise<TokenFailure | undefined> => {
    state = 'opening';
    if (!isIdle()) {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
      onIdle = undefined;
    }
    if (isClosing) return undefined;
    const slow = setTimeout(() => tell(silent), timeoutMs);
    const failure = await tryOpen();
    clearTimeout(slow);
    if (isClosing) return undefined;
    if (failure !== undefined) {
      putOff(setupProblems[failure.kind] ?? failure.says);
      return failure;
    }
    if (reason !== '') log.back();
    reason = '';
    state = 'open';
    openedAt = performance.now();
    dispatch();
    return undefined;
  };

  const lose = (why: string): void => {
    if (state !== 'open') return;
    if (performance.now() - openedAt < steadyMs) {
      putOff(why);
      return;
    }
    failures = 0;
    tell(why);
    void reopen();
  };

  const settle = (waiting: Waiting, failure: TokenFailure): void => {
    if (waiting.call.kind === 'open') {
      const error = Object.assign(new Error(failure.says), { failure });
      end(waiting, ({ reject }) => reject(error));
      return;
    }
    const { kind, says, code } = failure;
    const isRefused = kind === 'result' && code !== undefined && refusals.has(code);
    // The token may have been opened without its objects, so it is opened once more.
    const at = performance.now();
    const keyId = keyIdOf(waiting);
    const { until, pauseMs } = misses.get(keyId) ?? { until: 0, pauseMs: firstMissMs };
    // While it is opened for one call, the others that were in hand wait, too.
    const isOpen = state === 'open';
    const isMissing = kind === 'no-key' && (at - openedAt < steadyMs || (isOpen && at < until));
    if (kind === 'no-key' && isOpen && !isMissing) {
      if (misses.size >= maxMisses) misses.clear();
      misses.set(keyId, { until: at + pauseMs, pauseMs: Math.min(2 * pauseMs, longestMissMs) });
    }
    if (isRefused || isMissing) {
      const error = new TokenRefusedError(`the token does not ${waiting.call.kind}: ${says}`, code);
      end(waiting, ({ reject }) => reject(error));
      return;
    }
    if (!waiting.isOver) queue.unshift(waiting);
    lose(says);
  };

  const begin = (): Thread => {
    const worker = new Worker(threadFile, { workerData: place, name: 'token' });
    const thread: Thread = { worker, inHand: new Map(), busySince: 0 };
    worker.unref();
    worker.on('message', (lot: readonly Answered[]) => {
      thread.busySince = performance.now();
      for (const answered of lot) {
        const waiting = thread.inHand.get(answered.id);
        thread.inHand.delete(answered.id);
        if (waiting === undefined) continue;
        if ('failure' in answered) settle(waiting, answered.failure);
        else if (waiting.isOver && waiting.call.kind === 'make') forget(thread, waiting.call.keyId);
        else {
          misses.delete(keyIdOf(waiting));
          end(waiting, ({ resolve }) => resolve(answered.value));
        }
      }
      if (onIdle !== undefined && isIdle()) onIdle();
      dispatch();
    });
    worker.on('error', () => undefined);
    worker.once('exit', () => {
      if (isClosing) {
        thread.inHand.clear();
        return;
      }
      threads = threads.map((each) => (each === thread ? begin() : each));
      const failure: TokenFailure = { kind: 'no-token', says: 'a thread has ended' };
      for (const waiting of thread.inHand.values()) settle(waiting, failure);
      if (thread.inHand.size === 0) lose(failure.says);
      if (onIdle !== undefined && isIdle()) onIdle();
    });
    return thread;
  };

  let probing: NodeJS.Timeout | undefined;
  let opened: Promise<TokenFailure | undefined> | undefined;
  const start = (): Promise<TokenFailure | undefined> => {
    if (opened === undefined) {
      probing = setInterval(() => {
        if (state === 'open' && isIdle()) call({ kind: 'probe' }).catch(() => undefined);
      }, probeMs).unref();
      threads = Array.from({ length: threadCount }, begin);
      opened = reopen();
    }
    return opened;
  };

  const trouble = (): string | undefined => {
    if (state === 'away') return reason;
    if (threads.length > 0 && threads.every(isHung)) return silent;
    return reason || undefined;
  };

  const call: Token['call'] = (asked, waitMs = timeoutMs) =>
    new Promise((resolve, reject) => {
      if (isClosing) throw new TokenAwayError('the token is closed');
      void start();
      const waiting: Waiting = {
        call: asked,
        resolve,
        reject,
        isOver: false,
        timer: undefined,
      };
      limit(waiting, state === 'open' ? timeoutMs : Math.min(waitMs, timeoutMs));
      queue.push(waiting);
      dispatch();
    });

  return {
    open: async () => {
      // A millisecond more, so that it was told before.
      const failure = (await settlesWithin(start(), timeoutMs + 1)) ? await start() : undefined;
      const problem = failure && setupProblems[failure.kind];
      if (problem !== undefined) throw new PartSetupError(problem);
    },
    call,
    trouble,
    close: async () => {
      isClosing = true;
      clearTimeout(pause);
      clearInterval(probing);
      for (const waiting of queue.splice(0))
        end(waiting, ({ reject }) => reject(new TokenAwayError('the token is closed')));
      await settlesWithin(Promise.all(threads.map(({ worker }) => worker.terminate())), closeMs);
    },
    holdsProcess: (perhaps = false) =>
      threads.some(
        (thread) =>
          thread.inHand.size > 0 &&
          (perhaps ||
            isClosing ||
            isHung(thread) ||
            performance.now() - thread.busySince >= timeoutMs),
      ),
  };
};
