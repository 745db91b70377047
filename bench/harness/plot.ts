/**
 * Plots as SVG: bars and lines, readable on light and on dark.
 *
 * Everything has its own class; a style sheet inside follows the reader's colour scheme, which also
 * holds where a page shows the file as an image.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { number } from './report.ts';
import type { Plot } from './scenario.ts';

const width = 760;
const height = 400;
const left = 84;
const right = 20;
const top = 76;
const bottom = 62;
const plotWidth = width - left - right;
const plotHeight = height - top - bottom;
const floor = top + plotHeight;

const style = `
.paper { fill: #ffffff }
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-size: 16px; font-weight: 600 }
.quiet { fill: #57606a; font-size: 12px }
.value { font-size: 11px }
.grid { stroke: #d0d7de } .axis { stroke: #57606a }
.bar0, .key0 { fill: #0969da } .bar1, .key1 { fill: #bc4c00 } .bar2, .key2 { fill: #1a7f37 } .bar3, .key3 { fill: #8250df }
.bar4, .key4 { fill: #bf3989 } .bar5, .key5 { fill: #6e7781 }
.line { fill: none; stroke-width: 2 }
.line0 { stroke: #0969da } .line1 { stroke: #bc4c00 } .line2 { stroke: #1a7f37 } .line3 { stroke: #8250df }
.line4 { stroke: #bf3989 } .line5 { stroke: #6e7781 }
@media (prefers-color-scheme: dark) {
  .paper { fill: #0d1117 }
  text { fill: #e6edf3 } .quiet { fill: #9198a1 } .grid { stroke: #30363d } .axis { stroke: #9198a1 }
  .bar0, .key0 { fill: #4493f8 } .bar1, .key1 { fill: #f0883e } .bar2, .key2 { fill: #3fb950 } .bar3, .key3 { fill: #ab7df8 }
  .bar4, .key4 { fill: #db61a2 } .bar5, .key5 { fill: #9198a1 }
  .line0 { stroke: #4493f8 } .line1 { stroke: #f0883e } .line2 { stroke: #3fb950 } .line3 { stroke: #ab7df8 }
  .line4 { stroke: #db61a2 } .line5 { stroke: #9198a1 }
}`;

const colours = 6;

const escaped = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

const at = (value: number): string => value.toFixed(1);

const text = (x: number, y: number, content: string, extra = ''): string =>
  `<text x="${at(x)}" y="${at(y)}"${extra && ` ${extra}`}>${escaped(content)}</text>`;

/** Round numbers from zero to just above the greatest value. */
export const ticksTo = (most: number): readonly number[] => {
  if (!(most > 0)) return [0, 1];
  const rough = most / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const count = Math.ceil(most / step);
  return Array.from({ length: count + 1 }, (_, tick) => Number((tick * step).toPrecision(6)));
};

const legend = (labels: readonly string[]): string => {
  let x = left;
  return labels
    .map((label, index) => {
      const entry = `<rect class="key${index % colours}" x="${at(x)}" y="46" width="12" height="12" rx="2"/>${text(x + 17, 57, label)}`;
      x += 17 + label.length * 7.2 + 20;
      return entry;
    })
    .join('\n');
};

/** Where a y value stands. */
type Scale = (y: number) => number;

const bars = ({ series }: Plot, scale: Scale): string => {
  const groups = [...new Set(series.flatMap(({ points }) => points.map(({ x }) => String(x))))];
  const groupWidth = plotWidth / groups.length;
  const barWidth = Math.min(90, (groupWidth * 0.8) / series.length);
  const start = (group: number): number =>
    left + groupWidth * (group + 0.5) - (barWidth * series.length) / 2;
  const drawn = series.flatMap(({ points }, index) =>
    points.map(({ x, y }) => {
      const from = start(groups.indexOf(String(x))) + barWidth * index;
      return `<rect class="bar${index % colours}" x="${at(from + 1)}" y="${at(scale(y))}" width="${at(barWidth - 2)}" height="${at(floor - scale(y))}"/>${text(from + barWidth / 2, scale(y) - 5, number(y), 'class="value" text-anchor="middle"')}`;
    }),
  );
  const names = groups.map((group, index) =>
    text(left + groupWidth * (index + 0.5), floor + 19, group, 'text-anchor="middle"'),
  );
  return [...drawn, ...names].join('\n');
};

