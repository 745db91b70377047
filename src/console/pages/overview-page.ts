/**
 * What needs a person, and the numbers of one range of time. The server draws charts as SVG; each has a
 * table with the same numbers. Transactions are submitted, and their attempts end: after a replay a
 * transaction has two.
 */
import { html } from 'hono/html';
import type { Overview, OverviewPart } from '../../transactions/history/overview.ts';
import type { ProcessReport } from '../../transactions/history/processes.ts';
import { type Clock, clockOf } from '../clock.ts';
import type { ConsoleSession } from '../deps.ts';
import { fieldTime } from '../filter.ts';
import { includesRole } from '../operators/operator.ts';
import type { Need } from '../part.ts';
import { layOut } from './layout.ts';
import {
  breakable,
  cardTable,
  count,
  counted,
  duration,
  type Html,
  nothing,
  queryOf,
  shorten,
  type Tile,
  tiles,
  timeOf,
} from './markup.ts';

/** Rounds up to 1, 2, 5, 10, 20, 50 … for an axis without long fractions. */
export const niceTop = (max: number): number => {
  if (max <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(max));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= max) ?? 10;
  return step * power;
};

/** The text of a mark on an axis: `50k`. */
const axisText = (mark: number): string =>
  mark >= 10_000 ? `${count(mark / 1000)}k` : count(mark);

const size = { width: 640, height: 190, left: 52, right: 6, top: 16, bottom: 32 } as const;

/** The text of a time on an axis: `14:03`, with the day for a long period. */
const tickText = (at: number, spanMs: number, clock: Clock): string => {
  const text = shorten(clock.write(at));
  return spanMs > 20 * 3_600_000 ? text.slice(0, -3) : (text.split(' ').at(-1)?.slice(0, 5) ?? '');
};

/** The chart of a series: ends as stacked bars, submissions as a line. */
const rateChart = (series: readonly OverviewPart[], label: string, clock: Clock): Html => {
  const { width, height, left, right, top, bottom } = size;
  const max = niceTop(
    Math.max(1, ...series.map((part) => Math.max(part.signed + part.failed, part.submitted))),
  );
  const step = (width - left - right) / Math.max(1, series.length);
  const barWidth = Math.max(1, step * 0.72);
  const middle = (index: number): number => left + (index + 0.5) * step;
  const y = (value: number): number => top + (height - top - bottom) * (1 - value / max);
  const bars = series.map(({ signed, failed }, index) => {
    const bar = (kind: 'signed-bar' | 'failed-bar', from: number, to: number): Html =>
      from === to
        ? nothing
        : html`<rect class="${kind}" x="${(middle(index) - barWidth / 2).toFixed(1)}" y="${y(to).toFixed(1)}" width="${barWidth.toFixed(1)}" height="${(y(from) - y(to)).toFixed(1)}"/>`;
    return html`${bar('signed-bar', 0, signed)}${bar('failed-bar', signed, signed + failed)}`;
  });
  const line = series
    .map(({ submitted }, index) => `${middle(index).toFixed(1)},${y(submitted).toFixed(1)}`)
    .join(' ');
  const marks = (max >= 2 ? [0, max / 2, max] : [0, max]).map(
    (mark) =>
      html`<line class="${mark === 0 ? 'axis' : 'grid'}" x1="${left}" x2="${width - right}" y1="${y(mark)}" y2="${y(mark)}"/><text x="${left - 6}" y="${y(mark) + 4}" text-anchor="end">${axisText(mark)}</text>`,
  );
  const last = series.length - 1;
  const spanMs = (series[last]?.at ?? 0) - (series[0]?.at ?? 0);
  const places = [
    [0, left, 'start'],
    [Math.floor(series.length / 2), middle(Math.floor(series.length / 2)), 'middle'],
    [last, width - right, 'end'],
  ] as const;
  const ticks = places.map(([index, x, anchor]) => {
    const part = series[index];
    return part === undefined
      ? nothing
      : html`<text x="${x}" y="${height - 6}" text-anchor="${anchor}">${tickText(part.at, spanMs, clock)}${index === last ? ` ${clock.zone}` : ''}</text>`;
  });
  return html`<svg class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${marks}${bars}<polyline class="submitted-line" points="${line}"/>${ticks}</svg>`;
};

const rateLegend: Html = html`<ul class="legend"><li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="signed-bar" width="10" height="10"/></svg>attempts signed</li><li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="failed-bar" width="10" height="10"/></svg>attempts failed</li><li><svg viewBox="0 0 10 10" aria-hidden="true"><path class="submitted-line" d="M0 5H10"/></svg>transactions submitted</li></ul>`;

