/**
 * The conformance table and the threat model name tests that exist. What is kept by hand ages silently: a test is renamed or
 * skipped, and its row proves nothing any more. Both are here because vitest takes seconds to list its tests.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { conformanceTable } from '../conformance/table.ts';
import { listTests } from '../support/test-titles.ts';
import { readPage } from './pages.ts';

describe('the tests that are named', () => {
  let existing: ReadonlySet<string>;
  // The machine may be busy with all the other tests.
  beforeAll(async () => {
    existing = await listTests();
  }, 120_000);

  it('by the conformance table exist, by file and full title', () => {
    const missing = conformanceTable.flatMap(({ id, tests }) =>
      tests.filter((test) => !existing.has(test)).map((test) => `${id}: ${test}`),
    );
    expect(missing).toEqual([]);
  });

  it('by the threat model exist, by file and full title', () => {
    const named = [...readPage('docs/threat-model.md').matchAll(/^- `(test\/[^`]+ › [^`]+)`\s*$/gm)];
    expect(named.length).toBeGreaterThan(30);
    expect(named.flatMap(([, test = '']) => (existing.has(test) ? [] : [test]))).toEqual([]);
  });
});
