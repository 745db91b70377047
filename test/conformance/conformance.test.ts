/**
 * The conformance table is whole, and says of each rule where it comes from. That its tests exist:
 * docs/named-tests.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { conformanceTable, sharedTests } from './table.ts';

/** All sections that hold rules, also those that leave something open. */
const interfaceSections =
  '1 2.1 2.2 2.3 2.4 2.5 2.6 3 4 4.1 4.2 4.3 4.4 4.5 5.1 5.2 5.3 5.4 5.5 5.6 6 7.1 7.2 7.3 7.4 7.5 8 9';
const wireThemes =
  'dialects transport requests signature-profiles concurrency modes receipt profile additional-services faults test-users signature';

const idsWhere = (isBad: (row: (typeof conformanceTable)[number]) => boolean): readonly string[] =>
  conformanceTable.filter(isBad).map(({ id }) => id);

const repeated = (texts: readonly string[]): readonly string[] =>
  texts.filter((text, index) => texts.indexOf(text) !== index);

describe('each row of the conformance table', () => {
  it('has a test, and none twice', () => {
    expect(idsWhere(({ tests }) => new Set(tests).size < Math.max(tests.length, 1))).toEqual([]);
  });

  it('has an id of its own, which says where its rule comes from', () => {
    expect(repeated(conformanceTable.map(({ id }) => id))).toEqual([]);
    const strays = idsWhere(
      ({ id, section }) =>
        !(id.startsWith(`${section}-`) && /^\d+$/.test(id.slice(section.length + 1))),
    );
    expect(strays).toEqual([]);
  });

  it('states its rule in one sentence, which no other row of its source states', () => {
    expect(idsWhere(({ rule }) => !/^[A-Z0-9a-z].+\.$/.test(rule))).toEqual([]);
    expect(repeated(conformanceTable.map(({ section, rule }) => `${section}: ${rule}`))).toEqual(
      [],
    );
  });
});

describe('the conformance table', () => {
  it('has rows for every section of the interface and every theme of the wire facts', () => {
    const expected = [
      ...interfaceSections.split(' ').map((section) => `interface-${section}`),
      ...wireThemes.split(' ').map((theme) => `wire-${theme}`),
    ];
    expect([...new Set(conformanceTable.map(({ section }) => section))]).toEqual(expected);
  });

  it('has short names that differ, each for a test of two rows or more', () => {
    const named = conformanceTable.flatMap(({ tests }) => tests);
    const rare = sharedTests.filter(([, test]) => named.filter((one) => one === test).length < 2);
    expect(rare).toEqual([]);
    expect(repeated(sharedTests.map(([name]) => name))).toEqual([]);
    expect(repeated(sharedTests.map(([, test]) => test))).toEqual([]);
  });
});
