/**
 * Places for the states and ways for the arrows, top to bottom, so that the chart fits a phone.
 *
 * A state's row is the length of the longest way to it that never goes back; arrows that go back are found by walking. In a
 * row, the state that the machine names first stays below the one that it follows. Arrows to the next row in the same
 * column are straight; those that pass over rows of the first column go round it on the left; arrows to another column leave
 * sideways and come in from above; all others go round in lanes of their own on the right.
 */
import type { Arrow, Statechart } from './statechart.ts';

export interface PlacedState {
  readonly name: string;
  readonly isFinal: boolean;
  readonly row: number;
  readonly column: number;
  /** Of the box's upper left corner. */
  readonly x: number;
  readonly y: number;
}

export interface PlacedArrow extends Arrow {
  /** For the attribute `d`. */
  readonly path: string;
  /** Corners of the head. */
  readonly head: string;
  /** Where its first line begins. */
  readonly label: { readonly x: number; readonly y: number };
}

export interface ChartLayout {
  readonly width: number;
  readonly height: number;
  readonly box: { readonly width: number; readonly height: number };
  readonly states: readonly PlacedState[];
  readonly arrows: readonly PlacedArrow[];
}

const box = { width: 112, height: 44 } as const;
const gap = { column: 88, row: 66 } as const;
const margin = { left: 12, top: 26, bottom: 14 } as const;
const lane = 92;
const leftLane = 70;
const corner = 10;

const keyOf = ({ from, to }: Arrow): string => `${from} ${to}`;

/** The arrows that lead back to where the walk has come from. */
const backwards = ({ initial, arrows }: Statechart): ReadonlySet<string> => {
  const back = new Set<string>();
  const done = new Set<string>();
  const walk = (state: string, way: readonly string[]): void => {
    if (done.has(state)) return;
    for (const arrow of arrows.filter(({ from }) => from === state)) {
      if (arrow.to === state || way.includes(arrow.to)) back.add(keyOf(arrow));
      else walk(arrow.to, [...way, state]);
    }
    done.add(state);
  };
  walk(initial, [initial]);
  return back;
};

const rowsOf = (chart: Statechart, forward: readonly Arrow[]): ReadonlyMap<string, number> => {
  const rows = new Map(chart.states.map(({ name }) => [name, 0]));
  // Without cycles no way is longer than there are states.
  for (const _ of chart.states) {
    for (const { from, to } of forward) {
      rows.set(to, Math.max(rows.get(to) ?? 0, (rows.get(from) ?? 0) + 1));
    }
  }
  return rows;
};

const placeStates = (chart: Statechart, forward: readonly Arrow[]): readonly PlacedState[] => {
  const rows = rowsOf(chart, forward);
  const placed = new Map<string, PlacedState>();
  const taken = new Set<string>();
  const inRows = chart.states.toSorted((a, b) => (rows.get(a.name) ?? 0) - (rows.get(b.name) ?? 0));
  for (const state of inRows) {
    const row = rows.get(state.name) ?? 0;
    const follows = forward.filter(({ to }) => to === state.name).map(({ from }) => placed.get(from)?.column);
    let column = Math.min(...follows.map((known) => known ?? 0), Number.MAX_SAFE_INTEGER);
    if (follows.length === 0) column = 0;
    while (taken.has(`${row} ${column}`)) column += 1;
    taken.add(`${row} ${column}`);
    const x = margin.left + column * (box.width + gap.column);
    const y = margin.top + row * (box.height + gap.row);
    placed.set(state.name, { ...state, row, column, x, y });
  }
  return chart.states.flatMap(({ name }) => placed.get(name) ?? []);
};

const headAt = (x: number, y: number, direction: 'down' | 'left' | 'right'): string => {
  if (direction === 'down') return `${x},${y} ${x - 4.5},${y - 9} ${x + 4.5},${y - 9}`;
  const tail = direction === 'left' ? x + 9 : x - 9;
  return `${x},${y} ${tail},${y - 4.5} ${tail},${y + 4.5}`;
};

