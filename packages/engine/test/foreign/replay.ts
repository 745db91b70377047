/**
 * Runs a chart with the same events in XState's own interpreter and in the engine's, which stores
 * the instance as JSON and takes it up again after each event, and compares what both have.
 *
 * Time is simulated (vitest's fake timers) for both, so promises that wait for timers are alike,
 * too.
 */
import { vi } from 'vitest';
import { type AnyEventObject, type AnyStateMachine, createActor } from 'xstate';
import { activityFor, errorOf } from '../../src/activities.ts';
import { createChart } from '../../src/chart.ts';
import { begin, doneEvent, errorEvent, type Life, resume } from '../../src/interpret.ts';
import { type InstanceRecord, pathOf } from '../../src/record.ts';
import { decode, encode } from '../../src/values.ts';
import { namesOf, plain, type Seen, seenBy, seenIn } from '../same-as-xstate.ts';

export interface ReplayStep {
  readonly afterMs: number;
  /** No promise goes on before it. */
  readonly isAtOnce?: boolean;
  readonly path?: readonly string[];
  /** Undefined: only time passes. */
  readonly event: AnyEventObject | undefined;
}

/** After one step. */
export interface Sight {
  readonly tree: Seen | 'activity';
  readonly actions: readonly unknown[];
  readonly logs: readonly unknown[];
  readonly emits: readonly unknown[];
}

/** What the charts' own actions do is noted by them; `note` says where. */
export type NoteActions = (note: ((what: unknown) => void) | undefined) => void;

const startAt = 1_700_000_000_000;

/**
 * The same numbers for both at the same time: the engine reads an expression again that has spawned
 * a child, when it takes the instance up.
 */
const timedRandom = (): (() => number) => {
  let at = 0;
  let seed = 0;
  return () => {
    if (Date.now() !== at) {
      at = Date.now();
      seed = (at % 2_147_483_646) + 1;
      for (let turn = 0; turn < 3; turn += 1) seed = (seed * 16_807) % 2_147_483_647;
    }
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
};

/** Errors that nobody handles are thrown in a timer by XState. */
const pass = async (ms: number): Promise<void> => {
  await vi.advanceTimersByTimeAsync(ms).catch(() => undefined);
  for (let round = 0; round < 2; round += 1) await new Promise((resolve) => setImmediate(resolve));
};

export const timersToFake = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'Date',
] as const;

const inSimulatedTime = async <T>(run: () => Promise<T>): Promise<T> => {
  vi.useRealTimers();
  vi.useFakeTimers({
    now: startAt,
    toFake: [...timersToFake],
  });
  const random = vi.spyOn(Math, 'random').mockImplementation(timedRandom());
  try {
    return await run();
  } finally {
    random.mockRestore();
    vi.clearAllTimers();
    vi.useRealTimers();
  }
};

export const replayXState = (
  machine: AnyStateMachine,
  input: unknown,
  steps: readonly ReplayStep[],
  noteActions: NoteActions,
): Promise<{ readonly sights: readonly Sight[]; readonly hasThrown: boolean }> =>
  inSimulatedTime(async () => {
    const sights: Sight[] = [];
    const actions: unknown[] = [];
    const logs: unknown[] = [];
    const emits: unknown[] = [];
    noteActions((what) => actions.push(plain(what)));
    const actor = createActor(machine, {
      input,
      id: 'root',
      logger: (...args: unknown[]) => logs.push(plain(args)),
    });
    actor.subscribe({ error: () => undefined });
    actor.on('*', (event) => emits.push(plain(event)));
    actor.start();
    const look = (): void => {
      const tree = seenBy(actor);
      sights.push({
        tree,
        actions: actions.splice(0),
        logs: logs.splice(0),
        emits: emits.splice(0),
      });
    };
    if (steps[0]?.isAtOnce !== true) await pass(0);
    look();
    for (const [index, { afterMs, isAtOnce, path = [], event }] of steps.entries()) {
      if (!isAtOnce) await pass(afterMs);
      let target: unknown = actor;
      for (const name of path) {
        const { children = {} } = (target as typeof actor).getSnapshot();
        target = (children as Record<string, unknown>)[name];
        if (target === undefined) break;
      }
      if (event !== undefined && target !== undefined)
        (target as typeof actor).send(event as never);
      if (steps[index + 1]?.isAtOnce !== true) await pass(0);
      look();
    }
    noteActions(undefined);
    actor.stop();
    return { sights, hasThrown: false };
  });

export type EngineResult =
  | { readonly kind: 'ran'; readonly sights: readonly Sight[]; readonly thrown: readonly string[] }
  | { readonly kind: 'refused'; readonly reason: string };

/** What the store gives back of an activity's answer. */
const asStored = (value: unknown): unknown =>
  decode(
    encode(value, 'output', () => undefined),
    () => undefined,
  );

const isRefusal = (error: unknown): error is Error =>
  ['UnstorableError', 'ChartError', 'EndlessError'].includes(
    String((error as Error | undefined)?.name),
  );

