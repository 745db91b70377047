/**
 * A chart as the engine sees it: which of its children are activities and which are charts.
 *
 * A chart with a part that cannot be stored is refused when the workflow is defined, and the error
 * names the part.
 */
import type { AnyActorLogic, AnyActorRef, AnyMachineSnapshot, AnyStateMachine, StateNode } from 'xstate';
import { createActor } from 'xstate';

export type ChildKind = 'activity' | 'chart';

export interface Chart {
  readonly name: string;
  readonly version: number;
  /** Computes the same transitions. Its children are stand-ins that do nothing. */
  readonly machine: AnyStateMachine;
  /** `maxIterations` of the chart. */
  readonly maxSteps: number;
  kindOf(src: string): ChildKind;
  /** The activities among its children, by name. */
  readonly activities: ReadonlyArray<readonly [src: string, logic: AnyActorLogic]>;
  /** The charts among its children, by name. */
  readonly charts: ReadonlyArray<readonly [src: string, machine: AnyStateMachine]>;
  /** What its states invoke: the name of the child, its logic, and the state as a path with dots. */
  readonly invoked: ReadonlyArray<{ readonly child: string; readonly src: string; readonly state: string }>;
  implementationOf(action: string): (args: unknown, params: unknown) => unknown;
  /** The original logic of a child. @throws For a name that the chart does not know. */
  logicOf(src: string): AnyActorLogic;
  /** Whether an activity is told when its state is left without its answer. */
  isWithdrawn(src: string): boolean;
  /** Whether an action is for logs and metrics only. */
  isObserved(action: string): boolean;
  /** Whether some active state has transitions for the event, whatever their guards say. */
  handles(snapshot: AnyMachineSnapshot, eventType: string): boolean;
}

type Node = StateNode<never, never>;

export class ChartError extends Error {
  override readonly name = 'ChartError';
}

export const isChart = (logic: unknown): logic is AnyStateMachine => '__xstatenode' in Object(logic);

/**
 * Only `fromPromise` ends with the value that it was resolved with. Other logics keep their state
 * in memory. They look alike from outside, so one transition is tried.
 */
const isPromise = (logic: AnyActorLogic): boolean => {
  try {
    const { _actorScope } = createActor(logic) as unknown as { _actorScope: never };
    const before = logic.getInitialSnapshot(_actorScope, undefined);
    const after = logic.transition(
      before,
      { type: 'xstate.promise.resolve', data: actorMarker },
      _actorScope,
    );
    return after.status === 'done' && (after as { output?: unknown }).output === actorMarker;
  } catch {
    return false;
  }
};
const actorMarker = 'resolved';

/** A child that never starts. XState needs some logic to make an actor. */
const standIn = {
  transition: (state: unknown) => state,
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
  getPersistedSnapshot: (state: unknown) => state,
} as unknown as AnyActorLogic;

/** A child, a parent or the instance itself, as expressions of a chart see it. */
interface Ref {
  readonly id: string;
  readonly sessionId: string;
  readonly src?: string;
  readonly systemId?: string | undefined;
  readonly options?: { readonly input?: unknown; readonly systemId?: string | undefined };
}

export const inert = (): void => {};

/** The members of all refs. They do nothing. */
const refMembers = {
  send: inert,
  on: () => ({ unsubscribe: inert }),
  subscribe: () => ({ unsubscribe: inert }),
  getSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
  ref: undefined,
};

export const createRef = (fields: Ref): AnyActorRef =>
  Object.assign(Object.create(refMembers) as object, fields) as unknown as AnyActorRef;

const nodesOf = (node: Node): readonly Node[] => [
  node,
  ...Object.values(node.states as Record<string, Node>).flatMap(nodesOf),
];

interface InvokeDefinition {
  readonly id: string;
  readonly src: string;
  readonly systemId?: string;
  readonly input?: unknown;
  readonly syncSnapshot?: boolean;
}

type ChangeChildren = (
  children: Readonly<Record<string, AnyActorRef>>,
  args: { readonly context: unknown; readonly event: unknown; readonly self: unknown },
) => Readonly<Record<string, AnyActorRef>>;

/** An action that gives XState the next snapshot, like its own `spawnChild` and `stopChild`. */
const changingChildren = (change: ChangeChildren): unknown => {
  const resolve = (_scope: unknown, snapshot: AnyMachineSnapshot, args: Parameters<ChangeChildren>[1]) => [
    { ...snapshot, children: change(snapshot.children as Record<string, AnyActorRef>, args) },
  ];
  return Object.assign((): void => {}, { resolve });
};

