/** One workflow: statechart, timeline across its children, journal and orders. */
import { html } from 'hono/html';
import { type AnyMachineSnapshot, type AnyStateMachine, getNextTransitions } from 'xstate';
import type { Workflow } from '../../../packages/engine/src/define.ts';
import { readAddress } from '../../../packages/engine/src/record.ts';
import type { ConsoleSession } from '../../../src/console/deps.ts';
import { includesRole } from '../../../src/console/operators/operator.ts';
import { layOut } from '../../../src/console/pages/layout.ts';
import {
  hasGuards,
  machineSvg,
  trailOf,
  valueText,
} from '../../../src/console/pages/machine-chart.ts';
import {
  csrfField,
  fullTime,
  type Html,
  linkTo,
  nothing,
  options,
  queryOf,
  reasonField,
  tiles,
  timeOf,
} from '../../../src/console/pages/markup.ts';
import { type Notice, noticeBanner } from '../../../src/console/pages/notices.ts';
import { shownText } from '../../../src/http/pages/shown-text/shown-text.js';
import type { HostedDetail } from '../hosted.ts';
import { type TreeNode, treeOf } from './children-tree.ts';
import { maxReason } from './failures.ts';
import { journalSection, lastFailure } from './journal-section.ts';
import { noReplayOfOne } from './refusal-words.ts';
import type { ShownChild, WorkflowDetail, WorkflowEvent } from './workflow-detail.ts';
import { statusMark } from './workflows-page.ts';

export interface WorkflowModel {
  readonly session: ConsoleSession;
  readonly detail: WorkflowDetail;
  /** What the part whose workflow it is adds to the page. */
  readonly hosted: HostedDetail | undefined;
  /** Undefined when no workflow of this name is configured any more. */
  readonly workflow: Workflow | undefined;
  readonly notice: Notice | undefined;
  /** The address of its job on the queue board. */
  readonly board: string;
  /** Whether the statecharts name the conditions of their transitions. */
  readonly guards: boolean;
}

const pathOf = ({ detail }: WorkflowModel): string =>
  `/admin/workflows/${encodeURIComponent(detail.instance.instanceId)}`;

const mayOrder = ({ session, detail }: WorkflowModel): boolean =>
  detail.isDefined &&
  detail.instance.status === 'open' &&
  includesRole(session.operator.role, 'operator');

const transactionLink = (msspTransId: string | undefined): Html =>
  msspTransId === undefined ? nothing : linkTo('transactions', msspTransId);

/** The chart of a child, below the table, because a cell is too narrow. */
const childChart = (
  { id, name, src, state }: ShownChild,
  { workflow, detail: { journal }, guards }: WorkflowModel,
): Html => {
  const part = workflow?.chart.parts.get(src);
  const chart = part?.kind === 'chart' ? part.chart : undefined;
  return chart === undefined
    ? nothing
    : html`<details id="child-${name}"><summary>Statechart of ${name}</summary>${machineSvg(chart.machine, state, trailOf(chart.machine, journal.entries, readAddress(id).path), guards)}</details>`;
};

const treeMarks = {
  open: 'running',
  completed: 'done',
  failed: 'failed',
  stopped: 'stopped',
} as const;

const transactionItem = ({ msspTransId, what }: TreeNode['transactions'][number]): Html =>
  html`<li class="branch">${linkTo('transactions', msspTransId)} <span class="quiet">${what}</span></li>`;

const treeItem = (
  { name, status, open, children, transactions }: TreeNode,
  model: WorkflowModel,
): Html => {
  const more =
    open === undefined
      ? nothing
      : html` <span class="code">${valueText(open.state)}</span>${open.nextAt === undefined ? nothing : html` <span class="quiet">next timer ${timeOf(open.nextAt)}</span>`}`;
  return html`<li class="branch"><span class="state ${treeMarks[status]}">${status}</span> <strong>${shownText(name)}</strong>${more}${
    open === undefined ? nothing : childChart(open, model)
  }${treeList({ children, transactions }, model)}</li>`;
};

const treeList = (
  { children, transactions }: Pick<TreeNode, 'children' | 'transactions'>,
  model: WorkflowModel,
): Html =>
  children.length + transactions.length === 0
    ? nothing
    : html`<ul class="tree">${children.map((child) => treeItem(child, model))}${transactions.map(transactionItem)}</ul>`;

