/** The list of workflows with its filter. */
import { html } from 'hono/html';
import type { ConsoleSession } from '../../../src/console/deps.ts';
import type { FormFields } from '../../../src/console/filter.ts';
import { filterFormOf } from '../../../src/console/pages/filter-form.ts';
import { layOut } from '../../../src/console/pages/layout.ts';
import { valueText } from '../../../src/console/pages/machine-chart.ts';
import { banner, type Html, linkTo, pagedList, timeOf } from '../../../src/console/pages/markup.ts';
import { instanceFields } from '../instance-fields.ts';
import type { WorkflowRow } from './workflow-detail.ts';

export interface WorkflowsModel {
  readonly session: ConsoleSession;
  readonly read: FormFields<keyof typeof instanceFields>;
  readonly rows: readonly WorkflowRow[];
  /** The cursor of the next page. */
  readonly next: string | undefined;
  readonly isFirst: boolean;
  /** The names of workflows to choose from. */
  readonly names: readonly string[];
  readonly apIds: readonly string[];
}

const filter = ({ session, read, names, apIds }: WorkflowsModel): Html =>
  filterFormOf({ path: '/admin/workflows', label: 'Workflows' }, instanceFields, read, session, {
    suggested: { apId: apIds },
    choices: { name: names },
  });

/** The mark of a status, with the colours of the states of transactions. */
export const statusMark = (status: string): Html => {
  const kind = { open: 'running', completed: 'done', cancelled: 'stopped' }[status] ?? status;
  return html`<span class="state ${kind}">${status}</span>`;
};

const rowOf = ({
  instanceId,
  id,
  name,
  version,
  status,
  state,
  apId,
  createdAt,
}: WorkflowRow): Html =>
  html`<tr role="row" data-id="${instanceId}"><th scope="row" role="rowheader" class="first">${linkTo('workflows', instanceId, id)}</th><td role="cell" class="second end">${statusMark(status)}</td><td role="cell" class="nowrap">${timeOf(createdAt)}</td><td role="cell">${name}<span class="sub">version ${version}</span></td><td role="cell">${apId || '—'}</td><td role="cell" class="code wide">${valueText(state)}</td></tr>`;

export const workflowsPage = (model: WorkflowsModel): string => {
  const { session, read, rows, next, isFirst } = model;
  const isWrong = Object.keys(read.problems).length > 0;
  const list = pagedList({
    path: '/admin/workflows',
    fields: read.form,
    isFirst,
    next,
    what: ['workflow'],
    none: html`There are no workflows yet. An application starts one by <code>POST /workflows/&lt;name&gt;</code>.`,
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
${filter(model)}
${isWrong ? banner('bad', 'The filter cannot be read', 'Correct the marked fields.') : list}`,
  });
};
