/**
 * Callbacks: the dead ones, those that are tried again, and those of one transaction on its page.
 */
import { html } from 'hono/html';
import type { ConsoleSession } from '../../src/console/deps.ts';
import { includesRole } from '../../src/console/operators/operator.ts';
import { createFields, filterForm, listOf } from '../../src/console/pages/filter-form.ts';
import { layOut } from '../../src/console/pages/layout.ts';
import {
  cardTable,
  count,
  csrfField,
  fullTime,
  type Html,
  hiddenFields,
  linkTo,
  nothing,
  pagedList,
  queryOf,
  timeOf,
} from '../../src/console/pages/markup.ts';
import { type Notice, noticeBanner } from '../../src/console/pages/notices.ts';
import { type CallbackRow, stateWords } from './callback-row.ts';
import type { FailingReceiver, FailingReceivers } from './receivers.ts';

/** The order that one takes: a replay when it is dead, a try when it waits. @param more Hidden fields. */
const orderForm = (
  { operator, csrf }: ConsoleSession,
  { id, event, state, nextTryAt }: CallbackRow,
  more: Html = nothing,
): Html => {
  if (!includesRole(operator.role, 'operator')) return nothing;
  const isWaiting = state === 'waiting' && nextTryAt !== undefined;
  if (state !== 'dead' && !isWaiting) return nothing;
  const [kind, verb] = isWaiting ? ['try', 'Try now'] : ['replay', 'Replay'];
  return html`<form method="post" action="/admin/callbacks/${encodeURIComponent(id)}/${kind}">${csrfField(csrf)}${more}<button type="submit" class="plain small" id="${kind}-${id}">${verb}<span class="unseen">: the callback “${event}”</span></button></form>`;
};

/** The state in words: one that waits after a failed try is not well. */
const stateMark = ({ state, tries }: CallbackRow): Html =>
  html`<span class="state ${state}">${stateWords({ state, tries })}</span>`;

const ofTransaction = (session: ConsoleSession, callback: CallbackRow): Html => {
  const { event, attempt, tries, problem, triedAt, nextTryAt } = callback;
  const last = triedAt === undefined ? nothing : timeOf(triedAt, fullTime(triedAt).slice(0, 19));
  const next =
    nextTryAt === undefined
      ? nothing
      : html`<span class="sub">next try ${timeOf(nextTryAt)}</span>`;
  return html`<tr role="row"><th scope="row" role="rowheader" class="first">${event}<span class="sub">attempt ${attempt}</span></th><td role="cell" class="second end">${stateMark(callback)}</td><td role="cell" class="number" data-label="tries">${tries}</td><td role="cell">${last}${next}</td><td role="cell" class="wide">${problem ?? ''}</td><td role="cell" class="end">${orderForm(session, callback)}</td></tr>`;
};

/**
 * The section on the page of a transaction; empty for an application without callbacks.
 *
 * @param host The host of the application's callback.
 */
export const callbacksSection = (
  session: ConsoleSession,
  callbacks: readonly CallbackRow[],
  host: string | undefined,
): Html => {
  if (callbacks.length === 0 && host === undefined) return nothing;
  return html`<section aria-labelledby="callbacks"><h2 id="callbacks">Callbacks</h2>
<p class="quiet">${host === undefined ? 'The application has no callback any more.' : html`To <span class="code">${host}</span>`}</p>
${
  callbacks.length === 0
    ? html`<p class="quiet">There is no callback yet.</p>`
    : cardTable(
        'Callbacks of this transaction',
        ['End', 'State', ['Tries', 'number'], 'Last try', 'Problem', ['Order', 'unseen']],
        callbacks.map((callback) => ofTransaction(session, callback)),
      )
}</section>`;
};

export interface CallbacksModel {
  readonly session: ConsoleSession;
  /** The shown list. */
  readonly state: 'dead' | 'retried';
  /** The counts of all applications, and by receiver. */
  readonly failing: FailingReceivers;
  /** The text of the filter; empty for none. */
  readonly apId: string;
  readonly rows: readonly CallbackRow[];
  /** The cursor of the next page. */
  readonly next: string | undefined;
  readonly isFirst: boolean;
  /** AP_IDs to choose from. */
  readonly apIds: readonly string[];
  readonly notice: Notice | undefined;
}

/** The subject of a callback: a transaction, or a process. */
const subject = ({
  msspTransId = '',
  apTransId,
  process,
  instanceId = '',
  event,
  attempt,
  step,
  key,
}: CallbackRow): Html =>
  process === undefined
    ? html`${linkTo('transactions', msspTransId)}<span class="sub">${apTransId}</span><span class="sub">${event}, attempt ${attempt}</span>`
    : html`${linkTo('workflows', instanceId, process)}<span class="sub">${[event, step, key].filter(Boolean).join(', ')}</span>`;

/** The differences between the two lists. */
const lists = {
  dead: {
    title: 'Dead callbacks',
    intro:
      'These callbacks have failed at their last try, and are not tried again by themselves. All other callbacks of transactions are on the pages of these.',
    what: 'dead callback',
    caption: 'Dead callbacks, newest first',
    first: 'Dead since',
    kind: 'replay',
  },
  retried: {
    title: 'Callbacks that are tried again',
    intro:
      'These callbacks have failed and are tried again by themselves, the last time some 17 hours after the first. When the receiver is not mended by then, they are dead.',
    what: 'failing callback',
    caption: 'Callbacks that are tried again, the longest pause first',
    first: 'Next try',
    kind: 'try',
  },
} as const;

