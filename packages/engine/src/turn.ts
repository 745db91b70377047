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
 * T3  A turn with one activity that answers at once, and without effects, commits once: with the
 *     end of its job. An activity that follows the answer of another begins when this answer is
 *     stored: after a crash the other one would run again, and could answer otherwise.
 * T4  An event is taken or refused in the same step that stores its consequences. The journal
 *     (journal.ts) tells of them in this step, too.
 * T5  An instance of another version of its chart is left to a worker that has this version. It is
 *     looked at less and less often, up to a minute (take-job.ts).
 * T6  A turn does not wait for a slow activity: the activity goes on while the job sleeps.
 * T7  `tellEnd` is called after the end is stored, and before the job ends. A turn that is cut off
 *     in between calls it again. A job that fails before its turn has no end; `tellFailure` is
 *     called instead.
 * T8  A replay is stored before its activities run. A worker that was paused after it had taken the
 *     job takes the end by another worker for one to be replayed; its commit is refused.
 * T9  A turn waits for another instance for a moment only. Then it frees its place and runs again,
 *     because the other one may wait for this place.
 * T10 A turn that finds more and more to do (timers without delay, instances that answer each
 *     other, activities that answer at once) frees its place after `maxTurnSteps`, and rests for as
 *     long as it has run. A circle after one event ends the instance with an error instead
 *     (interpret.ts, I5): nothing could come in between.
 * T11 An instance that would become too large ends with an error that says so, from its last
 *     commit: events since then are refused, and running activities are withdrawn.
 */
import { randomBytes } from 'node:crypto';
import { DelayedError, UnrecoverableError } from 'bullmq';
import type { AnyActorLogic, AnyEventObject } from 'xstate';
import {
  type Activities,
  activityFor,
  type EndedActivity,
  type Finished,
  tokenOf,
} from './activities.ts';
import { type Activity, type InstanceInHand, readJobName, type Workflow } from './define.ts';
import type { EffectInHand } from './effect.ts';
import { BusyError, type SendResult } from './engine.ts';
import type { ToChild } from './instances.ts';
import {
  doneEvent,
  errorEvent,
  type Life,
  type Observation,
  type OpenActivity,
  type PendingEffect,
  resume,
} from './interpret.ts';
import { type ActivityStage, errorText, type Journal } from './journal.ts';
import type { Others } from './other.ts';
import {
  type Activity as ActivityRecord,
  addressOf,
  type InstanceRecord,
  maxWaitMs,
  recordToRetry,
  timeAfter,
} from './record.ts';
import { outsideKeys } from './redis/deliver-script.ts';
import type { Inbox, InboxEntry } from './redis/inbox.ts';
import { BoundError, type Commit, type Verdict } from './redis/instance-store.ts';
import type { Parts } from './redis/record-parts.ts';
import { isRedisAway, toError } from './redis/to-error.ts';
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
  /** The number of earlier ends of its job. A failed instance that runs again ends again. */
  readonly runs: number;
}

export interface TurnOptions extends TakeOptions {
  readonly activities: Activities;
  /** Finds what runs an activity. Default: the activity in the chart. */
  readonly activityFor?: (logic: AnyActorLogic) => Activity;
  /**
   * Gives the function that reports the end of the instance; undefined when nothing waits for it.
   */
  readonly tellEnd?:
    | ((
        instance: InstanceInHand,
        job: InstanceJob,
      ) => ((end: InstanceEnd) => Promise<void>) | undefined)
    | undefined;
  /** Runs before each turn. When it throws, the job sleeps and is taken again. */
  readonly beforeTurn?: ((job: InstanceJob) => Promise<void>) | undefined;
  /** Reports a failure that `tellEnd` does not. When it throws, the job sleeps, too. */
  readonly tellFailure?: ((job: InstanceJob, reason: string) => Promise<void>) | undefined;
  /** Sends the events of effects. Default: they cannot send any. */
  readonly send?: Others['send'] | undefined;
  readonly observe: (id: string, observation: Observation) => void;
  /** Called with each action before it is carried out. */
  readonly onEffect?: ((id: string, name: string, params: unknown) => void) | undefined;
  /** Time for which the store holds a try that goes on while its job sleeps. */
  readonly holdMs: number;
}

