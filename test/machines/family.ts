/**
 * A process and its signers in the hands of a test: computed as the engine does, with a clock of the test, in memory. Each instance is
 * stored and taken up again after each event.
 */
import type { AnyEventObject } from 'xstate';
import { processMachine, processVersion } from '../../machines/process.machine.ts';
import type { ProcessContext } from '../../machines/process-progress.ts';
import type { SignAsk, SignerContext, SignResult } from '../../machines/signer-contract.ts';
import { createChart } from '../../src/engine/chart.ts';
import { begin, doneEvent, type Life, parentOf, resume } from '../../src/engine/interpret.ts';
import type { Effect } from '../../src/engine/record.ts';

/** A run of an activity that has not ended. */
interface Run<Input> {
  readonly id: string;
  readonly child: string;
  readonly src: string;
  readonly input: Input;
}

/** A prompt that was begun. */
export interface Prompted {
  readonly at: number;
  /** Of the signer. */
  readonly id: string;
  readonly input: SignAsk;
  /** Ids of the signers that had not ended then. */
  readonly live: readonly string[];
}

interface Done {
  readonly at: number;
  readonly id: string;
  readonly type: string;
  readonly params: unknown;
}

const processChart = createChart({
  name: 'process',
  version: processVersion,
  machine: processMachine,
  observed: [],
});
const signerChart = createChart({
  name: 'process-signer',
  version: processVersion,
  machine: processChart.charts[0]?.[1] ?? processMachine,
  observed: [],
});

export const rootId = 'p';

export const createFamily = (input: unknown, at: number) => {
  let now = at;
  const lives = new Map<string, Life>();
  const ended = new Set<string>();
  const effects: Done[] = [];
  const started: string[] = [];
  const prompted: Prompted[] = [];
  const known = new Set<string>();
  /** Messages of the signers to a process that is busy. */
  let waiting: AnyEventObject[] | undefined;
  const chartOf = (id: string) => (id === rootId ? processChart : signerChart);

  const carryOut = (id: string, { kind, type = '', params, event, to = '' }: Effect): void => {
    if (kind === 'action') effects.push({ at: now, id, type, params });
    else if (kind === 'start') {
      started.push(to);
      lives.set(to, begin(signerChart, to, params, now));
      settle(to);
    } else if (kind === 'stop') ended.add(to);
    else if (kind === 'reply') {
      const { child, run } = params as { child: string; run: number };
      const found = lives.get(to)?.child(child);
      if (found?.run === run && !found.ended) tell(to, event ?? { type: '' });
    } else if (to === rootId && waiting !== undefined) waiting.push({ type: '', ...event, at: now });
    else tell(to, event ?? { type: '' });
  };

  /** Carries out what an instance wants, and stores it. */
  const settle = (id: string): void => {
    const life = lives.get(id);
    if (life === undefined) throw new Error(`There is no ${id}`);
    const wanted = life.effects();
    life.clearEffects(wanted.length);
    if (life.status() !== 'active' || life.rests() !== undefined) ended.add(id);
    lives.set(id, resume(chartOf(id), id, JSON.parse(JSON.stringify(life.record()))));
    for (const [child, { src, run, input: given }] of ended.has(id) ? [] : life.activities()) {
      if (src !== 'sign' || known.has(`${id}/${child}/${run}`)) continue;
      known.add(`${id}/${child}/${run}`);
      const live = [...lives.keys()].filter((each) => each !== rootId && !ended.has(each));
      prompted.push({ at: now, id, input: given as SignAsk, live });
    }
    for (const effect of wanted) carryOut(id, effect);
  };

  const tell = (id: string, event: AnyEventObject): boolean => {
    const life = lives.get(id);
    if (life === undefined || ended.has(id)) return false;
    const isTaken = life.apply({ ...event, at: now }, now);
    settle(id);
    return isTaken;
  };

  const runs = (): readonly Run<unknown>[] =>
    [...lives].flatMap(([id, life]) =>
      ended.has(id) ? [] : life.activities().map(([child, { src, input }]) => ({ id, child, src, input })),
    );

  const rootLife = (): Life => {
    const life = lives.get(rootId);
    if (life === undefined) throw new Error('It has not begun');
    return life;
  };

  lives.set(rootId, begin(processChart, rootId, input, now));
  settle(rootId);

  const family = {
    now: () => now,
    effects,
    /** Ids of the signers that were started, in order. */
    started,
    prompted,
    live: () => [...lives.keys()].filter((id) => id !== rootId && !ended.has(id)),
    ended,
    /** From now on the process takes no message of its signers; when it is free, all at once. */
    beBusy: (): void => {
      waiting ??= [];
    },
    beFree: (): void => {
      const messages = waiting ?? [];
      waiting = undefined;
      if (ended.has(rootId) || messages.length === 0) return;
      for (const message of messages) rootLife().apply(message, now);
      settle(rootId);
    },
    get context() {
      return rootLife().context() as ProcessContext;
    },
    get value() {
      return rootLife().record().value;
    },
    get output() {
      return rootLife().record().output;
    },
    valueOf: (id: string) => lives.get(id)?.record().value,
    contextOf: (id: string) => lives.get(id)?.context() as SignerContext,
    isOver: () => ended.has(rootId),
    /** The open child of this name. */
    idOf: (child: string): string => {
      const id = [...lives.keys()].findLast((each) => parentOf(each)?.child === child);
      if (id === undefined) throw new Error(`There is no ${child}`);
      return id;
    },
    tell,
    /** Prompts on phones. */
    prompts: () => runs().filter(({ src }) => src === 'sign') as readonly Run<SignAsk>[],
    attests: () => runs().filter(({ src }) => src === 'attest'),
    answer: ({ id, child }: Run<unknown>, output: unknown) => tell(id, doneEvent(child, output)),
    throws: ({ id, child }: Run<unknown>) => tell(id, { type: `xstate.error.actor.${child}`, error: {} }),
    nextTime: () =>
      Math.min(...[...lives].filter(([id]) => !ended.has(id)).map(([, life]) => life.nextTime(now))),
    /** Time passes, and what becomes due happens. */
    pass: (ms: number): void => {
      const until = now + ms;
      for (;;) {
        const next = Math.max(family.nextTime(), now);
        if (next > until) break;
        now = next;
        for (const [id, life] of lives) {
          const timer = ended.has(id) ? undefined : life.takeDue(now, Number.POSITIVE_INFINITY);
          if (timer === undefined) continue;
          life.fire(timer, now);
          settle(id);
          break;
        }
      }
      now = until;
    },
  };
  return family;
};
export type Family = ReturnType<typeof createFamily>;

export const signed = (at: number, msspTransId = 'h1'): SignResult => ({
  kind: 'signed',
  msspTransId,
  at,
  attempt: 1,
});
export const failed = (code: number): SignResult => ({
  kind: 'failed',
  code,
  reason: 'R',
  detail: 'd',
  msspTransId: 'h2',
});
