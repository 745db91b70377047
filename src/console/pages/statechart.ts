/**
 * The statechart of a transaction, drawn from the machine that runs it, so that the drawing is
 * never out of date. The path of the transaction is marked. A table has the same content for screen
 * readers.
 *
 * The states are in one column in the order of the machine, so that the chart fits a phone. An
 * arrow to the next state is straight. All others go around the column in lanes, down on the left
 * and up on the right, the shortest innermost, so that none crosses a state. Arrows to one state
 * share a lane, but expiry has its own. The label of an arrow is beside the state that it leaves,
 * where no other arrow crosses its lane.
 */
import { html } from 'hono/html';
import { signatureMachine } from '../../../machines/signature.machine.ts';
import { counted, type Html, nothing } from './markup.ts';

interface Arrow {
  readonly from: string;
  readonly to: string;
  /** Taken when a time was up. Such arrows are apart from those of faults. */
  readonly isExpiry: boolean;
  readonly events: readonly string[];
}

export interface Statechart {
  readonly initial: string;
  readonly states: readonly { readonly name: string; readonly isFinal: boolean }[];
  readonly arrows: readonly Arrow[];
}

const wayOf = (from: string, to: string, isExpiry: boolean): string =>
  `${from} ${to}${isExpiry ? ' expired' : ''}`;

type Node = typeof signatureMachine.root;

/** The name of the delay, of the activity or of the event. */
const readLabel = (event: string, { invoke }: Node): string => {
  const [, delay] = /^xstate\.after\.([^.]+)/.exec(event) ?? [];
  if (delay !== undefined) return delay;
  const [, child] = /^xstate\.(?:done|error)\.actor\.(.+)$/.exec(event) ?? [];
  return child === undefined ? event : String(invoke.find(({ id }) => id === child)?.src ?? child);
};

/** The top-level states of the machine. */
export const readChart = (root: Node): Statechart => {
  const states = Object.values(root.states);
  const arrows = new Map<string, Arrow & { events: string[] }>();
  const draw = (from: string, node: Node): void => {
    for (const [event, ways] of node.transitions) {
      for (const { path } of ways.flatMap(({ target }) => target ?? [])) {
        const [to = from] = path;
        if (to === from) continue;
        const isExpiry = event.startsWith('xstate.after.');
        const way = wayOf(from, to, isExpiry);
        const arrow = arrows.get(way) ?? { from, to, isExpiry, events: [] };
        const label = readLabel(event, node);
        if (!arrow.events.includes(label)) arrow.events.push(label);
        arrows.set(way, arrow);
      }
    }
    for (const inner of Object.values(node.states)) draw(from, inner);
  };
  for (const state of states) draw(state.key, state);
  return {
    initial: root.initial.target?.[0]?.key ?? '',
    states: states.map(({ key, type }) => ({ name: key, isFinal: type === 'final' })),
    arrows: [...arrows.values()],
  };
};

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

interface Path {
  readonly visited: ReadonlySet<string>;
  /** Attempts that took a way, and the faults that they ended with. */
  readonly ways: ReadonlyMap<string, Taken>;
  readonly here: string | undefined;
}

