/** One transaction: statechart, timeline, request, outcome and actions. */

import { html } from 'hono/html';
import { shownText } from '../../http/pages/shown-text/shown-text.js';
import type { ConsoleSession } from '../deps.ts';
import { includesRole } from '../operators/operator.ts';
import { orderErrors } from '../order-errors.ts';
import type { Frame } from '../part.ts';
import { isSecretText } from '../redaction.ts';
import type { TimelineEntry, TransactionDetail } from '../transaction-detail.ts';
import { layOut } from './layout.ts';
import {
  breakable,
  count,
  csrfField,
  duration,
  facts,
  fullTime,
  type Html,
  nothing,
  reasonField,
  tiles,
  timeOf,
} from './markup.ts';
import { type Notice, noticeBanner } from './notices.ts';
import { pathOf, signatureChart, statechartSvg, statechartTable } from './statechart.ts';

/** The policy for a replay by this operator. `reason`: it needs a reason. */
export type ReplayOffer = 'plain' | keyof typeof noReplay | 'reason';

export interface TransactionModel {
  readonly session: ConsoleSession;
  readonly detail: TransactionDetail;
  readonly offer: ReplayOffer;
  /** The sections of parts, by the names of their regions. */
  readonly sections: readonly { readonly name: string; readonly html: Html }[];
  readonly notice: Notice | undefined;
}

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
};

const orderedBy = ({ who, order }: { readonly who: string; readonly order: string }): Html =>
  html`by ${who}${order.startsWith('B') ? html`, <a href="/admin/replays/${encodeURIComponent(order)}">bulk replay</a>` : nothing}`;