const lines = ({ series, logarithmicX = false }: Plot, scale: Scale): string => {
  const place = (x: string | number): number =>
    logarithmicX ? Math.log10(Math.max(Number(x), 1e-9)) : Number(x);
  const values = [
    ...new Set(series.flatMap(({ points }) => points.map(({ x }) => Number(x)))),
  ].sort((a, b) => a - b);
  const least = place(values[0] ?? 0);
  const span = place(values.at(-1) ?? 1) - least || 1;
  // A little air, so that the first and last points do not lie on the edge.
  const xAt = (x: string | number): number =>
    left + 20 + ((place(x) - least) / span) * (plotWidth - 50);
  // A course over time has hundreds of points: the line tells it, labels would hide it.
  const few = values.length <= 12;
  const drawn = series.flatMap(({ points }, index) => {
    const path = points
      .map(({ x, y }, point) => `${point === 0 ? 'M' : 'L'}${at(xAt(x))} ${at(scale(y))}`)
      .join('');
    const marks = points.map(
      ({ x, y }) =>
        `<circle class="key${index % colours}" cx="${at(xAt(x))}" cy="${at(scale(y))}" r="3.5"/>${text(xAt(x), scale(y) - 9, number(y), 'class="value" text-anchor="middle"')}`,
    );
    return [`<path class="line line${index % colours}" d="${path}"/>`, ...(few ? marks : [])];
  });
  const spread = ticksTo(values.at(-1) ?? 1).filter(
    (tick) => tick >= (values[0] ?? 0) && tick <= (values.at(-1) ?? 1),
  );
  const names = (few ? values : spread).map((x) =>
    text(xAt(x), floor + 19, number(x), 'text-anchor="middle"'),
  );
  return [...drawn, ...names].join('\n');
};

/** @returns A whole SVG document. */
export const drawPlot = (plot: Plot): string => {
  const most = Math.max(0, ...plot.series.flatMap(({ points }) => points.map(({ y }) => y)));
  const ticks = ticksTo(most);
  const highest = ticks.at(-1) ?? 1;
  const scale: Scale = (y) => floor - (y / highest) * plotHeight;
  const grid = ticks.map(
    (tick) =>
      `<line class="grid" x1="${left}" x2="${width - right}" y1="${at(scale(tick))}" y2="${at(scale(tick))}"/>${text(left - 8, scale(tick) + 4, number(tick), 'class="quiet" text-anchor="end"')}`,
  );
  const middle = top + plotHeight / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(plot.title)}">`,
    `<style>${style}</style>`,
    `<rect class="paper" width="${width}" height="${height}" rx="6"/>`,
    text(left, 28, plot.title, 'class="title"'),
    legend(plot.series.map(({ label }) => label)),
    ...grid,
    plot.kind === 'bars' ? bars(plot, scale) : lines(plot, scale),
    `<line class="axis" x1="${left}" x2="${width - right}" y1="${floor}" y2="${floor}"/>`,
    text(left + plotWidth / 2, height - 14, plot.xLabel, 'class="quiet" text-anchor="middle"'),
    text(
      18,
      middle,
      plot.yLabel,
      `class="quiet" text-anchor="middle" transform="rotate(-90 18 ${at(middle)})"`,
    ),
    '</svg>\n',
  ].join('\n');
};

/** Writes `<file>.svg` for each. */
export const drawPlots = (folder: string, plots: readonly Plot[]): void => {
  mkdirSync(folder, { recursive: true });
  for (const plot of plots) writeFileSync(join(folder, `${plot.file}.svg`), drawPlot(plot));
};
