/**
 * Runs one instance of a workflow with a clock that jumps, for `paraph workflow test`.
 *
 * It is the engine itself: jobs in Redis, the worker and its turns. Only the clock is another one.
 * When all jobs sleep and no activity runs, it jumps to the next time that something is due, so a
 * week takes milliseconds. Activities and actions of the chart are really carried out, unless an
 * answer is given for an activity.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Queue } from 'bullmq';
import type { AnyActorLogic, AnyEventObject } from 'xstate';
import { activityFor, tokenOf } from './activities.ts';
import { activitiesOf } from './chart.ts';
import { type Activity, activity, activityOf, jobNameOf, later, type Workflow } from './define.ts';
import { createEngine, type Instance, type SendResult, spreadOver } from './engine.ts';
import { createOthers, type OthersOptions } from './other.ts';
import { activitiesIn } from './record.ts';
import type { RedisClient } from './redis/client.ts';
import { startWorkflowWorker } from './worker.ts';

/** The answer that replaces the work of an activity. */
export type RehearsedAnswer = { readonly output: unknown } | { readonly error: string };

export interface RehearsedEvent {
  /** Time after the event before it, or after the start. Default: when nothing else is to do. */
  readonly afterMs?: number | undefined;
  readonly send?: { readonly type: string } | undefined;
  /** The name of an activity that answers later. */
  readonly answer?: string | undefined;
  readonly output?: unknown;
}

/** One event of a rehearsal. `id` names the instance; `at` is milliseconds since the start. */
export type RehearsalNote = { readonly at: number; readonly id: string } & (
  | { readonly kind: 'state'; readonly value: unknown }
  | { readonly kind: 'activity'; readonly name: string; readonly input: unknown }
  | { readonly kind: 'answer'; readonly name: string; readonly answer: RehearsedAnswer | 'later' }
  | { readonly kind: 'action'; readonly name: string; readonly params: unknown }
  | { readonly kind: 'event'; readonly type: string; readonly result: SendResult }
  | { readonly kind: 'trouble'; readonly message: string }
);

export interface Rehearsal {
  readonly notes: readonly RehearsalNote[];
  /**
   * ended   The instance has ended.
   * waits   The instance waits for an event or an answer that the rehearsal does not have.
   * limit   It goes on for longer than `limitMs`, or without end.
   */
  readonly how: 'ended' | 'waits' | 'limit';
  readonly instance: Instance;
  readonly tookMs: number;
}

interface Options {
  /** A client that may block (`maxRetriesPerRequest: null`). */
  readonly connection: RedisClient;
  readonly workflow: Workflow;
  /** The data of the job. */
  readonly data: unknown;
  readonly events?: readonly RehearsedEvent[];
  /** Answers of activities, by their names in the chart; each is used once, in order. */
  readonly answers?: Readonly<Record<string, readonly RehearsedAnswer[]>>;
  /** Answers an activity that a service provides, when `answers` has none. */
  readonly provided?: (name: string, input: unknown, now: number) => unknown;
  /** Options for the workflows that the chart starts (other.ts). */
  readonly others?: Omit<OthersOptions, 'engine'>;
  /** Gets each note at once. */
  readonly tell?: (note: RehearsalNote) => void;
  /** The longest rehearsal, by its own clock. Default: ten years. */
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
}

const tenYearsMs = 10 * 366 * 86_400_000;
/** Jumps of the clock after which an instance that only fires short timers is stopped. */
const maxJumps = 10_000;
const pollMs = 2;
/** Id of the instance. */
const root = 'test';

const open = ['waiting', 'prioritized', 'active', 'delayed'] as const;

/** The workflows that its chart starts, and those that their charts start. */
const reachedFrom = (workflow: Workflow): readonly Workflow[] => {
  const all = new Map([[jobNameOf(workflow), workflow]]);
  for (const { chart } of all.values())
    for (const { logic } of activitiesOf(chart)) {
      const { starts } = activityOf(logic) ?? {};
      if (starts !== undefined && !all.has(jobNameOf(starts))) all.set(jobNameOf(starts), starts);
    }
  return [...all.values()].slice(1);
};

