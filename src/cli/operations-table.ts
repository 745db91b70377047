/** Columns for people. Whatever comes from outside is made printable here, so that no caller can forget it. */
import type { CliContext, Output } from './context.ts';
import { isCapable, type Palette, paletteFor, printable, widthOf } from './screen.ts';

export type Paint = keyof Palette;

/** Text, or text with a colour. */
export type Cell = string | { readonly text: string; readonly paint: Paint };

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => Cell;
  /** Numbers stand under each other. */
  readonly right?: true;
}

const gap = '  ';
const textOf = (cell: Cell): string => printable(typeof cell === 'string' ? cell : cell.text);
const lengthOf = (text: string): number => [...text].length;

/** Text beyond the width is cut, since a line that wraps is no longer a column. */
const cutTo = (text: string, width: number): string => {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(width - 1, 0)).join('')}…`;
};

/** @returns One line for the titles and one for each row; in a terminal none is wider than it. */
export const tableLines = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  output: Output,
  context: Pick<CliContext, 'env'>,
): readonly string[] => {
  const palette = paletteFor(output, context);
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
  const widths = columns.map(({ title }, index) =>
    Math.max(lengthOf(title), ...cells.map((line) => lengthOf(textOf(line[index] ?? '')))),
  );
  const room = isCapable(output, context) ? widthOf(output) - 1 : Number.POSITIVE_INFINITY;

  const lineOf = (line: readonly Cell[], paintAll?: Paint): string => {
    let left = room;
    let written = '';
    for (const [index, cell] of line.entries()) {
      const isLast = index === line.length - 1;
      const width = widths[index] ?? 0;
      const text = cutTo(textOf(cell), left);
      const padding = ' '.repeat(Math.max(0, Math.min(width, left) - lengthOf(text)));
      const paint = paintAll ?? (typeof cell === 'string' ? undefined : cell.paint);
      const painted = paint === undefined || text === '' ? text : palette[paint](text);
      if (columns[index]?.right) written += padding + painted;
      else written += isLast ? painted : painted + padding;
      left -= width;
      if (isLast || left <= gap.length) break;
      written += gap;
      left -= gap.length;
    }
    return written.trimEnd();
  };

  return [
    lineOf(
      columns.map(({ title }) => title),
      'dim',
    ),
    ...cells.map((line) => lineOf(line)),
  ];
};

export const table = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  context: Pick<CliContext, 'env' | 'stdout'>,
): string =>
  tableLines(columns, rows, context.stdout, context)
    .map((line) => `${line}\n`)
    .join('');
