/** Bulks of all lists: which there are, and the progress of one. */
import { html } from 'hono/html';
import { type FaultCode, faultTable, isFaultCode } from '../../../packages/protocol/src/fault.ts';
import { type BulkFace, type BulkWords, sectionOf } from '../bulk-face.ts';
import type { ConsoleSession } from '../deps.ts';
import {
  type BulkProgress,
  type BulkReport,
  failedIn,
  type ItemResult,
  isOver,
} from '../operators/bulk-report.ts';
import { includesRole } from '../operators/operator.ts';
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
      html`<tr role="row"><th scope="row" role="rowheader" class="nowrap"><a href="${pathTo(bulk.id)}">${timeOf(bulk.createdAt)}</a></th><td role="cell">${bulk.kind ?? 'replay'}${bulk.of === undefined ? '' : html`<span class="sub">${bulk.of}</span>`}</td><td role="cell" class="end"><span class="state ${bulk.state}">${bulk.state}</span></td><td role="cell">${bulk.by}</td><td role="cell" class="wide">${seesPeople(role) ? bulk.reason : ''}</td><td role="cell" class="number" data-label="of">${count(bulk.total)}</td><td role="cell" class="number" data-label="signed">${count(bulk.signed)}</td><td role="cell" class="number" data-label="failed">${count(failedIn(bulk))}</td><td role="cell" class="number" data-label="done">${count(bulk.cancelled + bulk.done)}</td></tr>`,
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
      'Bulks, newest first',
      [
        'Ordered',
        'What',
        'State',
        'By',
        'Reason',
        ['Items', 'number'],
        ['Signed', 'number'],
        ['Failed again', 'number'],
        ['Done', 'number'],
      ],
      rows,
      html`No bulk has been ordered in the last month. Operators order them from a list, such as that of <a href="/admin/transactions?state=failed">failed</a> transactions.`,
    )}</div>`,
  });
};

export interface ReplayModel {
  readonly session: ConsoleSession;
  readonly report: BulkReport;
  /** Shows the list that the bulk is about; undefined when this service no longer has that list. */
  readonly face: BulkFace | undefined;
  /** The index of the first item on the page. */
  readonly from: number;
  /** How the items on the page are now, where their list tells it. */
  readonly now?: readonly (Html | undefined)[] | undefined;
  readonly notice: Notice | undefined;
}

export const itemsOnPage = 100;

const unnamed: readonly [string, string] = ['item', 'items'];

const wordsOf = ({ face, report }: ReplayModel): BulkWords | undefined =>
  face?.words[report.kind ?? 'replay'];

const usualCounts = { done: 'Done', cancelled: 'Cancelled' } as const;

const counts = (model: ReplayModel): Html => {
  const { report, face } = model;
  const { total, waiting, inFlight, failed } = report;
  const settled = total - waiting - inFlight;
  const byFault = Object.entries(failed);
  const [one, many] = face?.what ?? unnamed;
  const numbers: Readonly<Record<ItemResult, number>> = {
    ...report,
    open: inFlight,
    failed: failedIn(report),
  };
  const named: Readonly<Partial<Record<ItemResult, string>>> =
    wordsOf(model)?.counts ?? usualCounts;
  // How items may end by themselves is shown from the beginning; what is rare, where it happens.
  const isShown = (name: ItemResult): boolean =>
    numbers[name] > 0 || ['open', 'signed', 'failed', 'cancelled', 'done'].includes(name);
  const rare = { gone: 'Gone', ...named } as Readonly<Partial<Record<ItemResult, string>>>;
  const shown = (Object.entries(rare) as [ItemResult, string][])
    .filter(([name]) => isShown(name))
    .toSorted(([one], [other]) => order.indexOf(one) - order.indexOf(other));
  return html`<progress max="${Math.max(1, total)}" value="${settled}" aria-label="${report.of === undefined ? 'Ended' : 'Done'}">${settled}</progress>
<p class="quiet">${count(settled)} of ${counted(total, one, many)} ${report.of === undefined ? 'ended' : 'done'}</p>
${tiles(
  [isOver(report) ? 'Never begun' : 'Still to do', count(waiting)],
  ...shown.map(([name, label]) => [label, count(numbers[name])] as const),
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

/** The order of the counts on the page. */
const order: readonly ItemResult[] = [
  'open',
  'signed',
  'failed',
  'cancelled',
  'done',
  'changed',
  'gone',
  'refused',
];

const items = (model: ReplayModel): Html => {
  const { report, face, from, now } = model;
  const [one] = face?.what ?? unnamed;
  const results = wordsOf(model)?.results;
  const shown = report.items.slice(from, from + itemsOnPage);
  const path = pathTo(report.id);
  const end = from + shown.length;
  return html`<table><caption>${count(Math.min(from + 1, report.total))} to ${count(end)} of ${count(report.total)}</caption><thead><tr><th scope="col">${one.charAt(0).toUpperCase()}${one.slice(1)}</th><th scope="col">Result</th>${now === undefined ? nothing : html`<th scope="col">Now</th>`}</tr></thead><tbody>${shown.map(
    ({ id, result, fault }, index) =>
      html`<tr><th scope="row" class="code"><a href="/admin/${report.of ?? 'transactions'}/${encodeURIComponent(id)}">${id}</a></th><td>${results?.[result] ?? result}${fault === undefined ? '' : ` (${faultName(fault)})`}</td>${now === undefined ? nothing : html`<td>${now[index] ?? 'gone'}</td>`}</tr>`,
  )}</tbody></table><nav class="paging" aria-label="Pages">${
    from === 0
      ? html`<span></span>`
      : html`<a href="${path}?from=${Math.max(0, from - itemsOnPage)}">Previous</a>`
  }${end >= report.total ? nothing : html`<a href="${path}?from=${end}">Next</a>`}</nav>`;
};

export const replayPage = (model: ReplayModel): string => {
  const { session, report, notice, face } = model;
  const { id, kind = 'replay', event, state, by, reason, perSecond, createdAt, endedAt } = report;
  const title = wordsOf(model)?.heading ?? `${kind} of`;
  const { role } = session.operator;
  const mayStop = state === 'running' && includesRole(role, 'operator');
  return layOut({
    title: `${title} ${counted(report.total, ...(face?.what ?? unnamed))}: ${state}`,
    session,
    current: sectionOf(report.of ?? 'transactions'),
    ...(!isOver(report) && { live: { everySeconds: 2 } }),
    main: html`<p><a href="/admin/replays">Replays</a></p>
<h1>${title} ${counted(report.total, ...(face?.what ?? unnamed))}</h1>
${noticeBanner(notice)}
<div class="bar"><p data-region="state" role="status"><span class="state ${state}">${state}</span></p><div data-region="stop">${
      mayStop
        ? html`<form method="post" action="${pathTo(id)}/stop">${csrfField(session.csrf)}<button type="submit" class="danger" id="stop" aria-describedby="stop-hint">Stop</button> <span class="quiet" id="stop-hint">${wordsOf(model)?.stops}</span></form>`
        : nothing
    }</div></div>
<div data-region="progress">${counts(model)}</div>
<div class="columns"><section aria-labelledby="order"><h2 id="order">Order</h2>${facts(
      ['By', by],
      ['Reason', seesPeople(role) ? reason : undefined],
      [
        'Event',
        event === undefined
          ? undefined
          : html`<span class="code">${seesPeople(role) ? JSON.stringify(event) : event.type}</span>`,
      ],
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
