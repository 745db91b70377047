/**
 * The conformance table and the threat model name tests that exist. What is kept by hand ages
 * silently: a test is renamed or skipped, and its row proves nothing any more. Both are here
 * because vitest takes seconds to list its tests.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { conformanceTable } from '../conformance/table.ts';
import { listTests } from '../support/test-titles.ts';
import { readPage } from './pages.ts';

describe('the tests that are named', () => {
  const byTable = conformanceTable.flatMap(({ id, tests }) =>
    tests.map((test) => [id, test] as const),
  );
  const byThreatModel = [
    ...readPage('docs/threat-model.md').matchAll(
      /^- `((?:(?:packages|parts)\/[\w-]+\/)?test\/[^`]+ › [^`]+)`\s*$/gm,
    ),
  ].map(([, test = '']) => test);
  let existing: ReadonlySet<string>;
  // The machine may be busy with all the other tests.
  beforeAll(async () => {
    const named = [...byTable.map(([, test]) => test), ...byThreatModel];
    existing = await listTests([...new Set(named.map((test) => test.split(' › ')[0] ?? ''))]);
  }, 120_000);

  it('by the conformance table exist, by file and full title', () => {
    expect(byTable.filter(([, test]) => !existing.has(test))).toEqual([]);
  });

  it('by the threat model exist, by file and full title', () => {
    expect(byThreatModel.length).toBeGreaterThan(30);
    expect(byThreatModel.filter((test) => !existing.has(test))).toEqual([]);
  });
});
