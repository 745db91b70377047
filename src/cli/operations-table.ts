/** Columns for people. Whatever comes from outside is made printable here, so that no caller can forget it. */
import type { CliContext, Output } from './context.ts';
import { isCapable, type Palette, paletteFor, printable, widthOf } from './screen.ts';

/** Text, or text with a colour. */
export type Cell = string | { readonly text: string; readonly paint: keyof Palette };

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => Cell;
  /** Numbers stand under each other. */
  readonly right?: true;
}

const gap = '  ';

/** By characters, so that none is cut in two. */
const lettersOf = (cell: Cell): readonly string[] => [
  ...printable(typeof cell === 'string' ? cell : cell.text),
];

/** Text beyond the width is cut, since a line that wraps is no longer a column. */
const cutTo = (letters: readonly string[], width: number): readonly string[] => {
  if (letters.length <= width) return letters;
  return width === 0 ? [] : [...letters.slice(0, width - 1), '…'];
};

/** @returns One line for the titles and one for each row; in a terminal none is wider than it. */
export const tableLines = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  output: Output,
  context: Pick<CliContext, 'env'>,
): readonly string[] => {
  const palette = paletteFor(output, context);
  const room = isCapable(output, context) ? widthOf(output) - 1 : Number.POSITIVE_INFINITY;
  const titles = columns.map(({ title }): Cell => ({ text: title, paint: 'dim' }));
  const lines = [titles, ...rows.map((row) => columns.map(({ cell }) => cell(row)))];
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((line) => lettersOf(line[index] ?? '').length)),
  );
  return lines.map((line) => {
    let left = room;
    const cells = line.map((cell, index) => {
      const width = Math.max(0, Math.min(widths[index] ?? 0, left));
      left -= width + gap.length;
      const letters = cutTo(lettersOf(cell), width);
      const text = letters.join('');
      const padding = ' '.repeat(width - letters.length);
      const painted = typeof cell === 'string' || text === '' ? text : palette[cell.paint](text);
      return columns[index]?.right ? padding + painted : painted + padding;
    });
    return cells.join(gap).trimEnd();
  });
};

export const table = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  context: Pick<CliContext, 'env' | 'stdout'>,
): string =>
  tableLines(columns, rows, context.stdout, context)
    .map((line) => `${line}\n`)
    .join('');
