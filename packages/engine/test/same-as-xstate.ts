/**
 * Runs a chart with XState's own interpreter and with the engine's, which stores the instance as
 * JSON and takes it up again between any two events, and tells both what the other has.
 */
import { type AnyActorRef, type AnyStateMachine, createActor, SimulatedClock } from 'xstate';
import { createChart } from '../src/chart.ts';
import { begin, type Life, resume } from '../src/interpret.ts';
import {
  type ChartRecord,
  type ChildActor,
  type InstanceRecord,
  isActivity,
  namesIn,
} from '../src/record.ts';
import { decode } from '../src/values.ts';

/** Waits for so many milliseconds, or sends an event. */
export type Step = number | { readonly type: string };

/** What can be compared of a tree. Refs are named by their place. */
export interface Seen {
  readonly status: string;
  readonly value?: unknown;
  readonly context?: unknown;
  readonly output?: unknown;
  readonly error?: string;
  readonly children: Readonly<Record<string, Seen | 'activity'>>;
}

/** XState writes a ref so; here a name is enough. */
const refSchema = (part: unknown): part is { id: string } =>
  typeof part === 'object' && part !== null && 'xstate$$type' in part && 'id' in part;
export const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, part: unknown) =>
      refSchema(part) ? `ref ${part.id}` : typeof part === 'bigint' ? `${part}n` : part,
    ) ?? 'null',
  );
const message = (error: unknown): string =>
  String((Object(error) as { message?: unknown }).message ?? error);

export const seenBy = (ref: AnyActorRef): Seen | 'activity' => {
  const snapshot = ref.getSnapshot() as Record<string, unknown> & { status: string };
  const { status, value, context, output, error, children = {} } = snapshot;
  if (!('context' in snapshot)) return 'activity';
  return {
    status,
    value,
    context: plain(context),
    ...(output !== undefined && { output: plain(output) }),
    ...(error !== undefined && { error: message(error) }),
    children:
      status === 'active'
        ? Object.fromEntries(
            Object.entries(children as Record<string, AnyActorRef>).map(([id, child]) => [
              id,
              seenBy(child),
            ]),
          )
        : {},
  };
};

const ref = (id: string) => ({ xstate$$type: 1, id });
export const seenIn = (record: ChartRecord, names: ReadonlyMap<number, string>): Seen => {
  const decoded = (value: unknown): unknown =>
    plain(decode(value, ({ session, id }) => ref(names.get(session) ?? id)));
  const { status, value, context, output, error, children = {} } = record;
  return {
    status,
    value,
    context: decoded(context),
    ...(output !== undefined && { output: decoded(output) }),
    ...(error !== undefined && { error: message(decode(error, () => undefined)) }),
    children: Object.fromEntries(
      Object.entries(children).map(([id, child]) => {
        if (isActivity(child)) return [id, 'activity'];
        const { chart, state } = child as ChildActor;
        if (chart !== undefined) return [id, seenIn(chart, names)];
        const { status: of, context: kept } = state as { status: string; context: unknown };
        return [id, { status: of, value: undefined, context: decoded(kept), children: {} }];
      }),
    ),
  };
};

export const namesOf = (
  record: ChartRecord,
  names = new Map([[0, 'root']]),
): ReadonlyMap<number, string> => {
  for (const [id, child] of Object.entries(record.children ?? {})) {
    names.set(child.run, id);
    if (!isActivity(child))
      namesOf((child as ChildActor).chart ?? { status: 'done', value: '' }, names);
  }
  return names;
};

/**
 * @param make Makes the chart anew; `did` notes what its actions do.
 * @returns For each step what XState has, and what the engine has.
 */
export const runBoth = (
  make: (did: (what: unknown) => void) => AnyStateMachine,
  steps: readonly Step[],
  input?: unknown,
): { readonly xstate: readonly unknown[]; readonly engine: readonly unknown[] } => {
  const xstate: unknown[] = [];
  const engine: unknown[] = [];

  const did: unknown[] = [];
  const clock = new SimulatedClock();
  const actor = createActor(
    make((what) => did.push(plain(what))),
    { clock, input, id: 'root', logger: () => undefined },
  );
  actor.subscribe({ error: () => undefined });
  actor.start();
  const noteXState = (): number => xstate.push([seenBy(actor), did.splice(0)]);
  noteXState();
  let time = 0;
  for (const step of steps) {
    if (typeof step === 'number') {
      for (let passed = 0; passed < step; passed += 1) clock.increment(1);
    } else actor.send(step as never);
    noteXState();
  }

  const done: unknown[] = [];
  const makeChart = () =>
    createChart({
      name: 'c',
      version: 1,
      machine: make((what) => done.push(plain(what))),
      observed: [],
    });
  let life = begin(makeChart(), 'root', input, 0);
  const noteEngine = (): void => {
    const record = JSON.parse(JSON.stringify(life.record())) as InstanceRecord;
    // Another process: nothing but the record is left, its functions are made anew.
    life = resume(makeChart(), 'root', record);
    for (const { type, params, event, context, origin, chart, path } of life.effects()) {
      const self = { id: namesIn(path ?? '').at(-1) ?? 'root' };
      chart().implementationOf(type, origin as never)?.({ context, event, self }, params);
    }
    life.clearEffects(life.effects().length);
    engine.push([seenIn(record, namesOf(record)), done.splice(0)]);
  };
  const fireDue = (instance: Life): void => {
    for (
      let due = instance.takeDue(time, time);
      due !== undefined;
      due = instance.takeDue(time, time)
    )
      instance.fire(due, time);
  };
  noteEngine();
  for (const step of steps) {
    if (typeof step === 'number') {
      for (let passed = 0; passed < step; passed += 1) {
        time += 1;
        fireDue(life);
      }
    } else life.apply(step, time);
    noteEngine();
  }
  return { xstate, engine };
};
