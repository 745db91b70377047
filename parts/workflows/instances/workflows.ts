/**
 * Instances of workflows that applications start: start, find, send, cancel, list.
 *
 * An application sees its own instances only. Those of others, unknown ones and those whose
 * retention is over are the same: unknown. Callers have been authenticated before.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  begunJob,
  jobNameOf,
  readJobName,
  type Workflow,
} from '../../../packages/engine/src/define.ts';
import {
  createEngine,
  type Engine,
  type Instance,
  spreadOver,
} from '../../../packages/engine/src/engine.ts';
import { problemIn } from '../../../packages/engine/src/input-problem.ts';
import type { ReadJournal } from '../../../packages/engine/src/journal.ts';
import { encode } from '../../../packages/engine/src/values.ts';
import type { SubscriberRegistry } from '../../../src/registry/subscriber.ts';
import {
  instanceIdOf,
  ownIdOf,
  ownIdPattern,
} from '../../../src/transactions/jobs/instance-ids.ts';
import type { Shard } from '../../../src/transactions/shards.ts';
import type { ServiceWorkflow } from '../hosted.ts';
import type { InstanceFilter } from '../instance-fields.ts';
import { workflowsOf } from '../queue.ts';
import { type WorkflowStatus, workflowDataSchema } from './contract.ts';
import { asEnded, outputOf, reasonOfEnd, statusOf } from './ends.ts';
import { createListing, listInstances, peopleOf } from './listing.ts';

/** A transition may take more than this event. */
const takesReplay = /^(?:REPLAY(?:\.\*)?|\*)$/;

/** An instance as its application sees it. */
export interface WorkflowView {
  /** The id that the application has chosen. */
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly status: WorkflowStatus;
  /** The state value of the chart; undefined before the first turn. */
  readonly state: unknown;
  /** What the workflow publishes of its context. */
  readonly context: unknown;
  readonly output: unknown;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly endedAt: number | undefined;
  /** Why it failed or was cancelled. */
  readonly reason: string | undefined;
}

/**
 * started   It is new.
 * known     The same was started before under this id.
 * conflict  Something else was.
 * invalid   `message` names the place in the input, never its value.
 * unknown   There is no such workflow.
 * too-many  The application has as many open instances as it may: nothing was begun.
 * full      All applications together have.
 */
export type StartResult =
  | { readonly kind: 'started' | 'known'; readonly view: WorkflowView }
  | { readonly kind: 'conflict' | 'unknown' | 'too-many' | 'full' }
  | { readonly kind: 'invalid'; readonly message: string };

/** `unknown`: no such instance, or it has ended. `refused`: not in its state. */
export type SendOutcome =
  | { readonly kind: 'taken' | 'refused' | 'unknown' | 'busy' }
  | { readonly kind: 'invalid'; readonly message: string };

export type Workflows = ReturnType<typeof createWorkflows>;

/**
 * @param whole What the error is about as a whole.
 * @throws The error, where it is about no value.
 */
const problemOf = (error: unknown, whole: string, value: unknown): string => {
  const problem = problemIn(error, { whole, values: [value] });
  if (problem === undefined) throw error;
  return problem;
};

/** A chart of one's own as the service runs it: its job also says for which application. */
export const asServiceWorkflow = (workflow: Workflow): Workflow => ({
  ...workflow,
  parseInput: (data) => {
    const { apId, input } = workflowDataSchema.parse(data);
    return { apId, input: workflow.parseInput(input) };
  },
  begin: (data, job) => workflow.begin((data as { readonly input: unknown }).input, job),
});

/** Longer than the effects of an end usually take. */
const endingMs = 250;
/** All applications together may have this many times the open instances of one. */
const maxOpenInAll = 10;

