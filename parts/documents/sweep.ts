/**
 * Removes what is kept no longer: documents whose time has passed and that no process uses, files
 * without a record, and drafts of processes that died. Any process may do it, and more than one.
 *
 * A file without a record is left for a week, because a record may be missing for a while: an upload
 * that is going on, and a Redis that was restored from a backup.
 */
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import type { Running } from '../../src/part/opened.ts';
import type { DocumentRecords } from './records.ts';
import type { DocumentStore } from './store/store.ts';

const lookEveryMs = 60_000;
const expiredEveryMs = 300_000;
const unknownEveryMs = 86_400_000;
const unknownAfterMs = 7 * 86_400_000;

export interface SweepOptions {
  readonly store: Pick<DocumentStore, 'remove' | 'owners' | 'tidy'>;
  readonly records: Pick<DocumentRecords, 'expired' | 'expire' | 'isKnown' | 'takeSweep'>;
}

/** @throws StoreError, and when Redis is away; the next sweep goes on. */
export const sweepExpired = async ({ store, records }: SweepOptions): Promise<void> => {
  for (;;) {
    const ids = await records.expired();
    let removed = 0;
    for (const id of ids) {
      // Used again meanwhile: then its time is another one, too.
      if ((await records.expire(id)) === 'used') continue;
      await store.remove(id);
      removed += 1;
    }
    if (removed === 0) return;
  }
};

/** @param hostNow The clock by which files are dated. @throws As above. */
export const sweepUnknown = async (
  { store, records }: SweepOptions,
  hostNow: () => number,
): Promise<void> => {
  await store.tidy();
  for await (const { owner, changedAt } of store.owners()) {
    if (hostNow() - changedAt < unknownAfterMs || (await records.isKnown(owner))) continue;
    await store.remove(owner);
  }
};

export const startSweep = (
  options: SweepOptions,
  hostNow: () => number,
  onError: (error: Error) => void,
): Running => {
  let running: Promise<void> = Promise.resolve();
  let isClosed = false;
  const look = async (): Promise<void> => {
    const { records } = options;
    if (await records.takeSweep('expired', expiredEveryMs)) await sweepExpired(options);
    if (await records.takeSweep('unknown', unknownEveryMs)) await sweepUnknown(options, hostNow);
  };
  const begin = (): void => {
    running = running.then(look).catch((error: unknown) => {
      if (!isClosed) onError(toError(error));
    });
  };
  const timer = setInterval(begin, lookEveryMs).unref();
  begin();
  return {
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      await running;
    },
  };
};
