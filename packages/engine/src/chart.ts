/**
 * A chart as the engine runs it: an ordinary machine of XState, with all its children.
 *
 * The machine computes the same transitions. Its child charts note what they do (xstate5.ts), its
 * activities are stand-ins that do nothing, and each part has a name that a record can keep
 * (chart-parts.ts). A chart with a part that lives in memory alone is refused, and the error names
 * the part.
 */
import type { AnyActorLogic, AnyActorRef, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { createActor } from 'xstate';
import {
  type ContextFactory,
  delayName,
  guardNames,
  type InvokeDefinition,
  isBuiltin,
  type Makers,
  makeAgain,
  mapActions,
  type Node,
  nodesOf,
  type Origin,
  transitionsOf,
  watchAction,
  watchContext,
} from './chart-parts.ts';
import { toError } from './redis/to-error.ts';
import { encode } from './values.ts';
import { childLogic, stateLogic } from './xstate5.ts';

/**
 * activity  A promise: the engine runs it.
 * chart     Its record is a part of its parent's.
 * state     A `fromTransition`: pure, so its state is stored.
 */
export type Part =
  | { readonly kind: 'activity'; readonly name: string; readonly logic: AnyActorLogic }
  | {
      readonly kind: 'chart';
      readonly name: string;
      readonly chart: Chart;
      readonly logic: AnyActorLogic;
    }
  | { readonly kind: 'state'; readonly name: string; readonly logic: AnyActorLogic };

export type ActionFunction = (args: unknown, params: unknown) => unknown;

export interface Chart {
  readonly name: string;
  readonly version: number;
  /** Computes the same transitions. Its children are stand-ins, and its actions are noted. */
  readonly machine: AnyStateMachine;
  /** The children that have a name of their own or by their place. */
  readonly parts: ReadonlyMap<string, Part>;
  /**
   * What its states invoke: names of the child and of its part, and the state as a path with dots.
   */
  readonly invoked: readonly {
    readonly child: string;
    readonly src: string;
    readonly state: string;
  }[];
  /**
   * The part with this name. With an `origin` it is made again from that.
   * @throws When the chart no longer makes it.
   */
  partOf(name: string, origin: Origin | undefined): Part;
  /** The part that stands for a child that a step has made. */
  madePart(logic: unknown): { readonly part: Part; readonly origin: Origin } | undefined;
  /**
   * @returns The name of an action that is not a builtin of XState, and its origin if a step made
   *   it.
   */
  nameAction(
    type: string,
    action: unknown,
  ): { readonly name: string; readonly origin: Origin | undefined };
  /**
   * The function of an action. Undefined for a named action without an implementation: XState skips
   * it, too.
   *
   * @throws When a step has made it, and the chart no longer does.
   */
  implementationOf(action: string, origin: Origin | undefined): ActionFunction | undefined;
  /** Whether an activity is told when its state is left without its answer. */
  isWithdrawn(logic: AnyActorLogic): boolean;
  /** Whether an action is for logs and metrics only. */
  isObserved(action: string): boolean;
  /** A node by its id. @throws ChartError for one that the chart does not have. */
  stateOf(id: string): Node;
  /** What a state says about the job of its instance (`meta: { job: 'failed' }`). */
  restsIn(snapshot: AnyMachineSnapshot): 'failed' | 'completed' | undefined;
}

export class ChartError extends Error {
  override readonly name = 'ChartError';
}

/** Whether a logic is a machine. An object that only copies a machine's members is not. */
export const isChart = (logic: unknown): logic is AnyStateMachine =>
  '__xstatenode' in Object(logic) && typeof (logic as AnyStateMachine).provide === 'function';

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

/** Whether a logic has no `start`. One that has keeps in memory what it begins there. */
const isPure = (logic: AnyActorLogic): boolean => logic.start === undefined;

/** An activity that was spawned. XState needs some logic to make an actor. */
const standIn = {
  transition: (state: unknown) => state,
  getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
  restoreSnapshot: (state: unknown) => state,
  getPersistedSnapshot: (state: unknown) => state,
} as unknown as AnyActorLogic;

/** An activity, as expressions of a chart see it. */
export interface ActivityRef {
  readonly id: string;
  readonly sessionId: string;
  readonly src: string | undefined;
  readonly systemId?: string | undefined;
  readonly options?: { readonly input?: unknown; readonly systemId?: string | undefined };
}

const inert = (): void => {};

/** The members of all refs of activities. They do nothing. */
const refMembers = {
  send: inert,
  start: inert,
  on: () => ({ unsubscribe: inert }),
  subscribe: () => ({ unsubscribe: inert }),
  getSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
  ref: undefined,
  /** Gives the form in which XState serialises a ref. */
  toJSON(this: { readonly id: string }): object {
    return { xstate$$type: 1, id: this.id };
  },
};

export const createActivityRef = (fields: ActivityRef): AnyActorRef =>
  Object.assign(Object.create(refMembers) as object, fields) as unknown as AnyActorRef;

/** Stands for an actor that is gone: what is sent to it is lost. */
export const createStoppedRef = (id: string, session: number): AnyActorRef =>
  Object.assign(createActivityRef({ id, sessionId: `x:${session}`, src: undefined }), {
    getSnapshot: () => ({ status: 'stopped', output: undefined, error: undefined }),
  });

interface ScopeOfRefs {
  readonly system: {
    _bookId(): string;
    _set(systemId: string, ref: AnyActorRef): void;
    _unregister(ref: AnyActorRef): void;
  };
}
type ChangeChildren = (
  children: Readonly<Record<string, AnyActorRef>>,
  args: { readonly context: unknown; readonly event: unknown; readonly self: unknown },
  scope: ScopeOfRefs,
) => Readonly<Record<string, AnyActorRef>>;

/** An action that gives XState the next snapshot, like its own `spawnChild` and `stopChild`. */
const changingChildren = (change: ChangeChildren): unknown => {
  const resolve = (
    scope: ScopeOfRefs,
    snapshot: AnyMachineSnapshot,
    args: Parameters<ChangeChildren>[1],
  ) => [
    {
      ...snapshot,
      children: change(snapshot.children as Record<string, AnyActorRef>, args, scope),
    },
  ];
  return Object.assign((): void => {}, { resolve, type: 'xstate.activity' });
};

const start = ({ id, src, systemId, input }: InvokeDefinition): unknown =>
  changingChildren((children, { context, event, self }, { system }) => {
    const given =
      typeof input === 'function' ? (input({ context, event, self }) as unknown) : input;
    const options = { input: given, systemId };
    const ref = createActivityRef({ id, src, sessionId: system._bookId(), systemId, options });
    if (systemId !== undefined) system._set(systemId, ref);
    return { ...children, [id]: ref };
  });

/** Adds the child before it starts: other entry actions may already send to it. */
const announce = ({ id, src, systemId }: InvokeDefinition): unknown =>
  changingChildren((children) => ({
    ...children,
    [id]: createActivityRef({ id, src, sessionId: 'x:announced', systemId }),
  }));

const stop = ({ id }: InvokeDefinition): unknown =>
  changingChildren(({ [id]: left, ...others }, _, { system }) => {
    // Before the next child may have the same name.
    if (left !== undefined) system._unregister(left);
    return others;
  });

/**
 * Turns the activities that a state invokes into entry and exit actions, in the order of XState.
 * XState would make an actor for each and clone its snapshot, which costs more than the rest of a
 * transition.
 */
const invokePlainly = (node: Node, isPlain: (invoked: InvokeDefinition) => boolean): void => {
  const invoked = node.invoke as unknown as readonly InvokeDefinition[];
  const plain = invoked.filter(isPlain);
  if (plain.length === 0) return;
  const { entry, exit } = node as unknown as {
    entry: readonly unknown[];
    exit: readonly unknown[];
  };
  Object.defineProperty(node, 'invoke', { value: invoked.filter((each) => !plain.includes(each)) });
  Object.assign(node, {
    entry: [...(entry.length > 0 ? plain.map(announce) : []), ...entry, ...plain.map(start)],
    exit: [...exit, ...plain.map(stop)],
  });
};

/** The member `job` in the `meta` of a state: how the job of the instance ends there. */
const restOf = (node: Node): 'failed' | 'completed' | undefined => {
  const { job } = Object(node.meta) as { readonly job?: unknown };
  return job === 'failed' || job === 'completed' ? job : undefined;
};

interface Implementations {
  readonly actors: Readonly<Record<string, AnyActorLogic>>;
  readonly actions: Readonly<Record<string, unknown>>;
  readonly guards: Readonly<Record<string, unknown>>;
  readonly delays: Readonly<Record<string, unknown>>;
}

/** Refuses names without an implementation. XState would fail, or skip them, only at run time. */
const checkNames = (
  node: Node,
  { guards, delays, actions }: Implementations,
  refuse: (node: Node, what: string) => never,
): void => {
  // XState takes a delay without an implementation for none at all: the timer would fire at once.
  const checkDelay = (timed: unknown): void => {
    const delay = delayName(timed);
    if (delay !== undefined && !Object.hasOwn(delays, delay))
      refuse(node, `the delay ${delay} is not implemented`);
  };
  node.after.forEach(checkDelay);
  // A guard that is named may hold others.
  const checkGuards = (guard: unknown, above: readonly string[] = []): void => {
    for (const each of guardNames(guard)) {
      if (!Object.hasOwn(guards, each)) refuse(node, `the guard ${each} is not implemented`);
      if (!above.includes(each)) checkGuards(guards[each], [...above, each]);
    }
  };
  for (const [, { guard }] of transitionsOf(node)) checkGuards(guard);
  mapActions(node, (action) => {
    if (typeof action === 'function') checkDelay(action);
    else {
      const type = typeof action === 'string' ? action : (action as { readonly type: string }).type;
      if (!Object.hasOwn(actions, type)) refuse(node, `the action ${type} is not implemented`);
      checkDelay(actions[type]);
    }
    return action;
  });
};

/** A chart and the charts in it, each once: a chart may hold itself. */
export const familyOf = (chart: Chart, known: Set<Chart> = new Set()): readonly Chart[] => {
  if (known.has(chart)) return [];
  known.add(chart);
  const parts = [...chart.parts.values()];
  return [
    chart,
    ...parts.flatMap((part) => (part.kind === 'chart' ? familyOf(part.chart, known) : [])),
  ];
};

/** The activities of a chart and of the charts in it. */
export const activitiesOf = (chart: Chart): readonly Part[] =>
  familyOf(chart).flatMap(({ parts }) =>
    [...parts.values()].filter(({ kind }) => kind === 'activity'),
  );

interface Wish {
  readonly name: string;
  found: unknown;
}

/** Thrown to leave an expression early, once it has made what is wanted. */
const isMade = Symbol('made');
const found = (wish: Wish, made: unknown): never => {
  wish.found = made;
  throw isMade;
};

/** Charts may hold themselves: a chart is read once for each name and machine. */
type Known = Map<AnyStateMachine, Chart>;

export const createChart = (
  options: {
    readonly name: string;
    readonly version: number;
    readonly machine: AnyStateMachine;
    readonly observed: readonly string[];
    /** Whether an activity is told when its state is left without its answer. Default: false. */
    readonly isWithdrawn?: (logic: AnyActorLogic) => boolean;
  },
  known: Known = new Map(),
): Chart => {
  const { name, version, machine, isWithdrawn = () => false } = options;
  const implementations = machine.implementations as unknown as Implementations;
  const observed = new Set(options.observed);
  for (const action of observed) {
    if (!(action in implementations.actions))
      throw new ChartError(`${name}: there is no action ${action} to observe`);
  }
  const { context } = machine.config as { readonly context?: unknown };
  if (typeof context !== 'function') {
    try {
      encode(context, 'context', () => undefined);
    } catch (error) {
      throw new ChartError(`${name}: ${toError(error).message}`);
    }
  }
  const refuse = (node: Node, what: string): never => {
    throw new ChartError(`${name}, state ${node.id}: ${what}`);
  };

  const parts = new Map<string, Part>();
  const invoked: Chart['invoked'][number][] = [];
  /** The parts that steps have made, by the logic that stands for each. */
  const made = new WeakMap<object, { readonly part: Part; readonly origin: Origin }>();
  const places = new Map<unknown, string>();
  const inline = new Map<string, unknown>();
  const madeActions = new WeakMap<object, { readonly name: string; readonly origin: Origin }>();
  const watched = new Map<string, unknown>();
  /** Set while a part is made again: the name that is wanted, and what was made under it. */
  let wanted: Wish | undefined;

  const partFor = (logic: AnyActorLogic, part: string, where: string): Part => {
    if (isChart(logic)) {
      const chart =
        known.get(logic) ??
        createChart(
          { name: `${name}/${part}`, version, machine: logic, observed: [], isWithdrawn },
          known,
        );
      return { kind: 'chart', name: part, chart, logic: childLogic(chart) };
    }
    if (isPromise(logic)) return { kind: 'activity', name: part, logic };
    if (isPure(logic)) return { kind: 'state', name: part, logic: stateLogic(logic) };
    throw new ChartError(
      `${name}: ${where} lives in memory alone; an activity or a chart is needed`,
    );
  };
  const standFor = (part: Part): AnyActorLogic =>
    part.kind === 'activity' ? { ...standIn } : part.logic;

  const makers: Makers = {
    logic: (logic, part, origin) => {
      if (wanted !== undefined) {
        if (wanted.name === part) found(wanted, logic);
        return logic;
      }
      const each = partFor(logic, part, `what ${part} spawns`);
      const stand = { ...standFor(each) };
      made.set(stand, { part: each, origin });
      return stand;
    },
    action: (action, actionName, origin) => {
      if (wanted === undefined) madeActions.set(action, { name: actionName, origin });
      else if (wanted.name === actionName) found(wanted, action);
    },
  };
  /** @throws What an expression throws before it has made it. */
  const makeWanted = (part: string, origin: Origin): unknown => {
    const [place = ''] = part.split('#', 1);
    const wish: Wish = { name: part, found: undefined };
    wanted = wish;
    try {
      makeAgain(watched.get(place), origin, part);
    } catch (error) {
      if (error !== isMade) throw error;
    } finally {
      wanted = undefined;
    }
    return wish.found;
  };

  const watch = (action: unknown, place: string): unknown => {
    const each = watchAction(action, place, makers);
    if (each !== action) watched.set(place, each);
    else if (typeof action === 'function' && !isBuiltin(action) && !places.has(action)) {
      places.set(action, place);
      inline.set(place, action);
    } else if (
      isBuiltin(action) &&
      action.type === 'xstate.spawnChild' &&
      typeof action.src === 'object'
    ) {
      const part = partFor(action.src as AnyActorLogic, place, `what ${place} spawns`);
      parts.set(place, part);
      return Object.assign((): void => {}, action, { type: action.type, src: place });
    }
    return each;
  };

  const actions = Object.fromEntries(
    Object.entries(implementations.actions).map(([each, action]) => [
      each,
      isBuiltin(action) ? watch(action, `action ${each}`) : action,
    ]),
  );
  const computing = machine.provide({ actions } as never) as AnyStateMachine;
  if (typeof context === 'function') {
    const place = `${machine.root.id}.context`;
    const watchedContext = watchContext(context as ContextFactory, place, makers);
    watched.set(place, watchedContext);
    Object.assign(computing, { config: { ...machine.config, context: watchedContext.make } });
  }
  const chart: Chart = {
    name,
    version,
    machine: computing,
    parts,
    invoked,
    partOf: (part, origin) => {
      const each = parts.get(part);
      if (each !== undefined) return each;
      const logic = origin && makeWanted(part, origin);
      if (logic === undefined) throw new ChartError(`${name}: the chart has no actor ${part}`);
      return partFor(logic as AnyActorLogic, part, part);
    },
    madePart: (logic) => made.get(Object(logic) as object),
    nameAction: (type, action) => {
      if (typeof action !== 'function') return { name: type, origin: undefined };
      if (implementations.actions[type] === action) return { name: type, origin: undefined };
      const place = places.get(action);
      if (place !== undefined) return { name: place, origin: undefined };
      const made = madeActions.get(action);
      if (made === undefined)
        throw new ChartError(`${name}: the action ${type} has no place in the chart`);
      return made;
    },
    implementationOf: (action, origin) => {
      if (origin === undefined)
        return (inline.get(action) ?? implementations.actions[action]) as
          | ActionFunction
          | undefined;
      const made = makeWanted(action, origin);
      if (made === undefined)
        throw new ChartError(`${name}: the chart no longer makes the action ${action}`);
      return made as ActionFunction;
    },
    isWithdrawn,
    isObserved: (action) => observed.has(action),
    stateOf: (id) => {
      const node = byId.get(id);
      if (node === undefined) throw new ChartError(`${name}: the chart has no state ${id}`);
      return node;
    },
    restsIn: ({ _nodes }) => {
      for (const node of _nodes as unknown as readonly Node[]) {
        const rest = restOf(node);
        if (rest !== undefined) return rest;
      }
      return undefined;
    },
  };
  known.set(machine, chart);
  const nodes = nodesOf(computing.root as unknown as Node);
  const byId = new Map(nodes.map((node) => [node.id, node]));

  for (const [src, logic] of Object.entries(implementations.actors))
    parts.set(src, partFor(logic, src, `the actor ${src}`));
  for (const node of nodes) {
    const definitions = node.invoke as unknown as readonly InvokeDefinition[];
    const configured = [(node.config as { invoke?: unknown }).invoke ?? []].flat();
    const named = definitions.map((each, index) => {
      if (parts.has(each.src)) return each;
      const { src } = configured[index] as { readonly src: unknown };
      if (typeof src !== 'object' || src === null)
        return refuse(node, `the invoked ${each.id} must be named in setup({ actors })`);
      // XState's own name for it would lead back to what is configured.
      const place = `${node.id}.invoke[${index}]`;
      parts.set(place, partFor(src as AnyActorLogic, place, `the invoked ${each.id}`));
      return { ...each, src: place };
    });
    Object.defineProperty(node, 'invoke', { value: named, configurable: true });
    for (const { id: child, src } of named)
      invoked.push({ child, src, state: node.path.join('.') });
    checkNames(node, implementations, refuse);
    mapActions(node, watch);
  }
  Object.assign(
    computing.implementations.actors,
    Object.fromEntries([...parts].map(([src, part]) => [src, standFor(part)])),
  );
  for (const node of nodes)
    invokePlainly(
      node,
      ({ src, onSnapshot }) => parts.get(src)?.kind === 'activity' && onSnapshot === undefined,
    );
  return chart;
};
