/**
 * XState as the foreign tests get it (vitest.config.ts): real, but it tells which charts they run
 * and what their own actions do.
 */
import * as xstate from 'xstate';
import {
  Actor,
  type AnyActorRef,
  type AnyEventObject,
  type AnyStateMachine,
  StateMachine,
} from 'xstate';

export * from 'xstate';
// These have no public name.
export const machineSchema = {};
export const toMachine = (): never => {
  throw new Error('SCXML is not part of the package');
};

/** An event that a test has sent to an actor of a chart. */
export interface SentEvent {
  /** Since the one before. */
  readonly afterMs: number;
  /** Sent before any promise could go on. */
  readonly isAtOnce: boolean;
  /** Ids of the children, from the root. */
  readonly path: readonly string[];
  readonly event: AnyEventObject;
}

export interface Session {
  readonly machine: AnyStateMachine;
  readonly input: unknown;
  readonly actor: AnyActorRef;
  readonly sent: SentEvent[];
  lastAt: number;
  lastTick: number;
}

/** Thrown in a test when it makes the actor that is wanted. */
export class Grabbed extends Error {
  readonly machine: AnyStateMachine;
  readonly input: unknown;
  constructor(machine: AnyStateMachine, input: unknown) {
    super('grabbed');
    this.machine = machine;
    this.input = input;
  }
}

/** The chart that was grabbed last. A test may catch what is thrown. */
export let grabbed: Grabbed | undefined;
let mode: 'off' | 'record' | { readonly grab: number } = 'off';
let sessions: Session[] = [];
let charts: AnyStateMachine[] = [];
let made = 0;
let tick = 0;
let depth = 0;

export const record = (): readonly Session[] => {
  mode = 'record';
  sessions = [];
  charts = [];
  made = 0;
  return sessions;
};
/**
 * Charts that a test has made and not run: it asked for single transitions, or ran them as
 * children.
 */
export const chartsNotRun = (): readonly AnyStateMachine[] =>
  charts.filter((chart) => !sessions.some(({ machine }) => machine === chart));
export const grab = (index: number): void => {
  mode = { grab: index };
  grabbed = undefined;
  made = 0;
};
export const stopRecording = (): void => {
  mode = 'off';
};

/** What the actions of the charts do, in order. */
let did: ((what: unknown, args: unknown) => unknown) | undefined;
/** @param note An action of the engine waits for the promise that it returns. */
export const noteActions = (note: typeof did): void => {
  did = note;
};

type AnyFunction = (...args: never[]) => unknown;
const wrappers = new WeakMap<AnyFunction, AnyFunction>();
const wrapped = new WeakSet<AnyFunction>();

const isOwn = (action: unknown): action is AnyFunction =>
  typeof action === 'function' && !('resolve' in action) && !wrapped.has(action as AnyFunction);

const wrapAction = (action: unknown): unknown => {
  if (!isOwn(action)) return action;
  const known = wrappers.get(action);
  if (known !== undefined) return known;
  const watch = (args: { context: unknown; event: unknown }, params: unknown): unknown => {
    const noted = did?.([action.name, args.event, args.context, params], args);
    if (noted instanceof Promise)
      return noted.then(() =>
        (action as (args: unknown, params: unknown) => unknown)(args, params),
      );
    try {
      return (action as (args: unknown, params: unknown) => unknown)(args, params);
    } catch (error) {
      // A variable of the test that gets its actor only after it was grabbed.
      if (error instanceof ReferenceError) return undefined;
      throw error;
    }
  };
  Object.defineProperty(watch, 'name', { value: action.name });
  wrappers.set(action, watch as AnyFunction);
  wrapped.add(watch as AnyFunction);
  return watch;
};

type Config = Readonly<Record<string, unknown>>;
const isConfig = (value: unknown): value is Config => typeof value === 'object' && value !== null;
const wrapMap = (map: unknown, each: (value: unknown) => unknown): unknown =>
  isConfig(map)
    ? Object.fromEntries(Object.entries(map).map(([key, value]) => [key, each(value)]))
    : map;
const wrapList = (list: unknown, each: (value: unknown) => unknown): unknown =>
  Array.isArray(list) ? list.map(each) : each(list);

const wrapTransition = (transition: unknown): unknown =>
  isConfig(transition) && 'actions' in transition
    ? { ...transition, actions: wrapList(transition.actions, wrapAction) }
    : transition;
const wrapTransitions = (list: unknown): unknown => wrapList(list, wrapTransition);
const wrapInvoke = (invoke: unknown): unknown =>
  isConfig(invoke)
    ? {
        ...invoke,
        ...Object.fromEntries(
          ['onDone', 'onError', 'onSnapshot']
            .filter((key) => key in invoke)
            .map((key) => [key, wrapTransitions(invoke[key])]),
        ),
      }
    : invoke;

const members: Readonly<Record<string, (value: unknown) => unknown>> = {
  entry: (value) => wrapList(value, wrapAction),
  exit: (value) => wrapList(value, wrapAction),
  on: (value) => wrapMap(value, wrapTransitions),
  after: (value) => wrapMap(value, wrapTransitions),
  always: wrapTransitions,
  onDone: wrapTransitions,
  onError: wrapTransitions,
  initial: wrapTransition,
  invoke: (value) => wrapList(value, wrapInvoke),
  states: (value) => wrapMap(value, wrapConfig),
};
const wrapConfig = (config: unknown): unknown => {
  if (!isConfig(config)) return config;
  const copy: Record<string, unknown> = { ...config };
  for (const [key, wrap] of Object.entries(members)) if (key in copy) copy[key] = wrap(copy[key]);
  return copy;
};
const wrapImplementations = (given: unknown): unknown =>
  isConfig(given) && 'actions' in given
    ? { ...given, actions: wrapMap(given.actions, wrapAction) }
    : given;

