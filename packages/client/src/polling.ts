/**
 * Polls a transaction until it has ended.
 *
 * Pauses are short at first, for robots and quick people, and grow to three seconds. An unreachable
 * service is asked again. So is one that answers fault 900, which is either an error of the moment
 * or the end of the transaction. It counts as the end when it lasts.
 */
import type { Reply, Standing } from './reply.ts';

/** @param asked The number of earlier questions: 0, 1, 2 … */
export const pollPauseMs = (asked: number): number => Math.min(200 * 1.5 ** asked, 3000);

const believedAfterMs = 5000;

export interface Polling {
  readonly ask: () => Promise<Reply<Standing>>;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly now: () => number;
  /** Resolves after the time, or at once when the caller aborts. Then `ask` returns `aborted`. */
  readonly pause: (ms: number) => Promise<void>;
}

/** @returns The end; or at `until` the last answer, `outstanding` or `unreachable`. */
export const pollUntilEnded = async ({
  ask,
  until,
  now,
  pause,
}: Polling): Promise<Reply<Standing>> => {
  let troubledSince: number | undefined;
  for (let asked = 0; ; asked += 1) {
    const reply = await ask();
    const time = now();
    const isTroubled = reply.kind === 'fault' && reply.fault.code === 900 && !reply.isFinal;
    troubledSince = isTroubled ? (troubledSince ?? time) : undefined;
    const inDoubt = troubledSince !== undefined && time - troubledSince < believedAfterMs;
    const isOpen =
      inDoubt ||
      reply.kind === 'unreachable' ||
      (reply.kind === 'answered' && reply.value.state === 'outstanding');
    const left = until - time;
    if (isOpen && left > 0) await pause(Math.min(pollPauseMs(asked), left));
    else if (inDoubt)
      return { kind: 'unreachable', cause: 'it reports an internal error (fault 900)' };
    else return reply;
  }
};
