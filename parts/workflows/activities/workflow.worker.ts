/**
 * Runs the workflows of the service in one shard: those of parts, and the charts of its operators.
 * Each instance is in the list (instances/listing.ts) from its first turn on, so those that
 * other programs have added are there, too. Its end is noted before the job ends.
 */
import type { Queue, WorkerOptions } from 'bullmq';
import type { AnyActorLogic } from 'xstate';
import { begunJob, readJobName } from '../../../packages/engine/src/define.ts';
import type { Others } from '../../../packages/engine/src/other.ts';
import { hasRecord } from '../../../packages/engine/src/redis/instance-store.ts';
import { toError } from '../../../packages/engine/src/redis/to-error.ts';
import {
  type InstanceJob,
  jobFailure,
  type OnError,
} from '../../../packages/engine/src/take-job.ts';
import { startWorkflowWorker, type WorkflowWorker } from '../../../packages/engine/src/worker.ts';
import type { RedisClient } from '../../../src/redis/connect.ts';
import type { SubscriberRegistry } from '../../../src/registry/subscriber.ts';
import {
  instanceIdOf,
  ownIdOf,
  ownIdPattern,
  tenantLength,
} from '../../../src/transactions/jobs/instance-ids.ts';
import type { createTurns } from '../../../workers/fairness.ts';
import type { ServiceWorkflow } from '../hosted.ts';
import type { WorkflowStatus } from '../instances/contract.ts';
import { reasonOfEnd, statusOfEnd } from '../instances/ends.ts';
import { createListing, peopleOf } from '../instances/listing.ts';
import type { WorkflowCounter } from '../metrics.ts';

/** A job of another program may lack it: then the part of its id that stands for it. */
const apIdIn = ({ id = '', data }: InstanceJob): string => {
  const { apId } = Object(data) as { readonly apId?: unknown };
  return typeof apId === 'string' ? apId : id.slice(0, tenantLength);
};

interface EndOfInstance {
  readonly instance: string;
  readonly createdAt: number;
  readonly runs: number;
  readonly name: string;
  readonly apId: string;
  readonly state: WorkflowStatus;
  readonly reason: string | undefined;
}

export type NotifyEnd = (end: EndOfInstance) => Promise<void>;

export const startWorkflowsWorker = (options: {
  readonly queue: Queue;
  readonly connection: RedisClient;
  readonly others?: Others;
  readonly subscribers: Pick<SubscriberRegistry, 'find'>;
  readonly workflows: readonly ServiceWorkflow[];
  /** Whether the instances of a workflow are in no list, and no end of theirs is told. */
  readonly isHidden: (name: string) => boolean;
  /** Those that charts name. */
  readonly activities: Readonly<Record<string, AnyActorLogic>>;
  readonly concurrency: number;
  readonly fetchers: number;
  readonly turns: ReturnType<typeof createTurns>;
  readonly retention: { readonly doneMs: number; readonly failedMs: number };
  readonly graceMs: number;
  readonly worker: WorkerOptions;
  /** Tells the application, unless the workflow tells its end itself. */
  readonly notifyEnd: NotifyEnd;
  readonly count: WorkflowCounter;
  readonly now: () => number;
  readonly onError: OnError;
}): WorkflowWorker => {
  const { queue, connection, subscribers, turns, retention, workflows, isHidden, count, now } =
    options;
  const listing = createListing({ queue, redis: connection, retention, now });
  const isListed = (name: string): boolean => !isHidden(name);
  const workflowOf = (name: string): ServiceWorkflow | undefined =>
    workflows.find(({ chart }) => chart.name === name);
  const notifyEnd: NotifyEnd = async (end) => {
    if (!workflowOf(end.name)?.tellsEnd) await options.notifyEnd(end);
  };

  listing.sweep().catch((error: unknown) => options.onError(toError(error)));
  /** The API has asked before; other programs cannot. */
  const failWrongInput = async (job: InstanceJob, name: string): Promise<void> => {
    const { id = '', timestamp, opts, data } = job;
    const { input } = Object(data) as { readonly input?: unknown };
    const { addedAt } = begunJob({ id, timestamp, opts }, now());
    const about = { apId: apIdIn(job), now: addedAt, find: subscribers.find };
    const problem = await workflowOf(name)?.checkInput?.(input, about);
    if (problem !== undefined) throw jobFailure(problem);
  };

  /** Under another id its application would never find it. */
  const failWrongId = ({ id = '', data }: InstanceJob, name: string): void => {
    const { apId } = Object(data) as { readonly apId?: unknown };
    const own = ownIdOf(id, name);
    if (
      typeof apId === 'string' &&
      !(ownIdPattern.test(own) && id === instanceIdOf(apId, name, own))
    )
      throw jobFailure(
        'The id of the job is not that of an instance: tenant, dash, workflow, two dashes, own id',
      );
  };

  return startWorkflowWorker({
    ...options,
    onError: (error, place) => {
      count.failed(error, place);
      options.onError(error, place);
    },
    around: (job, run) => turns.run(apIdIn(job), run),
    beforeTurn: async (job) => {
      const {
        id = '',
        name: jobName,
        timestamp: createdAt,
        data,
        progress,
        attemptsMade,
        token,
      } = job;
      const { name } = readJobName(jobName);
      if (!hasRecord(progress) && isListed(name)) failWrongId(job, name);
      // It may run again after its end.
      const mayBeNew = !hasRecord(progress) || attemptsMade > 0;
      if (mayBeNew && isListed(name))
        await listing.note({
          id,
          createdAt,
          people: peopleOf(name, data),
          status: 'open',
          job: 'open',
          token,
        });
      if (!hasRecord(progress)) await failWrongInput(job, name);
    },
    tellFailure: async (job) => {
      const { id = '', name: jobName, timestamp: createdAt, attemptsMade: runs, data } = job;
      const { name } = readJobName(jobName);
      count.ended(name, 'failed');
      if (!isListed(name)) return;
      await listing.note({
        id,
        createdAt,
        people: peopleOf(name, data),
        status: 'failed',
        job: 'failed',
      });
      const end = { instance: id, createdAt, runs, name, apId: apIdIn(job) } as const;
      await notifyEnd({ ...end, state: 'failed', reason: undefined });
    },
    tellEnd:
      (instance) =>
      async ({ record, failedReason, createdAt, runs }) => {
        const { id } = instance;
        const name = record.workflow;
        const status = statusOfEnd(record, failedReason);
        count.ended(name, status);
        if (!isListed(name)) return;
        const job = failedReason === undefined ? 'completed' : 'failed';
        await listing.note({ id, createdAt, people: peopleOf(name, instance.data), status, job });
        const ended = failedReason === undefined ? 'completed' : 'failed';
        const reason = reasonOfEnd({ ended, record, failedReason });
        const { apId } = instance.data as { readonly apId: string };
        await notifyEnd({ instance: id, createdAt, runs, name, apId, state: status, reason });
      },
  });
};
