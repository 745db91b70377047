/**
 * Bulks: orders for many items of a list, planned, given, stopped and reported. They are worked on
 * in the background at their rate (bulk-worker.ts).
 */
import { type Audit, doneBy } from './audit.ts';
import type { BulkList, BulkPlan, BulkSelection } from './bulk-list.ts';
import { type BulkProgress, type BulkReport, countsOf, reportOf } from './bulk-report.ts';
import type { Bulk, BulkStore } from './bulk-store.ts';
import { includesRole, type Operator } from './operator.ts';
import { isReason } from './replay-policy.ts';

export type StartedBulk<Plan = BulkPlan> =
  | { readonly bulkId: string; readonly plan: Plan }
  | { readonly refused: 'role' | 'reason' | 'nothing' | 'rate'; readonly plan?: Plan };

export interface OrderedRate {
  readonly perSecond: number;
  readonly operator: Operator;
  readonly reason: string;
}

const maxPerSecond = 1000;

export const createBulks = ({
  store,
  audit,
  now,
}: {
  readonly store: BulkStore;
  readonly audit: Audit;
  readonly now: () => number;
}) => {
  const withCounts = async (bulk: Bulk): Promise<BulkProgress> => ({
    ...bulk,
    ...(bulk.counts ?? countsOf(bulk.total, await store.results(bulk.id))),
  });

  return {
    /** Orders a bulk of a list. @param selection With what the list takes. */
    startOf: async <Selection extends BulkSelection<unknown>, Plan extends BulkPlan>(
      list: BulkList<Selection, Plan>,
      selection: Selection,
      { perSecond, operator, reason }: OrderedRate,
    ): Promise<StartedBulk<Plan>> => {
      const { kind = 'replay', event } = selection;
      if (!includesRole(operator.role, 'operator')) return { refused: 'role' };
      if (!isReason(reason)) return { refused: 'reason' };
      if (!(perSecond > 0 && perSecond <= maxPerSecond)) return { refused: 'rate' };
      const { plan, items, details: more } = await list.select(selection, operator, reason);
      if (items.length === 0) return { refused: 'nothing', plan };
      const id = store.newId();
      const isOther = list.name !== 'transactions';
      const details = {
        count: items.length,
        ...more,
        perSecond,
        ...(isOther && { of: list.name }),
        ...(event && { event: event.type }),
      };
      await audit.record({
        ...doneBy(operator),
        action: `bulk-${kind}`,
        target: id,
        reason,
        details,
      });
      await store.create(
        {
          id,
          kind,
          ...(isOther && { of: list.name }),
          ...(event && { event }),
          by: operator.name,
          reason,
          perSecond,
          createdAt: now(),
        },
        items,
      );
      return { bulkId: id, plan };
    },

    /** Begins no further item, except one in progress. Prompts that were sent stay. */
    stop: async (
      bulkId: string,
      operator: Operator,
      reason?: string,
    ): Promise<'stopping' | 'not-running' | 'unknown' | { readonly refused: 'role' }> => {
      if (!includesRole(operator.role, 'operator')) return { refused: 'role' };
      const bulk = await store.find(bulkId);
      if (bulk === undefined) return 'unknown';
      if (bulk.state !== 'running') return 'not-running';
      const entry = { ...doneBy(operator), action: 'bulk-stop', target: bulkId } as const;
      await audit.record({ ...entry, reason: isReason(reason) ? reason : undefined });
      return (await store.stop(bulkId)) ? 'stopping' : 'not-running';
    },

    progress: async (bulkId: string): Promise<BulkProgress | undefined> => {
      const bulk = await store.find(bulkId);
      return bulk && withCounts(bulk);
    },

    /** The bulks, newest first. */
    list: async (limit = 50): Promise<readonly BulkProgress[]> =>
      Promise.all((await store.list(limit)).map(withCounts)),

    /** The results of a bulk, until a month after its end. */
    report: async (bulkId: string): Promise<BulkReport | undefined> => {
      const bulk = await store.find(bulkId);
      if (bulk === undefined) return undefined;
      const [items, results] = await Promise.all([store.items(bulkId), store.results(bulkId)]);
      return reportOf(bulk, items, results);
    },
  };
};