/** What the lists say when they are empty. */
const none = {
  dead: html`No callback is dead. See <a href="/admin/callbacks?state=retried">those that have failed and are tried again</a>; all of a transaction are on its page.`,
  retried: html`No callback is being tried again. Those that are given up are <a href="/admin/callbacks">here</a>; all of a transaction are on its page.`,
} as const;

const callbackRow = (model: CallbacksModel, callback: CallbackRow): Html => {
  const { session, apId, state } = model;
  const { id, tries, problem, endedAt, triedAt = 0, nextTryAt, host } = callback;
  const at = state === 'dead' ? triedAt : nextTryAt;
  const last =
    state === 'dead' ? nothing : html`<span class="sub">last try ${timeOf(triedAt)}</span>`;
  return html`<tr role="row" data-id="${id}"><th scope="row" role="rowheader" class="nowrap first">${at === undefined ? 'now' : timeOf(at)}</th><td role="cell" class="wide"><span>${callback.apId}</span><span class="sub code">${host ?? 'no callback any more'}</span></td><td role="cell" class="nowrap" data-label="event at">${timeOf(endedAt)}</td><td role="cell" class="wide">${subject(callback)}</td><td role="cell" class="wide">${problem ?? ''}${last}</td><td role="cell" class="number" data-label="tries">${tries}</td><td role="cell" class="end">${orderForm(session, callback, hiddenFields({ list: apId }))}</td></tr>`;
};

const receiverRow = ({
  apId,
  host,
  retried,
  dead,
  problems,
  advice,
  oldestAt,
  nextTryAt,
}: FailingReceiver): Html =>
  html`<tr role="row"><th scope="row" role="rowheader" class="first"><span>${apId}</span><span class="sub code">${host ?? 'no callback any more'}</span></th><td role="cell" class="number" data-label="tried again">${count(retried)}</td><td role="cell" class="number" data-label="dead">${count(dead)}</td><td role="cell" class="wide">${Object.entries(
    problems,
  )
    .slice(0, 3)
    .map(([problem, number]) => (number === retried + dead ? problem : `${problem} (${number})`))
    .join(
      ', ',
    )}${advice === undefined ? nothing : html`<span class="sub">${advice}</span>`}</td><td role="cell" class="nowrap" data-label="oldest">${timeOf(oldestAt)}</td><td role="cell" class="nowrap" data-label="next try">${nextTryAt === undefined ? '—' : timeOf(nextTryAt)}</td></tr>`;

const receiversSection = ({ failing: { receivers, isWhole } }: CallbacksModel): Html =>
  receivers.length === 0
    ? nothing
    : html`<section aria-labelledby="receivers" class="above"><h2 id="receivers">By receiver</h2>
${isWhole ? nothing : html`<p class="quiet">The newest of both lists are counted.</p>`}
<div class="scroll">${cardTable(
        'Failing callbacks by receiver',
        [
          'Receiver',
          ['Tried again', 'number'],
          ['Dead', 'number'],
          'Problem',
          'Oldest event',
          'Next try',
        ],
        receivers.map(receiverRow),
      )}</div></section>`;

const switchOf = ({ state, apId, failing }: CallbacksModel): Html => {
  const link = (to: CallbacksModel['state'], text: string): Html =>
    to === state
      ? html`<strong aria-current="true">${text}</strong>`
      : html`<a href="/admin/callbacks${queryOf({ state: to === 'dead' ? undefined : to, apId })}">${text}</a>`;
  return html`<p data-region="lists">${link('dead', `Dead (${count(failing.dead)})`)} · ${link('retried', `Tried again (${count(failing.retried)})`)}</p>`;
};

export const callbacksPage = (model: CallbacksModel): string => {
  const { session, state, apId, rows, next, isFirst, notice } = model;
  const { title, intro, what, caption, first, kind } = lists[state];
  const mayOrder = rows.length > 0 && includesRole(session.operator.role, 'operator');
  const [verb, end] = kind === 'try' ? ['Try', ' now'] : ['Replay', ''];
  const fields = { apId, state: state === 'dead' ? undefined : state };
  return layOut({
    title,
    session,
    current: 'callbacks',
    live: { everySeconds: 15 },
    main: html`<div class="head"><h1>${title}</h1>${switchOf(model)}</div>
${noticeBanner(notice)}
<p class="quiet">${intro}</p>
<div data-region="receivers">${receiversSection(model)}</div>
${filterForm(
  { path: '/admin/callbacks', label: title, all: 'Of all applications' },
  { apId },
  html`${hiddenFields(state === 'dead' ? {} : { state })}${createFields({ form: { apId }, problems: {} }).input('apId', 'Application', html` list="apIds"`)}
${listOf('apIds', model.apIds)}`,
)}
${pagedList({
  path: '/admin/callbacks',
  fields,
  isFirst,
  next,
  kept: { state: fields.state },
  what: [what],
  none: none[state],
  action: mayOrder
    ? html`<a class="button plain" href="/admin/callbacks/plan${queryOf({ kind: kind === 'try' ? kind : undefined, apId })}">${verb} all of ${apId === '' ? 'them' : 'this application'}${end} …</a>`
    : nothing,
  caption,
  headings: [
    first,
    'Application',
    'Event at',
    'About',
    'Problem',
    ['Tries', 'number'],
    ['Order', 'unseen'],
  ],
  rows: rows.map((each) => callbackRow(model, each)),
})}`,
  });
};
