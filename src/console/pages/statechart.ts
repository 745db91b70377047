/**
 * The statechart of a transaction, drawn from the machine that runs it, so that the drawing is
 * never out of date. The path of the transaction is marked. A table has the same content for screen
 * readers.
 */
import { html } from 'hono/html';
import type { AnyStateMachine } from 'xstate';
import { signatureMachine } from '../../../machines/signature.machine.ts';
import { delayOf, invokedAs } from '../../../packages/engine/src/chart-words.ts';
import { counted, type Html, nothing } from './markup.ts';
import { box, layOutChart, lineHeight, type Size } from './statechart-layout.ts';

export interface Arrow {
  readonly from: string;
  readonly to: string;
  /** Taken when a time was up. Such arrows are apart from those of faults. */
  readonly isExpiry: boolean;
  readonly events: readonly string[];
}

/** A chart inside a state. `title`: of the region, in a parallel state. */
export interface Region {
  readonly title?: string;
  readonly chart: Statechart;
}

export interface Statechart {
  readonly initial: string;
  readonly states: readonly {
    readonly name: string;
    readonly isFinal: boolean;
    readonly inner?: readonly Region[];
  }[];
  readonly arrows: readonly Arrow[];
}

export const wayOf = (from: string, to: string, isExpiry: boolean): string =>
  `${from} ${to}${isExpiry ? ' expired' : ''}`;

/** A state node of any machine. */
type Node = AnyStateMachine['root'];

/** The name of the delay, of the activity or of the event. */
const readLabel = (event: string, node: Node): string => {
  if (event.startsWith('xstate.done.state.')) return 'done';
  const delay = delayOf(event);
  if (delay !== undefined) return delay;
  const [, child] = /^xstate\.(?:done|error)\.actor\.(.+)$/.exec(event) ?? [];
  if (child === undefined) return event;
  return String(invokedAs(node, child)?.src ?? child);
};

const guardName = (guard: unknown): string => {
  const { type, name } = Object(guard) as { readonly type?: unknown; readonly name?: unknown };
  return String(typeof guard === 'string' ? guard : (type ?? name ?? 'guard'));
};

/** Transitions that no event causes have no label of their own. */
const alwaysOf = ({ always = [] }: Node): readonly (readonly [string, readonly Target[]])[] =>
  always.map((each) => ['', [each]]);

interface Target {
  readonly target?: readonly Node[] | undefined;
  readonly guard?: unknown;
}

/**
 * deep    With the charts inside of states, and with transitions that no event causes. Then expiry
 *         has no arrow of its own.
 * guards  Labels name the conditions of transitions, too.
 */
export interface Reading {
  readonly deep?: boolean;
  readonly guards?: boolean;
}

/** The states of a machine, or of one of its states. */
export const readChart = (root: Node, reading: Reading = {}): Statechart => {
  const { deep = false, guards = false } = reading;
  const states = Object.values(root.states) as readonly Node[];
  const depth = root.path.length;
  const arrows = new Map<string, Arrow & { events: string[] }>();
  const draw = (from: string, node: Node): void => {
    const ways: (readonly [string, readonly Target[]])[] = [...node.transitions];
    for (const [event, all] of deep ? [...ways, ...alwaysOf(node)] : ways) {
      for (const { target = [], guard } of all) {
        for (const { path } of target) {
          const to = path[depth] ?? from;
          const isInside = root.path.every((key, index) => path[index] === key);
          if (to === from || !isInside) continue;
          const isExpiry = !deep && event.startsWith('xstate.after.');
          const way = wayOf(from, to, isExpiry);
          const arrow = arrows.get(way) ?? { from, to, isExpiry, events: [] };
          const condition = guards && guard !== undefined ? `[${guardName(guard)}]` : '';
          const label = `${event === '' ? '' : readLabel(event, node)} ${condition}`.trim();
          if (label !== '' && !arrow.events.includes(label)) arrow.events.push(label);
          arrows.set(way, arrow);
        }
      }
    }
    for (const inner of Object.values(node.states) as readonly Node[]) draw(from, inner);
  };
  for (const state of states) draw(state.key, state);
  return {
    initial: root.initial?.target?.[0]?.key ?? '',
    states: states.map((state) => ({
      name: state.key,
      isFinal: state.type === 'final',
      ...(deep && Object.keys(state.states).length > 0 && { inner: readRegions(state, guards) }),
    })),
    arrows: [...arrows.values()],
  };
};

