/**
 * Text for a terminal: wrapped, coloured where somebody sees it, and without control characters.
 *
 * What a service sends (a fault's detail, a text message) is printed here, and a terminal obeys escape sequences. So
 * every value goes through `printable`.
 */
import { Help } from 'commander';
import type { CliContext, Output } from './context.ts';

/** Control and format characters, the latter because they can reverse what is read. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export const printable = (text: string): string => text.replace(unprintable, '\u{fffd}');

export interface Palette {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
}

const paint =
  (isOn: boolean, on: number, off: number) =>
  (text: string): string =>
    isOn ? `\x1b[${on}m${text}\x1b[${off}m` : text;

/** A terminal that understands more than lines. */
export const isCapable = (output: Output, { env }: Pick<CliContext, 'env'>): boolean =>
  output.isTTY === true && env.TERM !== 'dumb';

/** Source: no-color.org. */
export const paletteFor = (output: Output, context: Pick<CliContext, 'env'>): Palette => {
  const isOn = isCapable(output, context) && !context.env.NO_COLOR;
  return {
    bold: paint(isOn, 1, 22),
    dim: paint(isOn, 2, 22),
    red: paint(isOn, 31, 39),
    green: paint(isOn, 32, 39),
  };
};

/** A terminal that does not know how wide it is says 0. */
export const widthOf = ({ columns }: Output): number => Math.max(columns || 80, 40);

export type Field = readonly [label: string, value: string | undefined];

/** Labels and values below each other, values wrapped in their column. A field without a value is left out. */
export const formatFields = (fields: readonly Field[], width: number, { dim }: Palette): string => {
  const help = Object.assign(new Help(), { helpWidth: width, minWidthToWrap: 1 });
  const present = fields.filter((field): field is readonly [string, string] => field[1] !== undefined);
  const column = Math.max(0, ...present.map(([label]) => label.length));
  return present
    .map(([label, value]) => help.formatItem(label && dim(label), column, printable(value), help))
    .map((item) => `${item}\n`)
    .join('');
};

/** The same, as wide and as coloured as stdout. */
export const fieldsText = (fields: readonly Field[], context: Pick<CliContext, 'stdout' | 'env'>): string =>
  formatFields(fields, widthOf(context.stdout), paletteFor(context.stdout, context));

/** One line for each name. */
export const countFields = (label: string, counts: Readonly<Record<string, number>>): readonly Field[] =>
  Object.entries(counts).map(([name, count], index) => [index === 0 ? label : '', `${name}: ${count}`]);
