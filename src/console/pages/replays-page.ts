/** Bulk replays and bulk cancels: the list, and the progress of one. */
import { html } from 'hono/html';
import { type FaultCode, faultTable, isFaultCode } from '../../../packages/protocol/src/fault.ts';
import type { ConsoleSession } from '../deps.ts';
import { type BulkProgress, type BulkReport, failedIn, isOver } from '../operators/bulk-report.ts';
import { includesRole } from '../operators/operator.ts';
import type { BulkKind } from '../operators/replays.ts';
import { seesPeople } from '../redaction.ts';
import { layOut } from './layout.ts';
import {
  cardTable,
  count,
  counted,
  countTable,
  csrfField,
  duration,
  facts,
  type Html,
  nothing,
  tiles,
  timeOf,
} from './markup.ts';
import { type Notice, noticeBanner } from './notices.ts';

/** The name of a fault. @param code Its code, as a key or a number. */
export const faultName = (code: string | number): string =>
  isFaultCode(Number(code))
    ? `${code} ${faultTable[Number(code) as FaultCode].reason}`
    : String(code);

const pathTo = (id: string): string => `/admin/replays/${encodeURIComponent(id)}`;

export const replaysPage = (session: ConsoleSession, bulks: readonly BulkProgress[]): string => {
  const { role } = session.operator;
  const rows = bulks.map(
    (bulk) =>
      html`<tr role="row"><th scope="row" role="rowheader" class="nowrap"><a href="${pathTo(bulk.id)}">${timeOf(bulk.createdAt)}</a></th><td role="cell">${bulk.kind ?? 'replay'}</td><td role="cell" class="end"><span class="state ${bulk.state}">${bulk.state}</span></td><td role="cell">${bulk.by}</td><td role="cell" class="wide">${seesPeople(role) ? bulk.reason : ''}</td><td role="cell" class="number" data-label="of">${count(bulk.total)}</td><td role="cell" class="number" data-label="signed">${count(bulk.signed)}</td><td role="cell" class="number" data-label="failed">${count(failedIn(bulk))}</td><td role="cell" class="number" data-label="cancelled">${count(bulk.cancelled)}</td></tr>`,
  );
  return layOut({
    title: 'Replays',
    session,
    current: 'replays',
    live: { everySeconds: bulks.every(isOver) ? 15 : 3 },
    main: html`<div class="head"><h1>Replays</h1>${
      includesRole(role, 'operator')
        ? html`<p><a href="/admin/transactions?state=failed">Choose failed transactions</a>, or <a href="/admin/transactions?state=open">open ones</a> to cancel</p>`
        : nothing
    }</div>
<div data-region="bulks">${cardTable(
      'Bulk replays and cancels, newest first',
      [
        'Ordered',
        'What',
        'State',
        'By',
        'Reason',
        ['Transactions', 'number'],
        ['Signed', 'number'],
        ['Failed again', 'number'],
        ['Cancelled', 'number'],
      ],
      rows,
      html`Neither a bulk replay nor a bulk cancel has been ordered in the last month. Operators order them from a list of <a href="/admin/transactions?state=failed">failed</a> or <a href="/admin/transactions?state=open">open</a> transactions.`,
    )}</div>`,
  });
};

export interface ReplayModel {
  readonly session: ConsoleSession;
  readonly report: BulkReport;
  /** The index of the first transaction on the page. */
  readonly from: number;
  readonly notice: Notice | undefined;
}

const itemsOnPage = 100;

type Result = BulkReport['transactions'][number]['result'];

const ofReplay: Readonly<Record<Result, string>> = {
  waiting: 'not replayed',
  open: 'replayed, open',
  signed: 'signed',
  failed: 'failed again',
  cancelled: 'cancelled',
  changed: 'replayed by another order',
  gone: 'gone',
  refused: 'a login, or of a workflow: not replayed',
};
const results: Readonly<Record<BulkKind, typeof ofReplay>> = {
  replay: ofReplay,
  cancel: {
    ...ofReplay,
    waiting: 'not cancelled',
    open: 'being cancelled',
    changed: 'too late: it had ended, or there was an answer',
  },
};

