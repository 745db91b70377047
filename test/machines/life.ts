/**
 * A chart in the hands of a test: computed as the engine does, without workers, clock or storage.
 */
import type { AnyEventObject, AnyStateMachine } from 'xstate';
import { createChart } from '../../packages/engine/src/chart.ts';
import {
  begin,
  doneEvent,
  errorEvent,
  type Life,
  resume,
} from '../../packages/engine/src/interpret.ts';
import type { InstanceRecord } from '../../packages/engine/src/record.ts';

export interface Lived<Context> {
  readonly context: Context;
  /** Of the record: `signed`, `{ pending: 'asking' }`. */
  readonly value: unknown;
  readonly record: InstanceRecord;
  /** Names of the activities that run. */
  readonly runs: readonly string[];
  /** Effects so far, in order. */
  readonly effects: readonly { readonly type: string; readonly params: unknown }[];
  readonly rests: ReturnType<Life['rests']>;
  /** @returns Whether the chart has a transition for it. */
  tell(event: AnyEventObject): boolean;
  /** What runs answers. Nothing happens where nothing runs. */
  answer(output: unknown): void;
  throws(): void;
  /** Time passes, and what becomes due happens. */
  pass(ms: number): void;
  /** It is stored, and taken up from there. */
  store(): void;
}

export const liveThrough = <Context>(
  machine: AnyStateMachine,
  input: unknown,
  at: number,
): Lived<Context> => {
  const chart = createChart({ name: 'chart', version: 1, machine, observed: [] });
  let now = at;
  let life = begin(chart, 'id', input, now);
  const effects: { type: string; params: unknown }[] = [];
  const carryOut = (): void => {
    for (const { type, params } of life.effects()) effects.push({ type, params });
    life.clearEffects(life.effects().length);
  };
  const tell = (event: AnyEventObject): boolean => {
    const isTaken = life.apply(event, now);
    carryOut();
    return isTaken;
  };
  const end = (path: string, event: AnyEventObject): void => {
    life.end(path, event, now);
    carryOut();
  };
  return {
    get context() {
      return life.context() as Context;
    },
    get value() {
      return life.record().value;
    },
    get record() {
      return life.record();
    },
    get runs() {
      return life.activities().map(({ src }) => src);
    },
    effects,
    get rests() {
      return life.rests();
    },
    tell,
    answer: (output) => {
      const [running] = life.activities();
      if (running !== undefined) end(running.path, doneEvent(running.path, output));
    },
    throws: () => {
      const [running] = life.activities();
      if (running !== undefined) end(running.path, errorEvent(running.path, {}));
    },
    pass: (ms) => {
      const until = now + ms;
      for (;;) {
        const next = Math.max(life.nextTime(now), now);
        if (next > until) break;
        now = next;
        const timer = life.takeDue(now, Number.POSITIVE_INFINITY);
        if (timer === undefined) break;
        life.fire(timer, now);
        carryOut();
      }
      now = until;
    },
    store: () => {
      life = resume(chart, 'id', JSON.parse(JSON.stringify(life.record())));
    },
  };
};