/** @throws SchemaError, InputError for data that the workflow does not take. */
export const rehearse = async (options: Options): Promise<Rehearsal> => {
  const {
    connection,
    data,
    events = [],
    answers = {},
    tell,
    limitMs = tenYearsMs,
    signal,
  } = options;
  const began = Date.now();
  let skewMs = 0;
  const now = (): number => Date.now() + skewMs;
  const notes: RehearsalNote[] = [];
  let begunAt = now();
  const note = (id: string, what: object): void => {
    const each = { at: now() - begunAt, id, ...what } as RehearsalNote;
    notes.push(each);
    tell?.(each);
  };
  let running = 0;
  const left = new Map(Object.entries(answers).map(([name, list]) => [name, [...list]]));

  /** Wraps an activity, with its policy, so that it notes its input and its answer. */
  const watched = (name: string, logic: AnyActorLogic): AnyActorLogic => {
    const { provided, starts, ...own } = activityFor(logic);
    const { run, policy } = starts === undefined ? own : others.activityFor(starts);
    const { withdraw: _, ...rest } = policy;
    return activity<unknown, unknown>(
      async (given) => {
        const { id } = given.instance;
        running += 1;
        try {
          note(id, { kind: 'activity', name, input: given.input });
          const answer = left.get(name)?.shift();
          if (answer !== undefined && 'error' in answer) throw new Error(answer.error);
          const output =
            answer !== undefined
              ? answer.output
              : provided === undefined
                ? await run(given)
                : options.provided?.(provided, given.input, given.now);
          note(id, { kind: 'answer', name, answer: output === later ? 'later' : { output } });
          return output;
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          failures.add(message);
          note(id, { kind: 'answer', name, answer: { error: message } });
          throw error;
        } finally {
          running -= 1;
        }
      },
      provided === undefined ? policy : rest,
    );
  };
  const { workflow } = options;
  const { workflowOf = (each: Workflow) => each } = options.others ?? {};
  const workflows = [workflow, ...reachedFrom(workflow).map(workflowOf)];
  const names = new Map(
    workflows.flatMap(({ chart }) => activitiesOf(chart)).map(({ name, logic }) => [logic, name]),
  );
  const watchedLogics = new WeakMap<AnyActorLogic, AnyActorLogic>();
  const watch = (logic: AnyActorLogic): Activity => {
    const seen = watchedLogics.get(logic) ?? watched(names.get(logic) ?? 'activity', logic);
    watchedLogics.set(logic, seen);
    return activityFor(seen);
  };

  const prefix = `{rehearsal-${randomUUID()}}`;
  const queue = new Queue('workflows', { connection, prefix, skipVersionCheck: true });
  const failures = new Set<string>();
  const onError = ({ message }: Error): void => {
    // The worker tells failed tries, too.
    if (!failures.has(message)) note(root, { kind: 'trouble', message });
  };
  queue.on('error', onError);
  const engine = createEngine(spreadOver([queue], connection, now), now);
  const others = createOthers({ ...options.others, engine });
  const worker = startWorkflowWorker({
    queue,
    connection,
    workflows,
    others,
    concurrency: 20,
    now,
    onError,
    watch: {
      activityFor: watch,
      effect: (id, name, params) => note(id, { kind: 'action', name, params }),
    },
  });
  const states = new Map<string, string>();

  /** Returns the instances that have not ended, and notes states that have changed. */
  const look = async (): Promise<readonly Instance[]> => {
    const jobs = await queue.getJobs([...open, 'completed', 'failed']);
    const ids = jobs.map(({ id = '' }) => id).toSorted();
    const found = (await Promise.all(ids.map((id) => engine.find(id)))).filter(
      (each) => each !== undefined,
    );
    for (const { id, record } of found) {
      const value = JSON.stringify(record?.value);
      if (value === undefined || states.get(id) === value) continue;
      states.set(id, value);
      note(id, { kind: 'state', value: record?.value });
    }
    return found.filter(({ ended }) => ended === 'no');
  };

  /** Resolves when all jobs sleep or have ended, and no activity runs. */
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 2; ) {
      signal?.throwIfAborted();
      const { waiting = 0, prioritized = 0, active = 0 } = await queue.getJobCounts(...open);
      quiet = waiting + prioritized + active + running === 0 ? quiet + 1 : 0;
      if (active > 0) await look();
      await delay(pollMs);
    }
  };

  /** The next time something is due in an instance; Infinity when it waits for an event. */
  const dueIn = ({ record }: Instance): number =>
    Math.min(
      Number.POSITIVE_INFINITY,
      ...(record?.timers ?? []).map(({ at }) => at),
      ...activitiesIn(record).flatMap(([, { notBefore }]) =>
        notBefore === undefined ? [] : [notBefore],
      ),
    );

  const jumpTo = async (time: number, instances: readonly Instance[]): Promise<void> => {
    skewMs = Math.max(skewMs, time - Date.now() + 1);
    for (const instance of instances) {
      if (dueIn(instance) > time) continue;
      const job = await queue.getJob(instance.id);
      // It may have woken by itself.
      await job?.promote().catch(() => undefined);
    }
  };

  let sent = 0;
  const bring = async (
    { send, answer, output }: RehearsedEvent,
    instances: readonly Instance[],
  ) => {
    sent += 1;
    if (send !== undefined) {
      const result = await engine.send(workflow, root, `event-${sent}`, send as AnyEventObject, {
        judged: true,
      });
      note(root, { kind: 'event', type: send.type, result });
    }
    if (answer === undefined) return;
    for (const instance of instances) {
      const { id, record } = instance;
      for (const [path, { src, run, waits }] of activitiesIn(record)) {
        if (src !== answer || !waits) continue;
        const result = await engine.answer(tokenOf(instance, path, run), { output });
        note(id, { kind: 'event', type: `answer of ${answer}`, result });
        return;
      }
    }
    note(root, { kind: 'event', type: `answer of ${answer}`, result: 'unknown' });
  };

  const run = async (): Promise<Rehearsal['how']> => {
    const script = [...events];
    let lastAt = begunAt;
    for (let jumps = 0; jumps < maxJumps; jumps += 1) {
      await settle();
      const instances = await look();
      if (!instances.some(({ id }) => id === root)) return 'ended';
      const due = Math.min(...instances.map(dueIn));
      const [next] = script;
      const eventAt = next === undefined ? Number.POSITIVE_INFINITY : lastAt + (next.afterMs ?? 0);
      if (next !== undefined && (eventAt <= due || eventAt <= now())) {
        if (eventAt > now()) skewMs = Math.max(skewMs, eventAt - Date.now());
        script.shift();
        lastAt = Math.max(eventAt, lastAt);
        await bring(next, instances);
      } else if (due === Number.POSITIVE_INFINITY) return 'waits';
      else if (due - begunAt > limitMs) return 'limit';
      else await jumpTo(due, instances);
    }
    return 'limit';
  };

  try {
    await worker.ready();
    begunAt = now();
    // The service checks the data when it adds a job, too; otherwise the first turn would fail.
    workflow.parseInput(data);
    await queue.add(jobNameOf(workflow), data, { jobId: root, timestamp: begunAt });
    const how = await run();
    const instance = await engine.find(root);
    if (instance === undefined) throw new Error('The instance of the rehearsal is gone');
    return { notes, how, instance, tookMs: Date.now() - began };
  } finally {
    await worker.close();
    await queue.obliterate({ force: true }).catch(() => undefined);
    await queue.close();
  }
};
