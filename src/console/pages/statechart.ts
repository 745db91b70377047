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
interface Machine {
  readonly initial: { readonly target: readonly { readonly key: string }[] | undefined };
  readonly states: Readonly<
    Record<
      string,
      {
        readonly key: string;
        readonly type: string;
        readonly transitions: ReadonlyMap<
          string,
          readonly { readonly target: readonly { readonly key: string }[] | undefined }[]
        >;
      }
    >
  >;
}

export const chartOf = (machine: Machine): Statechart => {
  const states = Object.values(machine.states);
  const arrows = new Map<string, { from: string; to: string; events: string[] }>();
  for (const { key: from, transitions } of states) {
    for (const [event, ways] of transitions) {
      for (const { key: to } of ways.flatMap(({ target }) => target ?? [])) {
        const arrow = arrows.get(`${from} ${to}`) ?? { from, to, events: [] };
        if (!arrow.events.includes(event)) arrow.events.push(event);
        arrows.set(`${from} ${to}`, arrow);
      }
    }
  }
  return {
    initial: machine.initial.target?.[0]?.key ?? states[0]?.key ?? '',
    states: states.map(({ key, type }) => ({ name: key, isFinal: type === 'final' })),
    arrows: [...arrows.values()],
  };
};

export const signatureChart: Statechart = chartOf(signatureMachine.root);

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
