/** Callbacks: the dead ones, newest first, and those of one transaction on its page. */
import { html } from 'hono/html';
import { includesRole } from '../../operators/operator.ts';
import type { ConsoleSession } from '../deps.ts';
import type { ShownCallback } from '../redaction.ts';
import { layOut } from './layout.ts';
import {
  cardTable,
  counted,
  csrfField,
  fullTime,
  type Html,
  nothing,
  pagedList,
  queryOf,
  timeOf,
} from './markup.ts';
import { type Notice, noticeBanner } from './notices.ts';

/** @param more Hidden fields. */
const replayForm = (
  { operator, csrf }: ConsoleSession,
  { id, event, state }: ShownCallback,
  more: Html = nothing,
): Html =>
  state === 'dead' && includesRole(operator.role, 'operator')
    ? html`<form method="post" action="/admin/callbacks/${encodeURIComponent(id)}/replay">${csrfField(csrf)}${more}<button type="submit" class="plain small" id="replay-${id}">Replay<span class="unseen"> the callback “${event}”</span></button></form>`
    : nothing;

const ofTransaction = (session: ConsoleSession, callback: ShownCallback): Html => {
  const { event, attempt, state, tries, problem, triedAt, nextTryAt } = callback;
  const last = triedAt === undefined ? nothing : timeOf(triedAt, fullTime(triedAt).slice(0, 19));
  const next =
    nextTryAt === undefined ? nothing : html`<span class="sub">next try ${timeOf(nextTryAt)}</span>`;
  return html`<tr role="row"><th scope="row" role="rowheader" class="first">${event}<span class="sub">attempt ${attempt}</span></th><td role="cell" class="second end"><span class="state ${state}">${state}</span></td><td role="cell" class="number" data-label="tries">${tries}</td><td role="cell">${last}${next}</td><td role="cell" class="wide">${problem ?? ''}</td><td role="cell" class="end">${replayForm(session, callback)}</td></tr>`;
};

/** Empty for an application without callbacks. @param host Of the application's callback. */
export const callbacksSection = (
  session: ConsoleSession,
  callbacks: readonly ShownCallback[],
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
  /** Filter as it was written; empty for none. */
  readonly apId: string;
  readonly rows: readonly ShownCallback[];
  /** Of the next page. */
  readonly next: string | undefined;
  readonly isFirst: boolean;
  /** AP_IDs to choose from. */
  readonly apIds: readonly string[];
  readonly notice: Notice | undefined;
}

/** What it is about: a transaction, or a process. */
const subject = ({
  msspTransId = '',
  process,
  instanceId = '',
  event,
  attempt,
  step,
  key,
}: ShownCallback): Html =>
  process === undefined
    ? html`<a class="code" href="/admin/transactions/${encodeURIComponent(msspTransId)}">${msspTransId}</a><span class="sub">${event}, attempt ${attempt}</span>`
    : html`<a class="code" href="/admin/workflows/${encodeURIComponent(instanceId)}">${process}</a><span class="sub">${[event, step, key].filter(Boolean).join(', ')}</span>`;

const deadRow = ({ session, apId }: CallbacksModel, callback: ShownCallback): Html => {
  const { id, tries, problem, triedAt = 0, host } = callback;
  const back = html`<input type="hidden" name="list" value="${apId}">`;
  return html`<tr role="row" data-id="${id}"><th scope="row" role="rowheader" class="nowrap first">${timeOf(triedAt)}</th><td role="cell" class="wide"><span>${callback.apId}</span><span class="sub code">${host ?? 'no callback any more'}</span></td><td role="cell" class="wide">${subject(callback)}</td><td role="cell" class="wide">${problem ?? ''}</td><td role="cell" class="number" data-label="tries">${tries}</td><td role="cell" class="end">${replayForm(session, callback, back)}</td></tr>`;
};

const filterForm = ({ apId, apIds }: CallbacksModel): Html =>
  html`<form class="filter" method="get" action="/admin/callbacks" role="search" aria-label="Dead callbacks"><div class="fields">
<div class="field narrow"><label for="apId">Application</label><input id="apId" name="apId" type="text" autocomplete="off" spellcheck="false" list="apIds" value="${apId}"></div>
<datalist id="apIds">${apIds.map((id) => html`<option value="${id}"></option>`)}</datalist>
<div class="actions"><button type="submit">Show</button>${apId === '' ? nothing : html`<a href="/admin/callbacks">Of all applications</a>`}</div></div></form>`;

const summary = ({ rows, isFirst, next }: CallbacksModel): string => {
  if (!isFirst) return 'Older callbacks';
  return next === undefined ? counted(rows.length, 'dead callback') : 'The newest';
};

export const callbacksPage = (model: CallbacksModel): string => {
  const { session, apId, rows, next, isFirst, notice } = model;
  const mayReplay = rows.length > 0 && includesRole(session.operator.role, 'operator');
  const none = next === undefined ? 'There are none.' : 'There are none on this page; look further back.';
  return layOut({
    title: 'Callbacks',
    session,
    current: 'callbacks',
    live: { everySeconds: 15 },
    main: html`<h1>Dead callbacks</h1>
${noticeBanner(notice)}
<p class="quiet">These callbacks have failed at their last try, and are not tried again by themselves. All other callbacks of transactions are on the pages of these.</p>
${filterForm(model)}
${pagedList({
  path: '/admin/callbacks',
  fields: { apId },
  isFirst,
  next,
  summary: summary(model),
  action: mayReplay
    ? html`<a class="button plain" href="/admin/callbacks/plan${queryOf({ apId })}">Replay all of ${apId === '' ? 'them' : 'this application'} …</a>`
    : nothing,
  empty: rows.length === 0 ? none : undefined,
  caption: 'Dead callbacks, newest first',
  headings: ['Dead since', 'Application', 'About', 'Problem', ['Tries', 'number'], ['Replay', 'unseen']],
  rows: rows.map((each) => deadRow(model, each)),
})}`,
  });
};
