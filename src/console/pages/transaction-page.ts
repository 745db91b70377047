/** One transaction: its chart, its past, what was asked and what came of it, and what can be done. */
import { html } from 'hono/html';
import { includesRole } from '../../operators/operator.ts';
import type { TimelineEntry, TransactionDetail } from '../api/transaction-detail.ts';
import type { ConsoleSession } from '../deps.ts';
import { isSecretText } from '../redaction.ts';
import type { ShownCallback } from '../shown-callback.ts';
import { callbacksSection } from './callbacks-section.ts';
import { layOut } from './layout.ts';
import { count, csrfField, duration, fullTime, type Html, nothing, timeOf } from './markup.ts';
import { type Notice, noticeBanner } from './notices.ts';
import { pathOf, signatureChart } from './statechart.ts';
import { statechartSvg, statechartTable } from './statechart-svg.ts';

/** What the policy says of a replay by whoever looks: `reason` wants one. */
export type ReplayOffer = 'plain' | 'reason' | 'login' | 'never' | 'role' | 'none';

export interface TransactionModel {
  readonly session: ConsoleSession;
  readonly detail: TransactionDetail;
  readonly offer: ReplayOffer;
  readonly callbacks: readonly ShownCallback[];
  /** Where the application is told of its transactions; undefined where it is not. */
  readonly callbackHost: string | undefined;
  readonly notice: Notice | undefined;
}

const fact = (name: string, value: string | Html | undefined): Html =>
  value === undefined || value === '' ? nothing : html`<dt>${name}</dt><dd>${value}</dd>`;

const pathTo = (id: string): string => `/admin/transactions/${encodeURIComponent(id)}`;

const said = {
  submitted: 'Submitted',
  pending: 'Prompted',
  signed: 'Signed',
  failed: 'Failed',
  receipted: 'Receipt sent',
} as const;
const deeds: Readonly<Partial<Record<string, string>>> = {
  replay: 'Replay ordered',
  cancel: 'Cancel ordered',
  'callback-replay': 'Callback sent again',
};

const orderedBy = ({ who, order }: { readonly who: string; readonly order: string }): Html =>
  html`by ${who}${order.startsWith('B') ? html`, <a href="/admin/replays/${encodeURIComponent(order)}">bulk replay</a>` : nothing}`;

const timelineItem = (entry: TimelineEntry, before: TimelineEntry | undefined): Html => {
  const when = html`<span class="attempt">${timeOf(entry.at, fullTime(entry.at))}${
    before === undefined || entry.at <= before.at ? '' : ` · ${duration(entry.at - before.at)} later`
  }</span>`;
  if (entry.kind === 'action') {
    const { action, who, via, reason, outcome } = entry;
    return html`<li class="deed"><p><strong>${deeds[action] ?? action}</strong> by ${who} <span class="quiet">(${via})</span>${
      outcome === undefined ? '' : html` <span class="quiet">— not done: ${outcome}</span>`
    }</p>${reason === undefined ? '' : html`<p>“${reason}”</p>`}<p>${when}</p></li>`;
  }
  const { state, attempt, fault, by } = entry;
  const title = state === 'submitted' && attempt > 1 ? 'Replayed' : said[state];
  return html`<li class="${state}"><p><strong>${title}</strong>${fault === undefined ? '' : ` ${fault.code} ${fault.reason}`}${
    by === undefined ? '' : html` ${orderedBy(by)}`
  } <span class="attempt">attempt ${attempt}</span></p>${
    fault?.detail === undefined ? '' : html`<p class="quiet">${fault.detail}</p>`
  }<p>${when}</p></li>`;
};

const requestSection = ({ request, transaction }: TransactionDetail): Html => {
  const { apId, apTransId, profile, msisdn } = transaction;
  const common = html`${fact('Application', apId)}${fact('AP_TransID', html`<span class="code">${apTransId}</span>`)}${fact('Number', msisdn)}${fact('Profile', profile)}`;
  if (request === undefined) {
    return html`<dl class="facts">${common}</dl><p class="quiet">The request cannot be read.</p>`;
  }
  const { messagingMode, timeoutSeconds, instant, services, language, data } = request;
  const text =
    data.text === undefined
      ? html`<p class="quiet">${isSecretText(profile) ? 'The text is a one-time password, which nobody is shown.' : 'The text is hidden from viewers.'}</p>`
      : html`<h3>Text</h3><p class="said">${data.text}</p>${
          data.dtbd === undefined
            ? ''
            : html`<h3>Shown on the phone</h3><p class="said code">${data.dtbd}</p>`
        }`;
  return html`<dl class="facts">${common}${fact('Mode', messagingMode)}${fact('Timeout', `${timeoutSeconds} s`)}${fact('Asked at', instant)}${fact('Services', services.join(', '))}${fact('Language', language)}${fact('Kind', data.kind)}</dl>${text}`;
};

const outcomeSection = ({ outcome, transaction }: TransactionDetail): Html => {
  const { fault } = transaction;
  if (fault !== undefined) {
    return html`<dl class="facts">${fact('Fault', `${fault.code} ${fault.reason}`)}${fact('Detail', fault.detail)}</dl>`;
  }
  if (outcome === undefined) return html`<p class="quiet">There is none yet.</p>`;
  const { kind, signatureBytes, profile, sscdId, validated, receipt, geofencing, subscriberNetwork } =
    outcome;
  return html`<dl class="facts">${fact('Kind', kind === 'signature' ? 'Signature (CMS)' : 'One-time password, no signature')}${fact('Size', signatureBytes === undefined ? '' : `${count(signatureBytes)} bytes, not shown`)}${fact('Method', profile)}${fact('Device', sscdId)}${fact('Verified by the service', validated ? 'yes' : '')}${fact('Receipt', receipt)}${fact('Place', geofencing === undefined ? '' : html`<span class="code">${JSON.stringify(geofencing)}</span>`)}${fact('Network', subscriberNetwork)}</dl>`;
};

