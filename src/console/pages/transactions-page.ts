/** The list of transactions with its filter. */
import { html } from 'hono/html';
import { transactionFields } from '../../transactions/history/filter.ts';
import type { ConsoleSession } from '../deps.ts';
import type { ReadFilter } from '../filter.ts';
import { includesRole } from '../operators/operator.ts';
import type { BulkKind } from '../operators/transaction-bulk.ts';
import type { ShownRow } from '../redaction.ts';
import { filterFormOf } from './filter-form.ts';
import { layOut } from './layout.ts';
import {
  bulkOrders,
  filterTools,
  type ListPage,
  pickAll,
  pickCell,
  savedFilters,
} from './list-tools.ts';
import {
  banner,
  cardTable,
  csrfField,
  duration,
  type Heading,
  type Html,
  hiddenFields,
  linkTo,
  nothing,
  pagedList,
  timeOf,
} from './markup.ts';
import { type Notice, noticeBanner } from './notices.ts';

export interface TransactionsModel {
  readonly session: ConsoleSession;
  readonly read: ReadFilter;
  /** The rows, redacted for the role. */
  readonly rows: readonly ShownRow[];
  readonly total: number | undefined;
  /** The cursor of the next page. */
  readonly next: string | undefined;
  readonly isFirst: boolean;
  /** AP_IDs and numbers to choose from. */
  readonly apIds: readonly string[];
  readonly numbers: readonly string[];
  readonly notice: Notice | undefined;
}

const filter = ({ session, read, apIds, numbers }: TransactionsModel): Html =>
  filterFormOf(
    { path: '/admin/transactions', label: 'Transactions' },
    transactionFields,
    read,
    session,
    { suggested: { apId: apIds, msisdn: numbers } },
  );

const cut = (text: string): Html => html`<span class="cut" title="${text}">${text}</span>`;

interface Column {
  readonly heading: Heading;
  readonly classes?: string;
  /** The label before the value on screens without headings. */
  readonly label?: string;
  readonly value: (row: ShownRow) => Html | string;
}

/** The columns beside the id, in the order of the page. The id is always shown, as the link. */
const columns = {
  time: { heading: 'Time', classes: 'nowrap', value: ({ submittedAt }) => timeOf(submittedAt) },
  application: { heading: 'Application', value: ({ apId }) => cut(apId || '—') },
  apTransId: { heading: 'AP_TransID', classes: 'code', value: ({ apTransId }) => cut(apTransId) },
  number: { heading: 'Number', classes: 'nowrap', value: ({ msisdn }) => msisdn },
  profile: { heading: 'Profile', classes: 'nowrap', value: ({ profile }) => profile ?? '' },
  state: {
    heading: 'State',
    classes: 'second end',
    value: ({ state }) => html`<span class="state ${state}">${state}</span>`,
  },
  fault: {
    heading: 'Fault',
    value: ({ fault }) => (fault === undefined ? '' : `${fault.code} ${fault.reason}`),
  },
  detail: {
    heading: 'Detail',
    value: ({ fault }) => (fault?.detail === undefined ? '' : cut(fault.detail)),
  },
  attempt: {
    heading: ['Attempt', 'number'],
    classes: 'number',
    label: 'attempt',
    value: ({ attempt }) => String(attempt),
  },
  ended: {
    heading: 'Ended',
    classes: 'nowrap',
    label: 'ended',
    value: ({ endedAt }) => (endedAt === undefined ? '' : timeOf(endedAt)),
  },
  duration: {
    heading: ['Duration', 'number'],
    classes: 'number nowrap',
    value: ({ tookMs, endedAt }) => {
      if (tookMs !== undefined) return duration(tookMs);
      return endedAt === undefined ? html`<span class="quiet">open</span>` : '';
    },
  },
} as const satisfies Record<string, Column>;
export type ColumnName = keyof typeof columns;
export const columnNames = Object.keys(columns) as ColumnName[];
const hiddenAtFirst: readonly ColumnName[] = ['profile', 'detail', 'ended'];

const chosenColumns = ({ view }: ConsoleSession): readonly ColumnName[] =>
  columnNames.filter((name) => view.columns?.includes(name) ?? !hiddenAtFirst.includes(name));

const cell = ({ classes = '', label, value }: Column, row: ShownRow): Html =>
  html`<td role="cell" class="${classes}"${label === undefined ? '' : html` data-label="${label}"`}>${value(row)}</td>`;

