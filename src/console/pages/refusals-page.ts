/** Refused requests: counts by application and reason, and the latest requests. */
import { html } from 'hono/html';
import { type FaultCode, faultTable } from '../../../packages/protocol/src/fault.ts';
import type { Refusals } from '../../transactions/history/refusals.ts';
import type { ConsoleSession } from '../deps.ts';
import { layOut } from './layout.ts';
import { cardTable, count, emptyList, type Html, nothing, queryOf, timeOf } from './markup.ts';

type Refused = Refusals['counts'][number] | Refusals['latest'][number];

const application = ({ apId, isRegistered }: Refused): Html =>
  apId === undefined
    ? html`<span class="quiet">not named</span>`
    : html`<a href="/admin/refusals${queryOf({ apId })}">${apId}</a>${isRegistered ? nothing : html` <span class="quiet">not registered</span>`}`;

const fault = ({ fault: code, reason }: Refused): string => `${code} ${reason ?? ''}`;

const countRow = (refused: Refusals['counts'][number]): Html =>
  html`<tr role="row"><th scope="row" role="rowheader">${application(refused)}</th><td role="cell">${fault(refused)}</td><td role="cell" class="wide">${refused.detail}</td><td role="cell" class="number" data-label="in the last hour">${count(refused.lastHour)}</td><td role="cell" class="number" data-label="in the last day">${count(refused.lastDay)}</td></tr>`;

const latestRow = (refused: Refusals['latest'][number]): Html =>
  html`<tr role="row"><th scope="row" role="rowheader" class="nowrap">${timeOf(refused.at)}</th><td role="cell">${application(refused)}</td><td role="cell">${refused.operation ?? ''}</td><td role="cell">${fault(refused)}</td><td role="cell" class="wide">${refused.detail}</td><td role="cell" class="number" data-label="requests">${count(refused.count)}</td></tr>`;

interface RefusalsShown {
  readonly apId?: string | undefined;
  readonly fault?: FaultCode | undefined;
}

const narrowed = ({ apId, fault: code }: RefusalsShown): Html => {
  if (apId === undefined && code === undefined) return nothing;
  const ofFault =
    code === undefined ? nothing : html` with <strong>${code} ${faultTable[code].reason}</strong>`;
  const ofApplication = apId === undefined ? nothing : html` of <strong>${apId}</strong>`;
  const its =
    apId === undefined
      ? nothing
      : html` · <a href="/admin/transactions${queryOf({ apId })}">Its transactions</a>`;
  return html`<p>Only requests${ofApplication}${ofFault}. <a href="/admin/refusals">Show all</a>${its}</p>`;
};

const noneOf = ({ apId, fault: code }: RefusalsShown): Html =>
  apId === undefined && code === undefined
    ? html`No request was refused in the last day. What was accepted is among the <a href="/admin/transactions">transactions</a>.`
    : html`No such request was refused in the last day. <a href="/admin/refusals">Show all</a>.`;

/** @param shown The application and the fault to which the page is narrowed. */
export const refusalsPage = (
  session: ConsoleSession,
  { counts, latest }: Refusals,
  shown: RefusalsShown,
): string =>
  layOut({
    title: 'Refused requests',
    session,
    current: 'refusals',
    live: { everySeconds: 15 },
    main: html`<h1>Refused requests</h1>
<p>They were answered with a fault at once and became no transaction. The application is what the request says: anyone can write any AP_ID.</p>
${narrowed(shown)}
<div class="stack" data-region="refusals">${
      latest.length + counts.length === 0
        ? emptyList(noneOf(shown))
        : html`<section aria-labelledby="counts"><h2 id="counts">By application and reason</h2>
${cardTable(
  'Refused requests by application and reason',
  ['Application', 'Fault', 'Detail', ['Last hour', 'number'], ['Last day', 'number']],
  counts.map(countRow),
)}</section>
<section aria-labelledby="latest"><h2 id="latest">Latest</h2>
${cardTable(
  'Refused requests, newest first',
  ['Time', 'Application', 'Operation', 'Fault', 'Detail', ['Requests', 'number']],
  latest.map(latestRow),
)}</section>`
    }</div>`,
  });
