/** A table of fields is all that a filter needs: form, schema, options and search come from it. */
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { instanceFields } from '../../parts/workflows/instance-fields.ts';
import { addFilterOptions, filterQuery } from '../../src/command-line/transactions-filter.ts';
import { readFields, refuseGuess, withoutGuesses } from '../../src/console/filter.ts';
import { filterFormOf } from '../../src/console/pages/filter-form.ts';
import {
  type AnyFields,
  atMost,
  between,
  choiceOf,
  filterSchema,
  numberOf,
  oneOf,
  partOf,
  readWanted,
  textOf,
} from '../../src/transactions/history/fields.ts';
import { createMatcher, transactionFields } from '../../src/transactions/history/filter.ts';
import type { TransactionRow } from '../../src/transactions/history/row.ts';

interface Parcel {
  readonly id: string;
  readonly colour?: 'red' | 'blue';
  readonly grams: number;
  readonly to: string;
  readonly at: number;
}

const words = { label: 'Colour', about: 'Its colour.' };
/** Of a list that the service does not have. */
const parcels = {
  colour: choiceOf({ of: ({ colour }: Parcel) => colour }, ['red', 'blue'], {
    ...words,
    option: ['--colour <name>', 'of this colour'],
  }),
  size: oneOf(
    { of: ({ grams }: Parcel) => (grams > 999 ? 'large' : 'small') },
    ['small', 'large'],
    {
      ...words,
      option: ['--size <sizes>', 'of these sizes'],
      must: 'must be small, large or any',
      choices: ['any', 'small', 'large'],
      groups: { any: ['small', 'large'] },
    },
  ),
  gramsAtMost: atMost({ of: ({ grams }: Parcel) => grams }, 5000, {
    ...words,
    option: ['--grams-at-most <n>', 'not heavier'],
    more: 'weight',
  }),
  to: numberOf({ of: ({ to }: Parcel) => to }, { ...words, option: ['--to <number>', 'to'] }),
  id: textOf({ of: ({ id }: Parcel) => id }, { ...words, option: ['--id <id>', 'with this id'] }),
  text: partOf(({ id }: Parcel) => [id], { ...words, option: ['--text <text>', 'part of the id'] }),
  sent: between(
    { of: ({ at }: Parcel) => at },
    { label: 'Sent', about: 'Sent', options: ['sent then or later', 'sent before'], more: 'time' },
  ).from,
};
const session = (role: 'viewer' | 'operator') =>
  ({ operator: { role, name: 'x' }, view: { times: 'UTC', filters: [] } }) as never;
const page = { path: '/parcels', label: 'Parcels' };

describe('a new table of fields', () => {
  it('is a form, with rare fields behind a line, and people for those who see them', () => {
    const read = readFields(parcels, { gramsAtMost: '12', colour: 'green' });
    const form = String(filterFormOf(page, parcels, read, session('operator')));
    for (const name of Object.keys(parcels)) expect(form).toContain(`name="${name}"`);
    expect(form).toContain('<details id="more" open><summary>Weight, time</summary>');
    expect(form).toContain('Must be one of red, blue');
    expect(String(filterFormOf(page, parcels, read, session('viewer')))).not.toContain('name="to"');
  });

  it('is the schema of queries and JSON, which refuses what it does not know', () => {
    const schema = filterSchema(parcels);
    expect(schema.parse({ size: 'any', sent: '2030-01-31' })).toEqual({
      size: ['small', 'large'],
      sent: Date.UTC(2030, 0, 31),
    });
    expect(schema.safeParse({ weight: 7 }).success).toBe(false);
    const { properties } = z.toJSONSchema(schema, { unrepresentable: 'any' });
    expect(properties?.colour).toMatchObject({ enum: ['red', 'blue'], description: 'Its colour.' });
  });

  it('is the options of a command, in the names of the API', () => {
    const command = addFilterOptions(new Command(), parcels, { now: () => 7_200_000 });
    command.parse(['--size', 'small', '--size', 'large', '--grams-at-most', '9', '--to', '+4179'], {
      from: 'user',
    });
    expect(filterQuery(parcels, command.opts())).toMatchObject({
      size: ['small', 'large'],
      gramsAtMost: 9,
      to: '+4179',
      sent: undefined,
    });
    expect(() => command.parse(['--size', 'huge'], { from: 'user' })).toThrow(
      '--size must be small, large or any.',
    );
  });

  it('is the comparison of rows, and no member is left out', () => {
    const row: Parcel = { id: 'P-17', colour: 'red', grams: 1200, to: '4179', at: 5 };
    const isIn = (filter: object) =>
      readWanted(parcels, { ...filter } as Record<string, unknown>).matches(row);
    for (const filter of [
      {},
      { colour: 'red' },
      { size: ['large'] },
      { gramsAtMost: 1200 },
      { to: '+4179' },
      { id: 'P-17', text: '-1', sent: 5 },
    ])
      expect(isIn(filter)).toBe(true);
    for (const filter of [
      { colour: 'blue' },
      { size: ['small'] },
      { gramsAtMost: 1199 },
      { to: '417' },
      { id: 'P-1' },
      { text: 'p' },
      { sent: 6 },
    ])
      expect(isIn(filter)).toBe(false);
    expect(() => isIn({ weight: 7 })).toThrow('filter.weight: there is no such field');
  });
});

describe.each<[string, AnyFields]>([
  ['transactions', transactionFields],
  ['workflows', instanceFields],
])('the filter of %s', (_, fields) => {
  it('has a label of its own for each field, and an option for each but one', () => {
    const labels = Object.values(fields).map(({ label }) => label);
    expect(new Set(labels).size).toBe(labels.length);
    const without = Object.keys(fields).filter((name) => fields[name]?.option === undefined);
    // A replay has an option of another meaning, --max-attempts.
    expect(without.filter((name) => name !== 'attemptsAtMost')).toEqual([]);
  });

  it('is used by no role that could guess people', () => {
    const read = readFields(fields, { msisdn: '+41700092501' });
    expect(withoutGuesses(fields, read, 'operator').problems).toEqual({});
    expect(Object.keys(withoutGuesses(fields, read, 'viewer').problems)).toEqual(['msisdn']);
    expect(refuseGuess(fields, read.filter, 'viewer')).toBe('msisdn needs the role operator');
    expect(refuseGuess(fields, read.filter, 'operator')).toBeUndefined();
  });
});

describe('a fault code and a profile', () => {
  it('may be written as the interface writes them', () => {
    const { filter } = readFields(transactionFields, {
      fault: '_401, 208',
      profile: 'http://mid.vendor.ch/STK-LoA4',
    });
    expect(filter).toEqual({ fault: [401, 208], profile: 'STK-LoA4' });
    expect(readFields(transactionFields, { fault: '401,' }).problems).toHaveProperty('fault');
  });
});

describe('a number that does not fit into a packed row', () => {
  it('is found by its job', () => {
    const row: TransactionRow = {
      msspTransId: 'H',
      apId: 'a',
      apTransId: 'T',
      msisdn: '41790000001',
      profile: undefined,
      state: 'submitted',
      attempt: 300,
      submittedAt: 1,
    };
    const isIn = (attemptsAtMost: number) =>
      createMatcher({ attemptsAtMost }, { signedMs: 9, failedMs: 9 }, 2).matches(row);
    expect([299, 300, 999].map(isIn)).toEqual([false, true, true]);
  });
});
