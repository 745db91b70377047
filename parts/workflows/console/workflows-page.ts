/** The list of workflows with its filter. */
import { html } from 'hono/html';
import type { ConsoleSession } from '../../../src/console/deps.ts';
import type { FormFields } from '../../../src/console/filter.ts';
import { includesRole } from '../../../src/console/operators/operator.ts';
import { filterFormOf } from '../../../src/console/pages/filter-form.ts';
import { layOut } from '../../../src/console/pages/layout.ts';
import {
  bulkOrders,
  filterTools,
  type ListOrder,
  type ListPage,
  pickAll,
  pickCell,
  savedFilters,
} from '../../../src/console/pages/list-tools.ts';
import { valueText } from '../../../src/console/pages/machine-chart.ts';
import {
  banner,
  type Html,
  linkTo,
  nothing,
  pagedList,
  timeOf,
} from '../../../src/console/pages/markup.ts';
import { type Notice, noticeBanner } from '../../../src/console/pages/notices.ts';
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
  readonly notice: Notice | undefined;
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

const listOf = ({ session, read: { form } }: WorkflowsModel): ListPage => ({
  list: 'workflows',
  session,
  form,
});

/** Failed instances are replayed; open ones are cancelled, or sent an event. */
const possibleOrders = ({ session, read: { form } }: WorkflowsModel): readonly ListOrder[] =>
  includesRole(session.operator.role, 'operator')
    ? (
        [
          ['replay', 'Replay', 'what has failed of these', 'failed'],
          ['cancel', 'Cancel', 'what is open of these', 'open'],
          ['send', 'Send an event to', 'what is open of these', 'open'],
        ] as const
      )
        .filter(([, , , status]) => form.status === undefined || form.status === status)
        .map(([kind, verb, of]) => ({ kind, verb, of, isOfAll: true }))
    : [];

const rowOf =
  (mayPick: boolean) =>
  ({ instanceId, id, name, version, status, state, apId, createdAt }: WorkflowRow): Html =>
    html`<tr role="row" data-id="${instanceId}">${mayPick ? pickCell(instanceId) : nothing}<th scope="row" role="rowheader" class="first">${linkTo('workflows', instanceId, id)}</th><td role="cell" class="second end">${statusMark(status)}</td><td role="cell" class="nowrap">${timeOf(createdAt)}</td><td role="cell">${name}<span class="sub">version ${version}</span></td><td role="cell">${apId || '—'}</td><td role="cell" class="code wide">${valueText(state)}</td></tr>`;

export const workflowsPage = (model: WorkflowsModel): string => {
  const { session, read, rows, next, isFirst, notice } = model;
  const orders = possibleOrders(model);
  const mayPick = orders.length > 0;
  const isWrong = Object.keys(read.problems).length > 0;
  const list = pagedList({
    path: '/admin/workflows',
    fields: read.form,
    isFirst,
    next,
    what: ['workflow'],
    none: html`There are no workflows yet. An application starts one by <code>POST /workflows/&lt;name&gt;</code>.`,
    caption: 'Workflows, newest first',
    action: bulkOrders(listOf(model), 'status', orders),
    headings: [
      ...(mayPick ? [pickAll] : []),
      ...['Workflow', 'Status', 'Started', 'Name', 'Application', 'State'],
    ],
    rows: rows.map(rowOf(mayPick)),
  });
  return layOut({
    title: isWrong ? 'Error: Workflows' : 'Workflows',
    session,
    current: 'workflows',
    ...(!isWrong && { live: { everySeconds: 5 } }),
    main: html`<h1>Workflows</h1>
${noticeBanner(notice)}
${savedFilters(listOf(model))}
${filter(model)}
${
  isWrong
    ? banner('bad', 'The filter cannot be read', 'Correct the marked fields.')
    : html`<details id="view"><summary>Saved filters, export</summary><div class="ask">${filterTools(listOf(model))}</div></details>${list}`
}`,
  });
};
