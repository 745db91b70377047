/** The list of workflows with its filter. */
import { html } from 'hono/html';
import { statuses } from '../../workflows/listing.ts';
import type { ConsoleSession } from '../deps.ts';
import { fieldTime } from '../filter.ts';
import { time } from '../input.ts';
import { seesPeople } from '../redaction.ts';
import type { WorkflowRow } from '../workflow-detail.ts';
import { layOut } from './layout.ts';
import { valueText } from './machine-chart.ts';
import { banner, counted, type Html, nothing, options, pagedList, timeOf } from './markup.ts';

export interface WorkflowsModel {
  readonly session: ConsoleSession;
  /** As written, without empty fields. */
  readonly form: Readonly<
    Partial<Record<'status' | 'name' | 'apId' | 'msisdn' | 'from' | 'to' | 'text', string>>
  >;
  /** What cannot be read: label and error of a field. */
  readonly problem: readonly [label: string, problem: string] | undefined;
  readonly rows: readonly WorkflowRow[];
  /** Of the next page. */
  readonly next: string | undefined;
  readonly isFirst: boolean;
  /** Of workflows, to choose from. */
  readonly names: readonly string[];
  readonly apIds: readonly string[];
}

const select = (name: string, label: string, choices: readonly string[], chosen: string | undefined): Html =>
  html`<div class="field"><label for="f-${name}">${label}</label><select id="f-${name}" name="${name}"><option value="">Any</option>${options(choices, chosen)}</select></div>`;

const input = (name: keyof WorkflowsModel['form'], label: string, value = '', more: Html = nothing): Html =>
  html`<div class="field"><label for="f-${name}">${label}</label><input id="f-${name}" name="${name}" autocomplete="off" spellcheck="false" value="${value}"${more}></div>`;

/** As browsers write it into a field. */
const timeField = (name: 'from' | 'to', label: string, written: string | undefined): Html => {
  const { data } = time.safeParse(written);
  return input(
    name,
    label,
    data === undefined ? '' : fieldTime(data),
    html` type="datetime-local" step="any"`,
  );
};

const filterForm = ({ session, form, names, apIds }: WorkflowsModel): Html =>
  html`<form class="filter" method="get" action="/admin/workflows" role="search" aria-label="Workflows"><div class="fields">
${select('status', 'Status', statuses, form.status)}
${select('name', 'Workflow', names, form.name)}
${input('apId', 'Application', form.apId, html` list="apIds"`)}
${
  seesPeople(session.operator.role) || form.msisdn !== undefined
    ? input('msisdn', 'Number of a signer', form.msisdn, html` inputmode="tel"`)
    : nothing
}
${input('text', 'Part of the id', form.text)}
<datalist id="apIds">${apIds.map((id) => html`<option value="${id}"></option>`)}</datalist>
<div class="actions"><button type="submit">Show</button>${Object.values(form).some(Boolean) ? html`<a href="/admin/workflows">All</a>` : nothing}</div></div>
<details id="more"${form.from === undefined && form.to === undefined ? '' : html` open`}><summary>Time</summary><div class="fields">
${timeField('from', 'Started from (UTC)', form.from)}
${timeField('to', 'until (UTC)', form.to)}
</div></details></form>`;

/** As the states of transactions are coloured. */
export const statusMark = (status: string): Html => {
  const kind = { open: 'running', completed: 'done', cancelled: 'stopped' }[status] ?? status;
  return html`<span class="state ${kind}">${status}</span>`;
};

const rowOf = ({ instanceId, id, name, version, status, state, apId, createdAt }: WorkflowRow): Html =>
  html`<tr role="row" data-id="${instanceId}"><th scope="row" role="rowheader" class="first"><a class="code" href="/admin/workflows/${encodeURIComponent(instanceId)}">${id}</a></th><td role="cell" class="second end">${statusMark(status)}</td><td role="cell" class="nowrap">${timeOf(createdAt)}</td><td role="cell">${name}<span class="sub">version ${version}</span></td><td role="cell">${apId || '—'}</td><td role="cell" class="code wide">${valueText(state)}</td></tr>`;

export const workflowsPage = (model: WorkflowsModel): string => {
  const { session, form, problem, rows, next, isFirst } = model;
  const list = pagedList({
    path: '/admin/workflows',
    fields: form,
    isFirst,
    next,
    summary: !isFirst
      ? 'Older workflows'
      : next === undefined
        ? counted(rows.length, 'workflow')
        : 'The newest',
    empty:
      rows.length > 0
        ? undefined
        : next === undefined
          ? 'Nothing is found by this filter.'
          : 'There are none on this page; look further back.',
    caption: 'Workflows, newest first',
    headings: ['Workflow', 'Status', 'Started', 'Name', 'Application', 'State'],
    rows: rows.map(rowOf),
  });
  return layOut({
    title: problem === undefined ? 'Workflows' : 'Error: Workflows',
    session,
    current: 'workflows',
    ...(problem === undefined && { live: { everySeconds: 5 } }),
    main: html`<h1>Workflows</h1>
${filterForm(model)}
${problem === undefined ? list : banner('bad', 'The filter cannot be read', problem.join(': '))}`,
  });
};
