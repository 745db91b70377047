/**
 * All that the engine knows of the inside of XState 5. XState 6 has pure snapshots of whole systems
 * (`createDurable`); this file is what they will replace. `packages/engine/test/xstate5.test.ts` pins it.
 *
 * A step must compute what XState's own interpreter would do, with all children, and do nothing
 * else. So the actors are XState's own; three parts around them are ours:
 *
 * System      Where timers, messages and names of a tree of actors come together. It keeps timers
 *             as data, and counts messages and steps, so that a circle of them ends.
 * RootActor   XState's `Actor`, as far as a root needs it: a step of a chart without children takes
 *             23 µs with an actor of XState's as its root, and 13 µs with this one.
 * childLogic  A chart as a child. The actor is XState's; its actions are noted.
 *
 * An activity is not an actor: its ref is an entry that does nothing (chart.ts).
 *
 * X1  Everything here is synchronous: when a message has been delivered, all mailboxes are empty.
 * X2  Custom actions are noted and never executed here. Actions of XState itself are executed.
 */
import {
  type AnyActorLogic,
  type AnyActorRef,
  type AnyEventObject,
  type AnyMachineSnapshot,
  createActor,
} from 'xstate';
import type { Chart } from './chart.ts';

/** The chart goes in a circle, so another try would not help. */
export class EndlessError extends Error {
  override readonly name = 'EndlessError';
  constructor(maxSteps: number) {
    super(`The chart goes in a circle: over ${maxSteps} steps after one event`);
  }
}

/** What XState passes to the executor of actions. */
export interface ResolvedAction {
  readonly type: string;
  readonly params: unknown;
  readonly info: { readonly context: unknown; readonly event: AnyEventObject };
  readonly exec: ((...args: never[]) => unknown) | undefined;
}

/** The used part of XState's `AnyActorScope`. */
export interface Scope {
  readonly self: ChartActor;
  readonly id: string;
  readonly sessionId: string;
  readonly system: System;
  logger: (...args: unknown[]) => void;
  defer: (later: () => void) => void;
  stopChild: (child: AnyActorRef) => void;
  emit: (event: AnyEventObject) => void;
  actionExecutor: (action: ResolvedAction) => void;
}

/** XState's numbers for `_processingStatus`. */
const processing = { notStarted: 0, running: 1, stopped: 2 } as const;

/** An actor of a chart: the root, or XState's own for a child. */
export interface ChartActor {
  readonly id: string;
  readonly sessionId: string;
  readonly src?: unknown;
  readonly systemId?: string | undefined;
  readonly _parent?: ChartActor | undefined;
  _processingStatus: number;
  _snapshot: AnyMachineSnapshot;
  _send(event: AnyEventObject): void;
  start(): unknown;
}

/** Callbacks that tell the owner of a tree of actors what happens in it (interpret.ts). */
export interface Notes {
  /** Returns the number of the next actor, which becomes its session id. */
  book(): number;
  /** An actor of a chart exists from now on. Its first snapshot is computed next. */
  entered(actor: ChartActor, chart: Chart): void;
  /** A chart has computed a macrostep, or its first snapshot. @throws When it cannot be kept. */
  moved(actor: ChartActor, chart: Chart, snapshot: AnyMachineSnapshot): void;
  /** A chart that is a child ends with an error. */
  failed(actor: ChartActor, error: unknown): void;
  action(actor: ChartActor, chart: Chart, action: ResolvedAction): void;
  emitted(event: AnyEventObject): void;
  logged(value: unknown, label: string | undefined): void;
  timer(
    source: ChartActor,
    target: AnyActorRef,
    event: AnyEventObject,
    delayMs: number,
    id: string | undefined,
  ): void;
  cancelled(source: ChartActor, id: string): void;
  stopped(source: ChartActor): void;
}

const nothing = (): void => {};
const subscription = { unsubscribe: nothing };

