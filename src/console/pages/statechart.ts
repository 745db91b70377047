/**
 * The chart of a transaction's life, read from the machine that runs it: what the machine gains or loses, the drawing does.
 */
import { signatureMachine } from '../../../machines/signature.machine.ts';

export interface Arrow {
  readonly from: string;
  readonly to: string;
  /** What leads from one to the other. */
  readonly events: readonly string[];
}

export interface Statechart {
  readonly initial: string;
  /** In the machine's own order. */
  readonly states: readonly { readonly name: string; readonly isFinal: boolean }[];
  readonly arrows: readonly Arrow[];
}

/** The part of a machine that is drawn. */
interface Node {
  readonly key: string;
  readonly type: string;
  /** Of the states that it is in, the outermost first. */
  readonly path: readonly string[];
  readonly invoke: readonly { readonly id: string; readonly src: unknown }[];
  readonly states: Readonly<Record<string, Node>>;
  readonly transitions: ReadonlyMap<
    string,
    readonly { readonly target: readonly Pick<Node, 'path'>[] | undefined }[]
  >;
}
interface Machine extends Pick<Node, 'states'> {
  readonly initial: { readonly target: readonly { readonly key: string }[] | undefined };
}

/** In the words of the machine: a time by its name, the end of an activity by what it does. */
const labelOf = (event: string, { invoke }: Node): string => {
  const [, delay] = /^xstate\.after\.([^.]+)/.exec(event) ?? [];
  if (delay !== undefined) return delay;
  const [, child] = /^xstate\.(?:done|error)\.actor\.(.+)$/.exec(event) ?? [];
  return child === undefined ? event : String(invoke.find(({ id }) => id === child)?.src ?? child);
};

/** The states of the machine itself. What goes on within one of them is not drawn. */
export const chartOf = (machine: Machine): Statechart => {
  const states = Object.values(machine.states);
  const arrows = new Map<string, { from: string; to: string; events: string[] }>();
  const draw = (from: string, node: Node): void => {
    for (const [event, ways] of node.transitions) {
      for (const { path } of ways.flatMap(({ target }) => target ?? [])) {
        const [to = from] = path;
        if (to === from) continue;
        const arrow = arrows.get(`${from} ${to}`) ?? { from, to, events: [] };
        const label = labelOf(event, node);
        if (!arrow.events.includes(label)) arrow.events.push(label);
        arrows.set(`${from} ${to}`, arrow);
      }
    }
    for (const inner of Object.values(node.states)) draw(from, inner);
  };
  for (const state of states) draw(state.key, state);
  return {
    initial: machine.initial.target?.[0]?.key ?? states[0]?.key ?? '',
    states: states.map(({ key, type }) => ({ name: key, isFinal: type === 'final' })),
    arrows: [...arrows.values()],
  };
};

export const signatureChart: Statechart = chartOf(signatureMachine.root as unknown as Machine);

/** Where a transaction has been, in order. */
export interface Visit {
  readonly state: string;
  readonly attempt: number;
}

export interface Path {
  /** How often each state was entered. */
  readonly visits: ReadonlyMap<string, number>;
  /** By `from to`: the attempts in which that way was gone. */
  readonly ways: ReadonlyMap<string, readonly number[]>;
  readonly here: string | undefined;
}

export const pathOf = (history: readonly Visit[]): Path => {
  const visits = new Map<string, number>();
  const ways = new Map<string, number[]>();
  let before: Visit | undefined;
  for (const visit of history) {
    visits.set(visit.state, (visits.get(visit.state) ?? 0) + 1);
    if (before !== undefined) {
      const way = `${before.state} ${visit.state}`;
      // A way belongs to the attempt that it ends, or begins.
      ways.set(way, [...(ways.get(way) ?? []), visit.attempt]);
    }
    before = visit;
  }
  return { visits, ways, here: before?.state };
};
