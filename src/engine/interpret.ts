/**
 * Computes what an ordinary XState 5 chart does with an event, and does nothing itself.
 *
 * XState's own interpreter keeps children, timers and the queue of events in memory. Here an instance is taken up from its stored
 * record, computes with events, and gives its next record: what was started, what was set for later and what is to be carried out
 * are plain data in it. Whoever calls stores the record, and only then carries out what it says (turn.ts).
 *
 * I1  What is computed is a function of record, events and times: no clock, no I/O, no random numbers.
 * I2  What leaves a state takes its children and its timers along.
 * I3  Every effect and every run of a child has a number of its own, so that carrying out twice can be told from two effects.
 *
 * The traps. XState creates the child of an `invoke` when the transition is computed; so the chart runs with stand-ins for those
 * that are charts, and with refs alone for activities (chart.ts). It refuses to compute without an actor to compute for; so there
 * is a scope that only notes what it is told. What is not executed is not lost: the same actions say what is to be done.
 */
import type { AnyActorRef, AnyActorScope, AnyEventObject, AnyMachineSnapshot } from 'xstate';
import { type Chart, createRef, inert } from './chart.ts';
import type { Child, Effect, InstanceRecord, Timer } from './record.ts';

/** What a chart only tells: nothing depends on it, and it may be lost with the process. */
export type Observation =
  | {
      readonly kind: 'action';
      readonly type: string;
      readonly params: unknown;
      readonly event: AnyEventObject;
      readonly context: unknown;
    }
  | { readonly kind: 'emit'; readonly event: AnyEventObject }
  | { readonly kind: 'log'; readonly value: unknown; readonly label?: string | undefined };

/** What XState hands to whoever executes actions. */
interface NamedAction {
  readonly type: string;
  readonly params: unknown;
  readonly info: { readonly context: unknown; readonly event: AnyEventObject };
}

const actorMark = 'xstate$$type';

const isRef = (value: object): value is { readonly id: string } =>
  'sessionId' in value && 'send' in value && 'ref' in value;

/** Replaces parts of a plain value, and copies only what holds them. */
const replaceIn = (value: unknown, replace: (part: object) => unknown): unknown => {
  // JSON would drop it without a word.
  if (typeof value === 'function') throw new Error('A context with a function in it cannot be stored');
  if (typeof value !== 'object' || value === null) return value;
  const replaced = replace(value);
  if (replaced !== value) return replaced;
  let copy: Record<string, unknown> | unknown[] | undefined;
  for (const [key, part] of Object.entries(value)) {
    const next = replaceIn(part, replace);
    if (next === part) continue;
    copy ??= Array.isArray(value) ? [...value] : { ...value };
    (copy as Record<string, unknown>)[key] = next;
  }
  return copy ?? value;
};

const withoutRefs = (value: unknown): unknown =>
  replaceIn(value, (part) => (isRef(part) ? { [actorMark]: 1, id: part.id } : part));

const withRefs = (value: unknown, refs: Readonly<Record<string, AnyActorRef>>): unknown =>
  replaceIn(value, (part) =>
    actorMark in part && 'id' in part && typeof part.id === 'string' ? refs[part.id] : part,
  );

/**
 * What XState computes for. Steps are synchronous, so one serves all instances, one after the other: it is told for whom.
 * Actors that XState creates within it are stand-ins, and are never started.
 */
interface Desk {
  readonly scope: AnyActorScope;
  actions: NamedAction[];
  refs: Readonly<Record<string, AnyActorRef>>;
  parent: AnyActorRef | undefined;
}