export const createWorkflows = (options: {
  readonly shards: readonly Shard[];
  /** The workflows that the service runs, each with the earlier versions that may still be open. */
  readonly workflows: readonly ServiceWorkflow[];
  /** Whether applications do not see the instances of a workflow. Default: they see all. */
  readonly isHidden?: (name: string) => boolean;
  readonly retention: { readonly doneMs: number; readonly failedMs: number };
  /**
   * Of the open instances of an application in each shard ({@link peopleOf}). Default: no limit.
   */
  readonly maxOpen?: number;
  /** Finds subscribers, for checks of new instances. Default: inputs are not checked by it. */
  readonly find?: SubscriberRegistry['find'];
  readonly now: () => number;
}) => {
  const { shards, retention, maxOpen = Number.POSITIVE_INFINITY, find, now } = options;
  const { isHidden = () => false } = options;
  const byName = new Map<string, readonly ServiceWorkflow[]>();
  for (const workflow of options.workflows) {
    const versions = [...(byName.get(workflow.chart.name) ?? []), workflow];
    byName.set(
      workflow.chart.name,
      versions.toSorted((a, b) => b.chart.version - a.chart.version),
    );
  }
  const queues = shards.map(workflowsOf);
  const [{ redis } = { redis: undefined }] = queues;
  if (redis === undefined) throw new TypeError('shards: there must be one');
  const locate = spreadOver(
    queues.map(({ queue }) => queue),
    redis,
    now,
  );
  const engine: Engine = createEngine(locate, now);

  const workflowFor = ({ jobName, record }: Instance): ServiceWorkflow | undefined => {
    const versions = byName.get(record?.workflow ?? readJobName(jobName).name) ?? [];
    return versions.find(({ chart }) => chart.version === record?.version) ?? versions[0];
  };

  const isRetained = ({ endedAt, ended }: Instance): boolean =>
    endedAt === undefined ||
    now() - endedAt < (ended === 'failed' ? retention.failedMs : retention.doneMs);

  const findInstance = async (instanceId: string, name: string): Promise<Instance | undefined> => {
    const instance = await engine.find(instanceId);
    return instance !== undefined &&
      readJobName(instance.jobName).name === name &&
      isRetained(instance)
      ? instance
      : undefined;
  };

  const findOwn = async (apId: string, name: string, id: string): Promise<Instance | undefined> =>
    ownIdPattern.test(id) && !isHidden(name)
      ? findInstance(instanceIdOf(apId, name, id), name)
      : undefined;

  const viewOf = (found: Instance): WorkflowView => {
    const workflow = workflowFor(found);
    const instance = asEnded(found, workflow);
    const { id, record, jobName, createdAt, endedAt } = instance;
    const { name, version = workflow?.chart.version ?? 1 } = readJobName(jobName);
    return {
      id: ownIdOf(id, name),
      name,
      version: record?.version ?? version,
      status: statusOf(instance),
      state: record?.value,
      context: record === undefined ? undefined : workflow?.publish(record.context),
      output: outputOf(instance, workflow),
      createdAt,
      endedAt,
      reason: reasonOfEnd(instance),
    };
  };

  const reasonOf = async (id: string): Promise<string | undefined> => {
    const instance = await engine.find(id);
    return instance && reasonOfEnd(instance);
  };

  const sendTo = async (
    instance: Instance,
    key: string | undefined,
    event: { readonly type: string },
  ): Promise<SendOutcome> => {
    const sentOnce = key === undefined;
    const workflow = workflowFor(instance);
    if (workflow === undefined) return { kind: 'unknown' };
    try {
      const sent = await engine.send(workflow, instance.id, key ?? randomUUID(), event, {
        judged: true,
        sentOnce,
      });
      return { kind: sent === 'finished' ? 'unknown' : sent };
    } catch (error) {
      return { kind: 'invalid', message: problemOf(error, 'The event', event) };
    }
  };

  return {
    engine,
    locate,
    names: (): readonly string[] => [...byName.keys()],
    /** The latest version first. */
    versions: (name: string): readonly Workflow[] => byName.get(name) ?? [],

    /**
     * Makes an instance durable.
     *
     * @param id Of the application's choice; the same again with the same input is the same
     *   instance. Undefined for a random one.
     */
    start: async (
      apId: string,
      name: string,
      input: unknown,
      id: string | undefined,
    ): Promise<StartResult> => {
      const workflow = byName.get(name)?.[0];
      if (workflow === undefined) return { kind: 'unknown' };
      if (id !== undefined && !ownIdPattern.test(id))
        return { kind: 'invalid', message: 'id must be 1 to 64 letters, digits, - or _' };
      const data = { apId, input };
      const known = async (): Promise<StartResult | undefined> => {
        const instance = id && (await engine.find(instanceIdOf(apId, name, id)));
        if (!instance) return undefined;
        const isSame =
          readJobName(instance.jobName).name === name &&
          isDeepStrictEqual(instance.data, asStored(data));
        return isSame ? { kind: 'known', view: viewOf(instance) } : { kind: 'conflict' };
      };
      const before = await known();
      if (before !== undefined) return before;
      const instanceId = instanceIdOf(apId, name, id ?? randomBytes(15).toString('base64url'));
      const { queue } = locate(instanceId);
      const listing = createListing({ queue, redis, retention, now });
      const timestamp = now();
      try {
        const job = { id: instanceId, timestamp, opts: {} };
        // No JSON of an application may be taken for a mark of the engine.
        encode(input, 'input', () => undefined);
        workflow.begin(workflow.parseInput(data), begunJob(job, timestamp));
      } catch (error) {
        return { kind: 'invalid', message: problemOf(error, 'input', input) };
      }
      const message = find && (await workflow.checkInput?.(input, { apId, now: timestamp, find }));
      if (message !== undefined) return { kind: 'invalid', message };
      const people = peopleOf(name, data);
      const { own, inAll } = await listing.sizes(apId);
      if (own + people.size > maxOpen) return { kind: 'too-many' };
      if (inAll + people.size > maxOpenInAll * maxOpen) return { kind: 'full' };
      await queue.add(jobNameOf(workflow), data, { jobId: instanceId, timestamp });
      await listing.note({
        id: instanceId,
        createdAt: timestamp,
        people,
        status: 'open',
        job: 'added',
      });
      // Another one may have come first.
      const added = await known();
      if (added?.kind === 'conflict') return added;
      const instance = await engine.find(instanceId);
      if (instance === undefined) throw new Error('An instance that was added is gone');
      return { kind: 'started', view: viewOf(instance) };
    },

    /** Waits for a job that is about to end: only then it is known when. */
    find: async (apId: string, name: string, id: string): Promise<WorkflowView | undefined> => {
      const until = performance.now() + endingMs;
      for (;;) {
        const instance = await findOwn(apId, name, id);
        const isEnding = instance?.isClosed === true && instance.ended === 'no';
        if (!isEnding || performance.now() > until) return instance && viewOf(instance);
        await delay(10);
      }
    },

    /** @returns Undefined for one that is unknown to the application. */
    findOwn,

    /**
     * @param key Sent again under the same key, the event counts once. It begins with its origin,
     *   `app/` or `op/`, so that no application uses up the keys of operators. Default: a new one.
     */
    send: async (
      apId: string,
      name: string,
      id: string,
      event: { readonly type: string },
      key?: string,
    ): Promise<SendOutcome> => {
      const instance = await findOwn(apId, name, id);
      // Of one that has ended an event with a key may be a repetition: it gets its first verdict.
      if (instance === undefined || (instance.ended !== 'no' && key === undefined))
        return { kind: 'unknown' };
      // Nobody cancels in the name of an operator.
      const own = { ...event, by: 'application' };
      return sendTo(instance, key, event.type === 'CANCEL' ? own : event);
    },

    /**
     * Sends CANCEL. A chart that has no transition for it in any state is stopped. One that has
     * decides: it may refuse while it undoes what was done.
     *
     * @param by `application`, or the name of an operator.
     * @param key Sent again under the same key it counts once. Default: a key of its own, so that a
     *   chart that refuses now may take a later one.
     */
    cancel: async (
      apId: string,
      name: string,
      id: string,
      { by, reason }: { readonly by: string; readonly reason?: string | undefined },
      key: string = randomUUID(),
    ): Promise<'cancelled' | 'refused' | 'unknown' | 'busy'> => {
      const instance = await findOwn(apId, name, id);
      if (instance?.ended !== 'no') return 'unknown';
      const event = { type: 'CANCEL', by, ...(reason !== undefined && { reason }) };
      const sent = await sendTo(instance, key, event);
      if (sent.kind === 'taken') return 'cancelled';
      if (sent.kind === 'unknown' || sent.kind === 'busy') return sent.kind;
      if (workflowFor(instance)?.chart.machine.events.includes('CANCEL')) return 'refused';
      const stopped = await engine.stop(instance.id, reason);
      return stopped === 'taken' ? 'cancelled' : stopped === 'busy' ? 'busy' : 'unknown';
    },

    /** What an instance went through. @returns Undefined for one that is unknown. */
    journal: async (apId: string, name: string, id: string): Promise<ReadJournal | undefined> => {
      const instance = await findOwn(apId, name, id);
      return instance && engine.journal(instance.id);
    },

    /** Newest first. @returns Undefined for an invalid cursor. */
    list: (
      filter: InstanceFilter,
      page: Parameters<typeof listInstances>[2],
    ): ReturnType<typeof listInstances> =>
      listInstances(queues, filter, page, { retention, now, reasonOf }),

    /**
     * Whether another run could change anything: it goes on from an activity whose error no state
     * has taken, or its chart takes REPLAY. Any other one that has ended would end again, at another
     * time.
     */
    mayReplay: (instance: Instance): boolean => {
      const { machine } = workflowFor(instance)?.chart ?? {};
      return (
        !instance.isClosed ||
        instance.record?.retry !== undefined ||
        machine === undefined ||
        machine.events.some((each) => takesReplay.test(each))
      );
    },

    /** Its definition; undefined when the service has none. */
    workflowFor,

    /** Finds an instance by its own id or by that of a child, for operators. */
    findInstance: engine.find,
    view: viewOf,
  };
};

/** What Redis gives back of the data. */
const asStored = (data: unknown): unknown => JSON.parse(JSON.stringify(data)) as unknown;
