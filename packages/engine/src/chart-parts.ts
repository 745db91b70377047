/**
 * Walks what XState has made of a chart: nodes, transitions, actions. Gives each part that has no
 * name of its own one by its place, so that a record can name it.
 *
 * A place is `<state id>.entry[0]`, `<state id>.on.PAID[1].actions[0]` and the like. What a chart
 * makes anew in each step, inside `assign` or `enqueueActions`, is named by the place of that
 * action and by its number there, and is made again from the context and the event that it had.
 * Where such actions are made inside each other, the name has a number, and the origin a part, for
 * each of them.
 */
import { type AnyActorLogic, type AnyEventObject, assign, type StateNode } from 'xstate';

export type Node = StateNode<never, never>;

export interface InvokeDefinition {
  readonly id: string;
  readonly src: string;
  readonly systemId?: string;
  readonly input?: unknown;
  readonly onSnapshot?: unknown;
}

/** The values from which a step has made a part. */
export interface Origin {
  readonly context: unknown;
  readonly event: AnyEventObject;
  readonly params?: unknown;
  /** The answers of `check`, in order. */
  readonly checks?: readonly boolean[];
  /** The actor of the chart. */
  readonly self?: unknown;
  /** The origin of the enclosing action, where an action has made this action. */
  readonly outer?: Origin;
}

export const nodesOf = (node: Node): readonly Node[] => [
  node,
  ...Object.values(node.states as Record<string, Node>).flatMap(nodesOf),
];

interface Transition {
  actions: readonly unknown[];
  readonly guard?: unknown;
}

interface Inside {
  entry: readonly unknown[];
  exit: readonly unknown[];
  readonly transitions: ReadonlyMap<string, readonly Transition[]>;
  readonly always?: readonly Transition[];
}
const inside = (node: Node): Inside => node as unknown as Inside;

/** The transitions of a node, each with its place. */
export const transitionsOf = (node: Node): readonly (readonly [place: string, Transition])[] => {
  const { transitions, always = [] } = inside(node);
  const initial = node.initial as unknown as Transition | undefined;
  return [
    ...[...transitions].flatMap(([event, list]) =>
      list.map((each, index) => [`${node.id}.on.${event}[${index}]`, each] as const),
    ),
    ...always.map((each, index) => [`${node.id}.always[${index}]`, each] as const),
    ...(initial === undefined ? [] : [[`${node.id}.initial`, initial] as const]),
  ];
};

/** Replaces the actions of a node, one by one. */
export const mapActions = (node: Node, map: (action: unknown, place: string) => unknown): void => {
  const mapList = (list: readonly unknown[], place: string): readonly unknown[] =>
    list.map((action, index) => map(action, `${place}[${index}]`));
  const own = inside(node);
  own.entry = mapList(own.entry, `${node.id}.entry`);
  own.exit = mapList(own.exit, `${node.id}.exit`);
  for (const [place, transition] of transitionsOf(node))
    transition.actions = mapList(transition.actions, `${place}.actions`);
};

/** XState's own action creators make functions with these members. */
interface Builtin {
  readonly type: string;
  readonly resolve: unknown;
  readonly src?: unknown;
  readonly assignment?: unknown;
  readonly collect?: Collect;
  readonly delay?: unknown;
  /** Our own member: the place of an action that a step has made. */
  readonly place?: string;
}
export const isBuiltin = (action: unknown): action is Builtin =>
  typeof action === 'function' && 'resolve' in action;

type Spawn = (src: unknown, options?: object) => unknown;
interface AssignArguments {
  readonly context: unknown;
  readonly event: AnyEventObject;
  readonly self: unknown;
  spawn: Spawn;
}
type Assigner = (args: AssignArguments, params: unknown) => unknown;
type Enqueue = ((action: unknown) => void) & {
  readonly spawnChild: (src: unknown, options?: object) => void;
};
interface CollectArguments {
  readonly context: unknown;
  readonly event: AnyEventObject;
  readonly self: unknown;
  readonly enqueue: Enqueue;
  readonly check: (guard: unknown) => boolean;
}
type Collect = (args: CollectArguments, params: unknown) => void;

