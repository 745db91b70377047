/** Dead callbacks: what could not be told to an application, newest first. */
import { html } from 'hono/html';
import { includesRole } from '../../operators/operator.ts';
import type { ConsoleSession } from '../deps.ts';
import type { ShownCallback } from '../shown-callback.ts';
import { replayCallbackForm } from './callbacks-section.ts';
import { layOut } from './layout.ts';
import { counted, type Html, nothing, timeOf } from './markup.ts';
import { type Notice, noticeBanner } from './notices.ts';

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

/** `?apId=…`, or nothing. */
export const callbacksQueryOf = (query: Readonly<Record<string, string | undefined>>): string => {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(entries as [string, string][]).toString();
  return text === '' ? '' : `?${text}`;
};

const row = ({ session, apId }: CallbacksModel, callback: ShownCallback): Html => {
  const { id, msspTransId, event, attempt, tries, problem, triedAt = 0, host } = callback;
  const back = html`<input type="hidden" name="list" value="${apId}">`;
  return html`<tr role="row" data-id="${id}"><th scope="row" role="rowheader" class="nowrap first">${timeOf(triedAt)}</th><td role="cell" class="wide"><span>${callback.apId}</span><span class="sub code">${host ?? 'no callback any more'}</span></td><td role="cell" class="wide"><a class="code" href="/admin/transactions/${encodeURIComponent(msspTransId)}">${msspTransId}</a><span class="sub">${event}, attempt ${attempt}</span></td><td role="cell" class="wide">${problem ?? ''}</td><td role="cell" class="number" data-label="tries">${tries}</td><td role="cell" class="end">${replayCallbackForm(session, callback, back)}</td></tr>`;
};

const filterForm = ({ apId, apIds }: CallbacksModel): Html =>
  html`<form class="filter" method="get" action="/admin/callbacks" role="search" aria-label="Dead callbacks">
<div class="field narrow"><label for="apId">Application</label><input id="apId" name="apId" type="text" autocomplete="off" spellcheck="false" list="apIds" value="${apId}"></div>
<datalist id="apIds">${apIds.map((id) => html`<option value="${id}"></option>`)}</datalist>
<div class="actions"><button type="submit">Show</button>${apId === '' ? nothing : html`<a href="/admin/callbacks">Of all applications</a>`}</div></form>`;

const headings = [
  ['Dead since', ''],
  ['Application', ''],
  ['Transaction', ''],
  ['Problem', ''],
  ['Tries', 'number'],
] as const;

const summary = ({ rows, isFirst, next }: CallbacksModel): string => {
  if (!isFirst) return 'Older ones';
  return next === undefined ? counted(rows.length, 'dead callback') : 'The newest';
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
<p class="quiet">These were tried until they were given up, and are not tried again by themselves. Those that are on their way, or have been delivered, are on the pages of their transactions.</p>
${filterForm(model)}
<div class="bar"><p aria-live="polite"><strong>${summary(model)}</strong> <button id="news" type="button" class="plain" hidden></button></p>${
      mayReplay
        ? html`<a class="button plain" href="/admin/callbacks/plan${callbacksQueryOf({ apId })}">Replay all of ${apId === '' ? 'them' : 'this application'} …</a>`
        : nothing
    }</div>
${rows.length === 0 ? html`<p class="empty">${next === undefined ? 'There are none.' : 'There are none on this page; look further back.'}</p>` : nothing}
<table class="cards" role="table"><caption class="unseen">Dead callbacks, newest first</caption><thead role="rowgroup"><tr role="row">${headings.map(
      ([label, kind]) => html`<th scope="col" role="columnheader" class="${kind}">${label}</th>`,
    )}<th scope="col" role="columnheader"><span class="unseen">Replay</span></th></tr></thead><tbody role="rowgroup" data-rows="${isFirst ? 'first' : 'later'}">${rows.map((each) => row(model, each))}</tbody></table>
<nav class="paging" aria-label="Pages">${
      isFirst ? html`<span></span>` : html`<a href="/admin/callbacks${callbacksQueryOf({ apId })}">Newest</a>`
    }${
      next === undefined
        ? nothing
        : html`<a rel="next" href="/admin/callbacks${callbacksQueryOf({ apId, cursor: next })}">Older</a>`
    }</nav>`,
  });
};