/** What is inside a state of any machine, or the machine itself. */
export const readRegions = (node: Node, guards: boolean): readonly Region[] =>
  node.type === 'parallel'
    ? Object.values(node.states as Record<string, Node>).map((region) => ({
        title: region.key,
        chart: readChart(region, { deep: true, guards }),
      }))
    : [{ chart: readChart(node, { deep: true, guards }) }];

export const signatureChart = readChart(signatureMachine.root);

interface Visit {
  readonly state: string;
  readonly attempt: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly fault?: { readonly code: number };
}

interface Taken {
  readonly attempts: readonly number[];
  readonly faults: readonly number[];
}

export interface Path {
  readonly visited: ReadonlySet<string>;
  /** Attempts that took a way, and the faults that they ended with; none where a chart has none. */
  readonly ways: ReadonlyMap<string, Taken>;
  readonly here: string | undefined;
  /** The path in the chart inside a state; `title` is the title of its region. */
  readonly inner?: (state: string, title?: string) => Path;
}

/**
 * @param timeoutMs The timeout of each attempt, where it is known: it tells an expired attempt from
 *   one that a device has ended with the same fault.
 */
export const pathOf = (history: readonly Visit[], timeoutMs?: number): Path => {
  const ways = new Map<string, Taken>();
  for (const [index, { state, attempt, at, fault }] of history.entries()) {
    const before = history[index - 1];
    if (before === undefined) continue;
    const begun = history.find((visit) => visit.attempt === attempt)?.at ?? at;
    const isLate = at - begun >= (timeoutMs ?? Infinity);
    const isExpiry =
      fault !== undefined && (fault.code === expired || (isLate && late.includes(fault.code)));
    const way = wayOf(before.state, state, isExpiry);
    const { attempts, faults } = ways.get(way) ?? { attempts: [], faults: [] };
    ways.set(way, {
      attempts: [...attempts, attempt],
      faults: fault === undefined ? faults : [...new Set([...faults, fault.code])],
    });
  }
  return { visited: new Set(history.map(({ state }) => state)), ways, here: history.at(-1)?.state };
};

/** The fault of a deadline that passes while the person is silent. */
const expired = 208;
/** Faults of one that passes while the person is not reached. */
const late: readonly number[] = [209, 900];

/** `attempt 1`, `attempts 1, 2`, `attempts 1–9`. */
const attemptsText = (attempts: readonly number[]): string => {
  const different = [...new Set(attempts)];
  if (different.length === 1) return `attempt ${different[0]}`;
  const first = different[0] ?? 0;
  const last = different.at(-1) ?? 0;
  const isRun = different.length > 2 && last - first === different.length - 1;
  return `attempts ${isRun ? `${first}–${last}` : different.join(', ')}`;
};

const takenTexts = ({ attempts, faults }: Taken): readonly string[] => [
  ...(faults.length === 0 ? [] : [`fault ${faults.join(', ')}`]),
  ...(attempts.length === 0 ? [] : [attemptsText(attempts)]),
];

const padding = 14;
const titleHeight = 30;

interface Drawing extends Size {
  readonly content: Html;
}

/** Regions stand beside each other. */
export const drawRegions = (
  regions: readonly Region[],
  pathIn: (title?: string) => Path,
): Drawing => {
  let width = 0;
  const drawn = regions.map(({ title, chart }) => {
    const { content, ...size } = draw(chart, pathIn(title));
    const x = width === 0 ? 0 : width + padding;
    width = x + size.width;
    const name =
      title === undefined
        ? nothing
        : html`<text class="region" x="${x + padding}" y="14">${title}</text>${
            x === 0
              ? nothing
              : html`<path class="divider" d="M${x - padding / 2} 0V${size.height}"/>`
          }`;
    return { ...size, content: html`${name}<g transform="translate(${x} 0)">${content}</g>` };
  });
  return {
    width,
    height: Math.max(...drawn.map(({ height }) => height)),
    content: html`${drawn.map(({ content }) => content)}`,
  };
};

const nowhere: Path = { visited: new Set(), ways: new Map(), here: undefined };

