/**
 * The lines of a statechart whose states and labels have their places.
 *
 * A rank is a band: a state, a label or a line that only passes has a place of its own in it, and
 * within a band a line goes straight through. It changes its place between two bands only. So no
 * line touches a state that it does not end at, or a label that is not its own.
 *
 * "Along" is where the ranks follow each other, "across" is beside it.
 */

/** A place by its distance across and along. */
export type Place = readonly [across: number, along: number];

/** A state: its middle and its extent. */
export interface Block {
  readonly across: number;
  readonly along: number;
  readonly width: number;
  readonly height: number;
}

/** An arrow: its ends, its places in the ranks between them, and the extent of its label along. */
export interface Way {
  readonly from: Block;
  readonly to: Block;
  readonly between: readonly Place[];
  readonly labelAlong: number;
  readonly labelHeight: number;
}

const headLength = 9;
const headWidth = 9;
/** An arrow has its direction before its head begins. */
const approach = headLength + 3;

const isForward = ({ from, to }: Way): boolean => from.along < to.along;

/** Half of the extent of each rank, by its middle. */
const bandsOf = (blocks: readonly Block[], ways: readonly Way[]) => {
  const halves = new Map<number, number>();
  const widen = (along: number, half: number): void => {
    const rank = Math.round(along);
    halves.set(rank, Math.max(half, halves.get(rank) ?? 0));
  };
  for (const { along, height } of blocks) widen(along, height / 2 + approach);
  for (const { labelAlong, labelHeight } of ways) widen(labelAlong, labelHeight / 2);
  return (along: number): number => halves.get(Math.round(along)) ?? 0;
};

/** Places arrows side by side at the sides of states, in the order of the states they lead to. */
const portsOf = (ways: readonly Way[]) => {
  interface Port {
    readonly way: Way;
    readonly towards: number;
  }
  const sides = new Map<Block, { readonly first: Port[]; readonly last: Port[] }>();
  const portsAt = (way: Way, end: 'from' | 'to'): Port[] => {
    const side = sides.get(way[end]) ?? { first: [], last: [] };
    sides.set(way[end], side);
    return isForward(way) === (end === 'from') ? side.last : side.first;
  };
  for (const way of ways) {
    const [other, another] = [way.between.at(0), way.between.at(-1)];
    portsAt(way, 'from').push({ way, towards: other?.[0] ?? way.to.across });
    portsAt(way, 'to').push({ way, towards: another?.[0] ?? way.from.across });
  }
  for (const { first, last } of sides.values())
    for (const ports of [first, last]) ports.sort((a, b) => a.towards - b.towards);
  return (way: Way, end: 'from' | 'to'): number => {
    const { across, width } = way[end];
    const ports = portsAt(way, end);
    const place = ports.findIndex((port) => port.way === way) + 1;
    return across - width / 2 + (width * place) / (ports.length + 1);
  };
};

/**
 * @param at Turns a place into coordinates, as `x y`.
 * @returns Each way with the path of its line and the corners of its head, for SVG.
 */
export const drawLines = <Given extends Way>(
  blocks: readonly Block[],
  ways: readonly Given[],
  at: (place: Place) => string,
): readonly (Given & { readonly path: string; readonly head: string })[] => {
  const halfAt = bandsOf(blocks, ways);
  const portAt = portsOf(ways);
  return ways.map((way) => {
    const { from, to, between } = way;
    const sign = isForward(way) ? 1 : -1;
    const [out, into] = [portAt(way, 'from'), portAt(way, 'to')];
    const end = to.along - (sign * to.height) / 2;
    const back = (length: number): number => end - sign * length;
    /** The bands that the line crosses, each with the points where it enters and leaves. */
    const straights: readonly (readonly [across: number, enter: number, leave: number])[] = [
      [out, from.along + (sign * from.height) / 2, from.along + sign * halfAt(from.along)],
      ...between.map(
        ([across, along]) =>
          [across, along - sign * halfAt(along), along + sign * halfAt(along)] as const,
      ),
      [into, to.along - sign * halfAt(to.along), back(headLength - 1)],
    ];
    const path = straights.map(([across, enter, leave], index) => {
      const before = straights[index - 1];
      const through = `${at([across, enter])}L${at([across, leave])}`;
      if (before === undefined) return `M${through}`;
      const middle = (before[2] + enter) / 2;
      return `C${at([before[0], middle])} ${at([across, middle])} ${through}`;
    });
    const corners: readonly Place[] = [
      [into, end],
      [into - headWidth / 2, back(headLength)],
      [into + headWidth / 2, back(headLength)],
    ];
    return { ...way, path: path.join(''), head: corners.map(at).join(' ') };
  });
};
