/** How the service does: the last hour and the last day. */
import { html } from 'hono/html';
import type { Overview } from '../../history/overview.ts';
import type { ConsoleSession } from '../deps.ts';
import { rateChart, rateLegend, rateTable, shareBar } from './charts.ts';
import { layOut } from './layout.ts';
import { queryOf } from './list-filter.ts';
import { count, counted, duration, type Html, nothing } from './markup.ts';

export interface OverviewModel {
  readonly session: ConsoleSession;
  readonly hour: Overview;
  readonly day: Overview;
  readonly now: number;
}

const tile = (label: string, value: string, more: string | Html = ''): Html =>
  html`<div><dt>${label}</dt><dd>${value}${more === '' ? nothing : html` <small>${more}</small>`}</dd></div>`;

const percent = (part: number, all: number): string =>
  all === 0 ? '—' : `${((part / all) * 100).toFixed(part === all ? 0 : 1)} %`;

/** A rate that can be read: in a minute where a second would be a fraction. */
const rate = (number: number, ms: number): string => {
  const perSecond = number / Math.max(1, ms / 1000);
  if (perSecond >= 10) return `${count(Math.round(perSecond))}/s`;
  if (perSecond >= 1) return `${perSecond.toFixed(1)}/s`;
  const perMinute = perSecond * 60;
  return `${perMinute >= 10 ? Math.round(perMinute) : perMinute.toFixed(1)}/min`;
};

const faultTable = ({ faults, failed }: Overview, name: string): Html =>
  faults.length === 0
    ? html`<p class="quiet">None failed.</p>`
    : html`<table><caption class="unseen">Faults of the ${name}</caption><thead><tr><th scope="col">Fault</th><th scope="col" class="number">Count</th><th scope="col"><span class="unseen">Share</span></th></tr></thead><tbody>${faults.map(
        ({ code, reason, count: number }) =>
          html`<tr><th scope="row"><a href="/admin/transactions${queryOf({ state: 'failed', fault: String(code) })}">${code} ${reason ?? ''}</a></th><td class="number">${count(number)}</td><td>${shareBar(number / Math.max(1, failed), 'failed-bar')}<span class="unseen">${percent(number, failed)}</span></td></tr>`,
      )}</tbody></table>`;

const period = (overview: Overview, name: string, id: string, now: number): Html => {
  const { submitted, signed, failed, timeToSignMs, series, since } = overview;
  const ended = signed + failed;
  const seconds = Math.max(1, now - since);
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${name}</h2>
<dl class="tiles">${tile('Submitted', count(submitted), rate(submitted, seconds))}${tile('Signed', percent(signed, ended), `${count(signed)} of ${count(ended)}`)}${tile('Failed', count(failed))}</dl>
<div class="panel"><h3>Submitted, signed and failed</h3>${rateLegend}${rateChart(series, `${name}: ${counted(submitted, 'request')} submitted, ${count(signed)} signed, ${count(failed)} failed. The table below says when.`)}${rateTable(series, `${id}-series`)}</div>
<div class="panel"><h3>Time to sign</h3>${
    timeToSignMs === undefined
      ? html`<p class="quiet">None signed.</p>`
      : html`<dl class="tiles">${tile('Half within', duration(timeToSignMs.p50))}${tile('90 % within', duration(timeToSignMs.p90))}${tile('99 % within', duration(timeToSignMs.p99))}</dl>`
  }</div>
<div class="panel"><h3>Faults by reason</h3>${faultTable(overview, name.toLowerCase())}</div>
</section>`;
};

export const overviewPage = ({ session, hour, day, now }: OverviewModel): string => {
  const { waiting, active, delayed } = hour.queue;
  return layOut({
    title: 'Overview',
    session,
    current: 'overview',
    live: { everySeconds: 15 },
    main: html`<h1>Overview</h1>
<div data-region="overview">
<section aria-labelledby="now"><h2 id="now">In the queue now</h2>
<dl class="tiles">${tile('Waiting for a worker', count(waiting))}${tile('In a worker’s hands', count(active))}${tile('Waiting for a person', count(delayed), html`<a href="/admin/transactions?state=open">open</a>`)}</dl></section>
<div class="periods">${period(hour, 'Last hour', 'hour', now)}${period(day, 'Last day', 'day', now)}</div>
</div>`,
  });
};
