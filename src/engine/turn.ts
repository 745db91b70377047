/**
 * One turn of an instance. A turn takes the job, applies what is due, runs activities, commits, and
 * carries out effects, until the instance ends or nothing is left to do. Then the job sleeps.
 *
 * A turn is a function of what is stored. It may be cut off anywhere, and another worker runs it
 * again. The rules, to which the code refers:
 *
 * T1  Timers and events are applied in the order of their times.
 * T2  An effect is carried out only after the commit that stores it. A turn that is cut off in
 *     between carries it out again.
 * T3  A turn with one activity that answers at once, and without effects, commits once: with the end
 *     of its job. An activity that follows the answer of another begins when this answer is stored:
 *     after a crash the other one would run again, and could answer otherwise.
 * T4  An event is taken or refused in the same step that stores its consequences.
 * T5  An instance of another version of its chart is left to a worker that has this version. It is
 *     looked at less and less often, up to a minute (take-job.ts).
 * T6  A turn does not wait for a slow activity: the activity goes on while the job sleeps.
 * T7  Whoever is to hear of the end is told after it is stored, and before the job ends. A turn
 *     that is cut off in between tells it again. A job that fails before its turn has no end to
 *     tell; `tellFailure` hears of it.
 * T8  A replay is stored before its activities run. A worker that stood still when it had taken the
 *     job sees the end by another worker as one that is to be replayed; its commit is refused.
 * T9  A turn waits for another instance for a moment only. Then it frees its place and runs again,
 *     because the other one may wait for this place.
 * T10 A turn that finds more and more to do (timers without delay, instances that answer each other,
 *     activities that answer at once) frees its place after `maxTurnSteps`, and rests for as long as
 *     it has run. A circle after one event ends the instance with an error instead (interpret.ts,
 *     I4): nothing could come in between.
 */
import { DelayedError, UnrecoverableError } from 'bullmq';
import type { AnyActorLogic, AnyEventObject } from 'xstate';
import { isRedisAway, toError } from '../redis/to-error.ts';
import { type Activities, activityFor, type Ended, type Finished, tokenOf } from './activities.ts';
import { type Activity, type InstanceInHand, readJobName } from './define.ts';
import { BusyError } from './engine.ts';
import { doneEvent, EndlessError, errorEvent, type Life, type Observation } from './interpret.ts';
import { type Child, type Effect, type InstanceRecord, maxWaitMs, timeAfter } from './record.ts';
import { type Commit, type Inbox, type InboxEntry, runKeys, type Verdict } from './redis/instance-store.ts';
import {
  heldNames,
  type InstanceJob,
  jobFailure,
  readInput,
  readOrFail,
  runName,
  runNames,
  type Taken,
  type TakeOptions,
  takeJob,
} from './take-job.ts';

/** The end of an instance. */
export interface InstanceEnd {
  /** The last record. */
  readonly record: InstanceRecord;
  /** Undefined for an instance that has completed. */
  readonly failedReason: string | undefined;
  /** When its job was added; milliseconds since the epoch. */
  readonly createdAt: number;
  /** Runs of its job that had ended before. A failed instance that runs again ends again. */
  readonly runs: number;
}

export interface TurnOptions extends TakeOptions {
  readonly activities: Activities;
  /** Default: the one that the chart has. */
  readonly activityFor?: (logic: AnyActorLogic) => Activity;
  /**
   * Tells somebody the end of the instance; undefined when nobody waits for it.
   */
  readonly tellEnd?:
    | ((instance: InstanceInHand) => ((end: InstanceEnd) => Promise<void>) | undefined)
    | undefined;
  /** Runs before each turn. When it throws, the job sleeps and is taken again. */
  readonly beforeTurn?: ((job: InstanceJob) => Promise<void>) | undefined;
  /** Tells that a job fails of which `tellEnd` is not told; when it throws, as above. */
  readonly tellFailure?: ((job: InstanceJob) => Promise<void>) | undefined;
  readonly observe: (id: string, observation: Observation) => void;
  /** So long the store holds a try that goes on while its job sleeps. */
  readonly holdMs: number;
}

