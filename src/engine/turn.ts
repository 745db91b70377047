/**
 * One turn of an instance: take the job, find out what is due, compute, commit, carry out, and end or sleep.
 *
 * A turn is a function of what is stored. It may be cut off anywhere and run again by another worker.
 *
 * T1  What is due is applied in the order in which it became due: timers by their time, events by that of their arrival.
 * T2  Nothing is carried out before the commit that says so. A turn that is cut off in between carries it out again.
 * T3  A turn whose activities all answer at once, and that leaves no effect open, commits once: with the end of its job.
 * T4  An event is taken or refused in the same step in which what follows from it is stored.
 * T5  An instance of another version of its chart is left to a worker that has that version.
 * T6  A turn waits for nobody: what takes its time goes on while the job sleeps.
 */
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import type { AnyEventObject } from 'xstate';
import { ZodError } from 'zod';
import { type Activities, activityFor, doneEvent, type Ended, type Finished } from './activities.ts';
import { addedAt, InputError, type InstanceInHand, readJobName, type Workflow } from './define.ts';
import { begin, failureOf, type Life, type Observation, parentOf, resume } from './interpret.ts';
import { type Child, type Effect, recordSchema } from './record.ts';
import {
  type About,
  type Commit,
  hasRecord,
  type Inbox,
  type InboxEntry,
  type InstanceStore,
  isRunAgain,
  runKeys,
  type Verdict,
} from './redis/instance-store.ts';

export type InstanceJob = Job<unknown, unknown>;

export interface TurnOptions {
  readonly store: InstanceStore;
  /** By name and version. */
  readonly find: (name: string, version: number | undefined) => Workflow | undefined;
  readonly activities: Activities;
  /** Starts, stops and tells other instances. Each may be told twice, under the same key. */
  readonly neighbours: Neighbours;
  readonly observe: (id: string, observation: Observation) => void;
  /** Of a job. Default: its name says so. */
  readonly workflowOf?: ((jobName: string) => ReturnType<typeof readJobName>) | undefined;
  /** Why the job of an instance fails whose version no worker has had for too long; undefined while one may come. */
  readonly abandon?: ((context: unknown, addedAt: number) => string | undefined) | undefined;
  /** For how long a try is held that goes on while its job sleeps. */
  readonly holdMs: number;
  /** Milliseconds since the epoch, by the clock of Redis. */
  readonly now: () => number;
  readonly onTrouble: (error: Error) => void;
}

export interface Neighbours {
  start(workflow: Workflow, id: string, input: unknown): Promise<void>;
  /** @throws When it cannot be said now whether it has arrived. */
  tell(id: string, key: string, event: AnyEventObject, about?: About): Promise<void>;
}

const usuallyWaitsMs = 20;
/** An instance that waits for an event alone sleeps until it is woken. */
const longestSleepMs = 10 * 365 * 86_400_000;
const otherVersionMs = 500;
const troubleBackoffMs = (troubles: number): number => Math.min(200 * 2 ** Math.min(troubles, 9), 60_000);

class LockLostError extends Error {
  override readonly name = 'LockLostError';
}

/** Reads the data when somebody asks for them, once. A class: see {@link Life}. */
class JobInHand implements InstanceInHand {
  readonly id: string;
  readonly #read: () => unknown;
  #data: { readonly read: unknown } | undefined;

  constructor(id: string, read: () => unknown) {
    this.id = id;
    this.#read = read;
  }

  get data(): unknown {
    this.#data ??= { read: this.#read() };
    return this.#data.read;
  }
}

const namesOf = (life: Life): readonly string[] =>
  life.activities().map(([child, { run }]) => `${child}/${run}`);
/** `child/run` of the activities of which a try is held. */
const heldIn = (children: ReadonlyArray<readonly [string, Child]>): readonly string[] =>
  children.flatMap(([child, { run, held }]) => (held ? [`${child}/${run}`] : []));

/** The end of a try that is not that of its activity. */
export const tryEvent = 'xstate.try';

/** The job ends as failed. @param reason One line. */
const fail = (reason: string): UnrecoverableError => {
  const error = new UnrecoverableError(reason.split('\n', 1)[0]);
  // BullMQ stores the stack with the job, and this one says nothing.
  error.stack = '';
  return error;
};

const pathOf = ({ issues: [first] }: ZodError): string =>
  first?.path.map(String).join('.') || (first?.message ?? '');

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

