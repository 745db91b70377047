/**
 * Computes what an ordinary XState 5 chart does with an event, and does nothing itself.
 *
 * XState's own interpreter keeps children, timers and queued events in memory. Here an instance is
 * taken up from its stored record, applies events, and gives its next record. Children, timers and
 * effects are plain data in it. The caller stores the record, and only then carries out the effects
 * (turn.ts).
 *
 * I1  The result is a function of record, events and times: no clock, no I/O, no random numbers.
 * I2  Leaving a state removes its children and its timers.
 * I3  Every effect and every run of a child has a number of its own. An effect that is carried out
 *     twice keeps its number.
 * I4  What a chart does by itself after one event is bounded: `always`, `raise` and events that it
 *     sends to itself make at most `maxSteps` steps. One more undoes them all (`EndlessError`),
 *     because the process does nothing else meanwhile.
 *
 * XState creates the child of an `invoke` when it computes a transition. So child charts are
 * replaced by stand-ins, and activities by refs (chart.ts). XState also needs an actor that it
 * computes for, so there is a scope that only notes the actions.
 */
import type { AnyActorRef, AnyActorScope, AnyEventObject, AnyMachineSnapshot } from 'xstate';
import { type Chart, createRef, inert } from './chart.ts';
import { type Child, type Effect, type InstanceRecord, type Timer, timeAfter } from './record.ts';

/** For logs and metrics only. It may be lost with the process. */
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

/** A step of a chart costs some 30 microseconds, so the process stands still for 0.3 s at most. */
const maxSteps = 10_000;

/** I4. The chart goes in a circle: trying it again would not help. */
export class EndlessError extends Error {
  override readonly name = 'EndlessError';
}

/** What XState passes to its executor of actions. */
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
  // JSON would silently drop it.
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
 * The scope that XState computes for. Steps are synchronous, so one scope serves all instances, one
 * after the other. Actors that XState creates in it are stand-ins, and are never started.
 */
interface Desk {
  readonly scope: AnyActorScope;
  actions: NamedAction[];
  refs: Readonly<Record<string, AnyActorRef>>;
  parent: AnyActorRef | undefined;
  /** I4. Since the event, and how many there may be. */
  steps: number;
  maxSteps: number;
}