/** The system of one tree, and its scheduler. XState calls the members with an underscore. */
export class System {
  readonly notes: Notes;
  /** Actors by their `systemId`. Few trees have any. */
  #named: Map<string, AnyActorRef> | undefined;
  readonly _clock = undefined;
  readonly _logger = nothing;
  /** Microsteps and messages since the last event from outside of the tree. */
  steps = 0;
  readonly #maxSteps: number;
  /** The session id of the next actor that is taken up from a record. */
  nextSession: number | undefined;

  constructor(notes: Notes, maxSteps: number) {
    this.notes = notes;
    this.#maxSteps = maxSteps;
  }

  get scheduler(): this {
    return this;
  }
  schedule(
    source: ChartActor,
    target: AnyActorRef,
    event: AnyEventObject,
    delayMs: number,
    id?: string,
  ): void {
    this.notes.timer(source, target, event, delayMs, id);
  }
  cancel(source: ChartActor, id: string): void {
    this.notes.cancelled(source, id);
  }
  cancelAll(source: ChartActor): void {
    this.notes.stopped(source);
  }

  get isEndless(): boolean {
    return this.steps > this.#maxSteps;
  }
  endlessError(): EndlessError {
    return new EndlessError(this.#maxSteps);
  }

  _bookId(): string {
    const number = this.nextSession ?? this.notes.book();
    this.nextSession = undefined;
    return `x:${number}`;
  }

  _register(sessionId: string): string {
    return sessionId;
  }

  _unregister(ref: AnyActorRef): void {
    for (const [name, each] of this.#named ?? []) if (each === ref) this.#named?.delete(name);
  }

  _set(systemId: string, ref: AnyActorRef): void {
    this.#named ??= new Map();
    const before = this.#named.get(systemId);
    if (before !== undefined && before !== ref)
      throw new Error(`Actor with system ID '${systemId}' already exists.`);
    this.#named.set(systemId, ref);
  }

  get(systemId: string): AnyActorRef | undefined {
    return this.#named?.get(systemId);
  }

  getAll(): Record<string, AnyActorRef> {
    return Object.fromEntries(this.#named ?? []);
  }

  /** Delivers a message. An endless tree stands still: its messages are dropped. */
  _relay(source: unknown, target: AnyActorRef, event: AnyEventObject): void {
    if (this.isEndless) return;
    this.steps += 1;
    if (source !== undefined && event.type.startsWith('xstate.error.actor.'))
      this.notes.failed(source as ChartActor, (event as { readonly error?: unknown }).error);
    (target as unknown as { _send?: (event: AnyEventObject) => void })._send?.(event);
  }

  /**
   * Counts steps. XState reports each one, also those of `always` and `raise`, before it looks for
   * the next.
   */
  _sendInspectionEvent({ type }: { readonly type: string }): void {
    if (type !== '@xstate.microstep') return;
    this.steps += 1;
    if (this.isEndless) throw this.endlessError();
  }
  inspect(): typeof subscription {
    return subscription;
  }
  getSnapshot(): object {
    return {};
  }
  start(): void {}
}

/**
 * Makes the actions of a chart be noted. XState's own actions are executed by XState, in its order:
 * those of an actor that has not started are deferred.
 */
const enter = (scope: Scope, chart: Chart): void => {
  const { system, self } = scope;
  system.notes.entered(self, chart);
  const execute = scope.actionExecutor;
  scope.actionExecutor = (action) => execute(noted(action, system.notes, self, chart));
  scope.emit = (event) => system.notes.emitted(event);
  scope.stopChild = stopActor;
};

/** Stops an actor. The ref of an activity has nothing to stop. */
const stopActor = (child: AnyActorRef): void => {
  (child as unknown as { _stop?: () => void })._stop?.();
};

const noted = (
  action: ResolvedAction,
  notes: Notes,
  self: ChartActor,
  chart: Chart,
): ResolvedAction => {
  const { type, exec } = action;
  if (type === 'xstate.log') {
    const { value, label } = action.params as { value: unknown; label?: string };
    return { ...action, exec: () => notes.logged(value, label) };
  }
  return type.startsWith('xstate.') && exec !== undefined
    ? action
    : { ...action, exec: () => notes.action(self, chart, action) };
};

/** Computes a macrostep. @throws What an expression of the chart throws. */
const move = (
  chart: Chart,
  snapshot: AnyMachineSnapshot,
  event: AnyEventObject,
  scope: Scope,
): AnyMachineSnapshot => {
  const next = chart.machine.transition(snapshot, event, scope as never);
  scope.system.notes.moved(scope.self, chart, next);
  return next;
};

const begin = (chart: Chart, scope: Scope, input: unknown): AnyMachineSnapshot => {
  enter(scope, chart);
  const first = chart.machine.getInitialSnapshot(scope as never, input);
  scope.system.notes.moved(scope.self, chart, first);
  return first;
};

/** Gives XState the snapshot of an actor that is taken up. */
export type Restore = (actor: ChartActor) => AnyMachineSnapshot;

/** The chart as the logic of a child. */
export const childLogic = (chart: Chart): AnyActorLogic => {
  const logic = {
    getInitialSnapshot: (scope: Scope, input: unknown) => begin(chart, scope, input),
    transition: (snapshot: AnyMachineSnapshot, event: AnyEventObject, scope: Scope) =>
      move(chart, snapshot, event, scope),
    restoreSnapshot: (restore: Restore, scope: Scope) => {
      enter(scope, chart);
      return restore(scope.self);
    },
    getPersistedSnapshot: (snapshot: unknown) => snapshot,
    start: (snapshot: AnyMachineSnapshot) => chart.machine.start(snapshot as never),
  };
  return logic as unknown as AnyActorLogic;
};

/** The logic of `fromTransition` as a child: what it emits is noted. */
export const stateLogic = (logic: AnyActorLogic): AnyActorLogic =>
  ({
    ...logic,
    getInitialSnapshot: (scope: Scope, input: unknown) => {
      scope.emit = (event) => scope.system.notes.emitted(event);
      return logic.getInitialSnapshot(scope as never, input as never);
    },
    transition: (snapshot: never, event: never, scope: Scope) =>
      logic.transition(snapshot, event, scope as never),
    restoreSnapshot: (restore: Restore, scope: Scope) => {
      scope.emit = (event) => scope.system.notes.emitted(event);
      return restore(scope.self) as never;
    },
  }) as unknown as AnyActorLogic;

export const sessionOf = ({ sessionId }: { readonly sessionId: string }): number =>
  Number(sessionId.slice(2));

/**
 * Takes up a child from a record: it goes on, and nothing is started or told again.
 *
 * @param restore Gives its snapshot; called before this returns.
 */
export const resumeChild = (
  logic: AnyActorLogic,
  options: {
    readonly id: string;
    readonly src: string;
    readonly session: number;
    readonly parent: ChartActor;
    readonly system: System;
    readonly systemId: string | undefined;
    readonly syncSnapshot: boolean;
    readonly restore: Restore;
  },
): ChartActor => {
  const { id, src, session, parent, system, systemId, syncSnapshot, restore } = options;
  system.nextSession = session;
  const actor = createActor(logic, {
    id,
    src,
    parent,
    syncSnapshot,
    snapshot: restore,
    ...(systemId !== undefined && { systemId }),
  } as never) as unknown as ChartActor & {
    readonly mailbox: { start(): void };
    subscribe(observer: object): unknown;
  };
  if (actor._snapshot.status !== 'active') {
    actor._processingStatus = processing.stopped;
    return actor;
  }
  // What XState's `start` does for a child whose snapshots its parent follows.
  if (syncSnapshot) {
    actor.subscribe({
      next: (snapshot: AnyMachineSnapshot) => {
        if (snapshot.status === 'active')
          system._relay(
            actor,
            parent as never,
            { type: `xstate.snapshot.${id}`, snapshot } as never,
          );
      },
      error: nothing,
    });
  }
  actor._processingStatus = processing.running;
  actor.mailbox.start();
  return actor;
};

/** Whether an actor has started; false while its first snapshot is computed. */
export const hasStarted = (actor: ChartActor): boolean =>
  actor._processingStatus !== processing.notStarted;

export const isStopped = (actor: ChartActor): boolean =>
  actor._processingStatus === processing.stopped;

/** The root of a tree: what XState's `Actor` does for one without a parent. It is its own scope. */
export class RootActor implements ChartActor, Scope {
  readonly id: string;
  readonly sessionId = 'x:0';
  readonly system: System;
  readonly _parent = undefined;
  readonly #chart: Chart;
  readonly #mailbox: AnyEventObject[] = [];
  #deferred: (() => void)[] = [];
  #isProcessing = false;
  _processingStatus: number = processing.notStarted;
  _snapshot!: AnyMachineSnapshot;
  actionExecutor: (action: ResolvedAction) => void;

  constructor(chart: Chart, id: string, system: System) {
    this.id = id;
    this.#chart = chart;
    this.system = system;
    const { notes } = system;
    this.actionExecutor = (action) => {
      const { exec, info, params } = noted(action, notes, this, chart);
      const run = exec as unknown as (info: unknown, params: unknown) => void;
      if (this._processingStatus === processing.running) run(info, params);
      else this.#deferred.push(() => run(info, params));
    };
    notes.entered(this, chart);
  }

  get self(): this {
    return this;
  }
  get ref(): this {
    return this;
  }
  get src(): unknown {
    return this.#chart.machine;
  }
  get options(): object {
    return {};
  }

  /** Computes the first snapshot, and starts. */
  begin(input: unknown): void {
    try {
      const first = this.#chart.machine.getInitialSnapshot(this as never, input);
      // Before it is this actor's: what cannot be stored must not become a record.
      this.system.notes.moved(this, this.#chart, first);
      this._snapshot = first;
      this._processingStatus = processing.running;
      this.#isProcessing = true;
      this.#chart.machine.start(first as never);
      this.#update(first);
    } catch (error) {
      this.fail(error);
    }
    this.#isProcessing = false;
    this.#flush();
  }

  resume(snapshot: AnyMachineSnapshot): void {
    this._snapshot = snapshot;
    this._processingStatus = snapshot.status === 'active' ? processing.running : processing.stopped;
  }

  /** Ends the tree with an error, as if an expression of the chart had thrown it. */
  fail(error: unknown): void {
    this.#deferred = [];
    const { machine } = this.#chart;
    const before =
      (this._snapshot as AnyMachineSnapshot | undefined) ??
      machine.resolveState({ value: {} } as never);
    this._snapshot = { ...before, status: 'error', error } as AnyMachineSnapshot;
    this.#end();
  }

  send(event: AnyEventObject): void {
    this.system._relay(undefined, this as never, event);
  }

  _send(event: AnyEventObject): void {
    if (this._processingStatus === processing.stopped) return;
    this.#mailbox.push(event);
    this.#flush();
  }

  getSnapshot(): AnyMachineSnapshot {
    return this._snapshot;
  }

  defer(later: () => void): void {
    this.#deferred.push(later);
  }
  stopChild(child: AnyActorRef): void {
    stopActor(child);
  }
  emit(event: AnyEventObject): void {
    this.system.notes.emitted(event);
  }
  /** Gives the form in which XState serialises a ref. */
  toJSON(): object {
    return { xstate$$type: 1, id: this.id };
  }
  logger(): void {}
  start(): this {
    return this;
  }
  on(): typeof subscription {
    return subscription;
  }
  subscribe(): typeof subscription {
    return subscription;
  }

  #flush(): void {
    if (this.#isProcessing || this._processingStatus !== processing.running) return;
    this.#isProcessing = true;
    for (let event = this.#mailbox.shift(); event !== undefined; event = this.#mailbox.shift()) {
      try {
        this.#update(move(this.#chart, this._snapshot, event, this));
        if (event.type === 'xstate.stop') this.#end();
      } catch (error) {
        this.fail(error);
      }
    }
    this.#isProcessing = false;
  }

  #update(snapshot: AnyMachineSnapshot): void {
    this._snapshot = snapshot;
    for (let later = this.#deferred.shift(); later !== undefined; later = this.#deferred.shift())
      later();
    if (this._snapshot.status !== 'active') this.#end();
  }

  #end(): void {
    this.#mailbox.length = 0;
    this._processingStatus = processing.stopped;
    this.system.cancelAll(this);
  }
}
