import { describe, expect, it } from 'vitest';
import { fillBenchBlocks } from '../../bench/harness/document.ts';
import { textTable } from '../../bench/harness/report.ts';
import { mergeResults, type Results } from '../../bench/harness/results.ts';
import type { ScenarioResult } from '../../bench/harness/scenario.ts';

const machine = { cores: 2, processor: 'Some CPU', memoryGib: 8, node: '20.20.2', redis: '7.0.15' };
const order = ['accept', 'sign'];

const resultOf = (name: string, value: number): ScenarioResult => ({
  ratios: [
    {
      name,
      value,
      least: value - 0.1,
      most: value + 0.1,
      divides: 'a / b',
      goal: { atLeast: 0.85 },
    },
  ],
  tables: [{ title: `Rates of ${name}`, columns: ['', 'per s'], rows: [['paraph', 1234.5678]] }],
  plots: [
    {
      file: `${name}-rates`,
      title: 'Rates',
      kind: 'bars',
      xLabel: 'x',
      yLabel: 'y',
      series: [{ label: 's', points: [{ x: 'paraph', y: 1234.5678 }] }],
    },
  ],
});

const measured = (
  present: Results | undefined,
  name: string,
  value: number,
  small = false,
): Results =>
  mergeResults(present, [{ scenario: name, title: name, result: resultOf(name, value) }], {
    when: '2026-01-02T03:04:05.000Z',
    small,
    machine,
    order,
  });

const document =
  'Before\n<!-- bench:accept -->\nold 0.12\n<!-- /bench -->\nBetween\n<!-- bench:sign -->\n<!-- /bench -->\n';

describe('the results', () => {
  it('keep the rows of scenarios that did not run, in the order of the list', () => {
    const results = measured(measured(undefined, 'sign', 0.8, true), 'accept', 0.9);
    expect(results.ratios).toEqual({ accept: 0.9, sign: 0.8 });
    expect(Object.keys(results.ratios)).toEqual(order);
    expect(results.details.sign?.met).toBe(false);
    expect(results.details.accept?.met).toBe(true);
    expect(results.small).toBe(true);
    expect(results.runs.accept?.small).toBe(false);
    expect(results.tables).toHaveLength(2);
  });

  it('replace the rows of a scenario that ran again', () => {
    const results = measured(measured(undefined, 'accept', 0.7), 'accept', 0.912_345);
    expect(results.ratios).toEqual({ accept: 0.9123 });
    expect(results.tables).toHaveLength(1);
    expect(results.plots).toHaveLength(1);
  });
});

describe('docs/performance.md', () => {
  it('gets ratios, tables and plots of each scenario between its markers, and nothing else changes', () => {
    const filled = fillBenchBlocks(
      document,
      measured(measured(undefined, 'accept', 0.9), 'sign', 0.8),
    );
    expect(filled).toMatch(/^Before\n<!-- bench:accept -->\n\| Ratio/);
    expect(filled).toContain('<!-- /bench -->\nBetween\n<!-- bench:sign -->\n');
    expect(filled).toContain('| `accept` | **0.90** | 0.80 … 1.00 | at least 0.85: met | a / b |');
    expect(filled).toContain('at least 0.85: **not met**');
    expect(filled).toContain('| paraph | 1 235 |');
    expect(filled).toContain('![Rates](performance/accept-rates.svg)');
    expect(filled).not.toContain('old 0.12');
    // Each block has its own scenario's rows alone.
    expect(filled.match(/sign-rates/g)).toHaveLength(1);
    expect(filled.match(/\| `/g)).toHaveLength(2);
  });

  it('is the same when it is filled again', () => {
    const results = measured(undefined, 'accept', 0.9);
    const once = fillBenchBlocks(document, results);
    expect(fillBenchBlocks(once, results)).toBe(once);
  });

  it('says what has not been measured', () => {
    expect(fillBenchBlocks(document, measured(undefined, 'accept', 0.9))).toContain(
      'Not measured yet: `npm run bench -- --only sign`.',
    );
    expect(fillBenchBlocks(document, undefined)).not.toContain('old 0.12');
  });

  it('must close its blocks', () => {
    expect(() => fillBenchBlocks('<!-- bench:accept -->\n', undefined)).toThrow('not closed');
    expect(() => fillBenchBlocks(`<!-- bench:accept -->\n${document}`, undefined)).toThrow(
      'not closed',
    );
  });
});

it('a table on the terminal has its numbers to the right', () => {
  expect(
    textTable({
      title: 'T',
      columns: ['', 'per s'],
      rows: [
        ['paraph', 5.25],
        ['bare', 12_000],
      ],
    }),
  ).toBe('T\n         per s\n--------------\nparaph    5.25\nbare    12 000');
});