const reasonField = (id: string, isNeeded: boolean, hint: string): Html =>
  html`<div class="field"><label for="${id}">Reason${isNeeded ? '' : ' (optional)'}</label><textarea id="${id}" name="reason" maxlength="500"${isNeeded ? html` required` : ''} aria-describedby="${id}-hint"></textarea><span class="hint" id="${id}-hint">${hint}</span></div>`;

const actions = ({ session, detail, offer }: TransactionModel): Html => {
  const { msspTransId, state } = detail.transaction;
  if (!includesRole(session.operator.role, 'operator')) return nothing;
  const path = pathTo(msspTransId);
  if (state === 'submitted' || state === 'pending') {
    return html`<details id="cancel"><summary>Cancel …</summary><form class="ask narrow" method="post" action="${path}/cancel">${csrfField(session.csrf)}
${reasonField('cancel-reason', true, 'It is kept in the audit log. The application sees fault 401.')}
<button type="submit" class="danger">Cancel the transaction</button></form></details>`;
  }
  if (state !== 'failed') return nothing;
  switch (offer) {
    case 'none':
      return nothing;
    case 'login':
      return html`<p class="quiet">A login is never replayed: nobody waits for it any more.</p>`;
    case 'never':
      return html`<p class="quiet">This fault is never replayed: the request itself is wrong.</p>`;
    case 'role':
      return html`<p class="quiet">Your role does not allow a replay of this fault.</p>`;
    case 'plain':
    case 'reason': {
      const isNeeded = offer === 'reason';
      return html`<details id="replay"${isNeeded ? '' : html` open`}><summary>Replay${isNeeded ? ' …' : ''}</summary><form class="ask narrow" method="post" action="${path}/replay">${csrfField(session.csrf)}
${reasonField('replay-reason', isNeeded, isNeeded ? 'A person has said no: say why they are asked again.' : 'It is kept in the audit log.')}
<button type="submit">Replay: prompt the person again</button></form></details>`;
    }
  }
};

export const transactionPage = (model: TransactionModel): string => {
  const { session, detail, callbacks, callbackHost, notice } = model;
  const { transaction, timeline, deadline } = detail;
  const { msspTransId, state, fault, attempt, submittedAt, tookMs } = transaction;
  const isOpen = state === 'submitted' || state === 'pending';
  const path = pathOf(timeline.filter((entry) => entry.kind === 'state'));
  // Who has looked is in the audit log; it is no part of the transaction's life.
  const told = timeline.filter((entry) => entry.kind === 'state' || entry.action !== 'view-sensitive');
  return layOut({
    title: `${state} · ${msspTransId}`,
    session,
    current: 'transactions',
    // What has ended may still be replayed by somebody, or get its receipt.
    live: {
      everySeconds: isOpen ? 5 : 30,
      events: `/admin/api/transactions/${encodeURIComponent(msspTransId)}/events`,
    },
    main: html`<p><a href="/admin/transactions">Transactions</a></p>
<h1 class="id">${msspTransId}</h1>
${noticeBanner(notice)}
<p class="unseen" role="status" data-region="said">Now ${state}${fault === undefined ? '' : ` with fault ${fault.code}`}, attempt ${attempt}.</p>
<div data-region="standing"><dl class="tiles"><div><dt>State</dt><dd><span class="state ${state}">${state}</span></dd></div>${
      fault === undefined
        ? nothing
        : html`<div><dt>Fault</dt><dd>${fault.code} <small>${fault.reason}</small></dd></div>`
    }<div><dt>Attempt</dt><dd>${attempt}</dd></div><div><dt>Submitted</dt><dd><small>${timeOf(submittedAt)}</small></dd></div>${
      tookMs === undefined ? nothing : html`<div><dt>Duration</dt><dd>${duration(tookMs)}</dd></div>`
    }${deadline === undefined ? nothing : html`<div><dt>Expires</dt><dd><small>${timeOf(deadline)}</small></dd></div>`}</dl></div>
<div data-region="actions">${actions(model)}</div>
<div class="columns">
<section aria-labelledby="life" data-region="life"><h2 id="life">Statechart</h2>
${statechartSvg(signatureChart, path)}
${statechartTable(signatureChart, path)}</section>
<section aria-labelledby="past" data-region="past"><h2 id="past">Timeline</h2>
<ol class="timeline">${told.map((entry, index) => timelineItem(entry, told[index - 1]))}</ol>${
      includesRole(session.operator.role, 'operator')
        ? html`<p><a href="/admin/audit?target=${encodeURIComponent(msspTransId)}">All that operators did with it</a></p>`
        : nothing
    }</section>
<section aria-labelledby="request"><h2 id="request">Request</h2>${requestSection(detail)}</section>
<section aria-labelledby="outcome" data-region="outcome"><h2 id="outcome">Outcome</h2>${outcomeSection(detail)}</section>
</div>
<div data-region="callbacks">${callbacksSection(session, callbacks, callbackHost)}</div>`,
  });
};