const createDesk = (): Desk => {
  let booked = 0;
  const system = {
    _bookId: () => `x:${booked++}`,
    _register: (sessionId: string) => sessionId,
    _unregister: inert,
    _set: inert,
    _relay: inert,
    _sendInspectionEvent: inert,
    _clock: { setTimeout: inert, clearTimeout: inert },
    _logger: inert,
    get: (systemId: string) =>
      Object.values(desk.refs).find((ref) => (ref as { systemId?: unknown }).systemId === systemId),
    getAll: () => desk.refs,
    scheduler: { schedule: inert, cancel: inert, cancelAll: inert },
  };
  const self = Object.assign(createRef({ id: 'self', sessionId: 'self' }), { system });
  Object.defineProperty(self, '_parent', { get: () => desk.parent });
  const desk: Desk = {
    scope: {
      self,
      id: 'self',
      sessionId: 'self',
      system,
      logger: inert,
      defer: inert,
      emit: inert,
      stopChild: inert,
      actionExecutor: (action: NamedAction) => {
        desk.actions.push(action);
      },
    } as unknown as AnyActorScope,
    actions: [],
    refs: {},
    parent: undefined,
  };
  return desk;
};

const desk = createDesk();

const revive = (
  { machine }: Chart,
  record: InstanceRecord,
  refs: Record<string, AnyActorRef>,
): AnyMachineSnapshot => {
  const { history } = record;
  const historyValue =
    history &&
    Object.fromEntries(
      Object.entries(history).map(([id, states]) => [
        id,
        states.map((state) => machine.getStateNodeById(state)),
      ]),
    );
  const snapshot = machine.resolveState({
    value: record.value,
    context: record.children === undefined ? record.context : withRefs(record.context, refs),
    ...(historyValue !== undefined && { historyValue }),
  } as Parameters<typeof machine.resolveState>[0]);
  const { status, output, error } = record;
  return Object.assign(snapshot, { children: refs, status, output, error }) as AnyMachineSnapshot;
};

const refsOf = (children: Readonly<Record<string, Child>> = {}): Record<string, AnyActorRef> =>
  Object.fromEntries(
    Object.entries(children).map(([id, { src, run, systemId }]) => [
      id,
      createRef({ id, src, sessionId: `run:${run}`, systemId }),
    ]),
  );

const nameOfChild = (ref: AnyActorRef): string => {
  const { src } = ref as { src?: unknown };
  if (typeof src === 'string') return src;
  throw new Error(`The child ${ref.id} must be named in setup({ actors })`);
};

const optionsOf = (ref: AnyActorRef): { readonly input?: unknown; readonly systemId?: string } =>
  Object((ref as { options?: unknown }).options) as { input?: unknown; systemId?: string };

/** Of an `Error`, or of what is left of one that was stored. */
const errorText = (error: unknown): string => {
  const { message } = Object(error) as { readonly message?: unknown };
  return String(message ?? error);
};

const historyOf = (snapshot: AnyMachineSnapshot): InstanceRecord['history'] => {
  const entries = Object.entries(snapshot.historyValue as Record<string, readonly { readonly id: string }[]>);
  return entries.length === 0
    ? undefined
    : Object.fromEntries(entries.map(([id, nodes]) => [id, nodes.map((node) => node.id)]));
};

/** What an instance that another has started is to it. */
export interface Parent {
  readonly id: string;
  readonly child: string;
  readonly run: number;
}

/** The instance that a child of this one is: the same whenever it is computed. BullMQ allows no colon in it. */
const childInstanceId = (parent: string, child: string, run: number): string =>
  `${parent}.${encodeURIComponent(child).replaceAll('.', '%2E')}.${run}`;

/** @returns Undefined for an instance that was started from outside, whose id has no dot. */
export const parentOf = (id: string): Parent | undefined => {
  const [, parent, child, run] = /^(.+)\.([^.]+)\.(\d+)$/s.exec(id) ?? [];
  if (parent === undefined || child === undefined) return undefined;
  try {
    return { id: parent, child: decodeURIComponent(child), run: Number(run) };
  } catch {
    // The id of a job that another program has added may be anything.
    return undefined;
  }
};

/** What a parent hears of a child that has failed. */
export const failureOf = (child: string, error: unknown): AnyEventObject => ({
  type: `xstate.error.actor.${child}`,
  error: { name: 'Error', message: errorText(error) },
  actorId: child,
});

