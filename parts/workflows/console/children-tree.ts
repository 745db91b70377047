/**
 * The children of an instance as a tree, with the transactions that each has requested. Children
 * that have ended are known from the journal, as long as it has them.
 */
import type { JournalEntry } from '../../../packages/engine/src/journal.ts';
import { namesIn, pathOf, readAddress } from '../../../packages/engine/src/record.ts';
import type { ShownChild, WorkflowEvent } from './workflow-detail.ts';

export interface TreeNode {
  /** The path of the child; empty for the instance itself. */
  readonly path: string;
  readonly name: string;
  readonly status: ShownChild['status'] | 'stopped';
  /** Present while it is open, and can be shown. */
  readonly open?: ShownChild | undefined;
  readonly children: readonly TreeNode[];
  /** Each once, with what is known last. */
  readonly transactions: readonly { readonly msspTransId: string; readonly what: string }[];
}

const statuses = { begun: 'open', done: 'completed', failed: 'failed', left: 'stopped' } as const;

/** @param events Those that name a transaction say in `path` which child has requested it. */
export const treeOf = (
  children: readonly ShownChild[],
  entries: readonly JournalEntry[],
  events: readonly WorkflowEvent[],
): Pick<TreeNode, 'children' | 'transactions'> => {
  const known = new Map<string, TreeNode['status']>();
  /** The names of the charts of children, in the chart of the parent. */
  const charts = new Map<string, string>();
  for (const entry of entries) {
    if (entry.kind !== 'child') continue;
    known.set(entry.path, statuses[entry.stage]);
    charts.set(entry.path, entry.name);
  }
  const open = new Map(children.map((child) => [readAddress(child.id).path, child]));
  for (const path of open.keys()) known.set(path, 'open');
  // A child may be told of before its parent, whose lines are no longer kept.
  for (const path of [...known.keys()]) {
    const names = namesIn(path);
    for (let depth = 1; depth < names.length; depth += 1) {
      const above = names.slice(0, depth).reduce(pathOf, '');
      if (!known.has(above)) known.set(above, 'open');
    }
  }
  const parentOf = (path: string): string => namesIn(path).slice(0, -1).reduce(pathOf, '');
  const transactionsOf = (path: string): TreeNode['transactions'] => {
    const found = new Map<string, string>();
    for (const { msspTransId, what, path: at = '' } of events) {
      const place = known.has(at) ? at : '';
      if (msspTransId !== undefined && place === path) found.set(msspTransId, what);
    }
    return [...found].map(([msspTransId, what]) => ({ msspTransId, what }));
  };
  /** XState names an `invoke` without an id after its state: `0.contract.checking`. */
  const nameOf = (path: string): string => {
    const name = namesIn(path).at(-1) ?? path;
    return /^\d+\./.test(name) ? (open.get(path)?.src ?? charts.get(path) ?? name) : name;
  };
  const below = (parent: string): readonly TreeNode[] =>
    [...known]
      .filter(([path]) => path !== '' && parentOf(path) === parent)
      .map(([path, status]) => ({
        path,
        name: nameOf(path),
        status,
        open: open.get(path),
        children: below(path),
        transactions: transactionsOf(path),
      }));
  return { children: below(''), transactions: transactionsOf('') };
};
