/** The chart as a drawing, with the way that was gone; and the same as a table for whoever does not see it. */
import { html } from 'hono/html';
import { counted, type Html, nothing } from './markup.ts';
import type { Path, Statechart } from './statechart.ts';
import { layOutChart } from './statechart-layout.ts';

/** `attempt 1`, `attempts 1, 2`, `attempts 1–9`. */
const attemptsText = (attempts: readonly number[]): string => {
  const different = [...new Set(attempts)];
  if (different.length === 1) return `attempt ${different[0]}`;
  const first = different[0] ?? 0;
  const last = different.at(-1) ?? 0;
  const isRun = different.length > 2 && last - first === different.length - 1;
  return `attempts ${isRun ? `${first}–${last}` : different.join(', ')}`;
};

const wayLabel = (events: readonly string[], attempts: readonly number[] | undefined): readonly string[] => [
  events.join(', '),
  ...(attempts === undefined ? [] : [attemptsText(attempts)]),
];

export const statechartSvg = (chart: Statechart, path: Path): Html => {
  const { width, height, box, states, arrows } = layOutChart(chart);
  const initial = states.find(({ name }) => name === chart.initial);
  const drawn = arrows.map(({ from, to, events, path: way, head, label }) => {
    const attempts = path.ways.get(`${from} ${to}`);
    const lines = wayLabel(events, attempts);
    return html`<g class="edge${attempts === undefined ? '' : ' taken'}"><path d="${way}"/><polygon points="${head}"/><text x="${label.x}" y="${label.y}">${lines.map(
      (line, index) => html`<tspan x="${label.x}" dy="${index === 0 ? 0 : 13}">${line}</tspan>`,
    )}</text></g>`;
  });
  const boxes = states.map(({ name, isFinal, x, y }) => {
    const visited = path.visits.has(name);
    const kind = `node${visited ? ' visited' : ''}${path.here === name ? ' here' : ''}`;
    return html`<g class="${kind}"><rect x="${x}" y="${y}" width="${box.width}" height="${box.height}" rx="${name === chart.initial ? 22 : 8}"/>${
      isFinal
        ? html`<rect x="${x + 4}" y="${y + 4}" width="${box.width - 8}" height="${box.height - 8}" rx="5"/>`
        : nothing
    }<text x="${x + box.width / 2}" y="${y + box.height / 2 + 5}">${name}</text></g>`;
  });
  return html`<svg class="statechart" viewBox="0 0 ${width} ${height}" role="img" aria-label="Statechart. ${
    path.here === undefined ? '' : `Now ${path.here}. `
  }The table below says the same.">${
    initial === undefined
      ? nothing
      : html`<circle class="start" cx="${initial.x + box.width / 2}" cy="8" r="5"/><g class="edge taken"><path d="M${initial.x + box.width / 2} 10V${initial.y - 6}"/></g>`
  }${drawn}${boxes}</svg>`;
};

export const statechartTable = (chart: Statechart, path: Path): Html =>
  html`<details id="chart-table"><summary>The chart as a table</summary><table><thead><tr><th scope="col">From</th><th scope="col">Event</th><th scope="col">To</th><th scope="col">Taken</th></tr></thead><tbody>${chart.arrows.map(
    ({ from, to, events }) => {
      const attempts = path.ways.get(`${from} ${to}`);
      return html`<tr><td>${from}</td><td>${events.join(', ')}</td><td>${to}</td><td>${
        attempts === undefined
          ? html`<span class="quiet">no</span>`
          : `${counted(attempts.length, 'time')}, ${attemptsText(attempts)}`
      }</td></tr>`;
    },
  )}</tbody></table></details>`;
