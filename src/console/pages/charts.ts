/** Charts, drawn as SVG on the server. Each has a table that says the same. */
import { html } from 'hono/html';
import type { OverviewPart } from '../../history/overview.ts';
import { count, fullTime, type Html, nothing, shortTime } from './markup.ts';

/** The least of 1, 2, 5, 10, 20, 50 … that is not below, so that half of it is written without fractions, or not at all. */
export const niceTop = (most: number): number => {
  if (most <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= most) ?? 10;
  return step * power;
};

/** Short, since there is little room: `50k`. */
const axisText = (mark: number): string => (mark >= 10_000 ? `${count(mark / 1000)}k` : count(mark));

const size = { width: 640, height: 190, left: 52, right: 6, top: 16, bottom: 32 } as const;

/** `14:03`, or with the day where the hours alone do not tell. */
const tickText = (at: number, spanMs: number): string =>
  spanMs > 20 * 3_600_000 ? shortTime(at).slice(0, -3) : (shortTime(at).split(' ').at(-1)?.slice(0, 5) ?? '');

/** Ends as stacked bars, submissions as a line. */
export const rateChart = (series: readonly OverviewPart[], label: string): Html => {
  const { width, height, left, right, top, bottom } = size;
  const most = niceTop(
    Math.max(1, ...series.map((part) => Math.max(part.signed + part.failed, part.submitted))),
  );
  const inner = { width: width - left - right, height: height - top - bottom };
  const step = inner.width / Math.max(1, series.length);
  const y = (value: number): number => Math.round((top + inner.height * (1 - value / most)) * 10) / 10;
  const x = (index: number): number => Math.round((left + index * step) * 10) / 10;
  const barWidth = Math.round(Math.max(1, step * 0.72) * 10) / 10;
  const spanMs = (series.at(-1)?.at ?? 0) - (series[0]?.at ?? 0);
  const marks = most >= 2 ? [0, most / 2, most] : [0, most];
  const ticks = [0, Math.floor(series.length / 2), series.length - 1].filter((index) => series[index]);
  const bars = series.map(({ signed, failed }, index) => {
    const at = Math.round((x(index) + (step - barWidth) / 2) * 10) / 10;
    const signedTop = y(signed);
    const failedTop = y(signed + failed);
    const base = y(0);
    return html`${signed === 0 ? nothing : html`<rect class="signed-bar" x="${at}" y="${signedTop}" width="${barWidth}" height="${(base - signedTop).toFixed(1)}"/>`}${
      failed === 0
        ? nothing
        : html`<rect class="failed-bar" x="${at}" y="${failedTop}" width="${barWidth}" height="${(signedTop - failedTop).toFixed(1)}"/>`
    }`;
  });
  const line = series
    .map(({ submitted }, index) => `${(x(index) + step / 2).toFixed(1)},${y(submitted)}`)
    .join(' ');
  return html`<svg class="chart" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${marks.map(
    (mark) =>
      html`<line class="${mark === 0 ? 'axis' : 'grid'}" x1="${left}" x2="${width - right}" y1="${y(mark)}" y2="${y(mark)}"/><text x="${left - 6}" y="${y(mark) + 4}" text-anchor="end">${axisText(mark)}</text>`,
  )}${bars}<polyline class="submitted-line" points="${line}"/>${ticks.map((index, order) => {
    const anchor = order === 0 ? 'start' : order === ticks.length - 1 ? 'end' : 'middle';
    const place = order === 0 ? left : order === ticks.length - 1 ? width - right : x(index) + step / 2;
    return html`<text x="${place}" y="${height - 6}" text-anchor="${anchor}">${tickText(series[index]?.at ?? 0, spanMs)}</text>`;
  })}</svg>`;
};

export const rateLegend: Html = html`<ul class="legend"><li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="signed-bar" width="10" height="10"/></svg>signed</li><li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="failed-bar" width="10" height="10"/></svg>failed</li><li><svg viewBox="0 0 10 10" aria-hidden="true"><path class="submitted-line" d="M0 5H10"/></svg>submitted</li></ul>`;

/** Only the parts in which something happened. */
export const rateTable = (series: readonly OverviewPart[], id: string): Html => {
  const busy = series.filter(({ submitted, signed, failed }) => submitted + signed + failed > 0);
  return html`<details id="${id}"><summary>The chart as a table</summary>${
    busy.length === 0
      ? html`<p class="quiet">Nothing happened.</p>`
      : html`<table><thead><tr><th scope="col">From (UTC)</th><th scope="col" class="number">Submitted</th><th scope="col" class="number">Signed</th><th scope="col" class="number">Failed</th></tr></thead><tbody>${busy.map(
          ({ at, submitted, signed, failed }) =>
            html`<tr><th scope="row">${fullTime(at).slice(0, 16)}</th><td class="number">${count(submitted)}</td><td class="number">${count(signed)}</td><td class="number">${count(failed)}</td></tr>`,
        )}</tbody></table>`
  }</details>`;
};

/** A bar beside a number in a table, which says the same. @param share 0 to 1. */
export const shareBar = (share: number, kind: 'signed-bar' | 'failed-bar'): Html => {
  const width = Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10;
  return html`<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="rest-bar" width="100" height="4"/><rect class="${kind}" width="${width}" height="4"/></svg>`;
};
