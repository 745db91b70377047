/** The list of workflows with its filter. */
import { html } from 'hono/html';
import { statuses } from '../../workflows/listing.ts';
import type { ConsoleSession } from '../deps.ts';
import type { WorkflowRow } from '../workflow-detail.ts';
import { layOut } from './layout.ts';
import { valueText } from './machine-chart.ts';
import { banner, counted, type Html, nothing, options, pagedList, timeOf } from './markup.ts';

export interface WorkflowsModel {
  readonly session: ConsoleSession;
  readonly form: {
    readonly status?: string | undefined;
    readonly name?: string | undefined;
    readonly apId?: string | undefined;
  };
  readonly isWrong: boolean;
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

const filterForm = ({ form, names, apIds }: WorkflowsModel): Html =>
  html`<form class="filter" method="get" action="/admin/workflows" role="search" aria-label="Workflows"><div class="fields">
${select('status', 'Status', statuses, form.status)}
${select('name', 'Workflow', names, form.name)}
<div class="field"><label for="f-apId">Application</label><input id="f-apId" name="apId" type="text" autocomplete="off" spellcheck="false" list="apIds" value="${form.apId ?? ''}"></div>
<datalist id="apIds">${apIds.map((id) => html`<option value="${id}"></option>`)}</datalist>
<div class="actions"><button type="submit">Show</button>${Object.values(form).some(Boolean) ? html`<a href="/admin/workflows">All</a>` : nothing}</div></div></form>`;

/** As the states of transactions are coloured. */
export const statusMark = (status: string): Html => {
  const kind = { open: 'running', completed: 'done', cancelled: 'stopped' }[status] ?? status;
  return html`<span class="state ${kind}">${status}</span>`;
};

const rowOf = ({ instanceId, id, name, version, status, state, apId, createdAt }: WorkflowRow): Html =>
  html`<tr role="row" data-id="${instanceId}"><th scope="row" role="rowheader" class="first"><a class="code" href="/admin/workflows/${encodeURIComponent(instanceId)}">${id}</a></th><td role="cell" class="second end">${statusMark(status)}</td><td role="cell" class="nowrap">${timeOf(createdAt)}</td><td role="cell">${name}<span class="sub">version ${version}</span></td><td role="cell">${apId || '—'}</td><td role="cell" class="code wide">${valueText(state)}</td></tr>`;

export const workflowsPage = (model: WorkflowsModel): string => {
  const { session, form, isWrong, rows, next, isFirst } = model;
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
    title: isWrong ? 'Error: Workflows' : 'Workflows',
    session,
    current: 'workflows',
    ...(!isWrong && { live: { everySeconds: 5 } }),
    main: html`<h1>Workflows</h1>
${filterForm(model)}
${isWrong ? banner('bad', 'The filter cannot be read', 'Choose a status from the list.') : list}`,
  });
};