const usualTurnWaitMs = 20;
/** Doubled once more, a pause would be no number: 0 times Infinity. */
const maxDoublings = 1023;
/** T10. Steps of the chart, and rounds of the turn. */
const maxTurnSteps = 1000;
const maxRestMs = 1000;
/** T9 */
const busyPauseMs = 200;
/** After so many rounds it is reported as an error. */
const busyRounds = 50;
/**
 * When Redis takes writes again, what is due runs within five seconds, however long that took. Other
 * errors are bugs or broken dependencies, which need a person.
 */
const maxAwayPauseMs = 2000;
const maxErrorPauseMs = 60_000;

const errorPauseMs = (error: unknown, errorsBefore: number): number =>
  Math.min(200 * 2 ** Math.min(errorsBefore, 9), isRedisAway(error) ? maxAwayPauseMs : maxErrorPauseMs);

class LockLostError extends Error {
  override readonly name = 'LockLostError';
}

/**
 * Effects that may be carried out at the same time: messages to different instances, one after the
 * other in the record. All others wait for those before them.
 */
const inTurn = (effects: readonly Effect[]): readonly (readonly Effect[])[] => {
  const groups: Effect[][] = [];
  for (const effect of effects) {
    const last = groups.at(-1);
    const isApart = ({ to }: Effect): boolean => to !== undefined && to !== effect.to;
    if (effect.to !== undefined && last?.every(isApart)) last.push(effect);
    else groups.push([effect]);
  }
  return groups;
};

/** A try has ended without a result; its activity goes on. */
export const tryEvent = 'xstate.try';

type TurnActivities = ReturnType<Activities['of']>;

const nameOf = ({ child, run }: Pick<Ended, 'child' | 'run'>): string => runName(child, { run });

class Turn {
  readonly #options: TurnOptions;
  readonly #taken: Taken;
  readonly #id: string;
  readonly #life: Life;
  readonly #activities: TurnActivities;
  /** As it was read last. While this turn has the lock, entries are only added at its end. */
  #inbox: Inbox;
  /** How many entries of the inbox were applied, and the verdicts on them. */
  #applied = 0;
  #verdicts: Verdict[] = [];
  /** A record is stored. */
  #isCommitted: boolean;
  /** Something has changed since the last commit. */
  #isDirty: boolean;
  /** T3. An activity has answered since the last commit. */
  #hasNewAnswer = false;
  /** The instance runs again after its end, and this is not stored yet. */
  #isReplayed = false;
  /** The end of the instance is stored. Only effects are left to do. */
  #isClosed = false;
  /** T7 */
  isTold = false;
  /** Runs of activities in the last commit. */
  #committedRuns: readonly string[];
  /** Tries that the store holds. */
  #held: readonly string[];
  /** T10 */
  #rounds = 0;
  readonly #began = performance.now();

  constructor(options: TurnOptions, taken: Taken, activities: TurnActivities) {
    const { instance, life, inbox, held, isNew } = taken;
    this.#options = options;
    this.#taken = taken;
    this.#id = instance.id;
    this.#life = life;
    this.#inbox = inbox;
    this.#isCommitted = !isNew;
    this.#isDirty = isNew;
    this.#committedRuns = isNew ? [] : runNames(life.activities());
    this.#held = held;
    this.#activities = activities;
  }

