/** The callbacks of one transaction, on its page; and what lists of callbacks have in common. */
import { html } from 'hono/html';
import { includesRole } from '../../operators/operator.ts';
import type { ConsoleSession } from '../deps.ts';
import type { ShownCallback } from '../shown-callback.ts';
import { csrfField, fullTime, type Html, nothing, timeOf } from './markup.ts';

/** @param more Hidden fields: where to go back to. */
export const replayCallbackForm = (
  { operator, csrf }: ConsoleSession,
  { id, event, state }: ShownCallback,
  more: Html = nothing,
): Html =>
  state === 'dead' && includesRole(operator.role, 'operator')
    ? html`<form method="post" action="/admin/callbacks/${encodeURIComponent(id)}/replay">${csrfField(csrf)}${more}<button type="submit" class="plain small" id="replay-${id}">Replay<span class="unseen"> the callback “${event}”</span></button></form>`
    : nothing;

const whenOf = ({ triedAt, nextTryAt }: ShownCallback): Html => {
  const last = triedAt === undefined ? nothing : timeOf(triedAt, fullTime(triedAt).slice(0, 19));
  return nextTryAt === undefined ? last : html`${last}<span class="sub">next try ${timeOf(nextTryAt)}</span>`;
};

const row = (session: ConsoleSession, callback: ShownCallback): Html => {
  const { event, attempt, state, tries, problem } = callback;
  return html`<tr role="row"><th scope="row" role="rowheader" class="first">${event}<span class="sub">attempt ${attempt}</span></th><td role="cell" class="second end"><span class="state ${state}">${state}</span></td><td role="cell" class="number" data-label="tries">${tries}</td><td role="cell">${whenOf(callback)}</td><td role="cell" class="wide">${problem ?? ''}</td><td role="cell" class="end">${replayCallbackForm(session, callback)}</td></tr>`;
};

/** Nothing for an application that is told nothing. @param host Of the application's callback. */
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
    ? html`<p class="quiet">There is nothing to tell yet.</p>`
    : html`<table class="cards" role="table"><caption class="unseen">Callbacks of this transaction</caption><thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">End</th><th scope="col" role="columnheader">State</th><th scope="col" role="columnheader" class="number">Tries</th><th scope="col" role="columnheader">Last try</th><th scope="col" role="columnheader">Problem</th><th scope="col" role="columnheader"><span class="unseen">Replay</span></th></tr></thead><tbody role="rowgroup">${callbacks.map((callback) => row(session, callback))}</tbody></table>`
}</section>`;
};