const draw = (chart: Statechart, path: Path): Drawing => {
  const inside = new Map(
    chart.states.flatMap(({ name, inner }) =>
      inner === undefined
        ? []
        : [[name, drawRegions(inner, (title) => path.inner?.(name, title) ?? nowhere)] as const],
    ),
  );
  const sizeOf = (name: string): Size | undefined => {
    const inner = inside.get(name);
    return inner === undefined
      ? undefined
      : { width: inner.width + 2 * padding, height: inner.height + titleHeight + padding };
  };
  const takenBy = ({ from, to, isExpiry }: Arrow): Taken | undefined =>
    path.ways.get(wayOf(from, to, isExpiry));
  const linesOf = (arrow: Arrow): readonly string[] => {
    const taken = takenBy(arrow);
    return taken === undefined ? arrow.events : [...arrow.events, ...takenTexts(taken)];
  };
  const { width, height, states, arrows, start } = layOutChart(chart, sizeOf, linesOf);
  const isTaken = (arrow: Arrow): boolean => takenBy(arrow) !== undefined;
  // What was taken is drawn over what was not.
  const order = arrows.toSorted((a, b) => Number(isTaken(a)) - Number(isTaken(b)));
  const drawn = order.map((arrow) => {
    const { path: way, head, label, lines } = arrow;
    const texts = lines.map(
      (line, index) =>
        html`<tspan x="${label.x}" dy="${index === 0 ? 0 : lineHeight}">${line}</tspan>`,
    );
    return html`<g class="edge${isTaken(arrow) ? ' taken' : ''}"><path d="${way}"/><polygon points="${head}"/><text x="${label.x}" y="${label.y}">${texts}</text></g>`;
  });
  const boxes = states.map(({ name, isFinal, x, y, ...size }) => {
    const inner = inside.get(name);
    const isRound = name === chart.initial && inner === undefined;
    const kind = `node${path.visited.has(name) ? ' visited' : ''}${path.here === name ? ' here' : ''}${inner === undefined ? '' : ' outer'}`;
    const middle = x + size.width / 2;
    const label = inner === undefined ? y + box.height / 2 + 5 : y + 20;
    return html`<g class="${kind}"><rect x="${x}" y="${y}" width="${size.width}" height="${size.height}" rx="${isRound ? 22 : 8}"/>${
      isFinal
        ? html`<rect x="${x + 4}" y="${y + 4}" width="${size.width - 8}" height="${size.height - 8}" rx="5"/>`
        : nothing
    }<text x="${middle}" y="${label}">${name}</text></g>${
      inner === undefined
        ? nothing
        : html`<g transform="translate(${middle - inner.width / 2} ${y + titleHeight})">${inner.content}</g>`
    }`;
  });
  const begin = html`<circle class="start" cx="${start.x}" cy="${start.y}" r="${start.radius}"/>${start.lines.map(({ path: way, head }) => html`<g class="edge taken"><path d="${way}"/><polygon points="${head}"/></g>`)}`;
  return { width, height, content: html`${begin}${drawn}${boxes}` };
};

export const chartSvg = (
  { width, height, content }: Drawing,
  kind: string,
  label: string,
  scale = 1,
): Html =>
  html`<svg class="statechart${kind}" viewBox="0 0 ${width} ${height}" width="${Math.round(width * scale)}" role="img" aria-label="${label}">${content}</svg>`;

export const statechartSvg = (chart: Statechart, path: Path): Html =>
  chartSvg(
    draw(chart, path),
    '',
    `Statechart. ${path.here === undefined ? '' : `Now ${path.here}. `}The table below says the same.`,
  );

export const statechartTable = (chart: Statechart, path: Path): Html =>
  html`<details id="chart-table"><summary>The chart as a table</summary><table><thead><tr><th scope="col">From</th><th scope="col">Event</th><th scope="col">To</th><th scope="col">Taken</th></tr></thead><tbody>${chart.arrows.map(
    ({ from, to, isExpiry, events }) => {
      const taken = path.ways.get(wayOf(from, to, isExpiry));
      return html`<tr><td>${from}</td><td>${events.join(', ')}</td><td>${to}</td><td>${
        taken === undefined
          ? html`<span class="quiet">no</span>`
          : [counted(taken.attempts.length, 'time'), ...takenTexts(taken)].join(', ')
      }</td></tr>`;
    },
  )}</tbody></table></details>`;
