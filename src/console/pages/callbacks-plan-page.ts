/** Before many callbacks are replayed: how many, of whom, and the question. Afterwards: what was done. */
import { html } from 'hono/html';
import {
  type CallbackBulk,
  type CallbackPlan,
  callbacksPerSecond,
} from '../../operators/callback-replays.ts';
import type { ConsoleSession } from '../deps.ts';
import { callbacksQueryOf } from './callbacks-page.ts';
import { layOut } from './layout.ts';
import { banner, count, counted, csrfField, duration, type Html, nothing } from './markup.ts';

export interface CallbackPlanModel {
  readonly session: ConsoleSession;
  /** Empty for all applications. */
  readonly apId: string;
  /** Dead before: what dies from now on is not what was counted. Milliseconds since the epoch. */
  readonly to: number;
  readonly plan: CallbackPlan;
  readonly problem: 'rate' | 'reason' | undefined;
  /** As they were written. */
  readonly reason: string;
  readonly perSecond: string;
}

const problems: Readonly<Record<'rate' | 'reason', readonly [title: string, text: string]>> = {
  rate: [
    'The rate cannot be read',
    `Give a number from ${callbacksPerSecond.least} to ${callbacksPerSecond.most}.`,
  ],
  reason: ['The reason is too long', 'Say why in at most 500 characters.'],
};

const listPath = (apId: string): string => `/admin/callbacks${callbacksQueryOf({ apId })}`;

const question = ({ session, apId, to, plan, problem, reason, perSecond }: CallbackPlanModel): Html => {
  const lasts = (plan.found * 1000) / Number(perSecond);
  return html`<form class="ask narrow" method="post" action="/admin/callbacks/replay">${csrfField(session.csrf)}
<input type="hidden" name="apId" value="${apId}"><input type="hidden" name="to" value="${to}">
<h2>Replay ${counted(plan.found, 'callback')}</h2>
<p>Each begins with its first try again. A receiver that has had one knows it by its <code>webhook-id</code>.</p>
<div class="field"><label for="reason">Reason (optional)</label><textarea id="reason" name="reason" maxlength="500"${problem === 'reason' ? html` aria-invalid="true"` : ''} aria-describedby="reason-hint">${reason}</textarea><span class="hint" id="reason-hint">It is kept in the audit log.</span></div>
<div class="field"><label for="perSecond">Callbacks in a second, at most</label><input id="perSecond" name="perSecond" type="number" min="${callbacksPerSecond.least}" max="${callbacksPerSecond.most}" step="any" required value="${perSecond}"${problem === 'rate' ? html` aria-invalid="true"` : ''} aria-describedby="rate-hint"><span class="hint" id="rate-hint">${
    lasts > 0
      ? `So the first tries are spread over ${duration(Math.max(1000, lasts))}.`
      : 'Fewer spare the receiver.'
  }</span></div>
<div class="actions"><button type="submit">Replay them</button><a href="${listPath(apId)}">Back to the list</a></div>
</form>`;
};

const byApplication = ({ byAp }: CallbackPlan): Html =>
  html`<div class="panel"><table><caption>By application</caption><thead><tr><th scope="col">Application</th><th scope="col" class="number">Callbacks</th></tr></thead><tbody>${Object.entries(
    byAp,
  )
    .toSorted(([, a], [, b]) => b - a)
    .map(
      ([apId, number]) => html`<tr><th scope="row">${apId}</th><td class="number">${count(number)}</td></tr>`,
    )}</tbody></table></div>`;

export const callbackPlanPage = (model: CallbackPlanModel): string => {
  const { session, apId, plan, problem } = model;
  const { found, truncated } = plan;
  return layOut({
    title: problem === undefined ? 'Replay callbacks' : 'Error: Replay callbacks',
    session,
    current: 'callbacks',
    main: html`<p><a href="${listPath(apId)}">Dead callbacks</a></p>
<h1>Replay callbacks</h1>
${problem === undefined ? nothing : banner('bad', ...problems[problem])}
<p>Nothing has been sent yet. ${
      apId === ''
        ? 'These are the dead callbacks of all applications'
        : html`These are the dead callbacks of <span class="code">${apId}</span>`
    }, up to now.</p>
${truncated ? banner('plain', 'There are more', `These are the newest ${count(found)}. Order again for the others.`) : nothing}
${
  found === 0
    ? html`<p class="empty">There is nothing to replay. <a href="${listPath(apId)}">Back to the list</a></p>`
    : html`<div class="columns"><div>${question(model)}</div><div>${byApplication(plan)}</div></div>`
}`,
  });
};

export const callbackBulkPage = ({
  session,
  apId,
  done: { found, replayed, left, truncated },
}: {
  readonly session: ConsoleSession;
  readonly apId: string;
  readonly done: CallbackBulk;
}): string =>
  layOut({
    title: 'Callbacks replayed',
    session,
    current: 'callbacks',
    main: html`<p><a href="${listPath(apId)}">Dead callbacks</a></p>
<h1>${counted(replayed, 'callback')} replayed</h1>
<dl class="tiles"><div><dt>Dead, found</dt><dd>${count(found)}</dd></div><div><dt>Replayed</dt><dd>${count(replayed)}</dd></div>${left === 0 ? nothing : html`<div><dt>Left</dt><dd>${count(left)} <small>by others, or gone</small></dd></div>`}</dl>
<p>They are in their queue, and are delivered at the rate that you gave. What cannot be delivered is among the dead ones again after its last try.</p>
${truncated ? banner('plain', 'There are more', html`<a href="/admin/callbacks/plan${callbacksQueryOf({ apId })}">Order again</a> for the others.`) : nothing}
<p><a class="button" href="${listPath(apId)}">Dead callbacks</a></p>`,
  });
