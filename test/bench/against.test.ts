import { describe, expect, it } from 'vitest';
import { againstTable, numbersOf } from '../../bench/against.ts';

const results = (accept: number, cpu: number, more: Readonly<Record<string, number>> = {}) => ({
  ratios: { accept, ...more },
  tables: [
    {
      scenario: 'accept',
      title: 'Accepting',
      columns: ['', 'requests/s', 'p50 ms', 'process CPU µs'],
      rows: [['paraph api', 9000, '-', cpu]],
    },
  ],
});

describe('A comparison with a commit', () => {
  it('names the ratios and each number of the tables by its row and column', () => {
    expect([...numbersOf(results(0.7, 120))]).toEqual([
      ['accept', 0.7],
      ['paraph api: requests/s', 9000],
      ['paraph api: process CPU µs', 120],
    ]);
  });

  it('divides in pairs of turns, and leaves out what one side has not measured', () => {
    const here = [results(0.8, 90, { acceptNew: 1 }), results(0.9, 110), results(0.6, 100)];
    const there = [results(0.4, 180), results(0.3, 100), results(0.6, 50)];
    const { columns, rows } = againstTable('abc', here.map(numbersOf), there.map(numbersOf));
    expect(columns).toEqual(['', 'here', 'abc', 'here / there', 'from', 'to']);
    const [accept, , cpu] = rows;
    expect(accept).toEqual(['accept', 0.8, 0.4, 2, 1, 3]);
    expect(cpu).toEqual(['paraph api: process CPU µs', 100, 100, 1.1, 0.5, 2]);
    expect(rows.map(([name]) => name)).not.toContain('acceptNew');
  });
});