  /**
   * @returns What the job returns.
   * @throws `UnrecoverableError` when the instance has failed, `DelayedError` when it sleeps, any
   *   other error when the turn must run again.
   */
  async run(): Promise<unknown> {
    const life = this.#life;
    try {
      if (this.#taken.isReplay) this.#replay();
      for (;;) {
        this.#rounds += 1;
        this.#applyDue();
        const isMoreDue = await this.#runActivities();
        if (this.#isLong() && life.status() === 'active') await this.#rest();
        if (isMoreDue) continue;
        if (life.effects().length > 0) {
          await this.#carryOutAll();
        } else if (life.status() === 'active' && life.rests() === undefined) {
          await this.#sleep();
        } else {
          const ended = await this.#end();
          if (ended !== undefined) return ended.result;
        }
      }
    } catch (error) {
      if (!(error instanceof UnrecoverableError || error instanceof DelayedError)) {
        // Tries that began after the last commit are void: the next turn may begin others with the
        // same name.
        this.#activities.keepOnly(this.#committedRuns);
      }
      throw error;
    }
  }

  #activityOf(src: string): Activity {
    return (this.#options.activityFor ?? activityFor)(this.#taken.workflow.chart.logicOf(src));
  }

  #replay(): void {
    this.#isReplayed = true;
    // Effects are carried out before an instance ends.
    this.#life.clearEffects(this.#life.effects().length);
    const at = this.#options.now();
    this.#apply({ type: 'REPLAY', input: readInput(this.#taken, at) }, at);
  }

  #apply(event: AnyEventObject, at = this.#options.now()): boolean {
    this.#isDirty = true;
    let isTaken = true;
    this.#unlessEndless(() => {
      isTaken = this.#life.apply({ ...event, at }, at);
    });
    return isTaken;
  }

  #unlessEndless(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (!(error instanceof EndlessError)) throw error;
      const { workflow, instance } = this.#taken;
      this.#options.onError(error, { workflow: workflow.chart.name, instance: instance.id });
      this.#life.fail(error);
    }
  }

  /** T10 */
  #isLong(): boolean {
    return this.#rounds + this.#life.steps() > maxTurnSteps;
  }

  /** T1. Entries of the inbox for which the turn is too long stay for the next one. */
  #applyDue(): void {
    const { now } = this.#options;
    while (this.#life.status() === 'active' && !this.#isLong()) {
      const entry = this.#inbox.entries[this.#applied];
      const timer = this.#life.takeDue(now(), entry?.at ?? Number.POSITIVE_INFINITY);
      if (timer !== undefined) {
        this.#isDirty = true;
        this.#unlessEndless(() => this.#life.fire(timer, now()));
      } else if (entry !== undefined) {
        this.#isDirty = true;
        this.#verdicts.push([entry.key, this.#applyEntry(entry) ? 'taken' : 'refused']);
        this.#applied += 1;
      } else return;
    }
  }

  #applyEntry({ event, about, at }: InboxEntry): boolean {
    if (about === undefined) return this.#apply(event, at);
    const { child, run, result } = about;
    if (result !== undefined) return this.#finish({ child, run, result: result as Finished });
    return this.#openRun(child, run) !== undefined && this.#apply(event, at);
  }

  #openRun(name: string, run: number): Child | undefined {
    const child = this.#life.child(name);
    return child?.run === run && !child.ended ? child : undefined;
  }

  /** Applies the end of a try. @returns Whether it still counts. */
  #finish({ child: name, run, result }: Ended): boolean {
    const child = this.#openRun(name, run);
    if (child === undefined) return false;
    this.#isDirty = true;
    const { notBefore: _, held: __, waits: ___, ...idle } = child;
    switch (result.kind) {
      case 'done':
        this.#apply(doneEvent(name, result.output));
        return true;
      case 'later': {
        const lookMs = this.#activityOf(child.src).policy.lookAgainMs?.(child.input);
        const again = lookMs === undefined ? {} : { notBefore: timeAfter(this.#options.now(), lookMs) };
        this.#life.setChild(name, { ...idle, waits: true, ...again });
        return true;
      }
      case 'released':
        this.#life.setChild(name, idle);
        return true;
      case 'failed': {
        const { policy } = this.#activityOf(child.src);
        const retry = { ...policy, ...policy.retry?.(child.input) };
        const { attempts = 1, backoffMs = 1000, maxBackoffMs = 60_000 } = retry;
        const failures = (child.failures ?? 0) + 1;
        if (failures >= attempts) {
          this.#apply(errorEvent(name, result.error));
        } else {
          const pauseMs = Math.min(backoffMs * 2 ** Math.min(failures - 1, maxDoublings), maxBackoffMs);
          const notBefore = timeAfter(this.#options.now(), pauseMs);
          this.#life.setChild(name, { ...idle, failures, notBefore });
        }
        return true;
      }
    }
  }

  /** @returns Whether more may be due now. */
  async #runActivities(): Promise<boolean> {
    const life = this.#life;
    const activities = this.#activities;
    if (activities.isIdle() && life.activities().length === 0) return false;
    // T8
    if (this.#isReplayed) {
      await this.#commit('goesOn');
      return true;
    }
    activities.keepOnly(runNames(life.activities()));
    const { instance } = this.#taken;
    const now = this.#options.now();
    let turnWaitsMs = 0;
    for (const [name, child] of life.openActivities(now)) {
      const { src, run, input } = child;
      if (this.#heldUntil(name, child) > now) continue;
      const activity = this.#activityOf(src);
      const { afterCommit = () => this.#hasNewAnswer, turnWaitsMs: waits } = activity.policy;
      if (!this.#committedRuns.includes(runName(name, child)) && afterCommit(input)) {
        await this.#commit('goesOn');
        return true;
      }
      const attempt = (child.failures ?? 0) + 1;
      const { name: workflow } = this.#taken.workflow.chart;
      const start = { child: name, run, workflow, src, activity, input, instance, now, attempt };
      const pauseMs = activities.start(start);
      if (pauseMs === 0) {
        turnWaitsMs = Math.max(turnWaitsMs, waits?.(input, instance) ?? usualTurnWaitMs);
      } else {
        const { held: _, ...idle } = child;
        life.setChild(name, { ...idle, notBefore: timeAfter(now, pauseMs) });
        this.#isDirty = true;
      }
    }
    const ended = await activities.next(turnWaitsMs);
    if (ended === undefined) return false;
    if (this.#finish(ended)) this.#hasNewAnswer = true;
    return true;
  }

  /** @returns Milliseconds since the epoch; 0 when no process holds a try. */
  #heldUntil(name: string, child: Child): number {
    return child.held ? (this.#inbox.holds.get(runName(name, child)) ?? 0) : 0;
  }

  /** T2. The next commit, or the end of the job, removes them from the record. */
  async #carryOutAll(): Promise<void> {
    const life = this.#life;
    const isOver = life.status() !== 'active' || (life.rests() !== undefined && !this.#isLong());
    if (this.#isDirty && !(await (isOver ? this.#close() : this.#commit('goesOn')))) return;
    let count = 0;
    try {
      for (const together of inTurn(life.effects())) {
        const ends = await Promise.allSettled(together.map((effect) => this.#carryOut(effect)));
        const failed = ends.find((end) => end.status === 'rejected');
        if (failed !== undefined) throw failed.reason;
        count += together.length;
      }
    } catch (error) {
      // The effects before it are not carried out again.
      life.clearEffects(count);
      this.#isClosed = false;
      if (count > 0) await this.#commit('goesOn');
      throw error;
    }
    life.clearEffects(count);
    this.#isDirty = true;
  }

  async #carryOut(effect: Effect): Promise<void> {
    const { neighbours } = this.#options;
    const { workflow, instance } = this.#taken;
    const { number, kind, type = '', params, event, context, to = '' } = effect;
    const id = `${this.#id}/${number}`;
    switch (kind) {
      case 'action':
        await workflow.chart.implementationOf(type)({ context, event, instance, effect: { id } }, params);
        return;
      case 'start': {
        const started = workflow.children[type];
        if (started === undefined) throw new Error(`${workflow.chart.name}: there is no chart ${type}`);
        await neighbours.start(started, to, params);
        return;
      }
      case 'send':
        await neighbours.tell(to, id, event ?? { type: '' });
        return;
      case 'withdraw': {
        const { policy } = this.#activityOf(type);
        const { child, run, input } = params as { child: string; run: number; input: unknown };
        await policy.withdraw?.({ input, instance, token: tokenOf(instance, child, run) });
        return;
      }
      case 'stop':
        await neighbours.tell(to, id, { type: 'xstate.stop' });
        return;
      case 'reply': {
        const { child, run } = params as { child: string; run: number };
        await neighbours.tell(to, `${runKeys}${child}/${run}`, event ?? { type: '' }, { child, run });
        return;
      }
    }
  }

  /** T6. Returns when an event has come in meanwhile. */
  async #sleep(): Promise<void> {
    const { store, now } = this.#options;
    const life = this.#life;
    const time = now();
    const running = this.#activities.running().map(nameOf);
    const open = life.openActivities(time);
    const runsHere = ([name, child]: (typeof open)[number]): boolean =>
      running.includes(runName(name, child));
    // An activity became due since it was last checked: nothing would wake the job for it.
    if (open.some((each) => !runsHere(each) && this.#heldUntil(...each) <= time)) return;
    for (const [name, child] of open.filter(runsHere)) life.setChild(name, { ...child, held: true });
    if (!(await this.#commit('sleeps'))) return;
    const until = Math.min(life.nextTime(time), time + maxWaitMs);
    await store.sleep(this.#id, this.#taken.token, until);
    throw new DelayedError();
  }

  /** T10. The event of another instance may end the rest before its time. */
  async #rest(): Promise<never> {
    const { store, now } = this.#options;
    const life = this.#life;
    if (life.effects().length > 0) await this.#carryOutAll();
    const begun = this.#activities.begun().map(nameOf);
    for (const [name, child] of life.activities()) {
      if (begun.includes(runName(name, child))) life.setChild(name, { ...child, held: true });
    }
    await this.#commit('goesOn');
    const ranMs = Math.ceil(performance.now() - this.#began);
    await store.sleep(this.#id, this.#taken.token, now() + Math.min(ranMs, maxRestMs));
    throw new DelayedError();
  }

  /** @returns Undefined when an event has come in meanwhile. */
  async #end(): Promise<{ readonly result: unknown } | undefined> {
    const { workflow, instance } = this.#taken;
    const life = this.#life;
    const hasFailed = life.rests() === 'failed';
    const isKnownOutside = this.#isCommitted || this.#inbox.length > 0;
    // Timers and events may come from other programs, so the result is checked.
    if (!hasFailed && isKnownOutside) readOrFail(() => workflow.check(life.context(), instance));
    const tell = this.#options.tellEnd?.(instance);
    const mustBeStored = isKnownOutside || this.#isReplayed || hasFailed || tell !== undefined;
    if (!this.#isClosed && mustBeStored && !(await this.#close())) return undefined;
    this.#tellObservers();
    const record = life.record();
    const error = record.status === 'error' ? String(record.error) : undefined;
    const failedReason = hasFailed ? workflow.reasonOf(record.context, record.failure) : error;
    const { timestamp: createdAt, attemptsMade: runs } = this.#taken.job;
    await tell?.({ record, failedReason, createdAt, runs });
    this.isTold = true;
    if (failedReason !== undefined) throw jobFailure(failedReason);
    return { result: workflow.resultOf(record) };
  }

  /** Closes the inbox and stores the end. @returns False when an event has come in before. */
  async #close(): Promise<boolean> {
    // Events that came too late are refused.
    const { entries } = this.#inbox;
    for (const { key } of entries.slice(this.#applied)) this.#verdicts.push([key, 'refused']);
    this.#applied = entries.length;
    this.#isClosed = await this.#commit('ends');
    return this.#isClosed;
  }

  /** T4. @returns False when it was to sleep or end, but an event has come in. */
  async #commit(then: Commit['then']): Promise<boolean> {
    const { store, holdMs, now } = this.#options;
    const { job, token } = this.#taken;
    const life = this.#life;
    const held = heldNames(life.activities());
    const begun = this.#activities.begun().map(nameOf);
    const record = life.record();
    const { entries, length } = this.#inbox;
    const left = entries.slice(this.#applied);
    const taken = left.length === 0 ? length : (entries[this.#applied - 1]?.end ?? 0);
    const stored = await store.commit(this.#id, token, {
      record,
      length: taken,
      verdicts: this.#verdicts,
      held: held.filter((name) => begun.includes(name)),
      heldUntil: now() + holdMs,
      released: this.#held.filter((name) => !held.includes(name)),
      replayed: this.#isReplayed,
      joinable: this.#joinable(),
      then,
    });
    if (stored === 'lost') throw new LockLostError('The lock is lost');
    // For listeners to the end of the job.
    job.progress = record;
    this.#isCommitted = true;
    this.#isDirty = false;
    this.#hasNewAnswer = false;
    this.#isReplayed = false;
    this.#held = held;
    this.#committedRuns = runNames(life.activities());
    const moved = left.map((entry) => ({ ...entry, end: entry.end - taken }));
    this.#inbox = { ...this.#inbox, entries: moved, length: length - taken };
    this.#applied = 0;
    this.#verdicts = [];
    this.#tellObservers();
    if (then === 'goesOn' || stored === 'stored') return true;
    this.#inbox = await store.readInbox(this.#id, held);
    return false;
  }

  #joinable(): Commit['joinable'] {
    const { deduplicationId, opts } = this.#taken.job;
    if (!this.#isReplayed || deduplicationId === undefined) return undefined;
    return { deduplicationId, ttlMs: opts.deduplication?.ttl };
  }

  #tellObservers(): void {
    const { observe, onError } = this.#options;
    for (const observation of this.#life.takeObserved()) {
      try {
        observe(this.#id, observation);
      } catch (error) {
        onError(toError(error));
      }
    }
  }
}

/** @returns A BullMQ processor. */
export const createTurn = (options: TurnOptions) => {
  const { store, now, workflowOf = readJobName } = options;
  /**
   * By instance: turns in a row that failed by errors which are not of the instance, such as Redis
   * away.
   */
  const errors = new Map<string, number>();

  return async (job: InstanceJob, token: string): Promise<unknown> => {
    const id = job.id ?? '';
    const onError = (error: unknown): void =>
      options.onError(toError(error), { workflow: workflowOf(job.name).name, instance: id });
    let turn: Turn | undefined;
    let activities: TurnActivities | undefined;
    try {
      await options.beforeTurn?.(job);
      activities = options.activities.of(id);
      turn = new Turn(options, await takeJob(options, job, token), activities);
      const result = await turn.run();
      errors.delete(id);
      return result;
    } catch (thrown) {
      let error: unknown = thrown;
      if (error instanceof UnrecoverableError && turn?.isTold !== true) {
        try {
          await options.tellFailure?.(job);
        } catch (failure) {
          error = failure;
        }
      }
      if (error instanceof UnrecoverableError || error instanceof DelayedError) {
        errors.delete(id);
        throw error;
      }
      // The turn runs again from what is stored, here or elsewhere.
      const before = errors.get(id) ?? 0;
      const isBusy = error instanceof BusyError;
      if (!isBusy || (before + 1) % busyRounds === 0) onError(error);
      if (!(error instanceof LockLostError)) {
        errors.set(id, before + 1);
        await store
          .sleep(id, token, now() + (isBusy ? busyPauseMs : errorPauseMs(error, before)))
          .catch(onError);
      }
      throw new DelayedError();
    } finally {
      // The job sleeps or has ended. From now on the answer of an activity wakes it.
      activities?.leave();
    }
  };
};