/** Other entry actions may already send to it. */
const announce = ({ id, src, systemId }: InvokeDefinition): unknown =>
  changingChildren((children) => ({
    ...children,
    [id]: createRef({ id, src, sessionId: id, systemId }),
  }));

const start = ({ id, src, systemId, input }: InvokeDefinition): unknown =>
  changingChildren((children, { context, event, self }) => {
    const given = typeof input === 'function' ? (input({ context, event, self }) as unknown) : input;
    const options = { input: given, systemId };
    return { ...children, [id]: createRef({ id, src, sessionId: id, systemId, options }) };
  });

const stop = ({ id }: InvokeDefinition): unknown => changingChildren(({ [id]: _, ...others }) => others);

/**
 * Turns the activities that a state invokes into entry and exit actions, in the order of XState.
 * XState would make an actor for each and clone its snapshot, which costs more than the rest of a
 * transition.
 */
const invokePlainly = (node: Node, kindOf: Chart['kindOf']): void => {
  const invoked = node.invoke as unknown as readonly InvokeDefinition[];
  const plain = invoked.filter(({ src }) => kindOf(src) === 'activity');
  if (plain.length === 0) return;
  const { entry, exit } = node as unknown as { entry: readonly unknown[]; exit: readonly unknown[] };
  const charts = invoked.filter((each) => !plain.includes(each));
  Object.defineProperty(node, 'invoke', { value: charts });
  Object.assign(node, {
    entry: [...(entry.length > 0 ? plain.map(announce) : []), ...entry, ...plain.map(start)],
    exit: [...exit, ...plain.map(stop)],
  });
};

interface Transition {
  readonly actions: readonly unknown[];
  readonly guard?: unknown;
}

const transitionsOf = (node: Node): readonly Transition[] => {
  const { transitions, always = [] } = node as unknown as {
    readonly transitions: ReadonlyMap<string, readonly Transition[]>;
    readonly always?: readonly Transition[];
  };
  return [...[...transitions.values()].flat(), ...always];
};

const actionsOf = (node: Node): readonly unknown[] => {
  const { entry, exit } = node as unknown as { entry: readonly unknown[]; exit: readonly unknown[] };
  const initial = (node.initial as { readonly actions?: readonly unknown[] } | undefined)?.actions ?? [];
  return [...entry, ...exit, ...initial, ...transitionsOf(node).flatMap(({ actions }) => actions)];
};

/** The names in a guard. `and`, `or` and `not` hold others; another function is the guard itself. */
const guardNames = (guard: unknown): readonly string[] => {
  if (guard === undefined) return [];
  if (typeof guard === 'string') return [guard];
  const { type, guards = [] } = guard as { readonly type?: string; readonly guards?: readonly unknown[] };
  return typeof guard === 'function' ? guards.flatMap(guardNames) : type === undefined ? [] : [type];
};

/** `raise` and `sendTo` have theirs as a member. */
const delayName = (timed: unknown): string | undefined => {
  const { delay } = Object(timed) as { readonly delay?: unknown };
  return typeof delay === 'string' ? delay : undefined;
};

