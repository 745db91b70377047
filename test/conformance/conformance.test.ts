/**
 * The conformance table names tests that exist.
 *
 * A table that is kept by hand ages silently: a test is renamed or skipped, and its row proves nothing any more.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { listTests } from '../support/test-titles.ts';
import { interfaceSections, wireFactThemes } from './row.ts';
import { conformanceTable } from './table.ts';

const idsWhere = (isBad: (row: (typeof conformanceTable)[number]) => boolean): readonly string[] =>
  conformanceTable.filter(isBad).map(({ id }) => id);

describe('each row of the conformance table', () => {
  let existing: ReadonlySet<string>;
  // The machine may be busy with all the other tests.
  beforeAll(async () => {
    existing = await listTests();
  }, 120_000);

  it('names tests that exist, by file and full title', () => {
    const missing = conformanceTable.flatMap(({ id, tests }) =>
      tests.filter((test) => !existing.has(test)).map((test) => `${id}: ${test}`),
    );
    expect(missing).toEqual([]);
  });

  it('has a test, and none twice', () => {
    expect(idsWhere(({ tests }) => new Set(tests).size < Math.max(tests.length, 1))).toEqual([]);
  });

  it('has an id of its own, which says where its rule comes from', () => {
    const ids = conformanceTable.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    const origin = (source: string) => source.replace('wire facts: ', 'wire-').replaceAll(' ', '-');
    const strays = idsWhere(({ id, source }) => !id.startsWith(`${origin(source)}-`) || !/-\d+$/.test(id));
    expect(strays).toEqual([]);
  });

  it('states its rule in one sentence, which no other row of its source states', () => {
    expect(idsWhere(({ rule }) => !/^[A-Z0-9a-z][^\n]+\.$/.test(rule))).toEqual([]);
    const stated = conformanceTable.map(({ source, rule }) => `${source}: ${rule}`);
    expect(stated.filter((text, index) => stated.indexOf(text) !== index)).toEqual([]);
  });
});

describe('the conformance table', () => {
  it('has rows for every section of the interface and every theme of the wire facts', () => {
    const sources = new Set<string>(conformanceTable.map(({ source }) => source));
    const expected = [
      ...interfaceSections.map((section) => `interface ${section}`),
      ...wireFactThemes.map((theme) => `wire facts: ${theme}`),
    ];
    expect(expected.filter((source) => !sources.has(source))).toEqual([]);
  });
});
