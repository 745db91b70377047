/**
 * Text for a terminal: colours, labelled fields, tables and progress.
 *
 * A terminal executes escape sequences, and a service may send some (in the detail of a fault, in a
 * text message). So every value goes through `printable`.
 */
import { Help } from 'commander';
import type { CliContext, Output } from './context.ts';

/** Stdout, and the variables that decide on colours. */
export type Screen = Pick<CliContext, 'stdout' | 'env'>;

/** Control and format characters. The latter can reverse the order in which text is read. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export const printable = (text: string): string => text.replace(unprintable, '\u{fffd}');

/** Whether an output is a terminal that understands escape sequences. */
export const isCapable = (output: Output, { env }: Pick<CliContext, 'env'>): boolean =>
  output.isTTY === true && env.TERM !== 'dumb';

/** The colours for an output; none if NO_COLOR is set. Source: no-color.org. */
export const paletteFor = (output: Output, context: Pick<CliContext, 'env'>) => {
  const isOn = isCapable(output, context) && !context.env.NO_COLOR;
  const paint = (on: number, off: number) => (text: string) =>
    isOn ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  return { bold: paint(1, 22), dim: paint(2, 22), red: paint(31, 39), green: paint(32, 39) };
};

/** The width of a terminal: 80 if it reports 0, and at least 40. */
export const widthOf = ({ columns }: Output): number => Math.max(columns || 80, 40);

export type Field = readonly [label: string, value: string | undefined];

/**
 * Writes labels and values in two columns, one field below the other; values are wrapped. Fields
 * without a value are left out.
 */
export const fieldsText = (fields: readonly Field[], { stdout, env }: Screen): string => {
  const help = Object.assign(new Help(), { helpWidth: widthOf(stdout), minWidthToWrap: 1 });
  const { dim } = paletteFor(stdout, { env });
  const present = fields.filter(
    (field): field is readonly [string, string] => field[1] !== undefined,
  );
  const column = Math.max(0, ...present.map(([label]) => label.length));
  return present
    .map(
      ([label, value]) =>
        `${help.formatItem(label && dim(label), column, printable(value), help)}\n`,
    )
    .join('');
};

/** One field for each value; the first has the label. */
export const listFields = (label: string, values: readonly string[]): readonly Field[] =>
  values.map((value, index) => [index === 0 ? label : '', value]);

export const countFields = (
  label: string,
  counts: Readonly<Record<string, number>>,
): readonly Field[] =>
  listFields(
    label,
    Object.entries(counts).map(([name, count]) => `${name}: ${count}`),
  );

export type Cell =
  | string
  | { readonly text: string; readonly paint: keyof ReturnType<typeof paletteFor> };

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => Cell;
  /** Aligns numbers to the right. */
  readonly right?: true;
}

const gap = '  ';

/** Cuts text at a width, because a wrapped line would break the columns. */
const cut = (letters: readonly string[], width: number): readonly string[] => {
  if (letters.length <= width) return letters;
  return width === 0 ? [] : [...letters.slice(0, width - 1), '…'];
};

/**
 * @returns One line for the titles and one for each row. No line is wider than the terminal.
 */
export const tableLines = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { stdout, env }: Screen,
): readonly string[] => {
  const palette = paletteFor(stdout, { env });
  const room = isCapable(stdout, { env }) ? widthOf(stdout) - 1 : Number.POSITIVE_INFINITY;
  const titles = columns.map(({ title }): Cell => ({ text: title, paint: 'dim' }));
  const lines = [titles, ...rows.map((row) => columns.map(({ cell }) => cell(row)))].map((line) =>
    line.map((cell) => {
      const { text, paint = undefined } = typeof cell === 'string' ? { text: cell } : cell;
      return { letters: [...printable(text)], paint };
    }),
  );
  const widths = columns.map((_, index) =>
    Math.max(...lines.map((line) => line[index]?.letters.length ?? 0)),
  );
  return lines.map((line) => {
    let left = room;
    const cells = line.map(({ letters, paint }, index) => {
      const width = Math.max(0, Math.min(widths[index] ?? 0, left));
      left -= width + gap.length;
      const text = cut(letters, width).join('');
      const padding = ' '.repeat(Math.max(0, width - letters.length));
      const painted = paint === undefined || text === '' ? text : palette[paint](text);
      return columns[index]?.right ? padding + painted : painted + padding;
    });
    return cells.join(gap).trimEnd();
  });
};

export const table = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  screen: Screen,
): string => `${tableLines(columns, rows, screen).join('\n')}\n`;

const clearLine = '\r\x1b[K';
const barWidth = 24;

export const bar = (done: number, total: number): string => {
  const part = total > 0 ? Math.min(Math.max(done / total, 0), 1) : 0;
  const full = Math.floor(part * barWidth);
  return `[${'#'.repeat(full)}${'-'.repeat(barWidth - full)}]`;
};

/**
 * Shows a line of progress on stderr while some work runs. Writes nothing when stderr is no
 * terminal.
 *
 * @param work Gets a function that replaces the line.
 */
export const whileShowing = async <T>(
  { stderr, env }: Pick<CliContext, 'stderr' | 'env'>,
  work: (show: (line: string) => void) => Promise<T>,
): Promise<T> => {
  if (!isCapable(stderr, { env })) return work(() => undefined);
  try {
    return await work((line) =>
      stderr.write(`${clearLine}${printable(line).slice(0, widthOf(stderr) - 1)}`),
    );
  } finally {
    stderr.write(clearLine);
  }
};

/**
 * Shows `waiting for +41… (12 s of 60 s)` while some work runs.
 *
 * @param totalSeconds Undefined when the duration is unknown.
 */
export const whileWaiting = <T>(
  context: CliContext,
  label: string,
  totalSeconds: number | undefined,
  work: () => Promise<T>,
): Promise<T> =>
  whileShowing(context, async (show) => {
    const began = context.now();
    const tick = (): void => {
      const seconds = Math.floor((context.now() - began) / 1000);
      show(`${label} (${seconds} s${totalSeconds === undefined ? '' : ` of ${totalSeconds} s`})`);
    };
    tick();
    const timer = setInterval(tick, 1000);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  });
