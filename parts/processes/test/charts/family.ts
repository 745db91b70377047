/**
 * A process and its signers in the hands of a test: computed as the engine does, with a clock of
 * the test, in memory. The instance is stored and taken up again after each event.
 */
import type { AnyEventObject } from 'xstate';
import { createChart } from '../../../../packages/engine/src/chart.ts';
import {
  begin,
  doneEvent,
  errorEvent,
  type OpenActivity,
  resume,
} from '../../../../packages/engine/src/interpret.ts';
import {
  addressOf,
  type ChildActor,
  isActivity,
  pathOf,
  readAddress,
} from '../../../../packages/engine/src/record.ts';
import { processMachine, processVersion } from '../../charts/process.machine.ts';
import type { ProcessContext } from '../../charts/process-progress.ts';
import type { SignAsk, SignerContext, SignResult } from '../../charts/signer-contract.ts';

/** A run of an activity that has not ended. */
interface Run<Input> {
  /** Address of the chart that has it. */
  readonly id: string;
  readonly path: string;
  readonly src: string;
  readonly input: Input;
}

/** A prompt that was begun. */
export interface Prompted {
  readonly at: number;
  /** The id of the signer's instance. */
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

const chart = createChart({
  name: 'process',
  version: processVersion,
  machine: processMachine,
  observed: [],
});

export const rootId = 'p';

export const createFamily = (input: unknown, at: number) => {
  let now = at;
  let life = begin(chart, rootId, input, now);
  const effects: Done[] = [];
  const started: string[] = [];
  const runs = new Set<number>();
  const prompted: Prompted[] = [];
  const contexts = new Map<string, SignerContext>();

  const runOf = ({ path, src, input: given }: OpenActivity): Run<unknown> => ({
    id: addressOf(rootId, path.split('/').slice(0, -1).join('/')),
    path,
    src,
    input: given,
  });
  /** Signers that have not ended, by their addresses. */
  const signers = (): ReadonlyMap<string, ChildActor> =>
    new Map(
      Object.entries(life.record().children ?? {}).flatMap(([name, child]) => {
        const actor = child as ChildActor;
        const isLive = !isActivity(child) && actor.chart?.status === 'active';
        return isLive ? [[addressOf(rootId, pathOf('', name)), actor] as const] : [];
      }),
    );

  /** Carries out what the instance wants, and stores it. */
  const settle = (): void => {
    for (const { path = '', type, params } of life.effects())
      effects.push({ at: now, id: addressOf(rootId, path), type, params });
    life.clearEffects(life.effects().length);
    life = resume(chart, rootId, JSON.parse(JSON.stringify(life.record())));
    for (const [id, { run, chart: of }] of signers()) {
      contexts.set(id, of?.context as SignerContext);
      if (runs.has(run)) continue;
      runs.add(run);
      started.push(id);
    }
    for (const each of life.activities()) {
      if (each.src !== 'sign' || runs.has(each.run)) continue;
      runs.add(each.run);
      prompted.push({
        at: now,
        id: runOf(each).id,
        input: each.input as SignAsk,
        live: [...signers().keys()],
      });
    }
  };

  const isOver = (): boolean => life.status() !== 'active' || life.rests() !== undefined;
  const tell = (id: string, event: AnyEventObject): boolean => {
    if (isOver()) return false;
    const isTaken = life.apply(event, now, readAddress(id).path);
    settle();
    return isTaken;
  };
  const end = (path: string, event: AnyEventObject): void => {
    life.end(path, event, now);
    settle();
  };
  const open = (src: string) =>
    isOver()
      ? []
      : life
          .activities()
          .filter((each) => each.src === src)
          .map(runOf);

  settle();
  return {
    now: () => now,
    effects,
    /** Addresses of the signers that were started, in order. */
    started,
    prompted,
    live: () => (isOver() ? [] : [...signers().keys()]),
    get context() {
      return life.context() as ProcessContext;
    },
    get value() {
      return life.record().value;
    },
    get output() {
      return life.record().output;
    },
    /** The last context of the instance. */
    contextOf: (id: string) => contexts.get(id) as SignerContext,
    isOver,
    /** The address of the child of this name. */
    idOf: (child: string): string => addressOf(rootId, pathOf('', child)),
    tell,
    /** Prompts on phones. */
    prompts: () => open('sign') as readonly Run<SignAsk>[],
    attests: () => open('attest'),
    answer: ({ path }: Run<unknown>, output: unknown) => end(path, doneEvent(path, output)),
    throws: ({ path }: Run<unknown>) => end(path, errorEvent(path, {})),
    nextTime: () => (isOver() ? Number.POSITIVE_INFINITY : life.nextTime(now)),
    /** Time passes, and what becomes due happens. */
    pass: (ms: number): void => {
      const until = now + ms;
      for (;;) {
        const next = isOver() ? Number.POSITIVE_INFINITY : Math.max(life.nextTime(now), now);
        if (next > until) break;
        now = next;
        const timer = life.takeDue(now, Number.POSITIVE_INFINITY);
        if (timer === undefined) break;
        life.fire(timer, now);
        settle();
      }
      now = until;
    },
  };
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