const usualTurnWaitMs = 20;
/** Doublings of a pause. One more gives 2 ** 1024, which is Infinity, and 0 * Infinity is NaN. */
const maxDoublings = 1023;
/** T10. The sum of steps of the chart and rounds of the turn. */
const maxTurnSteps = 1000;
const maxRestMs = 1000;
/** T11. With more new activities a tree is stored before one runs: it may be too large. */
const maxUnstored = 100;
/** T9 */
const busyPauseMs = 200;
/** Turns in a row for which another instance is busy before that is reported as an error. */
const busyRounds = 50;
/**
 * The longest pause while Redis cannot be used. When it takes writes again, due work runs within
 * five seconds. Other errors are bugs or broken dependencies, which need a person.
 */
const maxAwayPauseMs = 2000;
const maxErrorPauseMs = 60_000;

const errorPauseMs = (error: unknown, errorsBefore: number): number =>
  Math.min(
    200 * 2 ** Math.min(errorsBefore, 9),
    isRedisAway(error) ? maxAwayPauseMs : maxErrorPauseMs,
  );

class LockLostError extends Error {
  override readonly name = 'LockLostError';
}

/** The type of the event that tells that a try has ended without an answer. */
export const tryEvent = 'xstate.try';

/**
 * Ids of commits are this id and a counter. Random bytes for each commit cost 10 microseconds.
 */
const processId = randomBytes(9).toString('base64url');
let commits = 0;
const newCommitId = (): string => {
  commits += 1;
  return `${processId}${commits}`;
};

type TurnActivities = ReturnType<Activities['of']>;

/** The key as the sender gave it; undefined for a key of the engine. */
const keyFromOutside = (key: string): string | undefined =>
  key.startsWith(outsideKeys) ? key.slice(outsideKeys.length) : undefined;

const nameOf = ({ child, run }: Pick<EndedActivity, 'child' | 'run'>): string =>
  runName({ path: child, run });