/** Is told what a step makes. `logic` returns the logic that replaces the one of an actor. */
export interface Makers {
  logic(logic: AnyActorLogic, name: string, origin: Origin): AnyActorLogic;
  action(action: (...args: never[]) => unknown, name: string, origin: Origin): void;
}

const copyOf = (builtin: Builtin, changes: object): unknown =>
  Object.assign((): void => {}, builtin, { type: builtin.type }, changes);

const isLogic = (src: unknown): src is AnyActorLogic => typeof src === 'object' && src !== null;

const watchAssigner = (assigner: Assigner, place: string, makers: Makers): Assigner =>
  function assign(args, params) {
    const { spawn, context, event, self } = args;
    let made = 0;
    args.spawn = (src, options) =>
      spawn(
        isLogic(src)
          ? makers.logic(src, `${place}#${made++}`, { context, event, params, self })
          : src,
        options,
      );
    return assigner(args, params);
  };

const watchAssignment = (assignment: unknown, place: string, makers: Makers): unknown => {
  if (typeof assignment === 'function') return watchAssigner(assignment as Assigner, place, makers);
  return Object.fromEntries(
    Object.entries(assignment as Record<string, unknown>).map(([key, value]) => [
      key,
      typeof value === 'function'
        ? watchAssigner(value as Assigner, `${place}#${key}`, makers)
        : value,
    ]),
  );
};

/** Makers for an action that was itself made in a step: they add its origin as the outer one. */
const makersIn = (outer: Origin, makers: Makers): Makers => {
  const inside = (origin: Origin): Origin => ({
    ...origin,
    outer: origin.outer === undefined ? outer : inside(origin.outer),
  });
  return {
    logic: (logic, name, origin) => makers.logic(logic, name, inside(origin)),
    action: (action, name, origin) => makers.action(action, name, inside(origin)),
  };
};

const watchCollect = (collect: Collect, place: string, makers: Makers): Collect =>
  function enqueueActions(args, params) {
    const { enqueue, context, event, self } = args;
    const checks: boolean[] = [];
    const origin: Origin = { context, event, params, checks, self };
    let made = 0;
    const nextPlace = (): string => `${place}#${made++}`;
    const watchMade = (action: unknown): unknown => {
      if (typeof action !== 'function') return action;
      if (!isBuiltin(action)) {
        makers.action(action as (...args: never[]) => unknown, nextPlace(), origin);
        return action;
      }
      const { type, src } = action;
      if (type === 'xstate.spawnChild' && isLogic(src))
        return copyOf(action, { src: makers.logic(src, nextPlace(), origin) });
      if (type !== 'xstate.assign' && type !== 'xstate.enqueueActions') return action;
      const at = nextPlace();
      return copyOf(watchAction(action, at, makersIn(origin, makers)) as Builtin, { place: at });
    };
    const watched = (action: unknown): void => enqueue(watchMade(action));
    const spawnChild: Enqueue['spawnChild'] = (src, options) =>
      enqueue.spawnChild(isLogic(src) ? makers.logic(src, nextPlace(), origin) : src, options);
    collect(
      {
        ...args,
        enqueue: Object.assign(watched, enqueue, {
          spawnChild,
          assign: (assignment: never) => watched(assign(assignment)),
        }),
        check: (guard) => {
          const answer = args.check(guard);
          checks.push(answer);
          return answer;
        },
      },
      params,
    );
  };