/** The path of a part that JSON would drop or change; undefined when there is none. */
const findUnstorable = (value: unknown, path: string): string | undefined => {
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return path;
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof Map || value instanceof Set || value instanceof Date) return path;
  for (const [key, part] of Object.entries(value)) {
    const found = findUnstorable(part, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
};

export const createChart = (options: {
  readonly name: string;
  readonly version: number;
  readonly machine: AnyStateMachine;
  readonly observed: readonly string[];
  /** Of an activity. Default: none is. */
  readonly isWithdrawn?: (logic: AnyActorLogic) => boolean;
}): Chart => {
  const { name, version, machine } = options;
  const implementations = machine.implementations as unknown as {
    readonly actors: Readonly<Record<string, AnyActorLogic>>;
    readonly actions: Readonly<Record<string, unknown>>;
    readonly guards: Readonly<Record<string, unknown>>;
    readonly delays: Readonly<Record<string, unknown>>;
  };
  const observed = new Set(options.observed);
  const refuse = (node: Node, what: string): never => {
    throw new ChartError(`${name}, state ${node.id}: ${what}`);
  };

  // The result of a function is checked when it is stored (interpret.ts).
  const { context } = machine.config as { readonly context?: unknown };
  const unstorable = typeof context === 'function' ? undefined : findUnstorable(context, 'context');
  if (unstorable !== undefined) throw new ChartError(`${name}: ${unstorable} cannot be stored as JSON`);
  for (const action of observed) {
    if (!(action in implementations.actions))
      throw new ChartError(`${name}: there is no action ${action} to observe`);
  }
  for (const node of nodesOf(machine.root as unknown as Node)) {
    for (const { id, src, syncSnapshot } of node.invoke as unknown as readonly InvokeDefinition[]) {
      const logic = implementations.actors[src];
      if (logic === undefined) return refuse(node, `the invoked ${id} must be named in setup({ actors })`);
      if (syncSnapshot)
        refuse(node, `the snapshots of ${id} cannot be followed: it runs in a job of its own`);
    }
    // XState takes a delay without an implementation for none at all: the timer would fire at once.
    const checkDelay = (timed: unknown): void => {
      const delay = delayName(timed);
      if (delay !== undefined && !Object.hasOwn(implementations.delays, delay))
        refuse(node, `the delay ${delay} is not implemented`);
    };
    node.after.forEach(checkDelay);
    // A guard that is named may hold others.
    const checkGuards = (guard: unknown, above: readonly string[] = []): void => {
      for (const each of guardNames(guard)) {
        if (!Object.hasOwn(implementations.guards, each))
          refuse(node, `the guard ${each} is not implemented`);
        if (!above.includes(each)) checkGuards(implementations.guards[each], [...above, each]);
      }
    };
    for (const { guard } of transitionsOf(node)) checkGuards(guard);
    for (const action of actionsOf(node)) {
      if (typeof action === 'function') {
        checkDelay(action);
        if (!('resolve' in action))
          refuse(node, `the action ${action.name || '(anonymous)'} must be named in setup({ actions })`);
        continue;
      }
      const type = typeof action === 'string' ? action : (action as { readonly type: string }).type;
      if (!Object.hasOwn(implementations.actions, type))
        refuse(node, `the action ${type} is not implemented`);
      checkDelay(implementations.actions[type]);
    }
  }

  const kinds = new Map<string, ChildKind>();
  for (const [src, logic] of Object.entries(implementations.actors)) {
    if (isChart(logic)) kinds.set(src, 'chart');
    else if (isPromise(logic)) kinds.set(src, 'activity');
    else
      throw new ChartError(
        `${name}: the actor ${src} lives in memory alone; an activity or a chart is needed`,
      );
  }
  const stands = Object.fromEntries([...kinds.keys()].map((src) => [src, standIn]));
  const computing = machine.provide({ actors: stands } as never) as AnyStateMachine;
  // The steps are counted by interpret.ts, over all that follows an event.
  const { maxIterations: maxSteps = Number.POSITIVE_INFINITY } = machine.options ?? {};
  computing.options = { ...machine.options, maxIterations: Number.POSITIVE_INFINITY };
  const kindOf = (src: string): ChildKind => {
    const kind = kinds.get(src);
    if (kind === undefined)
      throw new ChartError(`${name}: the actor ${src} must be named in setup({ actors })`);
    return kind;
  };
  const withdrawn = new Set(
    Object.entries(implementations.actors).flatMap(([src, logic]) =>
      kinds.get(src) === 'activity' && options.isWithdrawn?.(logic) ? [src] : [],
    ),
  );
  for (const node of nodesOf(computing.root as unknown as Node)) invokePlainly(node, kindOf);

  return {
    name,
    version,
    machine: computing,
    maxSteps,
    kindOf,
    logicOf: (src) => {
      const logic = implementations.actors[src];
      if (logic === undefined)
        throw new ChartError(`${name}: the actor ${src} must be named in setup({ actors })`);
      return logic;
    },
    activities: Object.entries(implementations.actors).filter(([src]) => kinds.get(src) === 'activity'),
    charts: Object.entries(implementations.actors).flatMap(([src, logic]) =>
      isChart(logic) ? [[src, logic] as const] : [],
    ),
    invoked: nodesOf(machine.root as unknown as Node).flatMap((node) =>
      (node.invoke as unknown as readonly InvokeDefinition[]).map(({ id, src }) => ({
        ...{ child: id, src, state: node.path.join('.') },
      })),
    ),
    implementationOf: (action) =>
      implementations.actions[action] as (args: unknown, params: unknown) => unknown,
    isWithdrawn: (src) => withdrawn.has(src),
    isObserved: (action) => observed.has(action),
    handles: (snapshot, eventType) =>
      (snapshot._nodes as unknown as readonly Node[]).some((node) =>
        (node as unknown as { transitions: ReadonlyMap<string, unknown> }).transitions.has(eventType),
      ),
  };
};