const childrenSection = (model: WorkflowModel): Html => {
  const { children, journal, timeline } = model.detail;
  const tree = treeOf(children, journal.entries, timeline);
  return tree.children.length + tree.transactions.length === 0
    ? nothing
    : html`<section aria-labelledby="children"><h2 id="children">Children and transactions</h2>${treeList(tree, model)}</section>`;
};

/** Why it has failed, and the way to all that has failed alike. */
const failureSection = ({
  session,
  detail: { instance, journal, mayReplay, isDefined },
}: WorkflowModel): Html => {
  const { status, name, apId, reason } = instance;
  if (status !== 'failed') return nothing;
  const last = lastFailure(journal.entries);
  const like = { name, apId, failure: reason?.slice(0, maxReason) };
  const again = mayReplay
    ? html` · <a href="/admin/replays/workflows/plan${queryOf(like)}">Replay all that failed like this …</a>`
    : nothing;
  const why = mayReplay || !isDefined ? nothing : html`<p>${noReplayOfOne}</p>`;
  const links = includesRole(session.operator.role, 'operator')
    ? html`<p><a href="/admin/workflows${queryOf({ status: 'failed', ...like })}">Find all that failed like this</a>${again}</p>${why}`
    : nothing;
  return html`<section aria-labelledby="failure"><h2 id="failure">Why it failed</h2>${
    reason === undefined ? nothing : html`<p class="said stands">${shownText(reason)}</p>`
  }${
    last === undefined
      ? nothing
      : html`<p>The activity <strong>${shownText(last.name)}</strong> failed in try ${last.tries}${last.error.name === '' ? '' : `: ${last.error.name}`}${last.error.code === undefined ? '' : ` (${last.error.code})`}. <a href="#journal">See the journal</a></p>`
  }${links}</section>`;
};

const kindOf = (what: string): 'signed' | 'failed' | undefined => {
  if (/^(Signed|Ended: completed)/.test(what)) return 'signed';
  return /^(Not signed|Ended)/.test(what) ? 'failed' : undefined;
};

const timelineItem = (
  { at, what, who, msspTransId, reason }: WorkflowEvent,
  hosted: HostedDetail | undefined,
): Html => {
  const kind = kindOf(what) ?? hosted?.kindOf(what) ?? 'pending';
  return html`<li class="${kind}"><p><strong>${what}</strong>${who === undefined ? nothing : html` ${shownText(who)}`} ${transactionLink(msspTransId)}</p>${
    reason === undefined ? nothing : html`<p>“${shownText(reason)}”</p>`
  }<p><span class="attempt">${timeOf(at, fullTime(at))}</span></p></li>`;
};

/** Whether the chart takes CANCEL in its current state. A chart without CANCEL is stopped. */
const takesCancel = ({ detail, workflow }: WorkflowModel): boolean => {
  const { state: value } = detail.instance;
  const machine = workflow?.chart.machine;
  if (value === undefined || !machine?.events.includes('CANCEL')) return true;
  try {
    const snapshot = machine.resolveState({ value } as Parameters<typeof machine.resolveState>[0]);
    return getNextTransitions(snapshot as AnyMachineSnapshot).some(({ eventType }) =>
      ['CANCEL', '*'].includes(eventType),
    );
  } catch {
    // Other programs may have written the state.
    return true;
  }
};

const cancelForm = (model: WorkflowModel): Html =>
  mayOrder(model) && takesCancel(model)
    ? html`<details id="cancel"><summary>Cancel …</summary><form class="ask narrow" method="post" action="${pathOf(model)}/cancel">${csrfField(model.session.csrf)}
${reasonField('cancel-reason', true, 'It is kept in the audit log, and the application sees it.')}
<button type="submit" class="danger">Cancel the workflow</button></form></details>`
    : nothing;

/** The events that the chart takes from outside, in any state. The chart decides at each event. */
const eventTypes = ({ workflow }: WorkflowModel): readonly string[] =>
  (workflow?.chart.machine.events ?? []).filter((type) => {
    if (type.includes('*')) return false;
    // Other members may be missing.
    const { error } = workflow?.parseEvent({ type }) ?? {};
    return !error?.issues.some(({ path = [] }) => path[0] === 'type');
  });