const counts = (report: BulkReport): Html => {
  const { kind, total, waiting, inFlight, signed, failed, cancelled, changed, gone, refused } =
    report;
  const isCancel = kind === 'cancel';
  const settled = total - waiting - inFlight;
  const byFault = Object.entries(failed);
  return html`<progress max="${Math.max(1, total)}" value="${settled}" aria-label="Ended">${settled}</progress>
<p class="quiet">${count(settled)} of ${counted(total, 'transaction')} ended</p>
${tiles(
  [isOver(report) ? 'Never begun' : 'Still to do', count(waiting)],
  isCancel ? ['Cancelled', count(cancelled)] : ['Open', count(inFlight)],
  isCancel ? undefined : ['Signed', count(signed)],
  isCancel ? undefined : ['Failed again', count(failedIn(report))],
  changed > 0 ? [isCancel ? 'Too late' : 'By another order', count(changed)] : undefined,
  gone > 0 ? ['Gone', count(gone)] : undefined,
  refused > 0 ? ['Logins and of workflows, not replayed', count(refused)] : undefined,
)}
${
  byFault.length === 0
    ? nothing
    : countTable(
        'Failed again, by fault',
        ['Fault', 'Transactions'],
        byFault.map(([code, number]) => [faultName(code), number]),
      )
}`;
};

const items = ({ report, from }: ReplayModel): Html => {
  const shown = report.transactions.slice(from, from + itemsOnPage);
  const path = pathTo(report.id);
  const end = from + shown.length;
  return html`<table><caption>${count(Math.min(from + 1, report.total))} to ${count(end)} of ${count(report.total)}</caption><thead><tr><th scope="col">Transaction</th><th scope="col">Result</th></tr></thead><tbody>${shown.map(
    ({ msspTransId, result, fault }) =>
      html`<tr><th scope="row" class="code"><a href="/admin/transactions/${encodeURIComponent(msspTransId)}">${msspTransId}</a></th><td>${results[report.kind ?? 'replay'][result]}${fault === undefined ? '' : ` (${faultName(fault)})`}</td></tr>`,
  )}</tbody></table><nav class="paging" aria-label="Pages">${
    from === 0
      ? html`<span></span>`
      : html`<a href="${path}?from=${Math.max(0, from - itemsOnPage)}">Previous</a>`
  }${end >= report.total ? nothing : html`<a href="${path}?from=${end}">Next</a>`}</nav>`;
};

export const replayPage = (model: ReplayModel): string => {
  const { session, report, notice } = model;
  const { id, kind = 'replay', state, by, reason, perSecond, createdAt, endedAt } = report;
  const title = kind === 'replay' ? 'Replay' : 'Cancel';
  const { role } = session.operator;
  const mayStop = state === 'running' && includesRole(role, 'operator');
  return layOut({
    title: `${title} ${state}`,
    session,
    current: 'replays',
    ...(!isOver(report) && { live: { everySeconds: 2 } }),
    main: html`<p><a href="/admin/replays">Replays</a></p>
<h1>${title} of ${counted(report.total, 'transaction')}</h1>
${noticeBanner(notice)}
<div class="bar"><p data-region="state" role="status"><span class="state ${state}">${state}</span></p><div data-region="stop">${
      mayStop
        ? html`<form method="post" action="${pathTo(id)}/stop">${csrfField(session.csrf)}<button type="submit" class="danger" id="stop" aria-describedby="stop-hint">Stop</button> <span class="quiet" id="stop-hint">${kind === 'replay' ? 'Prompts that were sent stay on their phones.' : 'What is cancelled stays cancelled.'}</span></form>`
        : nothing
    }</div></div>
<div data-region="progress">${counts(report)}</div>
<div class="columns"><section aria-labelledby="order"><h2 id="order">Order</h2>${facts(
      ['By', by],
      ['Reason', seesPeople(role) ? reason : undefined],
      ['Rate', `${perSecond} in a second`],
      ['Ordered', timeOf(createdAt)],
      [
        'Ended',
        endedAt === undefined
          ? undefined
          : html`${timeOf(endedAt)}, after ${duration(endedAt - createdAt)}`,
      ],
      ['Id', html`<span class="code">${id}</span>`],
    )}</section>
<section aria-labelledby="report" data-region="report"><h2 id="report">Report</h2>${items(model)}</section></div>`,
  });
};
