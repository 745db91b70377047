/**
 * Where the parts of a statechart are drawn. dagre puts the states in ranks, and orders what is in
 * each rank so that few arrows cross; `statechart-lines.ts` draws the lines between them. The label
 * of an arrow stands right beside its line, and no two arrows share a line, also where they lead to
 * the same state.
 *
 * A chart goes down the page. One in which many states stand side by side would be wider than the
 * page: it goes to the right.
 */
import { type EdgeLabel, Graph, type GraphLabel, layout, type NodeLabel } from '@dagrejs/dagre';
import type { Arrow, Statechart } from './statechart.ts';
import { type Block, drawLines, type Place, type Way } from './statechart-lines.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const box = { width: 112, height: 44 } as const;
export const lineHeight = 13;
/** The width of a chart that fits a window of 1280 pixels at its usual scale. */
const pageWidth = 1240;
const margin = 12;
/** The distance between a line and its label. */
const beside = 6;

/** Widths in pixels of bold text of 11 and 14 pixels. Most fonts are narrower. */
const labelWidth = (text: string): number => 6.6 * text.length;
const nameWidth = (text: string): number => 8.6 * text.length + 2 * margin;
/** The distance between arrows at one side of a state, if there are not too many. */
const portWidth = 14;
const maxPorts = 12;

/** The dot from which an arrow leads to the first state. No state has this name. */
const start = ' start';
const startSize = 10;

const round = (value: number): number => Math.round(value * 10) / 10;

type LayoutGraph = Graph<GraphLabel, NodeLabel, EdgeLabel>;

const blockIn = (graph: LayoutGraph, name: string): Block => {
  const { x = 0, y = 0, width, height } = graph.node(name);
  return { across: x, along: y, width, height };
};

/**
 * Lays one chart out in one direction. dagre itself always goes down; to the right is the same with
 * width and height exchanged.
 *
 * @param lines Labels of the arrows.
 */
const layOutIn = (
  direction: 'down' | 'right',
  chart: Statechart,
  sizes: ReadonlyMap<string, Size>,
  lines: readonly (readonly string[])[],
) => {
  const isTurned = direction === 'right';
  const turn = ({ width, height }: Size): Size =>
    isTurned ? { width: height, height: width } : { width, height };
  const graph: LayoutGraph = new Graph({ multigraph: true });
  graph.setGraph({ nodesep: 24, edgesep: 16, ranksep: 52, marginx: margin, marginy: margin });
  graph.setNode(start, { width: startSize, height: startSize });
  // What leads back to the first node is drawn upwards.
  const names = [chart.initial, ...chart.states.map(({ name }) => name)];
  for (const name of new Set(names)) graph.setNode(name, { ...turn(sizes.get(name) ?? box) });
  const toFirst: Arrow = { from: start, to: chart.initial, isExpiry: false, events: [] };
  const arrows = [toFirst, ...chart.arrows];
  const labels = [[], ...lines].map((texts) =>
    turn({
      width: texts.length === 0 ? 0 : Math.max(...texts.map(labelWidth)) + beside,
      height: texts.length * lineHeight,
    }),
  );
  for (const [index, { from, to }] of arrows.entries())
    graph.setEdge(from, to, { ...labels[index], labelpos: 'r' }, String(index));
  layout(graph);

  const blocks = new Map([start, ...names].map((name) => [name, blockIn(graph, name)]));
  const blockOf = (name: string): Block => blocks.get(name) ?? blockIn(graph, name);
  const ways = arrows.map((arrow, index) => {
    const { points = [], y = 0 } = graph.edge(arrow.from, arrow.to, String(index));
    const places: readonly { readonly x: number; readonly y: number }[] = points.slice(1, -1);
    return {
      arrow,
      lines: index === 0 ? [] : (lines[index - 1] ?? []),
      from: blockOf(arrow.from),
      to: blockOf(arrow.to),
      between: places.map(({ x, y: along }): Place => [x, along]),
      labelAlong: y,
      labelHeight: labels[index]?.height ?? 0,
    };
  });
  // dagre's own extent has no lines in it.
  const passed = ways.flatMap(({ between }) => between.map(([across]) => across));
  const { width = 0, height = 0 } = graph.graph();
  const least = Math.min(0, ...passed.map((across) => across - margin));
  const most = Math.max(width, ...passed.map((across) => across + margin));
  const pointOf = ([across, along]: Place) =>
    isTurned
      ? { x: round(along), y: round(across - least) }
      : { x: round(across - least), y: round(along) };
  const drawn = drawLines([...blocks.values()], ways, (place) => {
    const { x, y } = pointOf(place);
    return `${x} ${y}`;
  });
  const labelOf = ({ from, between, labelAlong, labelHeight }: Way) => {
    const isHere = ([, along]: Place): boolean => Math.abs(along - labelAlong) < 1;
    const { x, y } = pointOf([
      between.find(isHere)?.[0] ?? from.across,
      labelAlong - labelHeight / 2,
    ]);
    return isTurned ? { x, y: y + lineHeight - 1 } : { x: x + beside, y: y + lineHeight - 3 };
  };
  return {
    ...turn({ width: Math.ceil(most - least), height: Math.ceil(height) }),
    states: chart.states.map(({ name, isFinal }) => {
      const { across, along } = blockOf(name);
      const { x, y } = pointOf([across, along]);
      const size = sizes.get(name) ?? box;
      return { name, isFinal, ...size, x: x - size.width / 2, y: y - size.height / 2 };
    }),
    arrows: drawn
      .filter(({ arrow }) => arrow !== toFirst)
      .map(({ arrow, lines, path, head, ...way }) => ({
        ...arrow,
        lines,
        path,
        head,
        label: labelOf(way),
      })),
    start: {
      ...pointOf([blockOf(start).across, blockOf(start).along]),
      radius: startSize / 2,
      lines: drawn.filter(({ arrow }) => arrow === toFirst),
    },
  };
};