/** The child of which an event tells the end. */
const endedChildOf = ({ type }: AnyEventObject): string | undefined =>
  type.startsWith('xstate.') ? /^xstate\.(?:done|error)\.actor\.(.+)$/s.exec(type)?.[1] : undefined;

const parentTarget = '#_parent';

/**
 * An instance between being taken up and being stored again.
 *
 * No getters: V8 makes a hidden class for each evaluation of a literal that has some. It lies among the old objects, and keeps
 * all that the getters see alive until the next full collection: an eighth of what a worker allocates.
 */
export interface Life {
  status(): InstanceRecord['status'];
  context(): unknown;
  /** Whether it rests in a state tagged `failed`, or `completed`: its job ends. */
  rests(): 'failed' | 'completed' | undefined;
  /**
   * @returns Whether the chart had a transition for the event. If not, nothing has changed, but that a child may have ended.
   * @throws When an expression of the chart throws, or no transition takes the result of an activity: bugs of the chart.
   */
  apply(event: AnyEventObject, now: number): boolean;
  /** The timer that became due first, and is due at `now`; it is set no more. */
  takeDue(now: number, notAfter: number): Timer | undefined;
  /** Applies the event of a timer, or sends it on. */
  fire(timer: Timer, now: number): void;
  /** When a timer is due next, or a try of an activity that was not open at `now`; Infinity when none is. */
  nextTime(now: number): number;
  child(id: string): Child | undefined;
  setChild(id: string, child: Child): void;
  /** Those that have not ended. */
  activities(): ReadonlyArray<readonly [id: string, child: Child]>;
  /** Activities that are to run now. */
  openActivities(now: number): ReadonlyArray<readonly [id: string, child: Child]>;
  /** What is to be carried out, in order. */
  effects(): readonly Effect[];
  /** The first so many are carried out. */
  clearEffects(count: number): void;
  /** What was only told, since the last call. */
  takeObserved(): readonly Observation[];
  record(): InstanceRecord;
}

