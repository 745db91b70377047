/**
 * Asks for a transaction until it has ended.
 *
 * The first pauses are short, because robots and quick thumbs are common; they grow to three seconds, which nobody
 * notices who has waited for as long. A service that is away for a moment is asked again: the transaction goes on
 * without it. The same when it has trouble of its own at that moment. That is fault 900, which may also be how the
 * transaction has ended; but trouble passes and an end stays, so it is believed once it has been said for a while.
 */
import type { Reply, Standing } from './reply.ts';

/** @param asked How often the status was asked for before: 0, 1, 2 … */
export const pollPauseMs = (asked: number): number => Math.min(200 * 1.5 ** asked, 3000);

const believedAfterMs = 5000;

export interface Polling {
  readonly ask: () => Promise<Reply<Standing>>;
  /** After this nobody is asked again; milliseconds since the epoch. */
  readonly until: number;
  readonly now: () => number;
  /** Resolves after the time, or at once when the caller aborts; `ask` then says so. */
  readonly pause: (ms: number) => Promise<void>;
}

/** @returns The end; or at `until` the last answer, `outstanding` or `unreachable`. */
export const pollUntilEnded = async ({ ask, until, now, pause }: Polling): Promise<Reply<Standing>> => {
  let troubledSince: number | undefined;
  for (let asked = 0; ; asked += 1) {
    const reply = await ask();
    const time = now();
    troubledSince = reply.kind === 'fault' && reply.fault.code === 900 ? (troubledSince ?? time) : undefined;
    const inDoubt = troubledSince !== undefined && time - troubledSince < believedAfterMs;
    const isOpen =
      inDoubt ||
      reply.kind === 'unreachable' ||
      (reply.kind === 'answered' && reply.value.state === 'outstanding');
    const left = until - time;
    if (isOpen && left > 0) await pause(Math.min(pollPauseMs(asked), left));
    else if (inDoubt) return { kind: 'unreachable', cause: 'it has trouble of its own (fault 900)' };
    else return reply;
  }
};