const sendForm = (model: WorkflowModel): Html => {
  const types = eventTypes(model);
  return mayOrder(model) && types.length > 0
    ? html`<details id="send"><summary>Send an event …</summary><form class="ask narrow" method="post" action="${pathOf(model)}/events">${csrfField(model.session.csrf)}
<div class="field"><label for="event-type">Event</label><select id="event-type" name="type">${options(types, undefined)}</select></div>
<div class="field"><label for="event-data">Other members (optional)</label><textarea id="event-data" name="data" class="code" spellcheck="false" aria-describedby="event-data-hint"></textarea><span class="hint" id="event-data-hint">A JSON object, such as {"amount": 5}.</span></div>
${reasonField('send-reason', false, 'It is kept in the audit log.')}
<button type="submit">Send the event</button></form></details>`
    : nothing;
};

const replayForm = (model: WorkflowModel): Html =>
  model.detail.mayReplay && includesRole(model.session.operator.role, 'operator')
    ? html`<details id="replay"><summary>Run again …</summary><form class="ask narrow" method="post" action="${pathOf(model)}/replay">${csrfField(model.session.csrf)}
${reasonField('replay-reason', false, 'It is kept in the audit log.')}
<button type="submit">Run the workflow again</button></form></details>`
    : nothing;

const hostedSection = (model: WorkflowModel): Html =>
  model.hosted?.section({
    path: pathOf(model),
    session: model.session,
    mayOrder: mayOrder(model),
  }) ?? nothing;

const contextSection = ({ hosted, detail: { context } }: WorkflowModel): Html =>
  hosted !== undefined || context === undefined
    ? nothing
    : html`<section aria-labelledby="context"><h2 id="context">Context</h2><pre class="said code">${JSON.stringify(context, undefined, 2)}</pre></section>`;

const guardsLink = (model: WorkflowModel, machine: AnyStateMachine): Html => {
  if (!hasGuards(machine)) return nothing;
  const to = model.guards ? pathOf(model) : `${pathOf(model)}?guards=shown`;
  return html`<p><a href="${to}#life">${model.guards ? 'Hide' : 'Show'} the conditions of transitions</a></p>`;
};

export const workflowPage = (model: WorkflowModel): string => {
  const { session, detail, hosted, workflow, notice, guards } = model;
  const { instanceId, id, name, version, status, state, apId, createdAt, endedAt, reason } =
    detail.instance;
  const { next } = detail;
  return layOut({
    title: `${status} · ${id}`,
    session,
    current: 'workflows',
    live: { everySeconds: status === 'open' ? 5 : 60 },
    main: html`<p><a href="/admin/workflows">Workflows</a></p>
<h1 class="id">${id}</h1>
${noticeBanner(notice)}
<p class="unseen" role="status" data-region="said">Now ${status}, ${valueText(state)}.</p>
<div data-region="standing">${tiles(
      ['Status', statusMark(status), status === 'failed' ? '' : shownText(reason ?? '')],
      ['Workflow', name, `version ${version}`],
      ['Application', html`<small>${apId || '—'}</small>`],
      ['Started', html`<small>${timeOf(createdAt)}</small>`],
      endedAt === undefined ? undefined : ['Ended', html`<small>${timeOf(endedAt)}</small>`],
      next === undefined || status !== 'open'
        ? undefined
        : ['Next timer', html`<small>${timeOf(next.at)}</small>`, next.name],
    )}</div>
<div data-region="failure">${failureSection(model)}</div>
<div data-region="actions">${sendForm(model)}${replayForm(model)}${cancelForm(model)}</div>
<div data-region="people">${hostedSection(model)}</div>
<div class="columns main">
<section aria-labelledby="life" data-region="life"><h2 id="life">Statechart</h2>${
      workflow === undefined
        ? html`<p>The service has no definition of this workflow: no file of <code>workflows</code> in its configuration exports it. Its instances wait until one does, and take no orders.</p>`
        : html`${machineSvg(
            workflow.chart.machine,
            state,
            trailOf(workflow.chart.machine, detail.journal.entries),
            guards,
          )}${guardsLink(model, workflow.chart.machine)}`
    }</section>
<section aria-labelledby="past" data-region="past"><h2 id="past">Timeline</h2>
<ol class="timeline">${detail.timeline.map((event) => timelineItem(event, hosted))}</ol><p><a href="${model.board}">Its jobs on the queue board</a></p>${
      includesRole(session.operator.role, 'operator')
        ? html`<p><a href="/admin/audit?target=${encodeURIComponent(instanceId)}">Audit entries of this workflow</a></p>`
        : nothing
    }</section>
</div>
<div data-region="children">${childrenSection(model)}${contextSection(model)}</div>
<div data-region="journal">${journalSection(detail.journal)}</div>`,
  });
};
