/**
 * Fills the measured blocks of docs/limits.md from the results of `npm run overload` and `npm run
 * soak`. With `--check` it compares.
 *
 * A block lies between `<!-- limits:NAME -->` and `<!-- /limits -->`; the prose around it is
 * written by hand.
 */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { markdownTable, number } from '../bench/harness/report.ts';
import type { Table } from '../bench/harness/scenario.ts';
import { writeOrCheck } from './generated-file.ts';

interface Results {
  readonly when: string;
  readonly tables: readonly Table[];
  readonly problems: readonly string[];
  readonly ratios?: Readonly<Record<string, number>>;
  readonly explained?: Readonly<Record<string, string>>;
}

const read = (program: string): Results | undefined => {
  const path = fileURLToPath(new URL(`../test/${program}/results/latest.json`, import.meta.url));
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
};

const ratioTable = ({ ratios = {}, explained = {} }: Results): Table => ({
  title: 'As ratios',
  columns: ['ratio', 'value', 'what is divided by what'],
  rows: Object.entries(ratios).map(([name, value]) => [name, number(value), explained[name] ?? '']),
});

const describe = (program: string): string => {
  const results = read(program);
  if (results === undefined) return `Not measured yet: \`npm run ${program}\`.`;
  const { when, tables, problems, ratios } = results;
  return [
    ...tables.map(markdownTable),
    ...(ratios === undefined ? [] : [markdownTable(ratioTable(results))]),
    problems.length === 0
      ? 'Nothing was found wrong.'
      : problems.map((problem) => `- **${problem}**`).join('\n'),
    `Measured ${when.slice(0, 10)}: \`npm run ${program}\`.`,
  ].join('\n\n');
};

const fill = (document: string, program: string): string =>
  document.replace(
    new RegExp(`(<!-- limits:${program} -->\n)[^]*?(<!-- /limits -->)`),
    (_, begin: string, end: string) => `${begin}${describe(program)}\n${end}`,
  );

writeOrCheck(
  [{ path: 'docs/limits.md', make: (document) => fill(fill(document, 'overload'), 'soak') }],
  {
    check: process.argv.includes('--check'),
    remedy: '`npm run docs`',
  },
);