const createLife = (
  chart: Chart,
  id: string,
  record: InstanceRecord,
  begin: ((scope: AnyActorScope) => AnyMachineSnapshot) | undefined,
  begunAt: number,
): Life => {
  const { machine } = chart;
  const { workflow, version } = record;
  const parent = parentOf(id);
  const children: Record<string, Child> = { ...record.children };
  let timers: readonly Timer[] = record.timers ?? [];
  let effects: Effect[] = [...(record.effects ?? [])];
  let { next } = record;
  let observed: Observation[] = [];
  let refs: Readonly<Record<string, AnyActorRef>> = refsOf(record.children);
  const parentRef = parent && createRef({ id: parent.id, sessionId: 'parent' });
  let snapshot: AnyMachineSnapshot;
  /** Events that the chart has sent to itself, in order. */
  const queue: AnyEventObject[] = [];

  const isChart = (child: Child | undefined): child is Child =>
    child !== undefined && !child.ended && chart.kindOf(child.src) === 'chart';

  const addEffect = (effect: Omit<Effect, 'number'>): void => {
    effects.push({ number: next++, ...effect });
  };
  /** As in XState, one that is set again under the same id does not replace the first; cancelling the id takes both back. */
  const setTimer = (timer: Timer): void => {
    timers = [...timers, timer];
  };

  /** An activity hears nothing, as a promise does not either; neither does a child that has ended. */
  const tellChild = (name: string, event: AnyEventObject): void => {
    const child = children[name];
    if (isChart(child)) addEffect({ kind: 'send', to: childInstanceId(id, name, child.run), event });
  };
  const tellParent = (event: AnyEventObject): void => {
    if (parent !== undefined) addEffect({ kind: 'send', to: parent.id, event });
  };

  const noteChildren = (): void => {
    const before = refs;
    const after = snapshot.status === 'active' ? (snapshot.children as Record<string, AnyActorRef>) : {};
    if (after === before) return;
    for (const [name, ref] of Object.entries(before)) {
      if (after[name] === ref) continue;
      const child = children[name];
      delete children[name];
      if (isChart(child)) addEffect({ kind: 'stop', to: childInstanceId(id, name, child.run) });
    }
    for (const [name, ref] of Object.entries(after)) {
      if (before[name] === ref) continue;
      const src = nameOfChild(ref);
      const { input, systemId } = optionsOf(ref);
      const run = next++;
      children[name] = { src, run, input, ...(systemId !== undefined && { systemId }) };
      if (chart.kindOf(src) === 'chart') {
        addEffect({
          kind: 'start',
          type: src,
          to: childInstanceId(id, name, run),
          params: input,
        });
      }
    }
    refs = after;
    desk.refs = refs;
  };

  const noteAction = ({ type, params, info }: NamedAction, now: number): void => {
    const { delay } = Object(params) as { delay?: unknown };
    switch (type) {
      case 'xstate.raise': {
        const { event, id: name } = params as { event: AnyEventObject; id?: string };
        if (typeof delay === 'number') setTimer({ id: name ?? `raise.${next++}`, at: now + delay, event });
        return;
      }
      case 'xstate.cancel': {
        const { sendId } = params as { sendId: string };
        timers = timers.filter((timer) => timer.id !== sendId);
        return;
      }
      case 'xstate.sendTo': {
        const { to, event, id: name } = params as { to: AnyActorRef; event: AnyEventObject; id?: string };
        const own = to === desk.scope.self;
        const target = to === parentRef ? parentTarget : to.id;
        if (typeof delay === 'number') {
          setTimer({ id: name ?? `send.${next++}`, at: now + delay, event, ...(!own && { to: target }) });
        } else if (own) queue.push(event);
        else if (to === parentRef) tellParent(event);
        else tellChild(target, event);
        return;
      }
      case 'xstate.emit':
        observed.push({ kind: 'emit', event: (params as { event: AnyEventObject }).event });
        return;
      case 'xstate.log': {
        const { value, label } = params as { value: unknown; label?: string };
        observed.push({ kind: 'log', value, label });
        return;
      }
      case 'xstate.spawnChild':
      case 'xstate.stopChild':
        // The children of the next snapshot say the same, and for spawn() inside assign() they alone do.
        return;
    }
    const { event, context } = info;
    if (chart.isObserved(type)) observed.push({ kind: 'action', type, params, event, context });
    else addEffect({ kind: 'action', type, params, event, context: withoutRefs(context) });
  };

  const noteEnd = (): void => {
    timers = [];
    if (parent === undefined || snapshot.status === 'stopped') return;
    const { id: to, child, run } = parent;
    const event =
      snapshot.status === 'done'
        ? { type: `xstate.done.actor.${child}`, output: snapshot.output, actorId: child }
        : failureOf(child, snapshot.error);
    addEffect({ kind: 'reply', to, params: { child, run }, event });
  };

  /** Runs macrosteps until the chart has taken what it has sent to itself. */
  const settle = (first: (scope: AnyActorScope) => AnyMachineSnapshot, now: number): void => {
    desk.actions = [];
    desk.refs = refs;
    desk.parent = parentRef;
    snapshot = first(desk.scope);
    for (;;) {
      noteChildren();
      for (const action of desk.actions.splice(0)) noteAction(action, now);
      if (snapshot.status !== 'active') break;
      const event = queue.shift();
      if (event === undefined) return;
      snapshot = machine.transition(snapshot, event, desk.scope);
    }
    noteEnd();
  };

  const apply = (event: AnyEventObject, now: number): boolean => {
    if (snapshot.status !== 'active') return false;
    const ended = endedChildOf(event);
    const child = ended === undefined ? undefined : children[ended];
    // It stays a child until its state is left, as in XState, but is not run or spoken to any more.
    if (ended !== undefined && child !== undefined) children[ended] = { ...child, ended: true };
    const before = snapshot;
    settle((scope) => machine.transition(before, event, scope), now);
    if (snapshot !== before || machine.getTransitionData(before, event).length > 0) return true;
    // Without onDone nobody wants the result. With one whose guards all refuse it, the instance would wait for ever.
    if (child !== undefined && chart.handles(before, event.type)) {
      throw new Error(`${chart.name}: no transition takes ${event.type} in ${JSON.stringify(before.value)}`);
    }
    return false;
  };

  const activities: Life['activities'] = () =>
    snapshot.status !== 'active'
      ? []
      : Object.entries(children).filter(([, { src, ended }]) => !ended && chart.kindOf(src) === 'activity');

  if (begin === undefined) snapshot = revive(chart, record, refs as Record<string, AnyActorRef>);
  else settle(begin, begunAt);

  return {
    status: () => snapshot.status,
    context: () => snapshot.context as unknown,
    rests: () => {
      if (snapshot.status !== 'active') return undefined;
      const { tags } = snapshot;
      return tags.has('failed') ? 'failed' : tags.has('completed') ? 'completed' : undefined;
    },
    apply,
    takeDue: (now, notAfter) => {
      let first: Timer | undefined;
      for (const timer of timers) {
        if (timer.at <= now && timer.at <= notAfter && (first === undefined || timer.at < first.at))
          first = timer;
      }
      if (first !== undefined) timers = timers.filter((timer) => timer !== first);
      return first;
    },
    fire: ({ to, event }, now) => {
      if (to === undefined) apply({ at: now, ...event }, now);
      else if (to === parentTarget) tellParent(event);
      else tellChild(to, event);
    },
    nextTime: (now) => {
      let first = Number.POSITIVE_INFINITY;
      for (const { at } of timers) first = Math.min(first, at);
      for (const { notBefore, ended, waits } of Object.values(children))
        if (!ended && !waits && notBefore !== undefined && notBefore > now)
          first = Math.min(first, notBefore);
      return first;
    },
    child: (name) => children[name],
    setChild: (name, child) => {
      children[name] = child;
    },
    activities,
    openActivities: (now) =>
      activities().filter(([, { waits, notBefore = 0 }]) => !waits && notBefore <= now),
    effects: () => effects,
    clearEffects: (count) => {
      effects = effects.slice(count);
    },
    takeObserved: () => {
      const all = observed;
      observed = [];
      return all;
    },
    record: () => {
      const history = historyOf(snapshot);
      const isActive = snapshot.status === 'active';
      return {
        workflow,
        version,
        status: snapshot.status,
        value: snapshot.value as InstanceRecord['value'],
        context: withoutRefs(snapshot.context),
        ...(snapshot.output !== undefined && { output: snapshot.output as unknown }),
        ...(snapshot.error !== undefined && { error: errorText(snapshot.error) }),
        next,
        ...(history !== undefined && { history }),
        ...(isActive && Object.keys(children).length > 0 && { children: { ...children } }),
        ...(isActive && timers.length > 0 && { timers: [...timers] }),
        ...(effects.length > 0 && { effects: [...effects] }),
      };
    },
  };
};

/**
 * An instance that begins now.
 *
 * @throws When an expression of the chart throws: a bug of the chart.
 */
export const begin = (chart: Chart, id: string, input: unknown, now: number): Life => {
  const { name: workflow, version } = chart;
  const empty: InstanceRecord = { workflow, version, status: 'active', value: '', next: 1 };
  const first = (scope: AnyActorScope): AnyMachineSnapshot => {
    const initial = chart.machine.getInitialSnapshot(scope, input);
    if (initial.status === 'error') throw initial.error;
    return initial;
  };
  return createLife(chart, id, empty, first, now);
};

/** An instance that was stored. */
export const resume = (chart: Chart, id: string, record: InstanceRecord): Life =>
  createLife(chart, id, record, undefined, 0);
