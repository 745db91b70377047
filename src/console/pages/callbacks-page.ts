/** Callbacks: the dead ones, newest first, and those of one transaction on its page. */
import { html } from 'hono/html';
import { includesRole } from '../../operators/operator.ts';
import type { ConsoleSession } from '../deps.ts';
import type { ShownCallback } from '../redaction.ts';
import { createFields, filterForm, listOf } from './filter-form.ts';
import { layOut } from './layout.ts';
import {
  cardTable,
  csrfField,
  fullTime,
  type Html,
  hiddenFields,
  linkTo,
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
    ? html`${linkTo('transactions', msspTransId)}<span class="sub">${event}, attempt ${attempt}</span>`
    : html`${linkTo('workflows', instanceId, process)}<span class="sub">${[event, step, key].filter(Boolean).join(', ')}</span>`;

const deadRow = ({ session, apId }: CallbacksModel, callback: ShownCallback): Html => {
  const { id, tries, problem, triedAt = 0, host } = callback;
  const back = hiddenFields({ list: apId });
  return html`<tr role="row" data-id="${id}"><th scope="row" role="rowheader" class="nowrap first">${timeOf(triedAt)}</th><td role="cell" class="wide"><span>${callback.apId}</span><span class="sub code">${host ?? 'no callback any more'}</span></td><td role="cell" class="wide">${subject(callback)}</td><td role="cell" class="wide">${problem ?? ''}</td><td role="cell" class="number" data-label="tries">${tries}</td><td role="cell" class="end">${replayForm(session, callback, back)}</td></tr>`;
};

export const callbacksPage = (model: CallbacksModel): string => {
  const { session, apId, rows, next, isFirst, notice } = model;
  const mayReplay = rows.length > 0 && includesRole(session.operator.role, 'operator');
  return layOut({
    title: 'Callbacks',
    session,
    current: 'callbacks',
    live: { everySeconds: 15 },
    main: html`<h1>Dead callbacks</h1>
${noticeBanner(notice)}
<p class="quiet">These callbacks have failed at their last try, and are not tried again by themselves. All other callbacks of transactions are on the pages of these.</p>
${filterForm(
  { path: '/admin/callbacks', label: 'Dead callbacks', all: 'Of all applications' },
  { apId },
  html`${createFields({ form: { apId }, problems: {} }).input('apId', 'Application', html` list="apIds"`)}
${listOf('apIds', model.apIds)}`,
)}
${pagedList({
  path: '/admin/callbacks',
  fields: { apId },
  isFirst,
  next,
  what: ['dead callback'],
  action: mayReplay
    ? html`<a class="button plain" href="/admin/callbacks/plan${queryOf({ apId })}">Replay all of ${apId === '' ? 'them' : 'this application'} …</a>`
    : nothing,
  caption: 'Dead callbacks, newest first',
  headings: ['Dead since', 'Application', 'About', 'Problem', ['Tries', 'number'], ['Replay', 'unseen']],
  rows: rows.map((each) => deadRow(model, each)),
})}`,
  });
};
