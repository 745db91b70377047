import { describe, expect, it } from 'vitest';
import { fieldTime, filterWords, readFilter } from '../../src/console/filter.ts';
import { queryOf } from '../../src/console/pages/markup.ts';
import { transactionFields } from '../../src/transactions/history/filter.ts';

describe('the filter of the list', () => {
  it('is what the form says', () => {
    const { filter, problems } = readFilter({
      state: 'failed',
      fault: '401, 208',
      apId: ' mid://bank.example ',
      msisdn: '+41 79 123-45 67',
      profile: 'Any-LoA4',
      attemptsAtMost: '3',
      from: '2026-11-21T14:03',
      to: '2026-11-21T14:03:09.120',
      text: 'Order-7',
    });
    expect(problems).toEqual({});
    expect(filter).toEqual({
      state: ['failed'],
      fault: [401, 208],
      apId: 'mid://bank.example',
      msisdn: '+41791234567',
      profile: 'Any-LoA4',
      attemptsAtMost: 3,
      from: Date.UTC(2026, 10, 21, 14, 3),
      to: Date.UTC(2026, 10, 21, 14, 3, 9, 120),
      text: 'Order-7',
    });
  });

  it('knows open as both states of an open transaction', () => {
    expect(readFilter({ state: 'open' }).filter).toEqual({ state: ['submitted', 'pending'] });
  });

  it.each([
    ['state', 'done'],
    ['fault', '499'],
    ['fault', 'all'],
    ['msisdn', 'me'],
    ['profile', 'none'],
    ['attemptsAtMost', '0'],
    ['from', 'yesterday'],
    ['to', '2026-02-31T25:00'],
    ['text', 'x'.repeat(257)],
  ])('says so when %s is %s, and does not narrow by it', (name, value) => {
    const found = readFilter({ [name]: value });
    expect(Object.keys(found.problems)).toEqual([name]);
    expect(found.filter).toEqual({});
  });

  it('goes into an address and comes back', () => {
    const fields = { state: 'failed', text: 'a&b=c', to: fieldTime(1_790_000_000_123) };
    const query = new URLSearchParams(queryOf(readFilter(fields).form));
    const again = readFilter(Object.fromEntries(query));
    expect(again.form).toEqual(fields);
    expect(again.filter.to).toBe(1_790_000_000_123);
  });

  it('is told in words, times in UTC', () => {
    expect(
      filterWords(transactionFields, {
        apId: 'Test',
        from: '2026-11-21T14:03',
        to: '2026-11-21T14:03:09+01:00',
      }),
    ).toEqual([
      ['Application', 'Test'],
      ['Submitted from', '2026-11-21 14:03:00.000 UTC'],
      ['Submitted until', '2026-11-21 13:03:09.000 UTC'],
    ]);
  });

  it('leaves empty fields out', () => {
    expect(queryOf(readFilter({ state: '', text: '  ' }).form)).toBe('');
  });
});