/** Wraps an action for the engine: what it makes in a step goes through `makers`. */
export const watchAction = (action: unknown, place: string, makers: Makers): unknown => {
  if (!isBuiltin(action)) return action;
  if (action.type === 'xstate.assign')
    return copyOf(action, { assignment: watchAssignment(action.assignment, place, makers) });
  if (action.type === 'xstate.enqueueActions' && action.collect !== undefined)
    return copyOf(action, { collect: watchCollect(action.collect, place, makers) });
  return action;
};

interface ContextArguments {
  readonly input: unknown;
  readonly self: unknown;
  spawn: Spawn;
}
export type ContextFactory = (args: ContextArguments) => unknown;
/** The function that makes the first context of a chart; it may spawn. */
interface WatchedContext {
  readonly make: ContextFactory;
}

export const watchContext = (
  factory: ContextFactory,
  place: string,
  makers: Makers,
): WatchedContext => ({
  make: (args) => {
    const { spawn, input, self } = args;
    const origin: Origin = { context: undefined, event: { type: 'xstate.init', input }, self };
    let made = 0;
    return factory({
      ...args,
      spawn: (src, options) =>
        spawn(isLogic(src) ? makers.logic(src, `${place}#${made++}`, origin) : src, options),
    });
  },
});

const nothing = { id: '', system: undefined };

/**
 * Runs an action again as it ran in a step, only to make what it made. Where it is inside others,
 * these run first.
 *
 * @param wanted The name of the part to be made.
 */
export const makeAgain = (action: unknown, origin: Origin, wanted: string): void => {
  const origins: Origin[] = [];
  for (let each: Origin | undefined = origin; each !== undefined; each = each.outer)
    origins.unshift(each);
  makeInside(action, origins, wanted);
};

const makeInside = (
  action: unknown,
  [origin, ...inner]: readonly Origin[],
  wanted: string,
): void => {
  if (origin === undefined) return;
  const { context, event, params, checks = [] } = origin;
  const self = (origin.self ?? nothing) as typeof nothing;
  const refs = { self, system: self.system ?? { get: () => undefined } };
  const spawn = (): unknown => ({ id: '' });
  if (typeof action === 'object' && action !== null && 'make' in action) {
    const { input } = event as { readonly input?: unknown };
    (action as WatchedContext).make({ ...refs, input, spawn });
    return;
  }
  if (!isBuiltin(action)) return;
  const { assignment, collect } = action;
  const inert = (): undefined => undefined;
  if (collect !== undefined) {
    const answers = [...checks];
    const enter = (made: unknown): void => {
      if (isBuiltin(made) && made.place !== undefined && wanted.startsWith(`${made.place}#`))
        makeInside(made, inner, wanted);
    };
    const enqueue = Object.assign(enter, {
      cancel: inert,
      raise: inert,
      sendTo: inert,
      sendParent: inert,
      spawnChild: inert,
      stopChild: inert,
      emit: inert,
    }) as unknown as Enqueue;
    collect({ ...refs, context, event, enqueue, check: () => answers.shift() ?? false }, params);
  } else if (assignment !== undefined) {
    const assigners =
      typeof assignment === 'function'
        ? [assignment as Assigner]
        : Object.values(assignment as object).filter((each) => typeof each === 'function');
    for (const assigner of assigners) assigner({ ...refs, context, event, spawn } as never, params);
  }
};

/**
 * The names in a guard. `and`, `or` and `not` hold others; another function is the guard itself.
 */
export const guardNames = (guard: unknown): readonly string[] => {
  if (guard === undefined) return [];
  if (typeof guard === 'string') return [guard];
  const { type, guards = [] } = guard as {
    readonly type?: string;
    readonly guards?: readonly unknown[];
  };
  return typeof guard === 'function'
    ? guards.flatMap(guardNames)
    : type === undefined
      ? []
      : [type];
};

/** The name of the delay of `raise` or `sendTo`; undefined for a number or a function. */
export const delayName = (timed: unknown): string | undefined => {
  const { delay } = Object(timed) as { readonly delay?: unknown };
  return typeof delay === 'string' ? delay : undefined;
};