export const createTurn = (options: TurnOptions) => {
  const { store, find, activities, neighbours, observe, holdMs, now, onTrouble } = options;
  const { workflowOf = readJobName, abandon } = options;
  /** How many turns of an instance have ended in trouble here, one after the other. */
  const troubles = new Map<string, number>();

  const run = async (job: InstanceJob, token: string): Promise<unknown> => {
    const id = job.id ?? '';
    const progress = Object(job.progress) as { readonly inbox?: unknown };
    const isNew = !hasRecord(progress);

    /** Nobody of ours has written that. */
    const failPlanted = (reason: string): UnrecoverableError => {
      onTrouble(new Error(`${reason}: ${id}`));
      return fail(reason);
    };
    const read = isNew ? undefined : recordSchema.safeParse(progress);
    if (read?.success === false) throw failPlanted('The record of the instance cannot be read');
    const stored = read?.data;
    const begun = workflowOf(job.name);
    const notItsOwn = 'The record of the instance is not its own';
    if (stored !== undefined && stored.workflow !== begun.name) throw failPlanted(notItsOwn);
    const workflow = find(begun.name, stored?.version ?? begun.version);
    if (workflow === undefined) {
      const reason = abandon?.(stored?.context, job.timestamp);
      if (reason !== undefined) throw fail(reason);
      // Nor is it ours to fail: where it cannot be put off, it stalls and is taken up again.
      await store
        .sleep(id, token, now() + otherVersionMs)
        .catch((error: unknown) => onTrouble(asError(error)));
      throw new DelayedError();
    }
    const { chart } = workflow;

    /** The job is not ours to fail: it is run again from what is stored, here or elsewhere. */
    const putOff = async (error: unknown): Promise<never> => {
      onTrouble(asError(error));
      if (error instanceof LockLostError) throw new DelayedError();
      const before = troubles.get(id) ?? 0;
      troubles.set(id, before + 1);
      await store
        .sleep(id, token, now() + troubleBackoffMs(before))
        .catch((failure: unknown) => onTrouble(asError(failure)));
      throw new DelayedError();
    };
    const instance = new JobInHand(id, () => workflow.parseInput(job.data));
    /** What other programs add may be anything. */
    const orFail = <T>(read: () => T): T => {
      try {
        return read();
      } catch (error) {
        if (error instanceof InputError) throw fail(error.message);
        if (error instanceof ZodError) throw fail(`The input is not usable: ${pathOf(error)}`);
        throw error;
      }
    };
    const isReplay = (): boolean =>
      isRunAgain({ hasFailed: inbox.hasFailed, hasRecord: !isNew, ends: job.attemptsMade });
    const readInput = (at: number): unknown =>
      orFail(() => {
        const { timestamp, attemptsStarted, opts } = job;
        return workflow.begin(instance.data, {
          ...{ id, at, addedAt: addedAt(timestamp, opts, at) },
          ...{ isFirstRun: attemptsStarted <= 1, isReplay: isReplay(), attempts: opts.attempts ?? 1 },
        });
      });
    const takeUp = async (): Promise<Life> => {
      try {
        if (stored !== undefined) return resume(chart, id, stored);
        const at = now();
        return begin(chart, id, readInput(at), at);
      } catch (error) {
        const parent = isNew ? parentOf(id) : undefined;
        if (parent !== undefined) {
          const { child, run } = parent;
          await neighbours
            .tell(parent.id, `${runKeys}${child}/${run}`, failureOf(child, error), { child, run })
            .catch(putOff);
        }
        if (error instanceof UnrecoverableError) throw error;
        onTrouble(asError(error));
        throw fail(isNew ? 'The instance cannot begin' : 'The record of the instance does not fit its chart');
      }
    };
    /** Of the inbox, as this turn has read it, and how many of it were applied. */
    let inbox: Inbox = { entries: [], length: 0, holds: new Map(), hasFailed: false, hasBegun: false };
    /** Tries that are held in the store. */
    let held = heldIn(Object.entries(stored?.children ?? {}));
    /** It only grows while the lock is ours: what was applied is at its beginning. */
    const readInbox = async (): Promise<void> => {
      inbox = await store.readInbox(id, held);
    };
    const ranBefore = job.attemptsStarted > 1;
    if (!isNew || ranBefore || progress.inbox !== undefined) await readInbox().catch(putOff);
    if (stored !== undefined) {
      if (!inbox.hasBegun) throw failPlanted(notItsOwn);
      orFail(() => workflow.check(stored.context, instance));
    }
    const life = await takeUp();
    let committed = !isNew;
    /** Something has changed since the last commit. */
    let dirty = isNew;
    /** It has been run again after it had failed, and nothing of that is stored yet. */
    let replayed = false;
    /** It is stored that the instance has ended, and nothing but effects is left to do. */
    let closed = false;
    let taken = 0;
    let verdicts: Verdict[] = [];
    /** What runs by the last commit. */
    let committedNames: readonly string[] = isNew ? [] : namesOf(life);
    const own = activities.of(id);

    const apply = (event: AnyEventObject, at = now()): boolean => {
      dirty = true;
      return life.apply({ ...event, at }, at);
    };

    const tellObservers = (): void => {
      for (const observation of life.takeObserved()) {
        try {
          observe(id, observation);
        } catch (error) {
          onTrouble(asError(error));
        }
      }
    };
    const joinable = (): Commit['joinable'] => {
      const { deduplicationId, opts } = job;
      return deduplicationId === undefined ? undefined : { deduplicationId, ttlMs: opts.deduplication?.ttl };
    };
    /** @returns Whether it sleeps or ends, where it wanted to. If not, something has come in, and the inbox is read. */
    const commit = async (then: Commit['then']): Promise<boolean> => {
      const holding = heldIn(life.activities());
      const ours = own.running().map(({ child, run }) => `${child}/${run}`);
      const record = life.record();
      const stored = await store.commit(id, token, {
        record,
        length: inbox.length,
        verdicts,
        held: holding.filter((name) => ours.includes(name)),
        heldUntil: now() + holdMs,
        released: held.filter((name) => !holding.includes(name)),
        replayed,
        joinable: replayed ? joinable() : undefined,
        then,
      });
      if (stored === 'lost') throw new LockLostError('The lock is lost');
      // Who hears of the end of the job finds it there.
      job.progress = record;
      committed = true;
      dirty = false;
      held = holding;
      committedNames = namesOf(life);
      replayed = false;
      inbox = { ...inbox, entries: [], length: 0 };
      taken = 0;
      verdicts = [];
      tellObservers();
      if (then === 'goesOn' || stored === 'stored') return true;
      await readInbox();
      return false;
    };
    const heldUntil = (child: string, { run, held: isHeld }: Child): number =>
      isHeld ? (inbox.holds.get(`${child}/${run}`) ?? 0) : 0;

    const finish = ({ child, run, result }: Ended): boolean => {
      const known = life.child(child);
      if (known === undefined || known.run !== run || known.ended) return false;
      dirty = true;
      const { notBefore: _, held: __, ...idle } = known;
      switch (result.kind) {
        case 'done':
          apply(doneEvent(child, result.output));
          return true;
        case 'later':
          life.setChild(child, { ...idle, waits: true });
          return true;
        case 'released':
          life.setChild(child, idle);
          return true;
        case 'failed': {
          const {
            attempts = 1,
            backoffMs = 1000,
            maxBackoffMs = 60_000,
          } = activityFor(chart.logicOf(known.src)).policy;
          const failures = (known.failures ?? 0) + 1;
          if (failures >= attempts) {
            apply({ type: `xstate.error.actor.${child}`, error: result.error, actorId: child });
          } else {
            const pauseMs = Math.min(backoffMs * 2 ** (failures - 1), maxBackoffMs);
            life.setChild(child, { ...idle, failures, notBefore: now() + pauseMs });
          }
          return true;
        }
      }
    };

    /** What another instance, a try, or the holder of a token has sent about a run of a child counts for that run alone. */
    const applyEntry = ({ event, about, at }: InboxEntry): boolean => {
      if (about === undefined) return apply(event, at);
      const { child, run, result } = about;
      if (result !== undefined) return finish({ child, run, result: result as Finished });
      const known = life.child(child);
      return known !== undefined && known.run === run && !known.ended && apply(event, at);
    };

    /** T1 */
    const catchUp = (): void => {
      while (life.status() === 'active') {
        const entry = inbox.entries[taken];
        const timer = life.takeDue(now(), entry?.at ?? Number.POSITIVE_INFINITY);
        if (timer !== undefined) {
          dirty = true;
          life.fire(timer, now());
        } else if (entry !== undefined) {
          verdicts.push([entry.key, applyEntry(entry) ? 'taken' : 'refused']);
          taken += 1;
          dirty = true;
        } else return;
      }
    };

    const carryOut = async (effect: Effect): Promise<void> => {
      const { number, kind, type = '', params, event, context, to = '' } = effect;
      switch (kind) {
        case 'action':
          await chart.implementationOf(type)(
            { context, event, instance, effect: { id: `${id}/${number}` } },
            params,
          );
          return;
        case 'start': {
          const started = workflow.children[type];
          if (started === undefined) throw new Error(`${chart.name}: there is no chart ${type}`);
          await neighbours.start(started, to, params);
          return;
        }
        case 'send':
          await neighbours.tell(to, `${id}/${number}`, event ?? { type: '' });
          return;
        case 'stop':
          await neighbours.tell(to, `${id}/${number}`, { type: 'xstate.stop' });
          return;
        case 'reply': {
          const { child, run } = params as { child: string; run: number };
          await neighbours.tell(to, `${runKeys}${child}/${run}`, event ?? { type: '' }, { child, run });
          return;
        }
      }
    };

    /** Nothing comes in any more. @returns False when something had come in before. */
    const close = async (): Promise<boolean> => {
      // What came too late is refused, and its sender is told so.
      for (const { key } of inbox.entries.slice(taken)) verdicts.push([key, 'refused']);
      closed = await commit('ends');
      return closed;
    };

    /** T2. The commit that clears what was carried out is the next one, or the end of the job. */
    const carryOutAll = async (): Promise<void> => {
      if (life.effects().length === 0) return;
      const isOver = life.status() !== 'active' || life.rests() !== undefined;
      if (dirty && !(await (isOver ? close() : commit('goesOn')))) return;
      let count = 0;
      try {
        for (const effect of life.effects()) {
          await carryOut(effect);
          count += 1;
        }
      } catch (error) {
        // Those before one that fails again and again are not carried out each time.
        life.clearEffects(count);
        closed = false;
        if (count > 0) await commit('goesOn');
        throw error;
      }
      life.clearEffects(count);
      dirty = true;
    };

    /** @returns Whether something has happened that may be due at once. */
    const runActivities = async (): Promise<boolean> => {
      if (own.isIdle() && life.activities().length === 0) return false;
      own.keepOnly(namesOf(life));
      const time = now();
      let waitsMs = 0;
      for (const [child, known] of life.openActivities(time)) {
        const { src, run, input } = known;
        if (heldUntil(child, known) > time) continue;
        const activity = activityFor(chart.logicOf(src));
        if (!committedNames.includes(`${child}/${run}`) && activity.policy.afterCommit?.(input)) {
          await commit('goesOn');
          return true;
        }
        const waitMs = own.start({ child, run, activity, input, instance, now: time });
        if (waitMs === 0) {
          waitsMs = Math.max(waitsMs, activity.policy.turnWaitsMs?.(input) ?? usuallyWaitsMs);
          continue;
        }
        const { held: _, ...idle } = known;
        life.setChild(child, { ...idle, notBefore: time + waitMs });
        dirty = true;
      }
      const ended = await own.next(waitsMs);
      if (ended === undefined) return false;
      finish(ended);
      return true;
    };

    /** T6. Returns when something has come in. */
    const sleep = async (): Promise<void> => {
      const time = now();
      const names = own.running().map(({ child, run }) => `${child}/${run}`);
      const open = life.openActivities(time);
      const isOurs = ([child, { run }]: (typeof open)[number]): boolean => names.includes(`${child}/${run}`);
      // Its time has come since they were looked at last: nothing would wake the job for it.
      if (open.some((each) => !isOurs(each) && heldUntil(...each) <= time)) return;
      for (const [child, known] of open.filter(isOurs)) life.setChild(child, { ...known, held: true });
      if (!(await commit('sleeps'))) return;
      await store.sleep(id, token, Math.min(life.nextTime(time), time + longestSleepMs));
      throw new DelayedError();
    };

    const end = async (): Promise<{ readonly result: unknown } | undefined> => {
      const rests = life.rests();
      // Timers and lines of the inbox may have been written by others, too.
      if (rests !== 'failed' && (committed || inbox.length > 0))
        orFail(() => workflow.check(life.context(), instance));
      const isToBeStored = committed || inbox.length > 0 || replayed || rests === 'failed';
      if (!closed && isToBeStored && !(await close())) return undefined;
      tellObservers();
      if (rests === 'failed') throw fail(workflow.reasonOf(life.context()));
      const record = life.record();
      if (record.status === 'error') throw fail(String(record.error));
      return { result: workflow.resultOf(record) };
    };

    try {
      if (isReplay()) {
        replayed = true;
        // Those of the end before were carried out before it.
        life.clearEffects(life.effects().length);
        const at = now();
        apply({ type: 'REPLAY', input: readInput(at) }, at);
      }
      for (;;) {
        catchUp();
        if (await runActivities()) continue;
        if (life.effects().length > 0) {
          await carryOutAll();
          continue;
        }
        if (life.status() === 'active' && life.rests() === undefined) {
          await sleep();
          continue;
        }
        const ended = await end();
        if (ended !== undefined) return ended.result;
      }
    } catch (error) {
      if (error instanceof UnrecoverableError) throw error;
      if (error instanceof DelayedError) {
        troubles.delete(id);
        throw error;
      }
      // What was begun since the last commit may never have been: the next turn may begin something else under its name.
      own.keepOnly(committedNames);
      return await putOff(error);
    } finally {
      own.leave();
    }
  };

  return async (job: InstanceJob, token: string): Promise<unknown> => {
    const forget = (): boolean => troubles.delete(job.id ?? '');
    try {
      const result = await run(job, token);
      forget();
      return result;
    } catch (error) {
      if (error instanceof UnrecoverableError) forget();
      throw error;
    }
  };
};