/** The list of transactions that were submitted in this time. */
const listOf = (from: number, to?: number, fields: Readonly<Record<string, string>> = {}): string =>
  `/admin/transactions${queryOf({ ...fields, from: fieldTime(from), to: to === undefined ? undefined : fieldTime(to) })}`;

/** The table of a series, without empty parts. */
const rateTable = (series: readonly OverviewPart[], id: string, clock: Clock): Html => {
  const busy = series
    .map((part, index) => ({ ...part, to: series[index + 1]?.at }))
    .filter(({ submitted, signed, failed }) => submitted + signed + failed > 0);
  return html`<details id="${id}"><summary>The chart as a table</summary>${
    busy.length === 0
      ? html`<p class="quiet">Nothing happened.</p>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="Numbers of the chart"><table><thead><tr><th scope="col">From (${clock.zone})</th><th scope="col" class="number">Transactions submitted</th><th scope="col" class="number">Attempts signed</th><th scope="col" class="number">Attempts failed</th></tr></thead><tbody>${busy.map(
          ({ at, to, submitted, signed, failed }) =>
            html`<tr><th scope="row"><a href="${listOf(at, to)}">${clock.write(at).slice(0, 16)}</a></th><td class="number">${count(submitted)}</td><td class="number">${count(signed)}</td><td class="number">${count(failed)}</td></tr>`,
        )}</tbody></table></div>`
  }</details>`;
};

/** A bar beside a number in a table. @param share 0 to 1. */
const shareBar = (share: number): Html =>
  html`<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="rest-bar" width="100" height="4"/><rect class="failed-bar" width="${(Math.min(1, share) * 100).toFixed(1)}" height="4"/></svg>`;

const percent = (part: number, all: number): string =>
  all === 0 ? '—' : `${((part / all) * 100).toFixed(part === all ? 0 : 1)} %`;

/** A rate per second; low rates per minute, or per hour. */
const rate = (number: number, ms: number): string => {
  const perSecond = number / Math.max(1, ms / 1000);
  if (perSecond >= 10) return `${count(Math.round(perSecond))}/s`;
  if (perSecond >= 1) return `${perSecond.toFixed(1)}/s`;
  const perMinute = perSecond * 60;
  if (perMinute > 0 && perMinute < 0.1) return `${(perMinute * 60).toFixed(1)}/h`;
  return `${perMinute >= 10 ? Math.round(perMinute) : perMinute.toFixed(1)}/min`;
};

const faultTable = ({ faults, failed, since }: Overview, name: string): Html =>
  faults.length === 0
    ? html`<p class="quiet">No attempt of a transaction failed.</p>`
    : html`<table class="shares"><caption class="unseen">Attempts that failed in the ${name}, by fault</caption><thead><tr><th scope="col">Fault</th><th scope="col" class="number">Count</th><th scope="col"><span class="unseen">Share</span></th></tr></thead><tbody>${faults.map(
        ({ code, reason, count: number }) =>
          html`<tr><th scope="row"><a href="${listOf(since, undefined, { state: 'failed', fault: String(code) })}">${breakable(`${code} ${reason ?? ''}`)}</a></th><td class="number">${count(number)}</td><td>${shareBar(number / Math.max(1, failed))}<span class="unseen">${percent(number, failed)}</span></td></tr>`,
      )}</tbody></table>`;

export const ranges = {
  '15m': { name: 'Last 15 minutes', ms: 900_000 },
  '1h': { name: 'Last hour', ms: 3_600_000 },
  '6h': { name: 'Last 6 hours', ms: 6 * 3_600_000 },
  '24h': { name: 'Last 24 hours', ms: 86_400_000 },
  '7d': { name: 'Last 7 days', ms: 7 * 86_400_000 },
  '30d': { name: 'Last 30 days', ms: 30 * 86_400_000 },
} as const;
export type Range = keyof typeof ranges;

/** The range of the page when none is chosen. */
export const usualRange: Range = '24h';

const period = ({ range, overview, refused, now }: OverviewModel, clock: Clock): Html => {
  const { name } = ranges[range];
  const id = `last-${range}`;
  const { submitted, signed, failed, timeToSignMs, series, since } = overview;
  const ended = signed + failed;
  const elapsedMs = Math.max(1, now - since);
  return html`<section aria-labelledby="${id}"><h2 id="${id}">Transactions: ${name.charAt(0).toLowerCase()}${name.slice(1)}</h2>
${tiles(
  [
    'Transactions submitted',
    html`<a href="${listOf(since)}">${count(submitted)}</a>`,
    rate(submitted, elapsedMs),
  ],
  ['Attempts signed', percent(signed, ended), `${count(signed)} of ${count(ended)} that ended`],
  [
    'Attempts failed',
    html`<a href="${listOf(since, undefined, { state: 'failed' })}">${count(failed)}</a>`,
    'of transactions',
  ],
  refused === undefined
    ? undefined
    : ['Requests refused', html`<a href="/admin/refusals">${count(refused)}</a>`],
)}
<div class="columns main"><div class="panel"><h3>Submitted, signed and failed</h3>${rateLegend}${rateChart(series, `${name}: ${counted(submitted, 'transaction')} submitted, ${counted(signed, 'attempt')} signed, ${count(failed)} failed. The table below says when.`, clock)}${rateTable(series, `${id}-series`, clock)}</div>
<div><div class="panel"><h3>Time to sign</h3>${
    timeToSignMs === undefined
      ? html`<p class="quiet">None signed.</p>`
      : tiles(
          ['Half within', duration(timeToSignMs.p50)],
          ['90 % within', duration(timeToSignMs.p90)],
          ['99 % within', duration(timeToSignMs.p99)],
        )
  }</div>
<div class="panel"><h3>Faults of transactions by reason</h3>${faultTable(overview, name.toLowerCase())}</div></div></div>
</section>`;
};

