/** Results as text: for the terminal, and as Markdown for docs/performance.md. */
import type { Ratio, Table } from './scenario.ts';
import { isMet } from './statistics.ts';

/** Three digits that matter, counts as they are; thousands apart, because rates are long. */
export const number = (value: number): string => {
  if (!Number.isFinite(value)) return '-';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en').replaceAll(',', ' ');
  if (Number.isInteger(value)) return String(value);
  if (Math.abs(value) >= 100) return value.toFixed(0);
  if (Math.abs(value) >= 10) return value.toFixed(1);
  return value.toFixed(Math.abs(value) < 0.1 ? 3 : 2);
};

/** A ratio shows its digits also where they are zeros. */
const fraction = (value: number): string =>
  Math.abs(value) < 100 && Math.abs(value) >= 0.1 ? value.toFixed(2) : number(value);

const cell = (value: string | number): string =>
  typeof value === 'number' ? number(value) : value;

const goalText = (goal: NonNullable<Ratio['goal']>): string =>
  'atLeast' in goal ? `at least ${goal.atLeast}` : `at most ${goal.atMost}`;

/** `accept 0.87 (0.85 to 0.90; goal at least 0.85: met) …` */
export const ratioLine = (ratio: Ratio): string => {
  const { name, value, least, most, divides, goal } = ratio;
  const judged =
    goal === undefined ? '' : `; goal ${goalText(goal)}: ${isMet(ratio) ? 'met' : 'NOT MET'}`;
  return `${name} ${fraction(value)} (${fraction(least)} to ${fraction(most)}${judged})  ${divides}`;
};

/** A dash stands for a number that there is not. */
const numeric =
  (rows: Table['rows']) =>
  (column: number): boolean =>
    rows.every((row) => typeof row[column] === 'number' || row[column] === '-');

/** Columns as wide as what is in them; numbers to the right. */
export const textTable = ({ title, columns, rows }: Table): string => {
  const cells = [columns, ...rows.map((row) => row.map(cell))];
  const widths = columns.map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const isNumber = numeric(rows);
  const line = (row: readonly string[]): string =>
    row
      .map((text, column) =>
        isNumber(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const [head = [], ...body] = cells.map(line);
  return [
    title,
    head,
    '-'.repeat(widths.reduce((sum, width) => sum + width + 2, -2)),
    ...body,
  ].join('\n');
};

const escaped = (text: string): string => text.replaceAll('|', '\\|');

const markdownRow = (cells: readonly (string | number)[]): string =>
  `| ${cells.map((value) => escaped(cell(value))).join(' | ')} |`;

export const markdownTable = ({ title, columns, rows }: Table): string => {
  const isNumber = numeric(rows);
  const rule = columns.map((_, column) => (isNumber(column) ? '--:' : '---'));
  return [
    `${title}:`,
    '',
    markdownRow(columns),
    `|${rule.join('|')}|`,
    ...rows.map(markdownRow),
  ].join('\n');
};

export const markdownRatios = (ratios: readonly Ratio[]): string =>
  [
    '| Ratio | Value | Rounds from … to | Goal | What is divided by what |',
    '|---|--:|---|---|---|',
    ...ratios.map((ratio) => {
      const { name, value, least, most, goal, divides } = ratio;
      const judged =
        goal === undefined ? '' : `${goalText(goal)}: ${isMet(ratio) ? 'met' : '**not met**'}`;
      return markdownRow([
        `\`${name}\``,
        `**${fraction(value)}**`,
        `${fraction(least)} … ${fraction(most)}`,
        judged,
        divides,
      ]);
    }),
  ].join('\n');
