/**
 * Computes what an ordinary XState 5 chart does with an event, with all its children, and does
 * nothing itself.
 *
 * XState's own interpreter keeps children, timers and queued events in memory. Here an instance is
 * taken up from its stored record, takes events, and gives its next record. Children, timers and
 * effects are plain data in it. The caller stores the record, and only then carries out the effects
 * (turn.ts). In between the tree of actors is XState's own (xstate5.ts), so messages between parent
 * and children keep XState's order, and none of them is ever stored.
 *
 * I1  The result is a function of record, events and times: no clock, no I/O, no random numbers.
 * I2  Leaving a state removes its children and their timers.
 * I3  Every effect and every actor has a number of its own in the tree. An effect that is carried
 *     out twice keeps its number.
 * I4  What cannot be stored is an error of the chart that made it, before anything is committed.
 * I5  What a tree does by itself after one event is bounded: `always`, `raise` and messages make at
 *     most `maxSteps` steps. One more undoes them all, and the instance ends with an error, because
 *     the process does nothing else meanwhile.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AnyActorLogic, AnyActorRef, AnyEventObject, AnyMachineSnapshot } from 'xstate';
import { type Chart, createActivityRef, createStoppedRef, type Part } from './chart.ts';
import type { Origin } from './chart-parts.ts';
import { delayOf } from './chart-words.ts';
import { readsParamsOnly } from './effect.ts';
import { errorText, type Journal, toldError } from './journal.ts';
import {
  type Activity,
  type ChartRecord,
  type Child,
  type ChildActor,
  type Effect,
  type InstanceRecord,
  isActivity,
  namesIn,
  pathOf,
  type StoredOrigin,
  type Timer,
} from './record.ts';
import { atTime } from './step-time.ts';
import { type ActorName, decode, encode, type RefOf } from './values.ts';
import {
  type ChartActor,
  hasStarted,
  isStopped,
  type Notes,
  type ResolvedAction,
  RootActor,
  resumeChild,
  System,
  sessionOf,
} from './xstate5.ts';

/** A step of a chart costs some 30 microseconds, so the process stands still for 0.3 s at most. */
const maxSteps = 10_000;

/** What observed actions and emitted events tell logs and metrics. Lost with its process. */
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

/** The name by which XState knows the child at this path. */
const nameOf = (path: string): string => namesIn(path).at(-1) ?? '';
const parentPathOf = (path: string): string => path.slice(0, Math.max(path.lastIndexOf('/'), 0));

/** @param path The path of the activity. */
export const doneEvent = (path: string, output: unknown) => {
  const name = nameOf(path);
  return { type: `xstate.done.actor.${name}`, output, actorId: name };
};

export const errorEvent = (path: string, error: unknown) => {
  const name = nameOf(path);
  return { type: `xstate.error.actor.${name}`, error, actorId: name };
};

/** Ends an instance without asking its chart. */
export interface StopEvent {
  readonly type: 'xstate.stop';
  readonly reason?: string;
}

/** A child, between two records. */
type Entry =
  | {
      readonly kind: 'activity';
      activity: Activity;
      readonly input: unknown;
      readonly part: Part;
      readonly ref: AnyActorRef;
    }
  | {
      readonly kind: 'actor';
      readonly child: Omit<ChildActor, 'chart' | 'state'>;
      readonly part: Part;
      readonly ref: AnyActorRef;
    };

/** A chart of the tree, between two records. */
interface Node {
  readonly actor: ChartActor;
  readonly chart: Chart;
  readonly path: string;
  /** Names of charts, from the root's. */
  readonly charts: readonly string[];
  /** The stored origins of `charts`, one for each; null for a chart that no step has made. */
  made: readonly (StoredOrigin | null)[];
  readonly entries: Record<string, Entry>;
  /** The children of its snapshot, as noted last. */
  refs: Readonly<Record<string, AnyActorRef>>;
  /** The context that was stored or checked last, and its stored form. */
  context: { readonly raw: unknown; readonly stored: unknown } | undefined;
}

/** An effect as it is carried out. */
export interface PendingEffect extends Effect {
  /** @throws ChartError when the chart is gone. */
  readonly chart: () => Chart;
}