const createDesk = (): Desk => {
  let booked = 0;
  const system = {
    _bookId: () => `x:${booked++}`,
    _register: (sessionId: string) => sessionId,
    _unregister: inert,
    _set: inert,
    _relay: inert,
    // XState tells each step, also those of `always` and `raise`, before it looks for the next one.
    _sendInspectionEvent: ({ type }: { readonly type: string }) => {
      if (type !== '@xstate.microstep') return;
      desk.steps += 1;
      if (desk.steps > desk.maxSteps)
        throw new EndlessError(`The chart goes in a circle: over ${desk.maxSteps} steps after one event`);
    },
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
    steps: 0,
    maxSteps,
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

/** Of an `Error`, also of one that was stored as JSON. */
const errorText = (error: unknown): string => {
  const { message } = Object(error) as { readonly message?: unknown };
  return String(message ?? error);
};

const maxReason = 300;

/** The first line of an error's message. */
const lineOf = (text: string): string => (text.split('\n', 1)[0] ?? '').slice(0, maxReason);

const historyOf = (snapshot: AnyMachineSnapshot): InstanceRecord['history'] => {
  const entries = Object.entries(snapshot.historyValue as Record<string, readonly { readonly id: string }[]>);
  return entries.length === 0
    ? undefined
    : Object.fromEntries(entries.map(([id, nodes]) => [id, nodes.map((node) => node.id)]));
};

/** The instance that has started this one, and the child that this one is there. */
export interface Parent {
  readonly id: string;
  readonly child: string;
  readonly run: number;
}

/** The id of a child's instance. BullMQ allows no colon in it. */
export const childInstanceId = (parent: string, child: string, run: number): string =>
  `${parent}.${encodeURIComponent(child).replaceAll('.', '%2E')}.${run}`;

/** @returns Undefined for an instance that was started from outside, whose id has no dot. */
export const parentOf = (id: string): Parent | undefined => {
  const [, parent, child, run] = /^(.+)\.([^.]+)\.(\d+)$/s.exec(id) ?? [];
  if (parent === undefined || child === undefined) return undefined;
  try {
    return { id: parent, child: decodeURIComponent(child), run: Number(run) };
  } catch {
    // Another program may have added a job with any id.
    return undefined;
  }
};

export const doneEvent = (child: string, output: unknown) => ({
  type: `xstate.done.actor.${child}`,
  output,
  actorId: child,
});

/** What a chart sees of an error. Plain data, because it is stored. */
export interface ActivityError {
  readonly name: string;
  readonly message: string;
}

export const errorEvent = (child: string, error: ActivityError) => ({
  type: `xstate.error.actor.${child}`,
  error,
  actorId: child,
});

/** Ends an instance without asking its chart. */
export interface StopEvent {
  readonly type: 'xstate.stop';
  readonly reason?: string;
}

/** What a parent gets from a child chart that has failed. */
export const failureOf = (child: string, error: unknown): AnyEventObject =>
  errorEvent(child, { name: 'Error', message: errorText(error) });

/** The child whose end an event tells. */
const endedChildOf = ({ type }: AnyEventObject): string | undefined =>
  type.startsWith('xstate.') ? /^xstate\.(?:done|error)\.actor\.(.+)$/s.exec(type)?.[1] : undefined;

const parentTarget = '#_parent';

export type Children = ReadonlyArray<readonly [name: string, child: Child]>;

/**
 * An instance in memory, between two records.
 *
 * A class, because V8 makes a hidden class for each evaluation of an object literal with getters.
 * The hidden class keeps all that the getters see alive until the next full garbage collection: an
 * eighth of what a worker allocates.
 */
export class Life {
  readonly #chart: Chart;
  readonly #id: string;
  readonly #parent: Parent | undefined;
  readonly #parentRef: AnyActorRef | undefined;
  #children: Record<string, Child>;
  #timers: readonly Timer[];
  #effects: Effect[];
  /** The next number of a child or an effect. */
  #next: number;
  #observed: Observation[] = [];
  /** Why it was stopped. */
  #reason: string | undefined;
  #failure: InstanceRecord['failure'];
  #steps = 0;
  readonly #maxSteps: number;
  #snapshot!: AnyMachineSnapshot;
  /** The children of the snapshot, as noted last. */
  #refs: Readonly<Record<string, AnyActorRef>>;
  /** Events that the chart has sent to itself, in order. */
  #queue: AnyEventObject[] = [];

  /** @param first Computes the first snapshot; undefined for an instance that was stored. */
  constructor(
    chart: Chart,
    id: string,
    record: InstanceRecord,
    first: ((scope: AnyActorScope) => AnyMachineSnapshot) | undefined,
    now: number,
    limit: number,
  ) {
    this.#chart = chart;
    this.#maxSteps = Math.min(limit, chart.maxSteps);
    this.#id = id;
    this.#parent = parentOf(id);
    this.#parentRef = this.#parent && createRef({ id: this.#parent.id, sessionId: 'parent' });
    this.#children = { ...record.children };
    this.#timers = record.timers ?? [];
    this.#effects = (record.effects ?? []).map((effect) =>
      effect.kind === 'action' && effect.context === undefined
        ? { ...effect, context: record.context }
        : effect,
    );
    this.#next = record.next;
    this.#reason = record.reason;
    this.#failure = record.failure;
    const refs = refsOf(record.children);
    this.#refs = refs;
    if (first === undefined) this.#snapshot = revive(chart, record, refs);
    else this.#settle(first, now);
  }

  status(): InstanceRecord['status'] {
    return this.#snapshot.status;
  }

  context(): unknown {
    return this.#snapshot.context;
  }

  /** How many steps the chart has made in this memory. */
  steps(): number {
    return this.#steps;
  }

  /** In a state with one of these tags its job ends. */
  rests(): 'failed' | 'completed' | undefined {
    const { status, tags } = this.#snapshot;
    if (status !== 'active') return undefined;
    return tags.has('failed') ? 'failed' : tags.has('completed') ? 'completed' : undefined;
  }

  /**
   * @returns Whether the chart had a transition for the event. If not, nothing has changed, except
   *   that a child may have ended.
   * @throws EndlessError when the chart goes in a circle (I4); nothing has changed then. Another
   *   error when an expression of the chart throws, or no transition takes the result of an
   *   activity: bugs of the chart.
   */
  apply(event: AnyEventObject, now: number): boolean {
    const before = this.#snapshot;
    const { machine } = this.#chart;
    if (before.status !== 'active') return false;
    if (event.type === 'xstate.stop') this.#reason = (event as StopEvent).reason;
    const ended = endedChildOf(event);
    const child = ended === undefined ? undefined : this.#children[ended];
    // As in XState it stays a child until its state is left, but it neither runs nor gets events.
    if (ended !== undefined && child !== undefined) this.#children[ended] = { ...child, ended: true };
    if (child !== undefined) this.#noteFailure(child, event);
    this.#settle((scope) => machine.transition(before, event, scope), now);
    if (this.#snapshot !== before || machine.getTransitionData(before, event).length > 0) {
      if (!event.type.startsWith('xstate.')) this.#failure = undefined;
      return true;
    }
    // Without onDone the chart ignores the result. With an onDone whose guards all refuse it, the
    // instance would wait for ever.
    if (child !== undefined && this.#chart.handles(before, event.type)) {
      const state = JSON.stringify(before.value);
      throw new Error(`${this.#chart.name}: no transition takes ${event.type} in ${state}`);
    }
    return false;
  }

  /** Ends the instance with an error, without asking its chart. */
  fail(error: Error): void {
    this.#snapshot = { ...this.#snapshot, status: 'error', error } as AnyMachineSnapshot;
    this.#noteChildren();
    this.#noteEnd();
  }

  /** Removes the timer that became due first, if one is due. */
  takeDue(now: number, notAfter: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= now && timer.at <= notAfter && (first === undefined || timer.at < first.at))
        first = timer;
    }
    if (first !== undefined) this.#timers = this.#timers.filter((timer) => timer !== first);
    return first;
  }

  /** Applies the event of a timer, or sends it on. */
  fire({ to, event }: Timer, now: number): void {
    if (to === undefined) this.apply({ at: now, ...event }, now);
    else if (to === parentTarget) this.#tellParent(event);
    else this.#tellChild(to, event);
  }

  /** When a timer or a later try of an activity is due next; Infinity when there is none. */
  nextTime(now: number): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { at } of this.#timers) first = Math.min(first, at);
    for (const { notBefore, ended } of Object.values(this.#children)) {
      if (!ended && notBefore !== undefined && notBefore > now) first = Math.min(first, notBefore);
    }
    return first;
  }

  child(name: string): Child | undefined {
    return this.#children[name];
  }

  setChild(name: string, child: Child): void {
    this.#children[name] = child;
  }

  /** Activities that have not ended. */
  activities(): Children {
    if (this.#snapshot.status !== 'active') return [];
    return Object.entries(this.#children).filter(
      ([, { src, ended }]) => !ended && this.#chart.kindOf(src) === 'activity',
    );
  }

  /** Activities that should run now. */
  openActivities(now: number): Children {
    return this.activities().filter(
      ([, { waits, notBefore = waits ? Number.POSITIVE_INFINITY : 0 }]) => notBefore <= now,
    );
  }

  effects(): readonly Effect[] {
    return this.#effects;
  }

  /** Removes the first so many, which were carried out. */
  clearEffects(count: number): void {
    this.#effects = this.#effects.slice(count);
  }

  /** Observations since the last call. */
  takeObserved(): readonly Observation[] {
    const all = this.#observed;
    this.#observed = [];
    return all;
  }

  record(): InstanceRecord {
    const { status, value, context, output, error } = this.#snapshot;
    const history = historyOf(this.#snapshot);
    const isActive = status === 'active';
    const stored = withoutRefs(context);
    const effects = this.#effects.map((effect) =>
      effect.context === stored ? { ...effect, context: undefined } : effect,
    );
    return {
      workflow: this.#chart.name,
      version: this.#chart.version,
      status,
      value: value as InstanceRecord['value'],
      context: stored,
      ...(output !== undefined && { output: output as unknown }),
      ...(error !== undefined && { error: errorText(error) }),
      ...(this.#reason !== undefined && { reason: this.#reason }),
      ...(this.#failure !== undefined && { failure: this.#failure }),
      next: this.#next,
      ...(history !== undefined && { history }),
      ...(isActive && Object.keys(this.#children).length > 0 && { children: { ...this.#children } }),
      ...(isActive && this.#timers.length > 0 && { timers: [...this.#timers] }),
      ...(effects.length > 0 && { effects }),
    };
  }

  #noteFailure({ src }: Child, event: AnyEventObject): void {
    if (event.type.startsWith('xstate.error.'))
      this.#failure = { src, message: lineOf(errorText((event as { error?: unknown }).error)) };
    else if (this.#failure?.src === src) this.#failure = undefined;
  }

  /** Runs macrosteps until the chart has taken the events that it has sent to itself. */
  #settle(first: (scope: AnyActorScope) => AnyMachineSnapshot, now: number): void {
    const before = {
      snapshot: this.#snapshot,
      children: { ...this.#children },
      timers: this.#timers,
      effects: this.#effects.length,
      observed: this.#observed.length,
      refs: this.#refs,
    };
    desk.actions = [];
    desk.refs = this.#refs;
    desk.parent = this.#parentRef;
    desk.steps = 0;
    desk.maxSteps = this.#maxSteps;
    try {
      this.#runSteps(first, now);
    } catch (error) {
      if (error instanceof EndlessError) {
        this.#snapshot = before.snapshot;
        this.#children = before.children;
        this.#timers = before.timers;
        this.#effects.length = before.effects;
        this.#observed.length = before.observed;
        this.#refs = before.refs;
        this.#queue = [];
      }
      throw error;
    } finally {
      this.#steps += desk.steps;
    }
  }

  #runSteps(first: (scope: AnyActorScope) => AnyMachineSnapshot, now: number): void {
    this.#snapshot = first(desk.scope);
    for (;;) {
      this.#noteChildren();
      for (const action of desk.actions.splice(0)) this.#noteAction(action, now);
      if (this.#snapshot.status !== 'active') break;
      const event = this.#queue.shift();
      if (event === undefined) return;
      this.#snapshot = this.#chart.machine.transition(this.#snapshot, event, desk.scope);
    }
    this.#noteEnd();
  }

  /** I2, I3 */
  #noteChildren(): void {
    const { status, children } = this.#snapshot;
    const before = this.#refs;
    const after = status === 'active' ? (children as Record<string, AnyActorRef>) : {};
    if (after === before) return;
    for (const [name, ref] of Object.entries(before)) {
      if (after[name] === ref) continue;
      const child = this.#children[name];
      delete this.#children[name];
      if (this.#isChart(child)) this.#addEffect({ kind: 'stop', to: this.#idOf(name, child) });
      else this.#withdraw(name, child);
    }
    for (const [name, ref] of Object.entries(after)) {
      if (before[name] === ref) continue;
      const src = nameOfChild(ref);
      const { input, systemId } = optionsOf(ref);
      const child = { src, run: this.#next++, input, ...(systemId !== undefined && { systemId }) };
      this.#children[name] = child;
      if (this.#isChart(child)) {
        this.#addEffect({ kind: 'start', type: src, to: this.#idOf(name, child), params: input });
      }
    }
    this.#refs = after;
    desk.refs = after;
  }

  #noteAction({ type, params, info }: NamedAction, now: number): void {
    const { delay } = Object(params) as { delay?: unknown };
    switch (type) {
      case 'xstate.raise': {
        const { event, id } = params as { event: AnyEventObject; id?: string };
        // Without a delay XState raises the event itself.
        if (typeof delay === 'number')
          this.#setTimer({ id: id ?? `raise.${this.#next++}`, at: timeAfter(now, delay), event });
        return;
      }
      case 'xstate.cancel': {
        const { sendId } = params as { sendId: string };
        this.#timers = this.#timers.filter((timer) => timer.id !== sendId);
        return;
      }
      case 'xstate.sendTo': {
        const { to, event, id } = params as { to: AnyActorRef; event: AnyEventObject; id?: string };
        const isOwn = to === desk.scope.self;
        const target = to === this.#parentRef ? parentTarget : to.id;
        if (typeof delay === 'number') {
          const timer = { id: id ?? `send.${this.#next++}`, at: timeAfter(now, delay), event };
          this.#setTimer(isOwn ? timer : { ...timer, to: target });
        } else if (isOwn) this.#queue.push(event);
        else if (target === parentTarget) this.#tellParent(event);
        else this.#tellChild(target, event);
        return;
      }
      case 'xstate.emit':
        this.#observed.push({ kind: 'emit', event: (params as { event: AnyEventObject }).event });
        return;
      case 'xstate.log': {
        const { value, label } = params as { value: unknown; label?: string };
        this.#observed.push({ kind: 'log', value, label });
        return;
      }
      case 'xstate.spawnChild':
      case 'xstate.stopChild':
        // Taken from the children of the next snapshot, because spawn() inside assign() has no
        // action.
        return;
    }
    const { event, context } = info;
    if (this.#chart.isObserved(type)) this.#observed.push({ kind: 'action', type, params, event, context });
    else this.#addEffect({ kind: 'action', type, params, event, context: withoutRefs(context) });
  }

  #noteEnd(): void {
    const { status, output, error } = this.#snapshot;
    this.#timers = [];
    if (this.#parent === undefined || status === 'stopped') return;
    const { id: to, child, run } = this.#parent;
    const event = status === 'done' ? doneEvent(child, output) : failureOf(child, error);
    this.#addEffect({ kind: 'reply', to, params: { child, run }, event });
  }

  #addEffect(effect: Omit<Effect, 'number'>): void {
    this.#effects.push({ number: this.#next++, ...effect });
  }

  /** As in XState, two timers may have one id. Cancelling the id removes both. */
  #setTimer(timer: Timer): void {
    this.#timers = [...this.#timers, timer];
  }

  /** Activities and children that have ended get no events. */
  #tellChild(name: string, event: AnyEventObject): void {
    const child = this.#children[name];
    if (this.#isChart(child)) this.#addEffect({ kind: 'send', to: this.#idOf(name, child), event });
  }

  /** Of an activity whose state is left. */
  #withdraw(name: string, child: Child | undefined): void {
    if (child === undefined || child.ended || !this.#chart.isWithdrawn(child.src)) return;
    const { src: type, run, input } = child;
    this.#addEffect({ kind: 'withdraw', type, params: { child: name, run, input } });
  }

  #tellParent(event: AnyEventObject): void {
    if (this.#parent !== undefined) this.#addEffect({ kind: 'send', to: this.#parent.id, event });
  }

  #isChart(child: Child | undefined): child is Child {
    return child !== undefined && !child.ended && this.#chart.kindOf(child.src) === 'chart';
  }

  #idOf(name: string, { run }: Child): string {
    return childInstanceId(this.#id, name, run);
  }
}

/**
 * An instance that begins now.
 *
 * @param limit Steps after one event; at most `maxSteps` count.
 * @throws EndlessError when the chart goes in a circle (I4). Another error when an expression of the
 *   chart throws: a bug of the chart.
 */
export const begin = (chart: Chart, id: string, input: unknown, now: number, limit = maxSteps): Life => {
  const { name: workflow, version } = chart;
  const empty: InstanceRecord = { workflow, version, status: 'active', value: '', next: 1 };
  const first = (scope: AnyActorScope): AnyMachineSnapshot => {
    const initial = chart.machine.getInitialSnapshot(scope, input);
    if (initial.status === 'error') throw initial.error;
    return initial;
  };
  return new Life(chart, id, empty, first, now, limit);
};

/**
 * An instance that was stored.
 *
 * @param limit Steps after one event; at most `maxSteps` count.
 * @throws When the record names a state or a child that the chart does not have.
 */
export const resume = (chart: Chart, id: string, record: InstanceRecord, limit = maxSteps): Life => {
  for (const { src } of Object.values(record.children ?? {})) chart.kindOf(src);
  return new Life(chart, id, record, undefined, 0, limit);
};
