/**
 * `npm run bench -- --against <commit>`: this tree and a commit, measured in turns on one machine.
 *
 * Rates of two days cannot be compared: the machine differs more than the programs do. So the
 * commit is checked out into .cache/against/, where its own set-up compiles it, and then both trees
 * run their own benchmark (A B A B …) into a folder of their own. A pair of turns gives one ratio
 * for each number that both have under the same name. Bench and floors of an old commit are old,
 * too: where a scenario has changed since, its rows are compared only under the names that stayed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkOut, hashOf } from '../scripts/other-tree.ts';
import { run } from '../scripts/run.mjs';
import { project } from './harness/program.ts';
import { type Results, readResults } from './harness/results.ts';
import { interleave } from './harness/rounds.ts';
import type { Table } from './harness/scenario.ts';
import { median, roundRatios } from './harness/statistics.ts';

export interface AgainstOptions {
  /** Anything that git understands as a commit. */
  readonly commit: string;
  /** Options that both benchmarks get: `--only`, `--small`. */
  readonly benchArguments: readonly string[];
  /** How often each tree is measured. */
  readonly turns: number;
  readonly say: (line: string) => void;
}

/** The numbers of one run by name: its ratios, then the cells of its tables. */
export const numbersOf = ({
  ratios,
  tables,
}: Pick<Results, 'ratios' | 'tables'>): Map<string, number> => {
  const numbers = new Map(Object.entries(ratios));
  for (const { columns, rows } of tables) {
    for (const [label, ...cells] of rows) {
      cells.forEach((cell, index) => {
        if (typeof cell === 'number') numbers.set(`${label}: ${columns[index + 1]}`, cell);
      });
    }
  }
  return numbers;
};

type Turns = readonly ReadonlyMap<string, number>[];

/**
 * The medians of both trees, and the ratio of each pair of turns. Numbers that one lacks are left
 * out.
 */
export const againstTable = (commit: string, here: Turns, there: Turns): Table => {
  const isEverywhere = (name: string): boolean =>
    [...here, ...there].every((turn) => turn.has(name));
  const valuesOf = (turns: Turns, name: string): number[] =>
    turns.map((turn) => turn.get(name) ?? Number.NaN);
  const rows = [...(here[0]?.keys() ?? [])].filter(isEverywhere).map((name) => {
    const [ours, theirs] = [valuesOf(here, name), valuesOf(there, name)];
    const ratios = roundRatios(ours, theirs);
    return [
      name,
      median(ours),
      median(theirs),
      median(ratios),
      Math.min(...ratios),
      Math.max(...ratios),
    ];
  });
  return {
    title: `This tree against ${commit}, ${here.length} turns each (medians)`,
    columns: ['', 'here', commit, 'here / there', 'from', 'to'],
    rows,
  };
};

/** @throws When the tree's benchmark has measured nothing. */
const measure = async (
  tree: string,
  benchArguments: readonly string[],
): Promise<Map<string, number>> => {
  const out = mkdtempSync(join(tmpdir(), 'paraph-against-'));
  try {
    const program = ['scripts/program.mjs', 'bench/run.ts', ...benchArguments, '--out', out];
    await run(process.execPath, program, { cwd: tree, output: 'errors' });
    const results = readResults(join(out, 'latest.json'));
    if (results === undefined) throw new Error(`The benchmark of ${tree} has measured nothing`);
    return numbersOf(results);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
};

/** @throws When there is no such commit, and when a tree's benchmark has measured nothing. */
export const runAgainst = async ({
  commit,
  benchArguments,
  turns,
  say,
}: AgainstOptions): Promise<Table> => {
  const hash = hashOf(project, commit);
  const name = hash.slice(0, 8);
  const tree = checkOut(project, hash);
  const turn = (label: string, folder: string) => () => {
    say(`${label}: ${folder}`);
    return measure(folder, benchArguments);
  };
  const { here, there } = await interleave(
    turns,
    { here: turn('this tree', project), there: turn(name, tree) },
    { warmUps: 0 },
  );
  return againstTable(name, here, there);
};