class Turn {
  readonly #options: TurnOptions;
  readonly #taken: Taken;
  readonly #id: string;
  #life: Life;
  readonly #journal: Journal | undefined;
  /** Name of the effect that is carried out. */
  effect: string | undefined;
  readonly #activities: TurnActivities;
  /** The inbox as it was read last. While this turn has the lock, it only grows at its end. */
  #inbox: Inbox;
  /** The number of entries of the inbox that were applied. `#verdicts` has their verdicts. */
  #applied = 0;
  #verdicts: Verdict[] = [];
  /** The stored record; undefined before the first commit. */
  #record: InstanceRecord | undefined;
  #parts: Parts;
  /** The number of the effect that was carried out last. */
  #carriedOut = 0;
  /** Whether something has changed since the last commit. */
  #isDirty: boolean;
  /** T3. Whether an activity has answered since the last commit. */
  #hasNewAnswer = false;
  /** Whether the instance runs again after its end, and this is not stored yet. */
  #isReplayed = false;
  /** Whether the end of the instance is stored. Then only effects are left to do. */
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
    const { instance, life, record, parts, inbox, held, isNew } = taken;
    this.#options = options;
    this.#taken = taken;
    this.#id = instance.id;
    this.#life = life;
    this.#journal = taken.journal;
    this.#inbox = inbox;
    this.#record = record;
    this.#parts = parts;
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
    try {
      if (this.#taken.isReplay) this.#replay();
      if (this.#taken.first !== undefined) this.#judge(this.#taken.first);
      for (;;) {
        try {
          const ended = await this.#round();
          if (ended !== undefined) return ended.result;
        } catch (error) {
          if (!(error instanceof BoundError)) throw error;
          this.#failAsStored(error);
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

  /** @returns What the job returns, when the instance has ended. */
  async #round(): Promise<{ readonly result: unknown } | undefined> {
    const life = this.#life;
    this.#rounds += 1;
    // Effects that are already stored are carried out now and need no further commit. Not in the
    // first round: an effect that always fails would keep the inbox from being read, and may fail
    // because the inbox is full.
    if (this.#rounds > 1 && !this.#isDirty && life.hasEffects()) await this.#carryOutAll();
    this.#applyDue();
    const isMoreDue = await this.#runActivities();
    if (this.#isLong() && life.status() === 'active') await this.#rest();
    if (isMoreDue) return undefined;
    if (life.hasEffects()) await this.#carryOutAll();
    else if (life.status() === 'active' && life.rests() === undefined) await this.#sleep();
    else return this.#end();
    return undefined;
  }

  /** T11 */
  #failAsStored(error: BoundError): void {
    if (this.#record === undefined) throw jobFailure(error.message);
    const { workflow } = this.#taken;
    // The journal since the last commit is dropped with what it tells.
    this.#journal?.clear();
    this.#life = resume(workflow.chart, this.#id, this.#record, undefined, this.#journal);
    this.#life.clearEffects(
      this.#life.effects().filter(({ number }) => number <= this.#carriedOut).length,
    );
    this.#life.fail(error, this.#options.now());
    this.#verdicts = this.#verdicts.map(([key]) => [key, 'refused']);
    this.#isDirty = true;
    this.#isClosed = false;
  }

  #activityOf(logic: AnyActorLogic): Activity {
    return (this.#options.activityFor ?? activityFor)(logic);
  }

  #replay(): void {
    this.#isReplayed = true;
    // Effects are carried out before an instance ends.
    this.#life.clearEffects(this.#life.effects().length);
    const at = this.#options.now();
    const tell = this.#journal?.event(at, '', 'REPLAY', undefined);
    const retry = this.#record && recordToRetry(this.#record);
    if (retry !== undefined) {
      this.#life = resume(this.#taken.workflow.chart, this.#id, retry, undefined, this.#journal);
      this.#isDirty = true;
      tell?.('taken');
      return;
    }
    const isTaken = this.#apply({ type: 'REPLAY', input: readInput(this.#taken, at) }, at);
    tell?.(isTaken ? 'taken' : 'refused');
  }

  #apply(event: AnyEventObject, at: number, path?: string): boolean {
    this.#isDirty = true;
    return this.#life.apply(event, at, path);
  }

  #applyEnd(path: string, event: AnyEventObject): void {
    this.#isDirty = true;
    this.#life.end(path, event, this.#options.now());
  }

  /** T10 */
  #isLong(): boolean {
    return this.#rounds + this.#life.steps() > maxTurnSteps;
  }

  /** T1. When the turn becomes too long, the other entries of the inbox stay for the next one. */
  #applyDue(): void {
    const { now } = this.#options;
    while (this.#life.status() === 'active' && !this.#isLong()) {
      const entry = this.#inbox.entries[this.#applied];
      const timer = this.#life.takeDue(now(), entry?.at ?? Number.POSITIVE_INFINITY);
      if (timer !== undefined) {
        this.#isDirty = true;
        this.#life.fire(timer, now());
      } else if (entry !== undefined) {
        this.#judge(entry);
        this.#applied += 1;
      } else return;
    }
  }