export const replayEngine = (
  machine: AnyStateMachine,
  input: unknown,
  steps: readonly ReplayStep[],
  noteActions: NoteActions,
): Promise<EngineResult> =>
  inSimulatedTime(async () => {
    const chartOf = () => createChart({ name: 'foreign', version: 1, machine, observed: [] });
    const now = (): number => Date.now() - startAt;
    const actions: unknown[] = [];
    const logs: unknown[] = [];
    const emits: unknown[] = [];
    const thrown: string[] = [];
    const sights: Sight[] = [];
    const begun = new Set<string>();
    const controllers = new Map<string, AbortController>();
    const awaited = new Set<number>();
    let life: Life;
    let record: InstanceRecord;
    let refusal: string | undefined;

    const carryOut = (): void => {
      noteActions((what) => actions.push(plain(what)));
      for (const { kind, type, params, event, context, origin, chart, number } of life.effects()) {
        if (kind !== 'action') continue;
        try {
          const action = chart().implementationOf(type, origin as never);
          const effect = { id: `root/${number}`, address: 'root' };
          action?.({ context, event, instance: { id: 'root' }, effect }, params);
        } catch (error) {
          thrown.push(String(error));
        }
      }
      noteActions(undefined);
      life.clearEffects(life.effects().length);
    };
    const startActivities = (): void => {
      const open = life.activities();
      const names = new Set(open.map(({ path, run }) => `${path}/${run}`));
      for (const [name, controller] of controllers) if (!names.has(name)) controller.abort();
      for (const { path, run, logic, input: given } of open) {
        const name = `${path}/${run}`;
        if (begun.has(name)) continue;
        begun.add(name);
        const controller = new AbortController();
        controllers.set(name, controller);
        const end = (event: AnyEventObject): void => {
          const activity = life.activity(path);
          if (activity?.run !== run || activity.ended) return;
          life.end(path, event, now());
          commit();
        };
        activityFor(logic)
          .run({
            input: given,
            signal: controller.signal,
            now: now(),
            attempt: 1,
            token: name,
            instance: { id: 'root', createdAt: 0, takenAt: 0, data: undefined },
          })
          .then((output) => doneEvent(path, asStored(output)))
          .catch((error: unknown) => {
            if (isRefusal(error)) refusal ??= error.message;
            return errorEvent(path, errorOf(error));
          })
          .then(end);
      }
    };
    const wakeForTimers = (): void => {
      for (const { at } of record.timers ?? []) {
        if (awaited.has(at)) continue;
        awaited.add(at);
        setTimeout(() => {
          awaited.delete(at);
          for (
            let due = life.takeDue(now(), now());
            due !== undefined;
            due = life.takeDue(now(), now())
          ) {
            life.fire(due, now());
            commit();
          }
        }, at - now());
      }
    };
    /** Another process: nothing but the record is left. */
    const commit = (): void => {
      for (const each of life.takeObserved()) {
        if (each.kind === 'emit') emits.push(plain(each.event));
        if (each.kind === 'log')
          logs.push(plain(each.label === undefined ? [each.value] : [each.label, each.value]));
      }
      if (life.status() === 'error' && isRefusal(life.error()))
        refusal ??= (life.error() as Error).message;
      record = JSON.parse(JSON.stringify(life.record())) as InstanceRecord;
      life = resume(chartOf(), 'root', record);
      carryOut();
      if (life.status() === 'active') startActivities();
      else for (const controller of controllers.values()) controller.abort();
      wakeForTimers();
    };
    const look = (): void => {
      const tree = seenIn(record, namesOf(record));
      sights.push({
        tree,
        actions: actions.splice(0),
        logs: logs.splice(0),
        emits: emits.splice(0),
      });
    };

    try {
      life = begin(chartOf(), 'root', input, now());
    } catch (error) {
      return { kind: 'refused', reason: (error as Error).message };
    }
    commit();
    if (steps[0]?.isAtOnce !== true) await pass(0);
    look();
    for (const [index, { afterMs, isAtOnce, path = [], event }] of steps.entries()) {
      if (!isAtOnce) await pass(afterMs);
      if (event !== undefined) {
        try {
          encode(event, 'event', () => undefined);
        } catch (error) {
          return { kind: 'refused', reason: (error as Error).message };
        }
        life.apply(event, now(), path.reduce(pathOf, ''));
        commit();
      }
      if (steps[index + 1]?.isAtOnce !== true) await pass(0);
      look();
    }
    return refusal === undefined
      ? { kind: 'ran', sights, thrown }
      : { kind: 'refused', reason: refusal };
  });

const hasChildren = ({ tree }: Sight): boolean =>
  tree !== 'activity' && Object.keys(tree.children).length > 0;

const textOf = (value: unknown): string => JSON.stringify(value) ?? 'undefined';

/** XState numbers the actors of a process, the engine those of an instance. */
const numbered = (sights: readonly Sight[]): readonly Sight[] => {
  const names = new Map<string, string>();
  const text = JSON.stringify(sights).replace(/\bx:\d+\b/g, (id) => {
    const name = names.get(id) ?? `x#${names.size}`;
    names.set(id, name);
    return name;
  });
  return JSON.parse(text) as readonly Sight[];
};

/** @returns Undefined when both are the same. */
export const differenceOf = (
  ofXState: readonly Sight[],
  ofEngine: readonly Sight[],
): string | undefined => {
  const xstate = numbered(ofXState);
  const engine = numbered(ofEngine);
  const areAlone = ![...xstate, ...engine].some(hasChildren);
  for (const [index, expected] of xstate.entries()) {
    const got = engine[index];
    const pairs = [
      ['tree', expected.tree, got?.tree],
      ['actions', expected.actions, got?.actions],
      ['logs', expected.logs, got?.logs],
      ...(areAlone ? [['emits', expected.emits, got?.emits]] : []),
    ] as const;
    for (const [name, wanted, found] of pairs) {
      if (sorted(wanted) !== sorted(found))
        return `step ${index}, ${name}: XState ${sorted(wanted)}, engine ${sorted(found)}`;
    }
  }
  return undefined;
};

/** The order of members is no difference. */
const sorted = (value: unknown): string => textOf(sortedMembers(value));
const sortedMembers = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sortedMembers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sortedMembers(each)]),
  );
};
