/**
 * `bench/results/latest.json`: what the last runs gave, by scenario.
 *
 * A run of some scenarios replaces their rows and leaves the others, each with the day and size of
 * its own run.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { readableJson } from '../../scripts/generated-file.ts';
import type { Plot, Ratio, ScenarioResult, Table } from './scenario.ts';
import { isMet } from './statistics.ts';

export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGib: number;
  readonly node: string;
  readonly redis: string;
}

export type Detail = Omit<Ratio, 'name'> & {
  readonly scenario: string;
  /** Absent where there is no goal. */
  readonly met?: boolean;
};

export interface Results {
  /** When the last run began, ISO 8601. */
  readonly when: string;
  readonly machine: Machine;
  /** True when any row is of a two-minute run. */
  readonly small: boolean;
  /** Name to value; what is divided by what stands in `details`. */
  readonly ratios: Readonly<Record<string, number>>;
  readonly details: Readonly<Record<string, Detail>>;
  readonly runs: Readonly<
    Record<string, { readonly when: string; readonly small: boolean; readonly title: string }>
  >;
  readonly tables: readonly (Table & { readonly scenario: string })[];
  readonly plots: readonly (Plot & { readonly scenario: string })[];
}

export interface Run {
  readonly scenario: string;
  readonly title: string;
  readonly result: ScenarioResult;
}

export const machineWith = (redis: string): Machine => ({
  cores: cpus().length,
  processor: cpus()[0]?.model ?? 'unknown',
  memoryGib: Math.round(totalmem() / 2 ** 30),
  node: process.versions.node,
  redis,
});

/** Enough digits to compare, few enough to read. */
const rounded = (value: number): number => Number(value.toPrecision(4));

const roundedTable = (table: Table): Table => ({
  ...table,
  rows: table.rows.map((row) =>
    row.map((cell) => (typeof cell === 'number' ? rounded(cell) : cell)),
  ),
});

/** x is what was asked for, such as a million transactions: it stays as it is. */
const roundedPlot = (plot: Plot): Plot => ({
  ...plot,
  series: plot.series.map(({ label, points }) => ({
    label,
    points: points.map(({ x, y }) => ({ x, y: rounded(y) })),
  })),
});

/** What stood there and what has just been measured, in the order of `order`. */
export const mergeResults = (
  present: Results | undefined,
  runs: readonly Run[],
  about: {
    readonly when: string;
    readonly small: boolean;
    readonly machine: Machine;
    readonly order: readonly string[];
  },
): Results => {
  const { when, small, machine, order } = about;
  const fresh = new Set(runs.map(({ scenario }) => scenario));
  const kept = <T extends { readonly scenario: string }>(rows: readonly T[] = []): T[] =>
    rows.filter(({ scenario }) => !fresh.has(scenario));
  const place = ({ scenario }: { readonly scenario: string }): number => order.indexOf(scenario);
  const inOrder = <T extends { readonly scenario: string }>(rows: readonly T[]): T[] =>
    rows.toSorted((a, b) => place(a) - place(b));
  const details = inOrder([
    ...kept(Object.entries(present?.details ?? {}).map(([name, detail]) => ({ name, ...detail }))),
    ...runs.flatMap(({ scenario, result }) =>
      result.ratios.map((ratio) => {
        const met = isMet(ratio);
        return {
          ...ratio,
          value: rounded(ratio.value),
          least: rounded(ratio.least),
          most: rounded(ratio.most),
          scenario,
          ...(met !== undefined && { met }),
        };
      }),
    ),
  ]);
  const allRuns = inOrder([
    ...kept(Object.entries(present?.runs ?? {}).map(([scenario, run]) => ({ scenario, ...run }))),
    ...runs.map(({ scenario, title }) => ({ scenario, when, small, title })),
  ]);
  return {
    when,
    machine,
    small: allRuns.some((run) => run.small),
    ratios: Object.fromEntries(details.map(({ name, value }) => [name, value])),
    details: Object.fromEntries(details.map(({ name, ...detail }) => [name, detail])),
    runs: Object.fromEntries(allRuns.map(({ scenario, ...run }) => [scenario, run])),
    tables: inOrder([
      ...kept(present?.tables),
      ...runs.flatMap(({ scenario, result }) =>
        result.tables.map((table) => ({ scenario, ...roundedTable(table) })),
      ),
    ]),
    plots: inOrder([
      ...kept(present?.plots),
      ...runs.flatMap(({ scenario, result }) =>
        result.plots.map((plot) => ({ scenario, ...roundedPlot(plot) })),
      ),
    ]),
  };
};

/** @returns Undefined when there is no such file. */
export const readResults = (path: string): Results | undefined => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

export const writeResults = (path: string, results: Results): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, readableJson(results));
};