  #judge(entry: InboxEntry): void {
    this.#isDirty = true;
    this.#verdicts.push([entry.key, this.#applyEntry(entry) ? 'taken' : 'refused']);
  }

  #applyEntry({ key, event, about, at }: InboxEntry): boolean {
    if (about?.run === undefined) {
      const { child } = about ?? {};
      const tell = this.#journal?.event(at, child ?? '', event.type, keyFromOutside(key));
      const isTaken = this.#apply(event, at, child);
      tell?.(isTaken ? 'taken' : 'refused');
      return isTaken;
    }
    const { child, run, result } = about;
    if (result !== undefined) return this.#finish({ child, run, result: result as Finished });
    const open = this.#openRun(child, run);
    if (open === undefined) return false;
    const isDone = event.type.startsWith('xstate.done.');
    const { error } = event as { readonly error?: unknown };
    this.#tellTry({ ...open, path: child }, isDone ? 'done' : 'failed', error);
    this.#applyEnd(child, event);
    return true;
  }

  #tellTry(
    activity: Pick<OpenActivity, 'path' | 'run' | 'src' | 'failures'>,
    stage: ActivityStage,
    error?: unknown,
  ): void {
    this.#journal?.activity(this.#options.now(), activity, stage, error);
  }

  #openRun(path: string, run: number): ActivityRecord | undefined {
    const activity = this.#life.activity(path);
    return activity?.run === run && !activity.ended ? activity : undefined;
  }

  /** Applies the end of a try. @returns Whether it still counts. */
  #finish({ child: path, run, result }: EndedActivity): boolean {
    const open = this.#life.activities().find((each) => each.path === path && each.run === run);
    if (open === undefined) return false;
    this.#isDirty = true;
    this.#tellTry(open, result.kind, result.kind === 'failed' ? result.error : undefined);
    const { notBefore: _, held: __, waits: ___, path: ____, logic, input, ...idle } = open;
    const set = (changes: Partial<ActivityRecord>): void => {
      const { input: stored } = this.#life.activity(path) ?? {};
      this.#life.setActivity(path, {
        ...idle,
        ...(stored !== undefined && { input: stored }),
        ...changes,
      });
    };
    switch (result.kind) {
      case 'done':
        this.#applyEnd(path, doneEvent(path, result.output));
        return true;
      case 'later': {
        const lookMs = this.#activityOf(logic).policy.lookAgainMs?.(input);
        const again =
          lookMs === undefined ? {} : { notBefore: timeAfter(this.#options.now(), lookMs) };
        set({ waits: true, ...again });
        return true;
      }
      case 'released':
        set({});
        return true;
      case 'failed': {
        const { policy } = this.#activityOf(logic);
        const retry = { ...policy, ...policy.retry?.(input) };
        const { attempts = 1, backoffMs = 1000, maxBackoffMs = 60_000 } = retry;
        const failures = (open.failures ?? 0) + 1;
        if (failures >= attempts) {
          this.#applyEnd(path, errorEvent(path, result.error));
        } else {
          const pauseMs = Math.min(
            backoffMs * 2 ** Math.min(failures - 1, maxDoublings),
            maxBackoffMs,
          );
          set({ failures, notBefore: timeAfter(this.#options.now(), pauseMs) });
        }
        return true;
      }
    }
  }

  /** @returns Whether more may be due now. */
  async #runActivities(): Promise<boolean> {
    const life = this.#life;
    const activities = this.#activities;
    const all = life.activities();
    if (activities.isIdle() && all.length === 0) return false;
    // T8
    if (this.#isReplayed) {
      await this.#commit('goesOn');
      return true;
    }
    activities.keepOnly(runNames(all));
    const { instance } = this.#taken;
    const now = this.#options.now();
    let turnWaitsMs = 0;
    const due = life.openActivities(now);
    for (const open of due) {
      const { path, logic, run, src, input } = open;
      if (this.#heldUntil(open) > now) continue;
      const activity = this.#activityOf(logic);
      const { afterCommit = () => this.#hasNewAnswer, turnWaitsMs: waits } = activity.policy;
      if (
        !this.#committedRuns.includes(runName(open)) &&
        (due.length > maxUnstored || afterCommit(input))
      ) {
        await this.#commit('goesOn');
        return true;
      }
      const attempt = (open.failures ?? 0) + 1;
      const isBegun = activities.begun().some((each) => nameOf(each) === runName(open));
      const { name: workflow } = this.#taken.workflow.chart;
      const start = { child: path, run, workflow, src, activity, input, instance, now, attempt };
      const pauseMs = activities.start(start);
      if (pauseMs === 0) {
        if (!isBegun) this.#tellTry(open, 'begun');
        turnWaitsMs = Math.max(turnWaitsMs, waits?.(input, instance) ?? usualTurnWaitMs);
      } else {
        const { held: _, ...idle } = life.activity(path) ?? open;
        life.setActivity(path, { ...idle, notBefore: timeAfter(now, pauseMs) });
        this.#isDirty = true;
      }
    }
    const ended = await activities.next(turnWaitsMs);
    if (ended === undefined) return false;
    if (this.#finish(ended)) this.#hasNewAnswer = true;
    return true;
  }

  /** @returns Milliseconds since the epoch; 0 when no process holds a try. */
  #heldUntil(activity: OpenActivity): number {
    return activity.held ? (this.#inbox.holds.get(runName(activity)) ?? 0) : 0;
  }

  /** T2. The next commit, or the end of the job, removes the effects from the record. */
  async #carryOutAll(): Promise<void> {
    const life = this.#life;
    const isOver = life.status() !== 'active' || (life.rests() !== undefined && !this.#isLong());
    if (this.#isDirty && !(await (isOver ? this.#close() : this.#commit('goesOn')))) return;
    let count = 0;
    try {
      for (const effect of life.effects()) {
        await this.#carryOut(effect);
        this.#carriedOut = effect.number;
        count += 1;
      }
    } catch (error) {
      // The effects before it are not carried out again.
      life.clearEffects(count);
      this.#isClosed = false;
      if (count > 0) await this.#commit('goesOn');
      throw error;
    }
    this.effect = undefined;
    life.clearEffects(count);
    this.#isDirty = true;
  }

  async #carryOut({
    number,
    kind,
    type,
    params,
    event,
    context,
    ...more
  }: PendingEffect): Promise<void> {
    const { instance } = this.#taken;
    const { path = '', run = 0 } = more;
    const chart = more.chart();
    this.effect = type;
    switch (kind) {
      case 'action': {
        this.#options.onEffect?.(this.#id, type, params);
        const action = chart.implementationOf(type, more.origin as never);
        await action?.(
          {
            context,
            event,
            instance,
            effect: this.#effectInHand(number, path),
          },
          params,
        );
        return;
      }
      case 'withdraw': {
        const { policy } = this.#activityOf(chart.partOf(type, more.origin as never).logic);
        await policy.withdraw?.({ input: params, instance, token: tokenOf(instance, path, run) });
        return;
      }
    }
  }

  #effectInHand(number: number, path: string): Omit<EffectInHand, 'instance'> {
    const { instance } = this.#taken;
    const id = `${this.#id}/${number}`;
    let sent = 0;
    const send = async (
      workflow: Workflow,
      to: string,
      event: { readonly type: string },
      options?: ToChild,
    ): Promise<SendResult> => {
      const { send: bring } = this.#options;
      if (bring === undefined) throw new Error('Effects of this worker reach no other instance');
      sent += 1;
      const key = `effect/${id}/${instance.createdAt}/${sent}`;
      return bring(instance, key, [workflow, to, event, options?.path ?? '']);
    };
    return { id, address: addressOf(this.#id, path), send };
  }

  /** T6. Throws `DelayedError` when the job sleeps. Returns when an event has come in meanwhile. */
  async #sleep(): Promise<void> {
    const { now } = this.#options;
    const life = this.#life;
    const time = now();
    const running = this.#activities.running().map(nameOf);
    const open = life.openActivities(time);
    const runsHere = (each: OpenActivity): boolean => running.includes(runName(each));
    // An activity became due since it was last checked: nothing would wake the job for it.
    if (open.some((each) => !runsHere(each) && this.#heldUntil(each) <= time)) return;
    this.#hold(open.filter(runsHere));
    const until = Math.min(life.nextTime(time), time + maxWaitMs);
    if (await this.#commit('sleeps', until)) throw new DelayedError();
  }

  /** Marks activities whose tries go on while the job sleeps. */
  #hold(activities: readonly OpenActivity[]): void {
    for (const { path } of activities) {
      const activity = this.#life.activity(path);
      if (activity !== undefined) this.#life.setActivity(path, { ...activity, held: true });
    }
  }

  /** T10 */
  async #rest(): Promise<never> {
    const { store, now } = this.#options;
    const life = this.#life;
    if (life.hasEffects()) await this.#carryOutAll();
    const begun = this.#activities.begun().map(nameOf);
    this.#hold(life.activities().filter((each) => begun.includes(runName(each))));
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
    const isKnownOutside =
      this.#record !== undefined || this.#inbox.length > 0 || this.#taken.first !== undefined;
    // Timers and events may come from other programs, so the result is checked.
    if (!hasFailed && isKnownOutside) readOrFail(() => workflow.check(life.context(), instance));
    const tell = this.#options.tellEnd?.(instance, this.#taken.job);
    const isTold = this.#journal === undefined || this.#journal.isEmpty();
    const mustBeStored =
      isKnownOutside || this.#isReplayed || hasFailed || tell !== undefined || !isTold;
    if (!this.#isClosed && mustBeStored && !(await this.#close())) return undefined;
    this.#tellObservers();
    const record = life.record();
    const error = record.status === 'error' ? errorText(life.error()) : undefined;
    if (error !== undefined)
      this.#options.onError(toError(life.error()), {
        workflow: workflow.chart.name,
        instance: this.#id,
      });
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

  /** T4. @returns False when the job was to sleep or end, but an event has come in. */
  async #commit(then: Commit['then'], until?: number): Promise<boolean> {
    const { store, holdMs, now } = this.#options;
    const { job, token } = this.#taken;
    const life = this.#life;
    const activities = life.activities();
    const held = heldNames(activities);
    const begun = this.#activities.begun().map(nameOf);
    const record = life.record();
    const { entries, length } = this.#inbox;
    const left = entries.slice(this.#applied);
    const taken = left.length === 0 ? length : (entries[this.#applied - 1]?.end ?? 0);
    const stored = await store.commit(this.#id, token, {
      id: newCommitId(),
      record,
      parts: this.#parts,
      length: taken,
      verdicts: this.#verdicts,
      held: held.filter((name) => begun.includes(name)),
      heldUntil: now() + holdMs,
      released: this.#held.filter((name) => !held.includes(name)),
      replayed: this.#isReplayed,
      joinable: this.#joinable(),
      told: this.#journal?.lines(),
      then,
      until,
    });
    if (stored.kind === 'lost') throw new LockLostError('The lock is lost');
    // Listeners to the end of the job read the record from it.
    job.progress = record;
    this.#journal?.clear();
    this.#record = record;
    this.#parts = stored.parts;
    this.#isDirty = false;
    this.#hasNewAnswer = false;
    this.#isReplayed = false;
    this.#held = held;
    this.#committedRuns = runNames(activities);
    const moved = left.map((entry) => ({ ...entry, end: entry.end - taken }));
    this.#inbox = { ...this.#inbox, entries: moved, length: length - taken };
    this.#applied = 0;
    this.#verdicts = [];
    this.#tellObservers();
    if (then === 'goesOn' || stored.kind === 'stored') return true;
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
   * The number of turns in a row that an error outside of the instance has cut off, such as a lost
   * connection; by instance.
   */
  const errors = new Map<string, number>();

  return async (job: InstanceJob, token: string): Promise<unknown> => {
    const id = job.id ?? '';
    let turn: Turn | undefined;
    const onError = (error: unknown): void => {
      const place = { workflow: workflowOf(job.name).name, instance: id };
      const { effect } = turn ?? {};
      options.onError(toError(error), { ...place, ...(effect !== undefined && { effect }) });
    };
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
          await options.tellFailure?.(job, error.message);
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
