import { html } from 'hono/html';
import { breakable, type Html, table, words } from './markup.ts';
import { type MemberRow, wireName } from './members.ts';

/** What a table is about: what has to be sent, or what can be expected. */
export type Side = 'request' | 'answer';

const presence: Readonly<Record<Side, readonly [required: string, optional: string]>> = {
  request: ['yes', 'no'],
  answer: ['always', 'if any'],
};

/** Lists that are too long for a cell, and explained elsewhere. */
const explainedLists: Readonly<Record<string, readonly [anchor: string, title: string]>> = {
  SignatureProfile: ['profiles', 'Signature profiles'],
  Description: ['services', 'Additional services'],
};
const mostValues = 6;

/** The way to a member is quieter than its name, and may break after each dot. */
const pathMarkup = (path: string): Html => {
  const steps = path.split('.');
  const name = steps.pop() ?? '';
  return html`<code>${steps.map((step) => html`<span class="way">${step}.</span><wbr>`)}${name}</code>`;
};

const typeMarkup = ({ type, component }: MemberRow): string | Html =>
  component === undefined
    ? type
    : html`${type.startsWith('array') ? 'array of ' : ''}<a href="#object-${component}">${wireName(component)}</a>`;

const allowedMarkup = ({ path, values, limit, pattern }: MemberRow): readonly unknown[] => {
  const list = explainedLists[path.split('.').at(-1) ?? ''];
  if (values.length > mostValues && list !== undefined) {
    return [html`<a href="#${list[0]}">${list[1]}</a>`];
  }
  return [
    values.map((value) => html`<code>${breakable(value)}</code> `),
    limit === undefined ? '' : html`${limit} `,
    pattern === undefined ? '' : html`<code class="pattern">${pattern}</code>`,
  ];
};

/** @param label What the table says to somebody who cannot see where it stands. */
export const membersTable = (label: string, side: Side, rows: readonly MemberRow[]): Html => {
  const [required, optional] = presence[side];
  return table(
    label,
    [
      { title: 'Member', kind: 'name' },
      { title: 'Type', kind: 'tight' },
      { title: side === 'request' ? 'Required' : 'Present', kind: 'tight' },
      { title: side === 'request' ? 'Allowed' : 'Values' },
      { title: 'Meaning', kind: 'prose' },
    ],
    rows.map((row) => ({
      cells: [
        pathMarkup(row.path),
        typeMarkup(row),
        row.required ? required : html`<span class="quiet">${optional}</span>`,
        html`<span class="values">${allowedMarkup(row)}</span>`,
        words(row.meaning),
      ],
    })),
  );
};
