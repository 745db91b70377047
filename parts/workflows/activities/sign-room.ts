/**
 * Room for the transactions that workflows submit by themselves.
 *
 * Ten thousand processes of one application may ask all their signers in the same minute. Their
 * transactions would fill the backlog (src/transactions/backlog.ts), and requests over HTTP would
 * be refused. So workflows may fill half of what one application may have waiting. Signers that
 * find no room sleep and try again, for as long as it takes: no process ends because of overload.
 *
 * Each gets a time of its own, a little after the one before. So a million that wait cost no more
 * than some thousand.
 */
import type { Backlog } from '../../../src/transactions/backlog.ts';

/**
 * The time between tries of one application in one process. That is more tries in a second than an
 * application signs for workflows.
 */
const apartMs = 2;
const leastMs = 500;
/** The applications that are remembered. Jobs may name any. */
const maxRemembered = 10_000;

export type SignRoom = ReturnType<typeof createSignRoom>;

/**
 * @param limits Of transactions that wait for a worker: of one application, and of all.
 * @param now Milliseconds, of a clock that is never set.
 */
export const createSignRoom = (
  backlog: Pick<Backlog, 'size' | 'sizeOf' | 'added'>,
  limits: { readonly ofOne: number; readonly inAll: number },
  now: () => number = () => performance.now(),
) => {
  /** The last time that was given. */
  const lastTurns = new Map<string, number>();
  /** Taken and not yet used: the counts of the queue do not have them. */
  const underWay = new Map<string, number>();
  const isFull = (apId: string): boolean => {
    const inAll = [...underWay.values()].reduce((sum, each) => sum + each, 0);
    return (
      backlog.sizeOf(apId) + (underWay.get(apId) ?? 0) >= half ||
      backlog.size() + inAll >= limits.inAll
    );
  };
  const half = Math.ceil(limits.ofOne / 2);
  /**
   * Whether there is room for one transaction. Takes none.
   *
   * @returns 0, or after how many milliseconds to ask again.
   */
  const look = (apId: string): number => {
    if (!isFull(apId)) return 0;
    const time = now();
    const turn = Math.max((lastTurns.get(apId) ?? 0) + apartMs, time + leastMs);
    if (lastTurns.size >= maxRemembered) lastTurns.clear();
    lastTurns.set(apId, turn);
    return Math.ceil(turn - time);
  };
  return {
    look,
    /** The same, and takes the room. It is for the moment of adding the transaction only. */
    take: (apId: string): number => {
      const ms = look(apId);
      if (ms === 0) underWay.set(apId, (underWay.get(apId) ?? 0) + 1);
      return ms;
    },
    /** Gives back what was taken. @param isAdded The transaction waits in the queue. */
    end: (apId: string, isAdded: boolean): void => {
      const others = (underWay.get(apId) ?? 1) - 1;
      if (others === 0) underWay.delete(apId);
      else underWay.set(apId, others);
      if (isAdded) backlog.added(apId);
    },
  };
};
