/** The progress of a bulk, and the result of each of its items. */
import type { Bulk, BulkCounts, BulkItem, BulkResult } from './bulk-store.ts';

export type BulkProgress = Bulk & BulkCounts;

export type BulkReport = BulkProgress & {
  /** The items in the order of the list. */
  readonly items: readonly {
    /** The MSSP_TransID, or the id in the list that the bulk is about. */
    readonly id: string;
    readonly result:
      | 'waiting'
      | 'open'
      | 'signed'
      | 'failed'
      | 'cancelled'
      | 'done'
      | 'changed'
      | 'gone'
      | 'refused';
    /** The code of the fault of a failed transaction. */
    readonly fault?: number;
  }[];
};

export const isOver = ({ state }: Pick<Bulk, 'state'>): boolean =>
  state === 'done' || state === 'stopped';

/** The number of transactions that failed again. */
export const failedIn = ({ failed }: Pick<BulkCounts, 'failed'>): number =>
  Object.values(failed).reduce((sum, number) => sum + number, 0);

export type ItemResult = BulkReport['items'][number]['result'];

const kindOf = (result: BulkResult | undefined): ItemResult => {
  switch (result) {
    case undefined:
      return 'waiting';
    case 'begun':
    case 'replayed':
      return 'open';
    case 'signed':
    case 'cancelled':
    case 'done':
    case 'changed':
    case 'gone':
    case 'refused':
      return result;
    default:
      return 'failed';
  }
};

export const countsOf = (total: number, results: ReadonlyMap<string, BulkResult>): BulkCounts => {
  const counts = {
    waiting: 0,
    open: 0,
    signed: 0,
    failed: 0,
    cancelled: 0,
    done: 0,
    changed: 0,
    gone: 0,
    refused: 0,
  };
  const failed: Record<string, number> = {};
  for (const result of results.values()) {
    const kind = kindOf(result);
    counts[kind] += 1;
    if (kind === 'failed') failed[result] = (failed[result] ?? 0) + 1;
  }
  const { open: inFlight, failed: _, waiting: __, ...others } = counts;
  return { ...others, waiting: total - results.size, inFlight, failed };
};

export const reportOf = (
  bulk: Bulk,
  items: readonly BulkItem[],
  results: ReadonlyMap<string, BulkResult>,
): BulkReport => ({
  ...bulk,
  ...countsOf(bulk.total, results),
  items: items.map(({ id }) => {
    const found = results.get(id);
    const result = kindOf(found);
    return { id, result, ...(result === 'failed' && { fault: Number(found) }) };
  }),
});