/** An effect in the two forms in which it is carried out and stored. */
interface Noted {
  readonly effect: PendingEffect;
  readonly stored: Effect;
  /** The chart's context at an action. The record leaves it out where it is still the context. */
  readonly context: unknown;
}

/** An activity with its path, and what runs it. */
export interface OpenActivity extends Activity {
  readonly path: string;
  readonly logic: AnyActorLogic;
}

/** Whether a value is a ref of this tree. The ref of an activity belongs to no XState system. */
const isRefOf = (system: System, value: object): value is AnyActorRef => {
  const ref = value as { readonly sessionId?: unknown; readonly system?: unknown };
  return (
    typeof ref.sessionId === 'string' &&
    'send' in value &&
    'ref' in value &&
    (ref.system === undefined || ref.system === system)
  );
};

const historyOf = ({ historyValue }: AnyMachineSnapshot): ChartRecord['history'] => {
  const entries = Object.entries(
    historyValue as Record<string, readonly { readonly id: string }[]>,
  );
  return entries.length === 0
    ? undefined
    : Object.fromEntries(entries.map(([id, nodes]) => [id, nodes.map((node) => node.id)]));
};

const none = {};
const noCharts: readonly string[] = [];
const noneMade: readonly null[] = [];
const madeOf = ({ charts = noCharts, made = charts.map(() => null) }: Effect) => made;

const isOf = (timer: Timer, session: number, id: string): boolean =>
  (timer.from ?? 0) === session && timer.id === id;

/**
 * XState keeps one timer for each id of an actor. An older timer with the same id goes on when
 * another one begins or fires, and can no longer be cancelled.
 */
const loosened =
  (session: number, id: string) =>
  (timer: Timer): Timer =>
    isOf(timer, session, id) ? { ...timer, loose: true } : timer;

/** An instance in memory, between two records. */
export class Life implements Notes {
  readonly #chart: Chart;
  readonly #root: RootActor;
  readonly #system: System;
  /** Refs of all children that a record may name, by session. Few trees have child charts. */
  #refs: Map<number, AnyActorRef> | undefined;
  #nodes: Map<number, Node> | undefined;
  #rootNode: Node | undefined;
  #timers: readonly Timer[] = [];
  #effects: readonly Noted[] = [];
  #next: number;
  #time: number;
  #observed: Observation[] = [];
  #steps = 0;
  /** Why it was stopped. */
  #reason: string | undefined;
  #failure: InstanceRecord['failure'];
  /** Where it goes on after an activity's error that has ended it, when it is run again. */
  #retry: InstanceRecord | undefined;
  /** Gets what happens in the tree. Events and tries are added by the turn. */
  readonly #journal: Journal | undefined;

  /** @param limit The most steps after one event; never more than `maxSteps`. */
  constructor(chart: Chart, id: string, now: number, limit: number, next = 1, journal?: Journal) {
    this.#chart = chart;
    this.#journal = journal;
    this.#next = next;
    this.#time = now;
    this.#system = new System(this, Math.min(limit, maxSteps));
    this.#root = new RootActor(chart, id, this.#system);
  }

  /** Begins a new instance. */
  begin(input: unknown): this {
    this.#step(this.#time, () => this.#root.begin(input));
    return this;
  }