/** @param timeoutMs Of each attempt, where it is known. A device can end one with the same faults. */
export const pathOf = (history: readonly Visit[], timeoutMs?: number): Path => {
  const ways = new Map<string, Taken>();
  for (const [index, { state, attempt, at, fault }] of history.entries()) {
    const before = history[index - 1];
    if (before === undefined) continue;
    const begun = history.find((visit) => visit.attempt === attempt)?.at ?? at;
    const isLate = at - begun >= (timeoutMs ?? Infinity);
    const isExpiry = fault !== undefined && (fault.code === expired || (isLate && late.includes(fault.code)));
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

const box = { width: 112, height: 44 } as const;
const top = 26;
/** Room for the longest label. */
const gap = 84;
const lane = 84;
/** From the column to its first lanes. */
const aside = 40;
const margin = 12;
const lineHeight = 13;

export const layOutChart = ({ states, arrows }: Statechart) => {
  const rows = new Map(states.map(({ name }, row) => [name, row]));
  const rowOf = (name: string): number => rows.get(name) ?? 0;
  const span = ({ from, to }: Arrow): number => rowOf(to) - rowOf(from);
  const round = arrows
    .filter((arrow) => span(arrow) !== 1)
    .toSorted((a, b) => Math.abs(span(a)) - Math.abs(span(b)));
  const down = round.filter((arrow) => span(arrow) > 0);
  const up = round.filter((arrow) => span(arrow) < 0);
  const laneOf = ({ to, isExpiry }: Arrow): string => `${to} ${isExpiry}`;
  /** From the outermost: a shorter arrow gives way to a longer one to the same state. */
  const lanesOf = (side: readonly Arrow[]): readonly string[] =>
    [...new Set(side.toReversed().map(laneOf))].toReversed();
  const [downLanes, upLanes] = [lanesOf(down), lanesOf(up)];
  const left = margin + (down.length === 0 ? 0 : aside + (downLanes.length - 1) * lane);
  const right = left + box.width;
  const middle = left + box.width / 2;
  const yOf = (name: string): number => top + rowOf(name) * (box.height + gap);

  const straight = ({ from, to }: Arrow) => {
    const end = yOf(to);
    return {
      path: `M${middle} ${yOf(from) + box.height}V${end - 8}`,
      head: `${middle},${end} ${middle - 4.5},${end - 9} ${middle + 4.5},${end - 9}`,
      label: { x: middle + 8, y: yOf(from) + box.height + 2 * lineHeight },
    };
  };
  const goRound = (arrow: Arrow, lanes: readonly string[], edge: number, outwards: 1 | -1) => {
    const side = outwards === 1 ? up : down;
    const x = edge + outwards * (aside + lanes.indexOf(laneOf(arrow)) * lane);
    /** Arrows at the same side of a state share its height. */
    const touch = (state: string): number => {
      const all = side.filter(({ from, to }) => from === state || to === state);
      const ends = [...new Set(all.map((each) => (each.to === state ? laneOf(each) : each)))];
      const own = arrow.to === state ? laneOf(arrow) : arrow;
      return yOf(state) + (box.height * (ends.indexOf(own) + 1)) / (ends.length + 1);
    };
    const end = touch(arrow.to);
    const tail = edge + outwards * 9;
    return {
      path: `M${edge} ${touch(arrow.from)}H${x}V${end}H${edge + outwards * 8}`,
      head: `${edge},${end} ${tail},${end - 4.5} ${tail},${end + 4.5}`,
      label: { x: x + 6, y: yOf(arrow.from) + (span(arrow) > 0 ? box.height : -gap) + lineHeight },
    };
  };
  return {
    width: right + Math.max(margin, aside + upLanes.length * lane),
    height: top + states.length * (box.height + gap) - gap + margin,
    states: states.map((state, row) => ({ ...state, row, x: left, y: yOf(state.name) })),
    arrows: arrows.map((arrow) => ({
      ...arrow,
      ...(span(arrow) === 1
        ? straight(arrow)
        : span(arrow) > 0
          ? goRound(arrow, downLanes, left, -1)
          : goRound(arrow, upLanes, right, 1)),
    })),
    box,
  };
};

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
  attemptsText(attempts),
];

export const statechartSvg = (chart: Statechart, path: Path): Html => {
  const { width, height, states, arrows } = layOutChart(chart);
  const isTaken = ({ from, to, isExpiry }: Arrow): boolean => path.ways.has(wayOf(from, to, isExpiry));
  // What was taken is drawn over what was not.
  const order = arrows.toSorted((a, b) => Number(isTaken(a)) - Number(isTaken(b)));
  const drawn = order.map(({ from, to, isExpiry, events, path: way, head, label }) => {
    const taken = path.ways.get(wayOf(from, to, isExpiry));
    const lines = taken === undefined ? events : [...events, ...takenTexts(taken)];
    return html`<g class="edge${taken === undefined ? '' : ' taken'}"><path d="${way}"/><polygon points="${head}"/><text x="${label.x}" y="${label.y}">${lines.map(
      (line, index) => html`<tspan x="${label.x}" dy="${index === 0 ? 0 : lineHeight}">${line}</tspan>`,
    )}</text></g>`;
  });
  const boxes = states.map(({ name, isFinal, x, y }) => {
    const isInitial = name === chart.initial;
    const kind = `node${path.visited.has(name) ? ' visited' : ''}${path.here === name ? ' here' : ''}`;
    const middle = x + box.width / 2;
    return html`${
      isInitial
        ? html`<circle class="start" cx="${middle}" cy="${y - 18}" r="5"/><g class="edge taken"><path d="M${middle} ${y - 16}V${y - 6}"/></g>`
        : nothing
    }<g class="${kind}"><rect x="${x}" y="${y}" width="${box.width}" height="${box.height}" rx="${isInitial ? 22 : 8}"/>${
      isFinal
        ? html`<rect x="${x + 4}" y="${y + 4}" width="${box.width - 8}" height="${box.height - 8}" rx="5"/>`
        : nothing
    }<text x="${middle}" y="${y + box.height / 2 + 5}">${name}</text></g>`;
  });
  return html`<svg class="statechart" viewBox="0 0 ${width} ${height}" role="img" aria-label="Statechart. ${
    path.here === undefined ? '' : `Now ${path.here}. `
  }The table below says the same.">${drawn}${boxes}</svg>`;
};

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
