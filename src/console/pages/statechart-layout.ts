/**
 * Where the parts of a statechart are drawn.
 *
 * The states are in one column in the order of the machine, so that the chart fits a phone. An
 * arrow to the next state is straight. All others go around the column in lanes, down on the left
 * and up on the right, the shortest innermost, so that none crosses a state. Arrows to one state
 * share a lane, but expiry has its own. The label of an arrow is beside the state that it leaves,
 * where no other arrow crosses its lane.
 */
import type { Arrow, Statechart } from './statechart.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const box = { width: 112, height: 44 } as const;
const top = 26;
/** Room for the longest label. */
const gap = 84;
const lane = 84;
/** From the column to its first lanes. */
const aside = 40;
const margin = 12;
export const lineHeight = 13;

/** @param sizeOf Of a state: larger than {@link box} where a chart is inside of it. */
export const layOutChart = (
  { states, arrows }: Statechart,
  sizeOf: (state: string) => Size = () => box,
) => {
  const sizes = states.map(({ name }) => sizeOf(name));
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
  const width = Math.max(...sizes.map((size) => size.width));
  const right = left + width;
  const middle = left + width / 2;
  const heightOf = (name: string): number => sizes[rowOf(name)]?.height ?? box.height;
  const yOf = (name: string): number =>
    sizes.slice(0, rowOf(name)).reduce((y, { height }) => y + height + gap, top);
  /** The side of a state, or the middle of its column. */
  const sideOf = (name: string, outwards: 1 | -1): number =>
    middle + (outwards * (sizes[rowOf(name)]?.width ?? box.width)) / 2;

  const straight = ({ from, to }: Arrow) => {
    const end = yOf(to);
    return {
      path: `M${middle} ${yOf(from) + heightOf(from)}V${end - 8}`,
      head: `${middle},${end} ${middle - 4.5},${end - 9} ${middle + 4.5},${end - 9}`,
      label: { x: middle + 8, y: yOf(from) + heightOf(from) + 2 * lineHeight },
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
      return yOf(state) + (heightOf(state) * (ends.indexOf(own) + 1)) / (ends.length + 1);
    };
    const end = touch(arrow.to);
    const begin = sideOf(arrow.from, outwards);
    const tip = sideOf(arrow.to, outwards);
    const tail = tip + outwards * 9;
    return {
      path: `M${begin} ${touch(arrow.from)}H${x}V${end}H${tip + outwards * 8}`,
      head: `${tip},${end} ${tail},${end - 4.5} ${tail},${end + 4.5}`,
      label: {
        x: x + 6,
        y: yOf(arrow.from) + (span(arrow) > 0 ? heightOf(arrow.from) : -gap) + lineHeight,
      },
    };
  };
  return {
    width: right + Math.max(margin, aside + upLanes.length * lane),
    height: sizes.reduce((sum, { height }) => sum + height + gap, top) - gap + margin,
    states: states.map((state, row) => ({
      ...state,
      ...sizeOf(state.name),
      row,
      x: sideOf(state.name, -1),
      y: yOf(state.name),
    })),
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
