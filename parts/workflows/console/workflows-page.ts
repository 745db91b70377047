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
  cardTable,
  count,
  type Html,
  linkTo,
  nothing,
  pagedList,
  queryOf,
  timeOf,
} from '../../../src/console/pages/markup.ts';
import { type Notice, noticeBanner } from '../../../src/console/pages/notices.ts';
import { seesPeople } from '../../../src/console/redaction.ts';
import { shownText } from '../../../src/http/pages/shown-text/shown-text.js';
import { namesOf } from '../../../src/transactions/history/fields.ts';
import { instanceFields } from '../instance-fields.ts';
import { type FailureGroup, type Failures, maxReason } from './failures.ts';
import { noReplay } from './refusal-words.ts';
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
  /** What has failed by this filter; undefined where it does not ask for failures. */
  readonly failures: Failures | undefined;
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

const mayOrder = ({ session }: WorkflowsModel): boolean =>
  includesRole(session.operator.role, 'operator');

/** Whether it is known that nothing of what the page shows can run again. */
const isOver = ({ failures }: WorkflowsModel): boolean =>
  failures?.isWhole === true && failures.failures.every(({ mayReplay }) => !mayReplay);

/** Failed instances are replayed; open ones are cancelled, or sent an event. */
const possibleOrders = (model: WorkflowsModel): readonly ListOrder[] => {
  const { form } = model.read;
  return mayOrder(model)
    ? (
        [
          ['replay', 'Replay', 'what has failed of these', 'failed'],
          ['cancel', 'Cancel', 'what is open of these', 'open'],
          ['send', 'Send an event to', 'what is open of these', 'open'],
        ] as const
      )
        .filter(([, , , status]) => form.status === undefined || form.status === status)
        .filter(([kind]) => kind !== 'replay' || !isOver(model))
        .map(([kind, verb, of]) => ({ kind, verb, of, isOfAll: true }))
    : [];
};

/** Longer reasons are cut in lists; the page of an instance has the whole. */
const shownReason = (reason: string): string => {
  const letters = [...reason];
  return shownText(letters.length > 160 ? `${letters.slice(0, 159).join('')}…` : reason);
};

/** Further reasons are counted together. */
const maxGroups = 10;

const groupRow = (
  model: WorkflowsModel,
  { name, reason, number, mayReplay }: FailureGroup,
): Html => {
  const { status: _, ...others } = model.read.form;
  const alike = { ...others, name, failure: reason?.slice(0, maxReason) ?? others.failure };
  // In the order of the fields, as the form writes it.
  const fields = Object.fromEntries(
    namesOf(instanceFields).map((field) => [field, alike[field as keyof typeof alike]]),
  );
  const order =
    mayReplay && mayOrder(model)
      ? html` · <a href="/admin/replays/workflows/plan${queryOf(fields)}">Replay …</a>`
      : nothing;
  return html`<tr role="row"><td role="cell" class="number first">${count(number)}</td><td role="cell" class="wide">${reason === undefined ? '—' : shownReason(reason)}</td><td role="cell">${name}</td><td role="cell" class="nowrap end"><a href="/admin/workflows${queryOf({ ...fields, status: 'failed' })}">Show</a>${order}</td></tr>`;
};

const failuresSection = (model: WorkflowsModel): Html => {
  const { failures: counted } = model;
  if (counted === undefined || counted.found === 0) return nothing;
  const { failures, found, isWhole } = counted;
  const rest = failures.slice(maxGroups);
  const others = rest.reduce((sum, { number }) => sum + number, 0);
  const over = mayOrder(model) && isOver(model) ? html`<p>${noReplay}</p>` : nothing;
  return html`<section aria-labelledby="failures" class="above"><h2 id="failures">Failures by reason</h2>
${isWhole ? nothing : html`<p class="quiet">The newest ${count(found)} are counted.</p>`}
${cardTable(
  'Failures by reason',
  [['Number', 'number'], 'Reason', 'Name', ['What to do', 'unseen']],
  failures.slice(0, maxGroups).map((group) => groupRow(model, group)),
)}
${rest.length === 0 ? nothing : html`<p>${count(others)} for ${count(rest.length)} other reasons. A part of a reason in the filter narrows the list.</p>`}${over}</section>`;
};

const rowOf =
  (mayPick: boolean, sees: boolean) =>
  ({ instanceId, id, name, version, status, state, apId, createdAt, reason }: WorkflowRow): Html =>
    html`<tr role="row" data-id="${instanceId}">${mayPick ? pickCell(instanceId) : nothing}<th scope="row" role="rowheader" class="first">${linkTo('workflows', instanceId, id)}</th><td role="cell" class="second end">${statusMark(status)}</td><td role="cell" class="nowrap">${timeOf(createdAt)}</td><td role="cell">${name}<span class="sub">version ${version}</span></td><td role="cell">${apId || '—'}</td><td role="cell" class="code wide">${valueText(state)}</td>${sees ? html`<td role="cell" class="wide">${shownReason(reason ?? '')}</td>` : nothing}</tr>`;

export const workflowsPage = (model: WorkflowsModel): string => {
  const { session, read, rows, next, isFirst, notice } = model;
  const orders = possibleOrders(model);
  const mayPick = orders.length > 0;
  // The reason is a text of the person who has cancelled it, or of the chart.
  const sees = seesPeople(session.operator.role);
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
      ...(sees ? ['Reason'] : []),
    ],
    rows: rows.map(rowOf(mayPick, sees)),
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
    : html`<details id="view"><summary>Saved filters, export</summary><div class="ask">${filterTools(listOf(model))}</div></details><div data-region="failures">${failuresSection(model)}</div>${list}`
}`,
  });
};