export interface OverviewModel {
  readonly session: ConsoleSession;
  /** What needs a person, in the order of the page. */
  readonly needs: readonly Need[];
  readonly range: Range;
  /** The numbers of the range. */
  readonly overview: Overview;
  /** Refused requests; undefined for a range for which they are not counted. */
  readonly refused?: number | undefined;
  readonly processes: readonly ProcessReport[];
  /** The tiles of parts. */
  readonly tiles: readonly Tile[];
  readonly now: number;
}

/** How much a clock is ahead: `+3.2 s`. */
const offsetText = (offsetMs: number): string =>
  `${offsetMs < 0 ? '−' : '+'}${duration(Math.abs(offsetMs))}`;

const processTable = (processes: readonly ProcessReport[], now: number): Html => {
  const rows = processes.map(
    ({ part, host, pid, version, startedAt, running, concurrency, clockOffsetMs }) =>
      html`<tr role="row"><th scope="row" role="rowheader">${part === 'api' ? 'API' : 'Workers'}</th><td role="cell">${host}, process ${pid}</td><td role="cell" data-label="version">${version}</td><td role="cell" data-label="since">${timeOf(startedAt)} <span class="quiet">(${duration(now - startedAt)})</span></td><td role="cell" class="number" data-label="clock, to that of Redis">${clockOffsetMs === undefined ? '' : offsetText(clockOffsetMs)}</td><td role="cell" class="number" data-label="signatures in hand">${running === undefined ? '' : `${count(running)} of ${count(concurrency ?? 0)}`}</td></tr>`,
  );
  const headings = [
    'Part',
    'Where',
    'Version',
    'Since',
    ['Clock, to that of Redis', 'number'],
    ['Signatures in hand', 'number'],
  ] as const;
  return html`<section aria-labelledby="processes"><h2 id="processes">Processes</h2>
${cardTable('Processes', headings, rows)}</section>`;
};

const choice = ({ range }: OverviewModel): Html => {
  const links = Object.entries(ranges).map(([name, { name: words }], index) => {
    const text = html`<span class="unseen">${words}: </span>${name}`;
    const each =
      name === range
        ? html`<strong aria-current="true">${text}</strong>`
        : html`<a href="/admin${queryOf({ range: name })}">${text}</a>`;
    return index === 0 ? each : html` · ${each}`;
  });
  return html`<p>${links}</p>`;
};

const needsList = ({ session, needs }: OverviewModel): Html => {
  const line = ({ text, page, role = 'viewer' }: Need): Html =>
    includesRole(session.operator.role, role) ? html`<a href="${page}">${text}</a>` : html`${text}`;
  return html`<section aria-labelledby="needs"><h2 id="needs">Needs attention</h2>
${
  needs.length === 0
    ? html`<p class="quiet">Nothing needs attention.</p>`
    : html`<ul class="needs">${needs.map((need) => html`<li>${line(need)}</li>`)}</ul>`
}</section>`;
};

export const overviewPage = (model: OverviewModel): string => {
  const { session, overview, processes, now } = model;
  const { waiting, active, delayed } = overview.queue;
  const open = html`<a href="/admin/transactions?state=open">open</a>`;
  const clock = clockOf(session.view.times);
  return layOut({
    title: 'Overview',
    session,
    current: 'overview',
    live: { everySeconds: 15 },
    main: html`<div class="head"><h1>Overview</h1>${choice(model)}</div>
<div class="stack" data-region="overview">
${needsList(model)}
<section aria-labelledby="now"><h2 id="now">In the queues now</h2>
${tiles(
  ['Waiting for a worker', count(waiting)],
  ['In work', count(active)],
  ['Waiting for a person', count(delayed), open],
  ...model.tiles,
)}</section>
${period(model, clock)}
${processTable(processes, now)}
</div>`,
  });
};
