/** The list of transactions with its filter. */
import { html } from 'hono/html';
import { includesRole } from '../../operators/operator.ts';
import { faultCodes, faultTable } from '../../protocol/fault.ts';
import { profileNames } from '../../protocol/requests.ts';
import type { ConsoleSession } from '../deps.ts';
import { type FilterField, type ReadFilter, states } from '../filter.ts';
import { type ShownRow, seesPeople } from '../redaction.ts';
import { layOut } from './layout.ts';
import {
  banner,
  count,
  counted,
  duration,
  type Html,
  nothing,
  options,
  pagedList,
  queryOf,
  timeOf,
} from './markup.ts';

export interface TransactionsModel {
  readonly session: ConsoleSession;
  readonly read: ReadFilter;
  /** As the role may see them. */
  readonly rows: readonly ShownRow[];
  readonly total: number | undefined;
  /** Of the next page. */
  readonly next: string | undefined;
  readonly isFirst: boolean;
  /** AP_IDs to choose from. */
  readonly apIds: readonly string[];
}

const field = (
  { form, problems }: ReadFilter,
  name: FilterField,
  label: string,
  control: (attributes: Html, value: string) => Html,
): Html => {
  const problem = problems[name];
  const attributes = html`id="f-${name}" name="${name}"${
    problem === undefined ? '' : html` aria-invalid="true" aria-describedby="e-${name}"`
  }`;
  return html`<div class="field"><label for="f-${name}">${label}</label>${control(attributes, form[name] ?? '')}${
    problem === undefined ? '' : html`<p class="error" id="e-${name}">${problem}</p>`
  }</div>`;
};

const input =
  (type: string, more: Html = nothing) =>
  (attributes: Html, value: string): Html =>
    html`<input ${attributes} type="${type}" value="${value}"${more}>`;

type Choice = readonly [value: string, label: string];

const select =
  (choices: readonly Choice[]) =>
  (attributes: Html, value: string): Html => {
    const known = value === '' || choices.some(([choice]) => choice === value);
    const all = known ? choices : [...choices, [value, value] as const];
    return html`<select ${attributes}><option value="">Any</option>${options(all, value)}</select>`;
  };

const stateChoices: readonly Choice[] = [
  ['open', 'open (submitted or pending)'],
  ...states.map((state) => [state, state] as const),
];
const faultChoices = faultCodes.map((code): Choice => [String(code), `${code} ${faultTable[code].reason}`]);
const profileChoices = profileNames.map((name): Choice => [name, name]);

const filterForm = ({ session, read, apIds }: TransactionsModel): Html => {
  const rare = (['profile', 'attemptsAtMost', 'from', 'to'] as const).some(
    (name) => read.form[name] !== undefined,
  );
  const spelling = html` autocomplete="off" spellcheck="false"`;
  return html`<form class="filter" method="get" action="/admin/transactions" role="search" aria-label="Transactions">
<div class="fields">
${field(read, 'state', 'State', select(stateChoices))}
${field(read, 'fault', 'Fault', select(faultChoices))}
${field(read, 'apId', 'Application', input('text', html`${spelling} list="apIds"`))}
${
  seesPeople(session.operator.role) || read.form.msisdn !== undefined
    ? field(read, 'msisdn', 'Number', input('text', html`${spelling} inputmode="tel"`))
    : nothing
}
${field(read, 'text', 'Part of a transaction id', input('text', spelling))}
</div>
<datalist id="apIds">${apIds.map((id) => html`<option value="${id}"></option>`)}</datalist>
<details id="more"${rare ? html` open` : ''}><summary>Profile, attempts, time</summary><div class="fields">
${field(read, 'profile', 'Profile', select(profileChoices))}
${field(read, 'attemptsAtMost', 'Attempts at most', input('number', html` min="1" max="999"`))}
${field(read, 'from', 'Submitted from (UTC)', input('datetime-local', html` step="any"`))}
${field(read, 'to', 'until (UTC)', input('datetime-local', html` step="any"`))}
</div></details>
<div class="actions"><button type="submit">Show</button>${
    Object.keys(read.form).length === 0 ? nothing : html`<a href="/admin/transactions">All transactions</a>`
  }</div>
</form>`;
};

const faultCell = ({ fault }: ShownRow): Html =>
  fault === undefined
    ? html`<td role="cell" class="wide"></td>`
    : html`<td class="wide" role="cell"><span class="nowrap">${fault.code} ${fault.reason}</span>${
        fault.detail === undefined ? '' : html`<span class="sub">${fault.detail}</span>`
      }</td>`;

const transactionRow = (row: ShownRow): Html => {
  const { msspTransId, apId, apTransId, msisdn, state, attempt, submittedAt, endedAt, tookMs } = row;
  const took =
    tookMs === undefined
      ? endedAt === undefined
        ? html`<span class="quiet">open</span>`
        : nothing
      : html`${duration(tookMs)}`;
  const path = `/admin/transactions/${encodeURIComponent(msspTransId)}`;
  return html`<tr role="row" data-id="${msspTransId}"><th scope="row" role="rowheader" class="nowrap first"><a href="${path}">${timeOf(submittedAt)}</a></th><td role="cell" class="wide"><span>${apId || '—'}</span><span class="sub code">${apTransId}</span></td><td role="cell" class="nowrap">${msisdn}</td><td role="cell" class="second end"><span class="state ${state}">${state}</span></td>${faultCell(row)}<td role="cell" class="number" data-label="attempt">${attempt}</td><td role="cell" class="number nowrap">${took}</td></tr>`;
};

const summary = ({ rows, total, isFirst, next }: TransactionsModel): string => {
  if (total !== undefined) return counted(total, 'transaction');
  if (!isFirst) return 'Older transactions';
  return next === undefined ? counted(rows.length, 'transaction') : `The newest ${count(rows.length)}`;
};

const bulkLink = ({ session, read }: TransactionsModel): Html => {
  const { state } = read.form;
  const isPossible = includesRole(session.operator.role, 'operator') && (!state || state === 'failed');
  if (!isPossible) return nothing;
  const { state: _, ...form } = read.form;
  return html`<a class="button plain" href="/admin/replays/plan${queryOf(form)}">${
    state === undefined ? 'Replay what has failed of these …' : 'Replay what this filter shows …'
  }</a>`;
};

export const transactionsPage = (model: TransactionsModel): string => {
  const { session, read, rows, next, isFirst } = model;
  const isWrong = Object.keys(read.problems).length > 0;
  const body = isWrong
    ? banner('bad', 'The filter cannot be read', 'Correct the marked fields.')
    : pagedList({
        path: '/admin/transactions',
        fields: read.form,
        isFirst,
        next,
        summary: summary(model),
        action: bulkLink(model),
        empty: rows.length === 0 && next === undefined ? 'Nothing is found by this filter.' : undefined,
        caption: 'Transactions, newest first',
        headings: [
          'Time',
          'Application',
          'Number',
          'State',
          'Fault',
          ['Attempt', 'number'],
          ['Duration', 'number'],
        ],
        rows: rows.map(transactionRow),
      });
  return layOut({
    title: isWrong ? 'Error: Transactions' : 'Transactions',
    session,
    current: 'transactions',
    ...(!isWrong && { live: { everySeconds: 4 } }),
    main: html`<h1>Transactions</h1>
${filterForm(model)}
${body}`,
  });
};
