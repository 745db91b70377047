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
 */
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import type { AnyEventObject } from 'xstate';
import type { ActivityRuns, Finished } from './activities.ts';
import type { Workflow } from './define.ts';
import { begin, type Observation, resume } from './interpret.ts';
import { type Effect, type InstanceRecord, recordSchema } from './record.ts';
import type { Inbox, InstanceStore, Verdict } from './redis/instance-store.ts';

export interface InstanceData {
  readonly input?: unknown;
  readonly parent?: InstanceRecord['parent'];
  readonly instance?: unknown;
}

export type InstanceJob = Job<InstanceData, InstanceRecord>;

export interface TurnOptions {
  readonly store: InstanceStore;
  /** By name and version. */
  readonly find: (name: string, version: number | undefined) => Workflow | undefined;
  readonly activities: ActivityRuns;
  /** Starts, stops and tells other instances. Each may be told twice, under the same key. */
  readonly neighbours: Neighbours;
  readonly observe: (id: string, observation: Observation) => void;
  readonly now: () => number;
  readonly onTrouble: (error: Error) => void;
  /** Aborts when the worker stops: activities that take their time are run again elsewhere. */
  readonly stopping: AbortSignal;
}

export interface Neighbours {
  start(workflow: Workflow, id: string, data: InstanceData): Promise<void>;
  /** @throws When it cannot be said now whether it has arrived. */
  tell(id: string, key: string, event: AnyEventObject): Promise<void>;
}

/** What has not been answered by then is not at once: the instance is committed, and can be sent events. */
const atOnceMs = 20;
const lookForEventsMs = 250;
/** An instance that waits for an event alone sleeps until it is woken. */
const longestSleepMs = 10 * 365 * 86_400_000;
const otherVersionMs = 500;
const effectBackoffMs = (started: number): number => Math.min(200 * 2 ** Math.min(started, 9), 60_000);

export class LockLostError extends Error {
  override readonly name = 'LockLostError';
}

/** The lines of the inbox that the engine writes itself. */
interface Internal {
  readonly type: string;
  readonly child?: string;
  readonly run?: number;
}

