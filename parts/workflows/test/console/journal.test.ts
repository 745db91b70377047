/** How the page of an instance puts the lines of its journal together: tries, and children. */
import { describe, expect, it } from 'vitest';
import type { ActivityStage, JournalEntry } from '../../../../packages/engine/src/journal.ts';
import { addressOf, pathOf } from '../../../../packages/engine/src/record.ts';
import { treeOf } from '../../console/children-tree.ts';
import { lastFailure, stepsOf } from '../../console/journal-section.ts';

const run = (
  at: number,
  attempt: number,
  stage: ActivityStage,
  name = 'archive',
  path = pathOf('', name),
): JournalEntry => ({
  kind: 'activity',
  ...{ at, path, name, attempt, stage },
  ...(stage === 'failed' && { error: { name: 'Error', message: `at ${at}` } }),
});

/** What is told of each step: `archive: 1 failed, 2 done`, or the kind of the entry. */
const told = (entries: readonly JournalEntry[]): readonly string[] =>
  stepsOf(entries).map((step) =>
    step.kind === 'entry'
      ? step.entry.kind
      : `${step.tries[0]?.last.name}: ${step.tries
          .map(({ number, begunAt, last }) => `${number} ${last.stage} ${begunAt}-${last.at}`)
          .join(', ')}`,
  );

describe('the tries of an activity', () => {
  it('are one step at the place of the first, with what came between them', () => {
    const timer: JournalEntry = { kind: 'timer', at: 3, path: '', name: 'deadline' };
    expect(
      told([run(1, 1, 'begun'), run(2, 1, 'failed'), timer, run(4, 2, 'begun'), run(5, 2, 'done')]),
    ).toEqual(['archive: 1 failed 1-2, 2 done 4-5', 'timer']);
  });

  it('are others when the state is entered again', () => {
    expect(
      told([
        run(1, 1, 'failed'),
        run(2, 2, 'failed'),
        run(3, 1, 'failed'),
        run(4, 1, 'begun'),
        run(5, 1, 'done'),
      ]),
    ).toEqual([
      'archive: 1 failed 1-1, 2 failed 2-2',
      'archive: 1 failed 3-3',
      'archive: 1 done 4-5',
    ]);
  });

  it('are apart for each activity, and of two children', () => {
    const [one, other] = ['a', 'b'].map((child) => pathOf(pathOf('', child), 'archive'));
    expect(
      told([
        run(1, 1, 'begun', 'archive', one),
        run(2, 1, 'begun', 'archive', other),
        run(3, 1, 'done', 'archive', one),
        run(4, 1, 'begun', 'mail'),
      ]),
    ).toEqual(['archive: 1 done 1-3', 'archive: 1 begun 2-2', 'mail: 1 begun 4-4']);
  });

  it('say which activity failed last, and not one that came through', () => {
    const failed = [run(1, 1, 'failed'), run(2, 2, 'failed')];
    expect(lastFailure(failed)).toEqual({
      name: 'archive',
      tries: 2,
      error: { name: 'Error', message: 'at 2' },
    });
    expect(lastFailure([...failed, run(3, 3, 'done')])).toBeUndefined();
    expect(lastFailure([])).toBeUndefined();
  });
});

describe('the children of an instance', () => {
  const child = (at: number, path: string, stage: 'begun' | 'done' | 'failed'): JournalEntry => ({
    kind: 'child',
    ...{ at, path, name: path, stage },
  });
  const open = (path: string) => ({
    id: addressOf('i', path),
    name: path,
    src: 'clerk',
    state: 'asking',
    status: 'open' as const,
  });

  it('are a tree with those that have ended, and with the transactions of each', () => {
    const below = pathOf('a', 'c');
    const tree = treeOf(
      [open('b')],
      [
        child(1, 'a', 'begun'),
        child(2, below, 'begun'),
        child(3, below, 'failed'),
        child(4, 'a', 'done'),
      ],
      [
        { at: 1, what: 'Asked to sign', path: below, msspTransId: 'T1' },
        { at: 2, what: 'Signed', path: below, msspTransId: 'T1' },
        { at: 3, what: 'Prompted', msspTransId: 'T2' },
        { at: 4, what: 'Asked to sign', path: 'unknown', msspTransId: 'T3' },
        { at: 5, what: 'Started' },
      ],
    );
    expect(tree).toMatchObject({
      transactions: [
        { msspTransId: 'T2', what: 'Prompted' },
        { msspTransId: 'T3', what: 'Asked to sign' },
      ],
      children: [
        {
          name: 'a',
          status: 'completed',
          children: [
            {
              name: 'c',
              status: 'failed',
              transactions: [{ msspTransId: 'T1', what: 'Signed' }],
            },
          ],
        },
        { name: 'b', status: 'open', open: { state: 'asking' }, children: [] },
      ],
    });
  });
});
