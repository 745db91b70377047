/**
 * Fills the tables of filters in docs/operations/console.md and docs/cli.md from the tables of
 * fields; the prose around them is written by hand. With `--check` it compares.
 */
import { instanceFields } from '../parts/workflows/instance-fields.ts';
import type { AnyFields } from '../src/transactions/history/fields.ts';
import { transactionFields } from '../src/transactions/history/filter.ts';
import { writeOrCheck } from './generated-file.ts';
import { fillTable } from './key-table.ts';

const lists: Readonly<Record<string, AnyFields>> = {
  transactions: transactionFields,
  workflows: instanceFields,
};

const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

const flagOf = (flags: string): string => `\`${flags.split(' ')[0]}\``;

const values: Readonly<Partial<Record<AnyFields[string]['kind'], string>>> = {
  choices: 'Several with commas.',
  part: 'Upper and lower case differ.',
};

/** What is said of a field, with its choices where there are few. */
const meaning = ({ kind, about, choices = [] }: AnyFields[string]): string => {
  const known = choices.map((choice) => (typeof choice === 'string' ? choice : choice[0]));
  const named =
    known.length === 0 || known.length > 10
      ? ''
      : `One of ${known.map((each) => `\`${each}\``).join(', ')}.`;
  return [about, named, values[kind]].filter(Boolean).join(' ');
};

const apiTable = (fields: AnyFields): string =>
  tableOf(
    ['Query', 'On the page', 'Meaning'],
    Object.entries(fields).map(([name, field]) => [
      `\`${name}\``,
      field.label,
      `${meaning(field)}${field.ofPeople ? ' For operators.' : ''}`,
    ]),
  );

const optionTable = (fields: AnyFields): string =>
  tableOf(
    ['Option', 'Meaning'],
    Object.values(fields).flatMap((field) => {
      if (field.option === undefined) return [];
      const [flags] = field.option;
      const ago = field.kind === 'time' ? ' Or how long ago: `90s`, `30m`, `2h`, `7d`.' : '';
      return [[flagOf(flags), `${meaning(field)}${ago}`]];
    }),
  );

const fill = (document: string, make: (fields: AnyFields) => string): string =>
  Object.entries(lists).reduce(
    (filled, [name, fields]) => fillTable(filled, `filter of ${name}`, make(fields)),
    document,
  );

writeOrCheck(
  [
    { path: 'docs/operations/console.md', make: (document) => fill(document, apiTable) },
    { path: 'docs/cli.md', make: (document) => fill(document, optionTable) },
  ],
  { check: process.argv.includes('--check'), remedy: '`npm run docs`' },
);