export const createTurn = (options: TurnOptions) => {
  const { store, find, activities, neighbours, observe, now, onTrouble, stopping } = options;

  return async (job: InstanceJob, token: string): Promise<InstanceRecord> => {
    const id = job.id ?? '';
    const data = job.data;
    const stored = data.instance === undefined ? undefined : recordSchema.parse(data.instance);
    const workflow = find(stored?.workflow ?? job.name, stored?.version);
    if (workflow === undefined) {
      await job.moveToDelayed(now() + otherVersionMs, token);
      throw new DelayedError();
    }
    const { chart } = workflow;
    const life =
      stored === undefined ? begin(chart, id, data.input, now(), data.parent) : resume(chart, id, stored);
    let committed = stored !== undefined;
    /** Something has changed since the last commit. */
    let dirty = !committed;
    let runs = stored?.runs;
    /** Of the inbox, as this turn has read it, and how many of it were applied. */
    let inbox: Inbox = { entries: [], length: 0 };
    let taken = 0;
    let verdicts: Verdict[] = [];

    const apply = (event: AnyEventObject): boolean => {
      dirty = true;
      return life.apply(event, now());
    };

    const tellObservers = (): void => {
      for (const observation of life.takeObserved()) observe(id, observation);
    };
    const commit = async (): Promise<void> => {
      const next: InstanceData = {
        ...data,
        instance: { ...life.record(), ...(runs !== undefined && { runs }) },
      };
      if (!(await store.commit(id, token, next, inbox.length, verdicts)))
        throw new LockLostError('The lock is lost');
      committed = true;
      dirty = false;
      inbox = { entries: [], length: 0 };
      taken = 0;
      verdicts = [];
      tellObservers();
    };
    /** It only grows while the lock is ours: what was applied is at its beginning. */
    const readInbox = async (): Promise<void> => {
      inbox = await store.readInbox(id);
    };

    /** What another instance, or the holder of a token, has sent about a run of a child counts for that run alone. */
    const applyEntry = ({ child, run, ...event }: Internal): boolean => {
      if (child !== undefined) {
        const known = life.child(child);
        if (known === undefined || known.run !== run || known.ended) return false;
      }
      return apply(event);
    };

    /** T1 */
    const catchUp = (): void => {
      while (life.status === 'active') {
        const entry = inbox.entries[taken];
        const timer = life.takeDue(now(), entry?.at ?? Number.POSITIVE_INFINITY);
        if (timer !== undefined) {
          dirty = true;
          life.fire(timer, now());
        } else if (entry !== undefined) {
          verdicts.push([entry.key, applyEntry(entry.event) ? 'taken' : 'refused']);
          taken += 1;
          dirty = true;
        } else return;
      }
    };

    const carryOut = async (effect: Effect): Promise<void> => {
      const { number, kind, type = '', params, event, context, to = '' } = effect;
      switch (kind) {
        case 'action':
          await chart.implementationOf(type)({ context, event, effect: { id: `${id}/${number}` } }, params);
          return;
        case 'start': {
          const { child, run, input } = params as { child: string; run: number; input: unknown };
          const started = workflow.children[type];
          if (started === undefined) throw new Error(`${chart.name}: there is no chart ${type}`);
          await neighbours.start(started, to, { input, parent: { id, child, run } });
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
          await neighbours.tell(to, `end/${child}/${run}`, { type: '', ...event, child, run });
          return;
        }
      }
    };

    /** T2. The commit that clears what was carried out is the next one, or the end of the job. */
    const carryOutAll = async (): Promise<void> => {
      if (life.effects().length === 0) return;
      if (dirty) await commit();
      for (const effect of life.effects()) await carryOut(effect);
      life.clearEffects();
      dirty = true;
    };

    const finish = ({ child, run, result }: { child: string; run: number; result: Finished }): void => {
      const known = life.child(child);
      if (known === undefined || known.run !== run || known.ended) return;
      dirty = true;
      switch (result.kind) {
        case 'done':
          apply({ type: `xstate.done.actor.${child}`, output: result.output, actorId: child });
          return;
        case 'later':
          life.updateChild(child, { waits: true });
          return;
        case 'failed': {
          const { policy, error } = result;
          const failures = (known.failures ?? 0) + 1;
          if (failures >= (policy.attempts ?? 1)) {
            apply({ type: `xstate.error.actor.${child}`, error, actorId: child });
            return;
          }
          const pauseMs = Math.min(
            (policy.backoffMs ?? 1000) * 2 ** (failures - 1),
            policy.maxBackoffMs ?? 60_000,
          );
          life.updateChild(child, { failures, retryAt: now() + pauseMs });
        }
      }
    };

    const running = activities.of(id);
    /** When open activities were last looked for. */
    let looked = 0;
    /** @returns Whether there was an activity to run. */
    const runActivities = async (): Promise<boolean> => {
      const time = now();
      looked = time;
      const open = life.openActivities(time);
      running.keepOnly(open.map(([child, { run }]) => `${child}/${run}`));
      if (open.length === 0) return false;
      for (const [child, { src, run, input }] of open) {
        running.start({ child, run, logic: chart.logicOf(src), input, now: time });
      }
      const waitMs = Math.max(0, Math.min(dirty ? atOnceMs : lookForEventsMs, life.nextTime(time) - time));
      const finished = await running.next(waitMs);
      if (finished !== undefined) {
        finish(finished);
        return true;
      }
      // Nobody waits for an activity that takes its time: from here on the instance can be sent events.
      if (dirty) await commit();
      await carryOutAll();
      if (stopping.aborted) return await leave();
      await readInbox();
      return true;
    };

    const leave = async (): Promise<never> => {
      if (dirty) await commit();
      await job.moveToDelayed(now(), token);
      throw new DelayedError();
    };

    const sleep = async (): Promise<never> => {
      if (dirty) await commit();
      const until = Math.min(life.nextTime(looked), now() + longestSleepMs);
      await job.moveToDelayed(Math.max(until, now()), token);
      // What came before it slept had nothing to wake.
      if (await store.hasMore(id, 0)) await store.wake(id);
      throw new DelayedError();
    };

    const end = async (): Promise<InstanceRecord | undefined> => {
      if (committed) {
        // What came too late is refused, and its sender is told so.
        for (const { key } of inbox.entries.slice(taken)) verdicts.push([key, 'refused']);
        taken = inbox.entries.length;
        if (!(await store.seal(id, token, inbox.length, verdicts))) {
          await readInbox();
          return undefined;
        }
      }
      tellObservers();
      if (life.status === 'active') throw new UnrecoverableError(workflow.reasonOf(life.context));
      if (life.status === 'error') throw new UnrecoverableError(String(life.error));
      return life.record();
    };

    try {
      if (stored !== undefined || (job.progress as { inbox?: unknown }).inbox !== undefined)
        await readInbox();
      if (runs !== undefined && runs < job.attemptsMade && life.isFailed()) apply({ type: 'REPLAY' });
      for (;;) {
        catchUp();
        if (await runActivities()) continue;
        if (life.effects().length > 0) {
          await carryOutAll();
          continue;
        }
        if (life.status === 'active') {
          if (!life.isFailed()) return await sleep();
          if (runs !== job.attemptsMade) {
            runs = job.attemptsMade;
            await commit();
          }
        }
        const ended = await end();
        if (ended !== undefined) return ended;
      }
    } catch (error) {
      if (error instanceof DelayedError || error instanceof UnrecoverableError) throw error;
      onTrouble(error instanceof Error ? error : new Error(String(error)));
      // The job is not ours to fail: it is run again from what is stored, here or elsewhere.
      await job
        .moveToDelayed(now() + effectBackoffMs(job.attemptsStarted), token)
        .catch((failure: unknown) =>
          onTrouble(failure instanceof Error ? failure : new Error(String(failure))),
        );
      throw new DelayedError();
    } finally {
      running.stop();
    }
  };
};