const timelineItem = (
  entry: TimelineEntry,
  before: TimelineEntry | undefined,
  { actions }: Pick<Frame, 'actions'>,
): Html => {
  const when = html`<span class="attempt">${timeOf(entry.at, fullTime(entry.at))}${
    before === undefined || entry.at <= before.at
      ? ''
      : ` · ${duration(entry.at - before.at)} later`
  }</span>`;
  if (entry.kind === 'action') {
    const { action, who, via, reason, outcome } = entry;
    return html`<li class="deed"><p><strong>${deeds[action] ?? actions[action]?.words ?? action}</strong> by ${who} <span class="quiet">(${via})</span>${
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

type ToldState = Extract<TimelineEntry, { kind: 'state' }>;

/** The attempts side by side, when there are several: begin, waiting time, end. */
const attemptsSection = (told: readonly ToldState[]): Html => {
  const numbers = [...new Set(told.map(({ attempt }) => attempt))];
  const attempts = numbers.map((number) => told.filter(({ attempt }) => attempt === number));
  if (attempts.length < 2) return nothing;
  const line = (label: string, cell: (states: readonly ToldState[]) => Html): Html =>
    html`<tr><th scope="row">${label}</th>${attempts.map((states) => html`<td>${cell(states)}</td>`)}</tr>`;
  const timeIn =
    (...wanted: readonly string[]) =>
    (states: readonly ToldState[]): Html => {
      const found = states.find(({ state }) => wanted.includes(state));
      return found === undefined ? nothing : timeOf(found.at);
    };
  const ended = ['signed', 'failed'];
  return html`<section class="attempts" aria-labelledby="attempts"><h2 id="attempts">Attempts</h2><div class="scroll" tabindex="0" role="region" aria-labelledby="attempts"><table><thead><tr><th scope="col"><span class="unseen">What</span></th>${numbers.map(
    (attempt) => html`<th scope="col">Attempt ${attempt}</th>`,
  )}</tr></thead><tbody>
${line('Ordered', ([first]) => {
  if (first?.by !== undefined) return orderedBy(first.by);
  return first?.attempt === 1 ? html`by the application` : nothing;
})}
${line('Began', timeIn('submitted'))}
${line('Prompted', timeIn('pending'))}
${line('Ended', timeIn(...ended))}
${line('Took', (states) => {
  const [first, end] = [states[0], states.find(({ state }) => ended.includes(state))];
  return first === undefined || end === undefined ? nothing : html`${duration(end.at - first.at)}`;
})}
${line('End', (states) => {
  const end = states.findLast(({ state }) => state !== 'submitted' && state !== 'pending');
  return end === undefined
    ? html`<span class="quiet">open</span>`
    : html`<span class="state ${end.state}">${end.state}</span>${end.fault === undefined ? nothing : html` ${end.fault.code} ${end.fault.reason}`}`;
})}
${line('Detail', (states) => html`${states.findLast(({ fault }) => fault !== undefined)?.fault?.detail ?? ''}`)}
</tbody></table></div></section>`;
};

const linksOf = ({ links: { log, trace } }: TransactionDetail): Html => {
  const all = [
    ['Log lines', log],
    ['Trace', trace],
  ] as const;
  return html`${all.map(([name, href]) =>
    href === undefined ? nothing : html`<p><a href="${href}" rel="noreferrer">${name}</a></p>`,
  )}`;
};

const requestSection = ({ request, transaction }: TransactionDetail): Html => {
  const { apId, apTransId, profile, msisdn } = transaction;
  const common = [
    ['Application', apId],
    ['AP_TransID', html`<span class="code">${apTransId}</span>`],
    ['Number', msisdn],
    ['Profile', profile],
  ] as const;
  if (request === undefined)
    return html`${facts(...common)}<p class="quiet">The request cannot be read.</p>`;
  const { messagingMode, timeoutSeconds, instant, services, language, data } = request;
  const hidden = isSecretText(profile)
    ? 'The text is a one-time password, which is never shown.'
    : 'The text is hidden from viewers.';
  return html`${facts(
    ...common,
    ['Mode', messagingMode],
    ['Timeout', `${timeoutSeconds} s`],
    ['Asked at', instant],
    ['Services', services.join(', ')],
    ['Language', language],
    ['Kind', data.kind],
  )}${
    data.text === undefined
      ? html`<p class="quiet">${hidden}</p>`
      : html`<h3>Text</h3><p class="said">${shownText(data.text)}</p>${
          data.dtbd === undefined
            ? ''
            : html`<h3>Shown on the phone</h3><p class="said code">${shownText(data.dtbd)}</p>`
        }`
  }`;
};

const upstreamFacts = ({ upstreams }: TransactionDetail): Html =>
  upstreams.length === 0
    ? nothing
    : html`<h3>At another service</h3>${facts(
        ...upstreams.map(
          ({ attempt, gateway, msspTransId }) =>
            [
              `${gateway}, attempt ${attempt}`,
              html`<span class="code">${msspTransId}</span>`,
            ] as const,
        ),
      )}`;

const outcomeSection = ({ outcome, transaction }: TransactionDetail): Html => {
  const { fault } = transaction;
  if (fault !== undefined)
    return facts(['Fault', `${fault.code} ${fault.reason}`], ['Detail', fault.detail]);
  if (outcome === undefined) return html`<p class="quiet">There is none yet.</p>`;
  const {
    kind,
    signatureBytes,
    profile,
    sscdId,
    validated,
    receipt,
    geofencing,
    subscriberNetwork,
  } = outcome;
  return facts(
    ['Kind', kind === 'signature' ? 'Signature (CMS)' : 'One-time password, no signature'],
    ['Size', signatureBytes === undefined ? '' : `${count(signatureBytes)} bytes, not shown`],
    ['Method', profile],
    ['Device', sscdId],
    ['Verified by the service', validated ? 'yes' : ''],
    ['Receipt', receipt],
    [
      'Place',
      geofencing === undefined ? '' : html`<span class="code">${JSON.stringify(geofencing)}</span>`,
    ],
    ['Network', subscriberNetwork],
  );
};

const noReplay = {
  none: undefined,
  'not-failed':
    'Its stored end was not believed. Its job has not failed, so it cannot be replayed.',
  login: `${orderErrors.login.message}.`,
  workflow: `${orderErrors.workflow.message}.`,
  never: `${orderErrors.never.message}.`,
  role: `${orderErrors.role.message}.`,
} as const;

const actions = ({ session, detail, offer }: TransactionModel): Html => {
  const { msspTransId, state } = detail.transaction;
  if (!includesRole(session.operator.role, 'operator')) return nothing;
  const path = `/admin/transactions/${encodeURIComponent(msspTransId)}`;
  if (state === 'submitted' || state === 'pending') {
    return html`<details id="cancel"><summary>Cancel …</summary><form class="ask narrow" method="post" action="${path}/cancel">${csrfField(session.csrf)}
${reasonField('cancel-reason', true, 'It is kept in the audit log. The application sees fault 401.')}
<button type="submit" class="danger">Cancel the transaction</button></form></details>`;
  }
  if (state !== 'failed') return nothing;
  if (offer !== 'plain' && offer !== 'reason') {
    const why = noReplay[offer];
    return why === undefined ? nothing : html`<p class="quiet">${why}</p>`;
  }
  const isNeeded = offer === 'reason';
  return html`<details id="replay"${isNeeded ? '' : html` open`}><summary>Replay${isNeeded ? ' …' : ''}</summary><form class="ask narrow" method="post" action="${path}/replay">${csrfField(session.csrf)}
${reasonField('replay-reason', isNeeded, isNeeded ? 'This fault needs a reason: say why the person is asked again.' : 'It is kept in the audit log.')}
<button type="submit">Replay: prompt the person again</button></form></details>`;
};

export const transactionPage = (model: TransactionModel): string => {
  const { session, detail, sections, notice } = model;
  const { transaction, timeline, deadline } = detail;
  const { msspTransId, state, fault, attempt, submittedAt, tookMs } = transaction;
  const isOpen = state === 'submitted' || state === 'pending';
  const states = timeline.filter((entry) => entry.kind === 'state');
  const timeoutMs = detail.request && detail.request.timeoutSeconds * 1000;
  const path = pathOf(states, timeoutMs);
  // Accesses are in the audit log, not in the timeline.
  const told = timeline.filter(
    (entry) => entry.kind === 'state' || entry.action !== 'view-sensitive',
  );
  return layOut({
    title: `${state} · ${msspTransId}`,
    session,
    current: 'transactions',
    // After its end it may still be replayed, or get its receipt.
    live: {
      everySeconds: isOpen ? 5 : 30,
      events: `/admin/api/transactions/${encodeURIComponent(msspTransId)}/events`,
    },
    main: html`<p><a href="/admin/transactions">Transactions</a></p>
<h1 class="id">${msspTransId}</h1>
${noticeBanner(notice)}
<p class="unseen" role="status" data-region="said">Now ${state}${fault === undefined ? '' : ` with fault ${fault.code}`}, attempt ${attempt}.</p>
<div data-region="standing">${tiles(
      ['State', html`<span class="state ${state}">${state}</span>`],
      fault && ['Fault', fault.code, breakable(fault.reason)],
      ['Attempt', attempt],
      ['Submitted', html`<small>${timeOf(submittedAt)}</small>`],
      tookMs === undefined ? undefined : ['Duration', duration(tookMs)],
      deadline === undefined ? undefined : ['Expires', html`<small>${timeOf(deadline)}</small>`],
    )}</div>
<div data-region="actions">${actions(model)}</div>
<div data-region="attempts">${attemptsSection(states)}</div>
<div class="columns">
<section aria-labelledby="life" data-region="life"><h2 id="life">Statechart</h2>
${statechartSvg(signatureChart, path)}
${statechartTable(signatureChart, path)}</section>
<section aria-labelledby="past" data-region="past"><h2 id="past">Timeline</h2>
<ol class="timeline">${told.map((entry, index) => timelineItem(entry, told[index - 1], session.frame))}</ol>${
      includesRole(session.operator.role, 'operator')
        ? html`<p><a href="/admin/audit?target=${encodeURIComponent(msspTransId)}">Audit entries of this transaction</a></p>`
        : nothing
    }${linksOf(detail)}</section>
<section aria-labelledby="request"><h2 id="request">Request</h2>${requestSection(detail)}</section>
<section aria-labelledby="outcome" data-region="outcome"><h2 id="outcome">Outcome</h2>${outcomeSection(detail)}${upstreamFacts(detail)}</section>
</div>
${sections.map(({ name, html: section }) => html`<div data-region="${name}">${section}</div>`)}`,
  });
};