  /** @throws When the record names a part that the chart does not have. */
  resume(record: InstanceRecord): this {
    this.#reason = record.reason;
    this.#failure = record.failure;
    this.#retry = record.retry;
    this.#root.resume(this.#revive(this.#nodeOf(this.#root), record));
    const refOf = this.#namedRef;
    for (const node of this.#allNodes()) {
      const snapshot = node.actor._snapshot as { context: unknown };
      const before = snapshot.context;
      snapshot.context = decode(before, refOf);
      node.context = { raw: snapshot.context, stored: before };
      for (const [name, entry] of Object.entries(node.entries))
        if (entry.kind === 'activity')
          node.entries[name] = { ...entry, input: decode(entry.input, refOf) };
    }
    this.#timers = (record.timers ?? []).map((timer) => ({
      ...timer,
      event: decode(timer.event, refOf) as Timer['event'],
    }));
    this.#effects = (record.effects ?? []).map((each) => this.#takeUp(each, refOf));
    return this;
  }

  status(): InstanceRecord['status'] {
    return this.#root._snapshot.status;
  }

  /** XState's own snapshot of the root. */
  snapshot(): AnyMachineSnapshot {
    return this.#root._snapshot;
  }

  context(): unknown {
    return this.#root._snapshot.context;
  }

  /** The number of steps that the tree has made since it was begun or resumed here. */
  steps(): number {
    return this.#steps;
  }

  /** Why it has ended, for an instance with the status `error`. */
  error(): unknown {
    return this.#root._snapshot.error;
  }

  /** The state in which the job ends, if the `meta` of the current state names one. */
  rests(): 'failed' | 'completed' | undefined {
    const { status } = this.#root._snapshot;
    return status === 'active' ? this.#chart.restsIn(this.#root._snapshot) : undefined;
  }

  /**
   * @param path The child chart that gets the event. Default: the root.
   * @returns Whether that chart had a transition for the event. If not, nothing has changed.
   */
  apply(event: AnyEventObject, now: number, path = ''): boolean {
    const node = this.#nodeAt(path);
    if (node === undefined || this.status() !== 'active') return false;
    const before = node.actor._snapshot;
    if (before.status !== 'active') return false;
    if (event.type === 'xstate.stop') this.#reason = (event as StopEvent).reason;
    this.#step(now, () => this.#system._relay(undefined, node.actor as never, event));
    const isTaken =
      node.actor._snapshot !== before || this.#hasTransition(node, before, event, now);
    if (isTaken && !event.type.startsWith('xstate.')) this.#failure = undefined;
    return isTaken;
  }

  #hasTransition(
    node: Node,
    before: AnyMachineSnapshot,
    event: AnyEventObject,
    now: number,
  ): boolean {
    return atTime(now, () => node.chart.machine.getTransitionData(before, event).length > 0);
  }

  /**
   * Applies the event that ends an activity. As in XState the activity stays a child until its
   * state is left, but it neither runs nor answers again.
   */
  end(path: string, event: AnyEventObject, now: number): void {
    const entry = this.#entryAt(path);
    if (entry?.kind !== 'activity') return;
    const { src, run, systemId, origin } = entry.activity;
    const retry = this.#beforeError(parentPathOf(path), event, now);
    entry.activity = {
      src,
      run,
      ended: true,
      ...(systemId !== undefined && { systemId }),
      ...(origin !== undefined && { origin }),
    };
    if (event.type.startsWith('xstate.error.'))
      this.#failure = { src, message: errorText((event as { readonly error?: unknown }).error) };
    else if (this.#failure?.src === src) this.#failure = undefined;
    this.apply(event, now, parentPathOf(path));
    if (this.status() === 'error') this.#retry = retry;
  }

  /**
   * The record before an error that its chart does not take. One that is taken is not looked at: a
   * record of a large tree costs milliseconds. What was to be carried out is carried out at the end.
   */
  #beforeError(path: string, event: AnyEventObject, now: number): InstanceRecord | undefined {
    const node = this.#nodeAt(path);
    if (!event.type.startsWith('xstate.error.') || node === undefined) return undefined;
    if (this.#hasTransition(node, node.actor._snapshot, event, now)) return undefined;
    const { effects: _, ...record } = this.record();
    return record;
  }

  /** Ends the instance with an error, without asking its chart. */
  fail(error: Error, now: number): void {
    this.#step(now, () => this.#root.fail(error));
  }

  /** Removes the timer that became due first, if one is due. */
  takeDue(now: number, notAfter: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.at <= now && timer.at <= notAfter && (first === undefined || timer.at < first.at))
        first = timer;
    }
    if (first === undefined) return undefined;
    const others = this.#timers.filter((timer) => timer !== first);
    this.#timers = others.map(loosened(first.from ?? 0, first.id));
    return first;
  }

  /** Delivers the event of a timer. */
  fire({ from = 0, to = 0, event }: Timer, now: number): void {
    const target = this.#refOf(to);
    const path = this.#nodeNumber(to)?.path ?? '';
    this.#journal?.tell({ kind: 'timer', at: now, path, name: delayOf(event.type) ?? event.type });
    if (target !== undefined)
      this.#step(now, () => this.#system._relay(this.#refOf(from), target, event));
  }

  /** When a timer or a later try of an activity is due next; Infinity when there is none. */
  nextTime(now: number): number {
    let first = Number.POSITIVE_INFINITY;
    for (const { at } of this.#timers) first = Math.min(first, at);
    for (const { notBefore } of this.activities()) {
      if (notBefore !== undefined && notBefore > now) first = Math.min(first, notBefore);
    }
    return first;
  }

  /** An activity; undefined for a path that leads to none. */
  activity(path: string): Activity | undefined {
    const entry = this.#entryAt(path);
    return entry?.kind === 'activity' ? entry.activity : undefined;
  }

  setActivity(path: string, activity: Activity): void {
    const entry = this.#entryAt(path);
    if (entry?.kind === 'activity') entry.activity = activity;
  }

  /** Activities that have not ended, of all charts of the tree. */
  activities(): readonly OpenActivity[] {
    if (this.status() !== 'active') return [];
    const all: OpenActivity[] = [];
    this.#walk((node) => {
      for (const [name, entry] of Object.entries(node.entries)) {
        if (entry.kind !== 'activity' || entry.activity.ended) continue;
        const { activity, part, input } = entry;
        all.push({ ...activity, input, path: pathOf(node.path, name), logic: part.logic });
      }
    });
    return all;
  }

  /** Activities that should run now. */
  openActivities(now: number): readonly OpenActivity[] {
    return this.activities().filter(
      ({ waits, notBefore = waits ? Number.POSITIVE_INFINITY : 0 }) => notBefore <= now,
    );
  }

  effects(): readonly PendingEffect[] {
    return this.#effects.map(({ effect }) => effect);
  }

  hasEffects(): boolean {
    return this.#effects.length > 0;
  }

  /** Removes the first `count` effects, which were carried out. */
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
    const root = this.#nodeOf(this.#root);
    const effects = this.#effects.map(({ stored: each, context }) =>
      context !== undefined && this.#nodeAt(each.path ?? '')?.actor._snapshot.context === context
        ? { ...each, context: undefined }
        : each,
    );
    return {
      workflow: this.#chart.name,
      version: this.#chart.version,
      ...this.#recordOf(root),
      ...(this.#reason !== undefined && { reason: this.#reason }),
      ...(this.#failure !== undefined && { failure: this.#failure }),
      ...(this.#retry !== undefined && { retry: this.#retry }),
      next: this.#next,
      ...(this.#timers.length > 0 && {
        timers: this.#timers.map((timer) => ({
          ...timer,
          event: this.#stored(timer.event, 'event') as Timer['event'],
        })),
      }),
      ...(effects.length > 0 && { effects }),
    };
  }

  #recordOf(node: Node): ChartRecord {
    const { status, value, output, error } = node.actor._snapshot;
    const history = historyOf(node.actor._snapshot);
    const children = Object.entries(node.entries).map(
      ([name, entry]) => [name, this.#childOf(entry)] as const,
    );
    return {
      status,
      value: value as ChartRecord['value'],
      context: this.#contextOf(node),
      ...(output !== undefined && { output: this.#stored(output, 'output') }),
      ...(error !== undefined && { error: this.#stored(error, 'error') }),
      ...(history !== undefined && { history }),
      ...(children.length > 0 && status === 'active' && { children: Object.fromEntries(children) }),
    };
  }

  #childOf(entry: Entry): Child {
    if (entry.kind === 'activity') return entry.activity;
    const { child, ref, part } = entry;
    const node = part.kind === 'chart' ? this.#nodeNumber(child.run) : undefined;
    return node === undefined
      ? { ...child, state: this.#stored(ref.getSnapshot(), 'state') }
      : { ...child, chart: this.#recordOf(node) };
  }

  /** @throws UnstorableError */
  #contextOf(node: Node): unknown {
    const { context } = node.actor._snapshot;
    if (node.context?.raw !== context)
      node.context = { raw: context, stored: this.#stored(context, 'context') };
    return node.context?.stored;
  }

  /** Delivers one event. When it returns, all mailboxes are empty. */
  #step(now: number, deliver: () => void): void {
    const before = {
      snapshot: this.#root._snapshot,
      effects: this.#effects,
      observed: this.#observed.length,
      next: this.#next,
      told: this.#journal?.mark() ?? 0,
    };
    this.#time = now;
    this.#system.steps = 0;
    atTime(now, deliver);
    this.#steps += this.#system.steps;
    const { isEndless } = this.#system;
    if (isEndless) {
      this.#root._snapshot = before.snapshot;
      this.#root.fail(this.#system.endlessError());
      this.#journal?.back(before.told);
    }
    if (this.status() === 'active') return;
    if (this.status() === 'error')
      this.#journal?.tell({ kind: 'error', at: now, path: '', error: toldError(this.error()) });
    // XState leaves the children of a root that has failed as they are.
    this.#timers = [];
    this.#walk((node) => this.#leaveAll(node));
    if (!isEndless) return;
    // I5. Activities that ran before this step are still withdrawn.
    const isOlder = ({ effect: { kind, run = 0 } }: Noted): boolean =>
      kind === 'withdraw' && run < before.next;
    const since = this.#effects.slice(before.effects.length);
    this.#effects = [...before.effects, ...since.filter(isOlder)];
    this.#observed.length = before.observed;
  }

  #nodeOf(actor: ChartActor): Node {
    const node = this.#nodeNumber(sessionOf(actor));
    if (node === undefined) throw new Error('The actor is not of this tree');
    return node;
  }

  #nodeNumber(session: number): Node | undefined {
    return session === 0 ? this.#rootNode : this.#nodes?.get(session);
  }

  /** The value as JSON. @throws UnstorableError */
  #stored(value: unknown, path: string): unknown {
    return encode(value, path, this.#actorIn);
  }

  readonly #actorIn = (value: object): ActorName | undefined =>
    isRefOf(this.#system, value) ? { session: sessionOf(value), id: value.id } : undefined;

  /** The ref of a named actor. As in XState, one that is gone takes no events. */
  readonly #namedRef: RefOf = ({ session, id }) =>
    this.#refOf(session) ?? createStoppedRef(id, session);

  #refOf(session: number): AnyActorRef | undefined {
    return session === 0 ? (this.#root as unknown as AnyActorRef) : this.#refs?.get(session);
  }

  #noteRef(session: number, ref: AnyActorRef): void {
    this.#refs ??= new Map();
    this.#refs.set(session, ref);
  }

  #allNodes(): readonly Node[] {
    return [this.#nodeOf(this.#root), ...(this.#nodes?.values() ?? [])];
  }

  #nodeAt(path: string): Node | undefined {
    if (path === '') return this.#nodeNumber(0);
    const entry = this.#entryAt(path);
    return entry?.kind === 'actor' ? this.#nodeNumber(entry.child.run) : undefined;
  }

  #entryAt(path: string): Entry | undefined {
    let entry: Entry | undefined;
    let node = this.#nodeNumber(0);
    for (const name of namesIn(path)) {
      entry = node?.entries[name];
      if (entry === undefined) return undefined;
      node = entry.kind === 'actor' ? this.#nodeNumber(entry.child.run) : undefined;
    }
    return entry;
  }

  #walk(visit: (node: Node) => void, node = this.#nodeNumber(0)): void {
    if (node === undefined) return;
    for (const entry of Object.values(node.entries))
      if (entry.kind === 'actor' && entry.part.kind === 'chart')
        this.#walk(visit, this.#nodeNumber(entry.child.run));
    visit(node);
  }

  #takeUp(each: Effect, refOf: RefOf): Noted {
    const { path = '', charts = [], made = [] } = each;
    const at = this.#nodeAt(path);
    const isCommon = each.kind === 'action' && each.context === undefined;
    const context = isCommon ? at?.context?.raw : decode(each.context, refOf);
    const effect = { ...(decode({ ...each, context: undefined }, refOf) as Effect), context };
    const stored = isCommon ? { ...each, context: at?.context?.stored } : each;
    // Another chart may have its path by now.
    const isOfIt =
      at !== undefined &&
      isDeepStrictEqual(at.charts, charts) &&
      isDeepStrictEqual(at.made, madeOf(each));
    const chart = (): Chart =>
      isOfIt ? at.chart : this.#chartNamed(charts, decode(made, refOf) as readonly Origin[]);
    return { effect: { ...effect, chart }, stored, context };
  }

  #chartNamed(charts: readonly string[], made: readonly (Origin | null)[]): Chart {
    let chart = this.#chart;
    for (const [level, name] of charts.entries()) {
      const part = chart.partOf(name, made[level] ?? undefined);
      if (part.kind !== 'chart') throw new Error(`${chart.name}: ${name} is no chart`);
      chart = part.chart;
    }
    return chart;
  }

  #revive(node: Node, record: ChartRecord): AnyMachineSnapshot {
    const { machine } = node.chart;
    const refs: Record<string, AnyActorRef> = {};
    for (const [name, child] of Object.entries(record.children ?? {})) {
      const part = node.chart.partOf(
        child.src,
        decode(child.origin, this.#namedRef) as Origin | undefined,
      );
      refs[name] = isActivity(child)
        ? this.#reviveActivity(node, name, child, part)
        : this.#reviveActor(node, name, child as ChildActor, part);
    }
    const history =
      record.history &&
      Object.fromEntries(
        Object.entries(record.history).map(([id, states]) => [
          id,
          states.map((state) => node.chart.stateOf(state)),
        ]),
      );
    const snapshot = machine.resolveState({
      value: record.value,
      context: record.context,
      ...(history !== undefined && { historyValue: history }),
    } as never);
    node.refs = refs;
    const { status, output, error } = record;
    const refOf = this.#namedRef;
    return Object.assign(snapshot, {
      children: refs,
      status,
      output: decode(output, refOf),
      error: decode(error, refOf),
    }) as AnyMachineSnapshot;
  }

  #reviveActivity(node: Node, name: string, activity: Activity, part: Part): AnyActorRef {
    const { src, run, systemId, input } = activity;
    const ref = createActivityRef({ id: name, src, sessionId: `x:${run}`, systemId });
    if (systemId !== undefined) this.#system._set(systemId, ref);
    this.#noteRef(run, ref);
    node.entries[name] = { kind: 'activity', activity, input, part, ref };
    return ref;
  }

  #reviveActor(
    node: Node,
    name: string,
    { chart, state, ...child }: ChildActor,
    part: Part,
  ): AnyActorRef {
    const actor = resumeChild(part.logic, {
      id: name,
      src: child.src,
      session: child.run,
      parent: node.actor,
      system: this.#system,
      systemId: child.systemId,
      syncSnapshot: child.sync === true,
      restore: (self) => {
        if (chart === undefined) return decode(state, this.#namedRef) as AnyMachineSnapshot;
        const own = this.#nodeOf(self);
        own.made = [...node.made, child.origin ?? null];
        return this.#revive(own, chart);
      },
    });
    const ref = actor as unknown as AnyActorRef;
    this.#noteRef(child.run, ref);
    node.entries[name] = { kind: 'actor', child, part, ref };
    return ref;
  }

  /** Notes of what the actors do (xstate5.ts). */
  book(): number {
    return this.#next++;
  }

  entered(actor: ChartActor, chart: Chart): void {
    const session = sessionOf(actor);
    const parent = actor._parent && this.#nodeOf(actor._parent);
    const made = typeof actor.src === 'string' ? undefined : parent?.chart.madePart(actor.src);
    const name = typeof actor.src === 'string' ? actor.src : made?.part.name;
    const origin = made && (this.#stored(made.origin, made.part.name) as StoredOrigin);
    const node: Node = {
      actor,
      chart,
      path: parent === undefined ? '' : pathOf(parent.path, actor.id),
      charts: parent === undefined ? noCharts : [...parent.charts, name ?? ''],
      made: parent === undefined ? noneMade : [...parent.made, origin ?? null],
      // Names of children are the chart's.
      entries: {},
      refs: none,
      context: undefined,
    };
    if (parent === undefined) {
      this.#rootNode = node;
      return;
    }
    this.#noteRef(session, actor as unknown as AnyActorRef);
    this.#nodes ??= new Map();
    this.#nodes.set(session, node);
  }

  moved(actor: ChartActor, _chart: Chart, snapshot: AnyMachineSnapshot): void {
    const node = this.#nodeOf(actor);
    if (this.#journal !== undefined) this.#tellMove(node, snapshot);
    this.#noteMove(node, snapshot);
  }

  #tellMove({ actor, path, charts }: Node, snapshot: AnyMachineSnapshot): void {
    const at = this.#time;
    const child = { kind: 'child' as const, at, path, name: charts.at(-1) ?? '' };
    const before = hasStarted(actor) ? actor._snapshot : undefined;
    if (path !== '' && before === undefined) this.#journal?.tell({ ...child, stage: 'begun' });
    this.#journal?.state(at, path, before?.value, snapshot.value);
    if (path !== '' && snapshot.status === 'done') this.#journal?.tell({ ...child, stage: 'done' });
  }

  failed(actor: ChartActor, error: unknown): void {
    const node = this.#nodeNumber(sessionOf(actor));
    if (node === undefined) return;
    const { path, charts } = node;
    const child = { at: this.#time, path, name: charts.at(-1) ?? '' };
    this.#journal?.tell({ kind: 'child', ...child, stage: 'failed', error: toldError(error) });
  }

  action(actor: ChartActor, chart: Chart, action: ResolvedAction): void {
    this.#noteAction(this.#nodeOf(actor), chart, action);
  }

  emitted(event: AnyEventObject): void {
    this.#observed.push({ kind: 'emit', event });
  }

  logged(value: unknown, label: string | undefined): void {
    this.#observed.push({ kind: 'log', value, label });
  }

  timer(
    source: ChartActor,
    target: AnyActorRef,
    event: AnyEventObject,
    delayMs: number,
    id?: string,
  ): void {
    // An infinite delay needs no timer. One that is not a number is due at once.
    if (delayMs === Number.POSITIVE_INFINITY) return;
    const from = sessionOf(source);
    const to = sessionOf(target);
    const at = this.#time + Math.max(Number.isNaN(delayMs) ? 0 : delayMs, 0);
    this.#stored(event, 'event');
    const timer: Timer = {
      id: id ?? String(this.#next++),
      at,
      event,
      ...(from !== 0 && { from }),
      ...(to !== 0 && { to }),
    };
    this.#timers = [...this.#timers.map(loosened(from, timer.id)), timer];
  }

  cancelled(source: ChartActor, id: string): void {
    const session = sessionOf(source);
    this.#timers = this.#timers.filter((timer) => timer.loose || !isOf(timer, session, id));
  }

  stopped(source: ChartActor): void {
    if (this.#timers.length === 0) return;
    const session = sessionOf(source);
    this.#timers = this.#timers.filter(({ from = 0, loose }) => loose || from !== session);
  }

  /** I2, I3, I4 */
  #noteMove(node: Node, snapshot: AnyMachineSnapshot): void {
    const before = node.refs;
    const after =
      snapshot.status === 'active' ? (snapshot.children as Record<string, AnyActorRef>) : {};
    if (after !== before) {
      for (const [name, ref] of Object.entries(before))
        if (after[name] !== ref) this.#leave(node, name);
      for (const [name, ref] of Object.entries(after))
        if (before[name] !== ref && ref !== undefined) this.#enter(node, name, ref);
      node.refs = after;
    }
    const { context } = snapshot;
    if (node.context?.raw !== context)
      node.context = { raw: context, stored: this.#stored(context, 'context') };
    if (snapshot.output !== undefined) this.#stored(snapshot.output, 'output');
  }

  #enter(node: Node, name: string, ref: AnyActorRef): void {
    const { src, options, systemId } = ref as unknown as {
      readonly src: unknown;
      readonly systemId?: string;
      readonly options?: { readonly input?: unknown; readonly syncSnapshot?: boolean };
    };
    const run = sessionOf(ref);
    const made = typeof src === 'string' ? undefined : node.chart.madePart(src);
    const part = made?.part ?? node.chart.partOf(String(src), undefined);
    const origin = made && (this.#stored(made.origin, part.name) as Activity['origin']);
    const child = {
      src: part.name,
      run,
      ...(systemId !== undefined && { systemId }),
      ...(origin !== undefined && { origin }),
    };
    this.#noteRef(run, ref);
    if (part.kind === 'activity') {
      const input = options?.input;
      const activity = {
        ...child,
        ...(input !== undefined && { input: this.#stored(input, `input of ${name}`) }),
      };
      node.entries[name] = { kind: 'activity', activity, input, part, ref };
      return;
    }
    const sync = options?.syncSnapshot === true ? ({ sync: true } as const) : {};
    node.entries[name] = { kind: 'actor', child: { ...child, ...sync }, part, ref };
  }

  #leave(node: Node, name: string): void {
    const entry = node.entries[name];
    delete node.entries[name];
    if (entry === undefined) return;
    if (entry.kind === 'activity') {
      const path = pathOf(node.path, name);
      if (!entry.activity.ended)
        this.#journal?.activity(this.#time, { ...entry.activity, path }, 'left');
      this.#withdraw(node, name, entry.activity, entry);
    } else {
      const actor = entry.ref as unknown as ChartActor;
      if (actor._snapshot.status === 'active' || actor._snapshot.status === 'stopped') {
        const path = pathOf(node.path, name);
        this.#journal?.tell({
          kind: 'child',
          at: this.#time,
          path,
          name: entry.child.src,
          stage: 'left',
        });
      }
      const child = this.#nodeNumber(entry.child.run);
      // A chart that has started first takes the events that were sent to it, and then stops.
      if (child !== undefined && isStopped(actor)) this.#leaveAll(child);
    }
  }

  #leaveAll(node: Node): void {
    for (const name of Object.keys(node.entries)) this.#leave(node, name);
  }

  /** Adds the effect that withdraws an activity whose state is left. */
  #withdraw(node: Node, name: string, { src, run, ended }: Activity, entry: Entry): void {
    if (ended || entry.kind !== 'activity' || !node.chart.isWithdrawn(entry.part.logic)) return;
    const path = pathOf(node.path, name);
    const effect: Effect = {
      number: this.#next++,
      kind: 'withdraw',
      type: src,
      path,
      run,
      params: entry.input,
      ...(entry.activity.origin !== undefined && { origin: entry.activity.origin }),
      ...(node.path !== '' && { charts: node.charts }),
    } as Effect;
    this.#note(node, effect, undefined);
  }

  #noteAction(node: Node, chart: Chart, { type, params, info, exec }: ResolvedAction): void {
    const { event, context } = info;
    const { name, origin } = chart.nameAction(type, exec);
    if (chart.isObserved(name)) {
      this.#observed.push({ kind: 'action', type: name, params, event, context });
      return;
    }
    if (exec === undefined) return;
    const { path } = node;
    this.#journal?.tell({ kind: 'effect', at: this.#time, path, name, number: this.#next });
    const given = readsParamsOnly(exec) ? {} : { event, context };
    const effect: Effect = {
      number: this.#next++,
      kind: 'action',
      type: name,
      params,
      ...given,
      ...(node.path !== '' && { path: node.path, charts: node.charts }),
      ...(origin !== undefined && { origin }),
    } as Effect;
    this.#note(node, effect, given.context);
  }

  #note(node: Node, effect: Effect, context: unknown): void {
    const { context: _, ...others } = effect;
    const storedContext =
      node.context !== undefined && node.context.raw === context
        ? node.context.stored
        : this.#stored(context, 'context');
    const encoded = {
      ...(this.#stored(others, `action ${effect.type}`) as Effect),
      ...(context !== undefined && { context: storedContext }),
      ...(node.made.some((origin) => origin !== null) && { made: node.made }),
    };
    const { chart } = node;
    this.#effects = [
      ...this.#effects,
      { effect: { ...effect, chart: () => chart }, stored: encoded, context },
    ];
  }
}

/**
 * Begins an instance. An expression of the chart that throws ends it with an error.
 *
 * @param limit The most steps after one event; never more than `maxSteps`.
 * @param journal Gets what happens; undefined for an instance without a journal.
 */
export const begin = (
  chart: Chart,
  id: string,
  input: unknown,
  now: number,
  limit = Number.POSITIVE_INFINITY,
  journal?: Journal,
): Life => new Life(chart, id, now, limit, undefined, journal).begin(input);

/**
 * Resumes an instance from its record.
 *
 * @param limit, journal The same as for `begin`.
 * @throws When the record names a state or a child that the chart does not have.
 */
export const resume = (
  chart: Chart,
  id: string,
  record: InstanceRecord,
  limit = Number.POSITIVE_INFINITY,
  journal?: Journal,
): Life => new Life(chart, id, 0, limit, record.next, journal).resume(record);
