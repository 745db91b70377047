/**
 * What a bulk needs of the list that it is about. Plan, order, rate, stop, report and audit log are
 * the same for all lists (bulks.ts, bulk-run.ts). A list says which items a filter finds, which of
 * them are refused and why (`select`, where orders are given), and what is done to one (`carryOut`,
 * where workers run).
 *
 * Transactions are one list, instances of workflows another, which their part brings.
 */
import type { BulkOrder } from '../../../machines/bulk-replay.machine.ts';
import type { BulkItem, BulkResult } from './bulk-store.ts';
import type { Operator } from './operator.ts';

/** What is to be done to which items. */
export type BulkSelection<Filter, Kind extends string = string> = (
  | { readonly filter: Filter }
  | { readonly ids: readonly string[] }
) & {
  /** What is done to each. Default: `replay`. */
  readonly kind?: Kind | undefined;
  /** What the kind `send` sends to each instance. */
  readonly event?: BulkOrder['event'] | undefined;
};

/** What a bulk would do. A list may count more. */
export interface BulkPlan<Row = unknown> {
  /** The number of items that were found in the state that the order is for. */
  readonly found: number;
  /** The number of found items for which the order would be carried out. */
  readonly replayable: number;
  /** The number of the others, by the reason why they are refused. */
  readonly refused: Readonly<Record<string, number>>;
  /** The first hundred, at most, in the order of the bulk. */
  readonly first: readonly Row[];
  /** Whether more were found than one bulk may hold. Then the filter must be narrowed. */
  readonly truncated: boolean;
}

export interface Selected<Plan> {
  readonly plan: Plan;
  readonly items: readonly BulkItem[];
  /** Further facts for the audit log. */
  readonly details?: Readonly<Record<string, string | number>>;
}

/** A list, where orders are given. */
export interface BulkList<Selection, Plan extends BulkPlan> {
  /** `transactions`, `workflows` */
  readonly name: string;
  /**
   * Finds the items, and computes what would be done.
   *
   * @param reason The reason that the order would have.
   */
  select(
    selection: Selection,
    operator: Operator,
    reason: string | undefined,
  ): Promise<Selected<Plan>>;
}

/** What a list does to one item, in a process with workers. */
export interface BulkWork {
  /** The name of the list. */
  readonly of: string;
  /** The action in the audit log of a single item, by the kind of the bulk. */
  action(kind: string): string;
  /**
   * Carries out the order for an item. After a crash this is done again, so it must find out what
   * was done before.
   *
   * @param about.isAgain Whether it may have been begun before.
   * @param about.note Writes to the audit log, before anything is done. With an outcome: why it was
   *   not done after all.
   * @returns Undefined while a worker is busy with the item: it is tried again.
   */
  carryOut(
    item: BulkItem,
    order: BulkOrder,
    about: {
      readonly isAgain: boolean;
      readonly note: (outcome?: string) => Promise<unknown>;
    },
  ): Promise<BulkResult | undefined>;
}

/** Items of one bulk: some megabytes in Redis and in the worker. */
const maxItems = 20_000;
/** Items that a plan lists; it counts the others. */
const maxNamed = 100;
export const selectedAtOnce = 500;

/** A candidate that was read: its row in the plan, and its item in the bulk. */
export interface Candidate<Row> {
  readonly row: Row;
  readonly item: BulkItem;
}

/**
 * Goes through the candidates of a selection until the bulk is full.
 *
 * @param pages Undefined stands for an id that is unknown, or gone.
 * @param refuse Why a candidate is refused; undefined when it is not.
 * @param outside The reasons that say that the candidate is not one of those that are looked for.
 */
export const gather = async <Row, C extends Candidate<Row>, Refusal extends string>(
  pages: AsyncIterable<readonly (C | undefined)[]>,
  {
    refuse,
    take = () => undefined,
    reasons,
    outside,
  }: {
    readonly refuse: (candidate: C) => Refusal | undefined;
    readonly take?: (candidate: C) => void;
    readonly reasons: readonly Refusal[];
    readonly outside: readonly Refusal[];
  },
): Promise<{
  readonly items: readonly BulkItem[];
  readonly plan: BulkPlan<Row> & {
    readonly refused: Readonly<Record<Refusal | 'unknown', number>>;
  };
}> => {
  const refused = Object.fromEntries([...reasons, 'unknown'].map((each) => [each, 0])) as Record<
    Refusal | 'unknown',
    number
  >;
  const items: BulkItem[] = [];
  const first: Row[] = [];
  const seen = new Set<string>();
  let truncated = false;
  search: for await (const page of pages) {
    for (const candidate of page) {
      if (items.length === maxItems) {
        truncated = true;
        break search;
      }
      if (candidate === undefined) refused.unknown += 1;
      else if (!seen.has(candidate.item.id)) {
        seen.add(candidate.item.id);
        const refusal = refuse(candidate);
        if (refusal !== undefined) refused[refusal] += 1;
        else {
          items.push(candidate.item);
          if (first.length < maxNamed) first.push(candidate.row);
          take(candidate);
        }
      }
    }
  }
  const found = outside.reduce((left, reason) => left - refused[reason], seen.size);
  return { items, plan: { found, replayable: items.length, refused, first, truncated } };
};

/**
 * Yields the candidates of a selection in pages.
 *
 * @param given Ids in place of a filter, and how such candidates are read.
 * @param read Reads candidates by their ids, in the same order.
 * @param search Reads one page of the list; undefined for an invalid cursor.
 */
export async function* candidatesOf<C>(
  given:
    | {
        readonly ids: readonly string[];
        readonly read: (ids: readonly string[]) => Promise<readonly (C | undefined)[]>;
      }
    | undefined,
  read: (ids: readonly string[]) => Promise<readonly (C | undefined)[]>,
  search: (
    cursor: string | undefined,
  ) => Promise<
    { readonly ids: readonly string[]; readonly cursor?: string | undefined } | undefined
  >,
): AsyncGenerator<readonly (C | undefined)[]> {
  if (given !== undefined) {
    const all = [...new Set(given.ids)];
    for (let from = 0; from < all.length; from += selectedAtOnce)
      yield given.read(all.slice(from, from + selectedAtOnce));
    return;
  }
  let cursor: string | undefined;
  do {
    const page = await search(cursor);
    // Of a row that was found, and whose job is gone meanwhile, nothing is told.
    if (page !== undefined) yield (await read(page.ids)).filter((each) => each !== undefined);
    cursor = page?.cursor;
  } while (cursor !== undefined);
}
