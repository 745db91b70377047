/**
 * Hears of transactions that change, until Ctrl-C. The index tells, a moment after they have; what it could not name, and
 * what changed before it was listened to, is looked up among the newest.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { TransactionRow } from '../history/row.ts';
import type { CliContext } from './context.ts';
import type { OperationsService } from './operations-service.ts';

const tickMs = 250;
const newest = 100;

/** Two rows of a transaction with equal stamps say the same. */
const stampOf = ({ state, attempt, endedAt }: TransactionRow): string =>
  `${state} ${attempt} ${endedAt ?? 0}`;

export interface Watched {
  /** Those that changed since the tick before, oldest first. */
  readonly changed: readonly TransactionRow[];
  /** Redis did not answer. */
  readonly troubled: boolean;
}

/** @param onTick Four times a second, whether something has changed or not. @returns After Ctrl-C. */
export const watchTransactions = async (
  { history }: Pick<OperationsService, 'history'>,
  { signal }: Pick<CliContext, 'signal'>,
  onTick: (watched: Watched) => Promise<void> | void,
): Promise<void> => {
  const seen = new Map<string, string>();
  const ids = new Set<string>();
  let isIncomplete = true;

  const freshOf = (rows: readonly (TransactionRow | undefined)[]): readonly TransactionRow[] => {
    const fresh: TransactionRow[] = [];
    for (const row of rows) {
      if (row === undefined || seen.get(row.msspTransId) === stampOf(row)) continue;
      // What was seen last stays last, so that the oldest can be forgotten.
      seen.delete(row.msspTransId);
      seen.set(row.msspTransId, stampOf(row));
      fresh.push(row);
    }
    for (const id of seen.keys()) {
      if (seen.size <= 100 * newest) break;
      seen.delete(id);
    }
    return fresh;
  };

  const newestRows = async (): Promise<readonly TransactionRow[]> =>
    (await history.search({}, { limit: newest }))?.rows.toReversed() ?? [];

  const look = async (): Promise<readonly TransactionRow[]> => {
    if (isIncomplete) {
      isIncomplete = false;
      try {
        return freshOf(await newestRows());
      } catch (error) {
        isIncomplete = true;
        throw error;
      }
    }
    const wanted = [...ids];
    ids.clear();
    try {
      return freshOf(await Promise.all(wanted.map(history.find)));
    } catch (error) {
      for (const id of wanted) ids.add(id);
      throw error;
    }
  };

  const stop = history.watch((change) => {
    if (change.kind === 'many') isIncomplete = true;
    else for (const id of change.ids) ids.add(id);
  });
  try {
    while (!signal.aborted) {
      const watched: Watched = await look().then(
        (changed) => ({ changed, troubled: false }),
        () => ({ changed: [], troubled: true }),
      );
      await onTick(watched);
      await delay(tickMs, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    stop();
  }
};