/** Lays a chart out down the page; to the right, where that is less wide and the page too narrow. */
const layOutOnPage = (
  chart: Statechart,
  sizes: ReadonlyMap<string, Size>,
  lines: readonly (readonly string[])[],
) => {
  const down = layOutIn('down', chart, sizes, lines);
  if (down.width <= pageWidth) return down;
  const right = layOutIn('right', chart, sizes, lines);
  return right.width < down.width ? right : down;
};

/**
 * The last layouts, because an open page asks for the same one every few seconds, and forty states
 * take 150 ms and more.
 */
const known = new Map<string, ReturnType<typeof layOutOnPage>>();
const maxKnown = 100;

/**
 * @param sizeOf The size of a state that contains a chart. Default: room for the name.
 * @param linesOf The label of an arrow, line by line.
 */
export const layOutChart = (
  chart: Statechart,
  sizeOf: (state: string) => Size | undefined = () => undefined,
  linesOf: (arrow: Arrow) => readonly string[] = ({ events }) => events,
) => {
  const sizes = new Map(
    chart.states.map(({ name }) => {
      const ends = (['from', 'to'] as const).map(
        (end) => chart.arrows.filter((arrow) => arrow[end] === name).length,
      );
      const ports = Math.min(maxPorts, Math.max(...ends)) + 1;
      const { width, height } = sizeOf(name) ?? { ...box, width: nameWidth(name) };
      return [name, { width: Math.max(width, box.width, ports * portWidth), height }] as const;
    }),
  );
  const lines = chart.arrows.map(linesOf);
  const { initial, states, arrows } = chart;
  const key = JSON.stringify([
    initial,
    states.map(({ name, isFinal }) => [name, isFinal]),
    arrows.map(({ from, to, isExpiry }) => [from, to, isExpiry]),
    lines,
    [...sizes],
  ]);
  const laidOut = known.get(key) ?? layOutOnPage(chart, sizes, lines);
  known.delete(key);
  known.set(key, laidOut);
  const [oldest] = known.keys();
  if (known.size > maxKnown && oldest !== undefined) known.delete(oldest);
  return laidOut;
};