const wrapEnqueue =
  (enqueueActions: AnyFunction) =>
  (collect: (args: Record<string, unknown>, params: unknown) => void): unknown =>
    (enqueueActions as (collect: unknown) => unknown)(
      (args: Record<string, unknown>, params: unknown) => {
        const enqueue = args.enqueue as (action: unknown) => void;
        collect(
          {
            ...args,
            enqueue: Object.assign((each: unknown) => enqueue(wrapAction(each)), enqueue),
          },
          params,
        );
      },
    );

const real = xstate as unknown as Record<string, AnyFunction>;
type Untyped = (...args: unknown[]) => unknown;

export const enqueueActions = wrapEnqueue(real.enqueueActions as AnyFunction);

const noteChart = (chart: unknown): unknown => {
  if (mode === 'record') charts.push(chart as AnyStateMachine);
  return chart;
};
export const createMachine = (config: unknown, implementations?: unknown): unknown =>
  noteChart(
    (real.createMachine as Untyped)(wrapConfig(config), wrapImplementations(implementations)),
  );

const wrapSetup = (made: Record<string, Untyped>): unknown => ({
  ...made,
  createMachine: (config: unknown) => noteChart(made.createMachine?.(wrapConfig(config))),
  enqueueActions: wrapEnqueue(made.enqueueActions as AnyFunction),
  ...('extend' in made && {
    extend: (given: unknown) =>
      wrapSetup(made.extend?.(wrapImplementations(given)) as Record<string, Untyped>),
  }),
});
export const setup = (given: unknown): unknown =>
  wrapSetup((real.setup as Untyped)(wrapImplementations(given)) as Record<string, Untyped>);

const patch = (
  prototype: object,
  name: string,
  change: (original: Untyped) => (this: never, ...args: never[]) => unknown,
): void => {
  const owner = prototype as Record<string, Untyped>;
  const original = owner[name];
  if (original !== undefined)
    Object.defineProperty(owner, name, { value: change(original), writable: true });
};

patch(
  StateMachine.prototype,
  'provide',
  (original) =>
    function provide(this: never, given: never) {
      return original.call(this, wrapImplementations(given));
    },
);

const now = (): number => Date.now();

const placeOf = (
  actor: AnyActorRef,
): { readonly root: AnyActorRef; readonly path: readonly string[] } => {
  const path: string[] = [];
  let root = actor;
  for (let parent = root._parent; parent !== undefined; parent = root._parent) {
    path.unshift(root.id);
    root = parent;
  }
  return { root, path };
};

const noteSent = (actor: AnyActorRef, event: AnyEventObject): void => {
  const { root, path } = placeOf(actor);
  const session = sessions.find((each) => each.actor === root);
  if (session === undefined || typeof event !== 'object' || typeof event.type !== 'string') return;
  const at = clockOf(session);
  session.sent.push({
    afterMs: Math.max(Math.round(at - session.lastAt), 0),
    isAtOnce: session.lastTick === tick,
    path,
    event,
  });
  session.lastAt = at;
  session.lastTick = tick;
  const before = tick;
  queueMicrotask(() => {
    if (tick === before) tick += 1;
  });
};
const clocks = new WeakMap<Session, { now(): number }>();
export const clockOf = (session: Session): number => clocks.get(session)?.now() ?? now();

const inside = (original: Untyped) =>
  function run(this: never, ...args: never[]) {
    depth += 1;
    try {
      return original.apply(this, args);
    } finally {
      depth -= 1;
    }
  };
patch(Actor.prototype, '_process', inside);
patch(Actor.prototype, 'start', (original) => {
  const start = inside(original);
  return function startNoted(this: never) {
    const session = sessions.find((each) => each.actor === this);
    if (session !== undefined) {
      session.lastAt = clockOf(session);
    }
    return start.call(this);
  };
});
patch(
  Actor.prototype,
  'send',
  (original) =>
    function send(this: never, event: never) {
      if (mode === 'record' && depth === 0) noteSent(this, event);
      return original.call(this, event);
    },
);

export const createActor = (logic: unknown, options?: Record<string, unknown>): unknown => {
  const isWanted =
    logic instanceof StateMachine &&
    mode !== 'off' &&
    depth === 0 &&
    options?.snapshot === undefined;
  if (isWanted && mode !== 'record' && mode !== 'off' && made++ === mode.grab) {
    grabbed = new Grabbed(logic, options?.input);
    throw grabbed;
  }
  const actor = (real.createActor as Untyped)(logic, options) as AnyActorRef;
  if (isWanted && mode === 'record') {
    const session: Session = {
      machine: logic,
      input: options?.input,
      actor,
      sent: [],
      lastAt: now(),
      lastTick: tick,
    };
    const clock = options?.clock as { now?: () => number } | undefined;
    if (typeof clock?.now === 'function') clocks.set(session, clock as { now(): number });
    sessions.push(session);
  }
  return actor;
};
/** XState's other name of it. */
export const interpret = createActor;
