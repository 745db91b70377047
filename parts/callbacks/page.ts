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
import type { CallbackCounts, CallbackRow } from './callback-row.ts';

/** @param more Further hidden fields. */
const replayForm = (
  { operator, csrf }: ConsoleSession,
  { id, event, state }: CallbackRow,
  more: Html = nothing,
): Html =>
  state === 'dead' && includesRole(operator.role, 'operator')
    ? html`<form method="post" action="/admin/callbacks/${encodeURIComponent(id)}/replay">${csrfField(csrf)}${more}<button type="submit" class="plain small" id="replay-${id}">Replay<span class="unseen"> the callback “${event}”</span></button></form>`
    : nothing;

const ofTransaction = (session: ConsoleSession, callback: CallbackRow): Html => {
  const { event, attempt, state, tries, problem, triedAt, nextTryAt } = callback;
  const last = triedAt === undefined ? nothing : timeOf(triedAt, fullTime(triedAt).slice(0, 19));
  const next =
    nextTryAt === undefined
      ? nothing
      : html`<span class="sub">next try ${timeOf(nextTryAt)}</span>`;
  return html`<tr role="row"><th scope="row" role="rowheader" class="first">${event}<span class="sub">attempt ${attempt}</span></th><td role="cell" class="second end"><span class="state ${state}">${state}</span></td><td role="cell" class="number" data-label="tries">${tries}</td><td role="cell">${last}${next}</td><td role="cell" class="wide">${problem ?? ''}</td><td role="cell" class="end">${replayForm(session, callback)}</td></tr>`;
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
        ['End', 'State', ['Tries', 'number'], 'Last try', 'Problem', ['Replay', 'unseen']],
        callbacks.map((callback) => ofTransaction(session, callback)),
      )
}</section>`;
};

export interface CallbacksModel {
  readonly session: ConsoleSession;
  /** The shown list. */
  readonly state: 'dead' | 'retried';
  /** The counts of all applications. */
  readonly counts: CallbackCounts;
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
  process,
  instanceId = '',
  event,
  attempt,
  step,
  key,
}: CallbackRow): Html =>
  process === undefined
    ? html`${linkTo('transactions', msspTransId)}<span class="sub">${event}, attempt ${attempt}</span>`
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
    last: ['Replay', 'unseen'],
  },
  retried: {
    title: 'Callbacks that are tried again',
    intro:
      'These callbacks have failed and are tried again by themselves, the last time some 17 hours after the first. When the receiver is not mended by then, they are dead.',
    what: 'failing callback',
    caption: 'Callbacks that are tried again, the longest pause first',
    first: 'Next try',
    last: 'Last try',
  },
} as const;

/** What the lists say when they are empty. */
const none = {
  dead: html`No callback is dead. See <a href="/admin/callbacks?state=retried">those that have failed and are tried again</a>; all of a transaction are on its page.`,
  retried: html`No callback is being tried again. Those that are given up are <a href="/admin/callbacks">here</a>; all of a transaction are on its page.`,
} as const;

const callbackRow = (model: CallbacksModel, callback: CallbackRow): Html => {
  const { session, apId, state } = model;
  const { id, tries, problem, triedAt = 0, nextTryAt, host } = callback;
  const at = state === 'dead' ? triedAt : nextTryAt;
  const last =
    state === 'dead'
      ? html`<td role="cell" class="end">${replayForm(session, callback, hiddenFields({ list: apId }))}</td>`
      : html`<td role="cell" class="nowrap" data-label="last try">${timeOf(triedAt)}</td>`;
  return html`<tr role="row" data-id="${id}"><th scope="row" role="rowheader" class="nowrap first">${at === undefined ? 'now' : timeOf(at)}</th><td role="cell" class="wide"><span>${callback.apId}</span><span class="sub code">${host ?? 'no callback any more'}</span></td><td role="cell" class="wide">${subject(callback)}</td><td role="cell" class="wide">${problem ?? ''}</td><td role="cell" class="number" data-label="tries">${tries}</td>${last}</tr>`;
};

const switchOf = ({ state, apId, counts }: CallbacksModel): Html => {
  const link = (to: CallbacksModel['state'], text: string): Html =>
    to === state
      ? html`<strong aria-current="true">${text}</strong>`
      : html`<a href="/admin/callbacks${queryOf({ state: to === 'dead' ? undefined : to, apId })}">${text}</a>`;
  return html`<p data-region="lists">${link('dead', `Dead (${count(counts.dead)})`)} · ${link('retried', `Tried again (${count(counts.retried)})`)}</p>`;
};

export const callbacksPage = (model: CallbacksModel): string => {
  const { session, state, apId, rows, next, isFirst, notice } = model;
  const { title, intro, what, caption, first, last } = lists[state];
  const mayReplay =
    state === 'dead' && rows.length > 0 && includesRole(session.operator.role, 'operator');
  const fields = { apId, state: state === 'dead' ? undefined : state };
  return layOut({
    title,
    session,
    current: 'callbacks',
    live: { everySeconds: 15 },
    main: html`<div class="head"><h1>${title}</h1>${switchOf(model)}</div>
${noticeBanner(notice)}
<p class="quiet">${intro}</p>
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
  action: mayReplay
    ? html`<a class="button plain" href="/admin/callbacks/plan${queryOf({ apId })}">Replay all of ${apId === '' ? 'them' : 'this application'} …</a>`
    : nothing,
  caption,
  headings: [first, 'Application', 'About', 'Problem', ['Tries', 'number'], last],
  rows: rows.map((each) => callbackRow(model, each)),
})}`,
  });
};