export const layOutChart = (chart: Statechart): ChartLayout => {
  const back = backwards(chart);
  const placed = placeStates(
    chart,
    chart.arrows.filter((arrow) => !back.has(keyOf(arrow))),
  );
  const rowOf = new Map(placed.map(({ name, row }) => [name, row]));
  const inFirst = new Set(placed.filter(({ column }) => column === 0).map(({ name }) => name));
  const passesOver = (arrow: Arrow): boolean =>
    !back.has(keyOf(arrow)) &&
    inFirst.has(arrow.from) &&
    inFirst.has(arrow.to) &&
    (rowOf.get(arrow.to) ?? 0) > (rowOf.get(arrow.from) ?? 0) + 1;
  const left = chart.arrows.filter(passesOver).length * leftLane;
  const states = placed.map((state) => ({ ...state, x: state.x + left }));
  const at = new Map(states.map((state) => [state.name, state]));
  const right = Math.max(...states.map(({ x }) => x + box.width));
  let lanes = 0;
  let leftLanes = 0;
  /** How many come in from above, and from the right, so that they do not come in at one point. */
  const comingIn = new Map<string, number>();
  const comingBack = new Map<string, number>();

  const place = (arrow: Arrow): PlacedArrow | undefined => {
    const from = at.get(arrow.from);
    const to = at.get(arrow.to);
    if (from === undefined || to === undefined) return undefined;
    const isForward = !back.has(keyOf(arrow));
    if (isForward && to.column === from.column && to.row === from.row + 1) {
      const x = from.x + box.width / 2;
      const middle = (from.y + box.height + to.y) / 2;
      return {
        ...arrow,
        path: `M${x} ${from.y + box.height}V${to.y - 8}`,
        head: headAt(x, to.y, 'down'),
        label: { x: x + 8, y: middle - 2 },
      };
    }
    if (isForward && to.column > from.column) {
      const before = comingIn.get(arrow.to) ?? 0;
      comingIn.set(arrow.to, before + 1);
      // The one from further up comes in further to the right, so that none crosses another.
      const x = to.x + box.width / 2 + (before === 0 ? 22 : 22 - 44 * before);
      const y = from.y + box.height / 2 + (back.size > 0 && from.row === 0 ? 10 : 0);
      return {
        ...arrow,
        path: `M${from.x + box.width} ${y}H${x - corner}Q${x} ${y} ${x} ${y + corner}V${to.y - 8}`,
        head: headAt(x, to.y, 'down'),
        label: { x: from.x + box.width + 8, y: y + 14 },
      };
    }
    if (passesOver(arrow)) {
      const x = from.x - 20 - leftLanes * leftLane;
      leftLanes += 1;
      const start = from.y + box.height / 2;
      const end = to.y + box.height / 2;
      return {
        ...arrow,
        path: `M${from.x} ${start}H${x + corner}Q${x} ${start} ${x} ${start + corner}V${end - corner}Q${x} ${end} ${x + corner} ${end}H${to.x - 8}`,
        head: headAt(to.x, end, 'right'),
        label: { x: x - leftLane + 26, y: (start + end) / 2 },
      };
    }
    lanes += 1;
    const x = right + 20 + (lanes - 1) * lane;
    const start = from.y + box.height / 2;
    const earlier = comingBack.get(arrow.to) ?? 0;
    comingBack.set(arrow.to, earlier + 1);
    const end = to.y + box.height / 2 - 10 + 14 * earlier;
    const turn = end < start ? -corner : corner;
    return {
      ...arrow,
      path: `M${from.x + box.width} ${start}H${x - corner}Q${x} ${start} ${x} ${start + turn}V${end - turn}Q${x} ${end} ${x - corner} ${end}H${to.x + box.width + 8}`,
      head: headAt(to.x + box.width, end, 'left'),
      label: { x: x + 6, y: (start + end) / 2 },
    };
  };

  // From the top down: see `comingIn`.
  const order = chart.arrows.toSorted((a, b) => (at.get(a.from)?.row ?? 0) - (at.get(b.from)?.row ?? 0));
  const arrows = order.flatMap((arrow) => place(arrow) ?? []);
  const rows = Math.max(...states.map(({ row }) => row)) + 1;
  return {
    width: right + 12 + (lanes === 0 ? 0 : 20 + lanes * lane),
    height: margin.top + rows * (box.height + gap.row) - gap.row + margin.bottom,
    box,
    states,
    arrows,
  };
};
