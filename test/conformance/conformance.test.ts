/**
 * The conformance table is whole, and says of each rule where it comes from. That its tests exist:
 * docs/named-tests.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { interfaceSections, wireFactThemes } from './row.ts';
import { conformanceTable } from './table.ts';

const idsWhere = (isBad: (row: (typeof conformanceTable)[number]) => boolean): readonly string[] =>
  conformanceTable.filter(isBad).map(({ id }) => id);

describe('each row of the conformance table', () => {
  it('has a test, and none twice', () => {
    expect(idsWhere(({ tests }) => new Set(tests).size < Math.max(tests.length, 1))).toEqual([]);
  });

  it('has an id of its own, which says where its rule comes from', () => {
    const ids = conformanceTable.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    const origin = (source: string) => source.replace('wire facts: ', 'wire-').replaceAll(' ', '-');
    const strays = idsWhere(
      ({ id, source }) => !id.startsWith(`${origin(source)}-`) || !/-\d+$/.test(id),
    );
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