const transactionRow = (row: ShownRow, names: readonly ColumnName[], mayPick: boolean): Html => {
  const { msspTransId: id } = row;
  return html`<tr role="row" data-id="${id}">${mayPick ? pickCell(id) : nothing}<th scope="row" role="rowheader" class="first nowrap">${linkTo('transactions', id)}</th>${names.map((name) => cell(columns[name], row))}</tr>`;
};

export const transactionTable = (
  caption: string,
  rows: readonly ShownRow[],
  names: readonly ColumnName[],
) =>
  html`<div class="scroll list">${cardTable(
    caption,
    ['Transaction', ...names.map((name) => columns[name].heading)],
    rows.map((row) => transactionRow(row, names, false)),
  )}</div>`;

/** The possible bulks for the filter: failed transactions are replayed, open ones cancelled. */
const possibleOrders = ({ session, read: { form } }: TransactionsModel): readonly BulkKind[] => {
  if (!includesRole(session.operator.role, 'operator')) return [];
  if (form.state === undefined) return ['replay', 'cancel'];
  if (form.state === 'failed') return ['replay'];
  return ['open', 'submitted', 'pending'].includes(form.state) ? ['cancel'] : [];
};

const orderWords = {
  replay: ['Replay', 'what has failed of these'],
  cancel: ['Cancel', 'what is open of these'],
} as const;

const listOf = ({ session, read: { form } }: TransactionsModel): ListPage => ({
  list: 'transactions',
  session,
  form,
});

const orders = (model: TransactionsModel): Html => {
  const { state } = model.read.form;
  const offered = possibleOrders(model).map((kind) => ({
    kind,
    verb: orderWords[kind][0],
    of: orderWords[kind][1],
    // A plan is for all failed or all open transactions, not for a single open state.
    isOfAll: state === undefined || state === 'failed' || state === 'open',
  }));
  return bulkOrders(listOf(model), 'state', offered);
};

/** The forms for export, columns and saved filters. */
const viewForms = (model: TransactionsModel): Html => {
  const { session, read } = model;
  const csrf = csrfField(session.csrf);
  const chosen = chosenColumns(session);
  const boxes = columnNames.map((name) => {
    const { heading } = columns[name];
    return html`<span class="choice"><input id="c-${name}" type="checkbox" name="column-${name}"${chosen.includes(name) ? html` checked` : ''}><label for="c-${name}">${typeof heading === 'string' ? heading : heading[0]}</label></span>`;
  });
  return html`<details id="view"><summary>Columns, saved filters, export</summary><div class="ask columns">
<form method="post" action="/admin/view">${csrf}${hiddenFields(read.form)}<input type="hidden" name="columns" value="1"><fieldset><legend>Columns</legend>${boxes}</fieldset><button class="plain small">Show these columns</button></form>
<div>${filterTools(listOf(model))}</div></div></details>`;
};

export const transactionsPage = (model: TransactionsModel): string => {
  const { session, read, rows, next, isFirst, notice } = model;
  const isWrong = Object.keys(read.problems).length > 0;
  const names = chosenColumns(session);
  const mayPick = possibleOrders(model).length > 0;
  const body = isWrong
    ? banner('bad', 'The filter cannot be read', 'Correct the marked fields.')
    : html`${viewForms(model)}${pagedList({
        path: '/admin/transactions',
        fields: read.form,
        isFirst,
        next,
        what: ['transaction'],
        total: model.total,
        action: orders(model),
        none: html`There are no transactions yet. Send one with the curl line that a start prints, or with <code>paraph sign &lt;number&gt; &quot;&lt;text&gt;&quot;</code>.`,
        caption: 'Transactions, newest first',
        headings: [
          ...(mayPick ? [pickAll] : []),
          'Transaction',
          ...names.map((name) => columns[name].heading),
        ],
        rows: rows.map((row) => transactionRow(row, names, mayPick)),
      })}`;
  return layOut({
    title: isWrong ? 'Error: Transactions' : 'Transactions',
    session,
    current: 'transactions',
    ...(!isWrong && { live: { everySeconds: 4 } }),
    main: html`<h1>Transactions</h1>
${noticeBanner(notice)}
${savedFilters(listOf(model))}
${filter(model)}
${body}`,
  });
};
