/**
 * Runs the workflows of the service in one shard: the charts of its operators, and the stock
 * process. Each instance is in the list (workflows/listing.ts) from its first turn on, so those that
 * other programs have added are there, too. Its end is noted before the job ends.
 */
import type { Queue, WorkerOptions } from 'bullmq';
import type { AnyActorLogic, PromiseActorLogic } from 'xstate';
import {
  activity,
  begunJob,
  readJobName,
  type Workflow,
} from '../../../packages/engine/src/define.ts';
import type { Others } from '../../../packages/engine/src/other.ts';
import { hasRecord } from '../../../packages/engine/src/redis/instance-store.ts';
import { toError } from '../../../packages/engine/src/redis/to-error.ts';
import { type InstanceJob, jobFailure } from '../../../packages/engine/src/take-job.ts';
import { startWorkflowWorker, type WorkflowWorker } from '../../../packages/engine/src/worker.ts';
import {
  instanceIdOf,
  ownIdOf,
  ownIdPattern,
  tenantLength,
} from '../../../src/jobs/instance-ids.ts';
import type { RedisClient } from '../../../src/redis/connect.ts';
import type { SubscriberRegistry } from '../../../src/registry/subscriber.ts';
import type { createTurns } from '../../../workers/fairness.ts';
import type { ProcessReport } from '../charts/process-report.ts';
import type { CreateEvidence } from '../evidence/create-evidence.ts';
import { checkNumbers } from '../workflows/check-definition.ts';
import { mailWorkflowName, type WorkflowStatus } from '../workflows/contract.ts';
import { reasonOfEnd, statusOfEnd } from '../workflows/ends.ts';
import { createListing, peopleOf } from '../workflows/listing.ts';
import { type ProcessData, processName } from '../workflows/stock-process.ts';
import { onceRedisAnswers } from './asked-run.ts';

const isListed = (name: string): boolean => name !== mailWorkflowName;

/** A job of another program may lack it: then the part of its id that stands for it. */
const apIdIn = ({ id = '', data }: InstanceJob): string => {
  const { apId } = Object(data) as { readonly apId?: unknown };
  return typeof apId === 'string' ? apId : id.slice(0, tenantLength);
};

/**
 * Makes the evidence of a process that has ended. One try: the chart repeats it, for five minutes
 * every ten seconds and then each hour, and lets CANCEL count between. While Redis is away or takes
 * no writes, the try goes on and does not count.
 */
export const createAttestActivity = (
  createEvidence: CreateEvidence,
): PromiseActorLogic<string, ProcessReport> =>
  activity<ProcessReport, string>(
    ({ input: report, instance: { id, data }, now, signal }) => {
      const ended = {
        report,
        id: ownIdOf(id, processName),
        name: processName,
        definition: (data as ProcessData).input,
        endedAt: now,
      };
      return onceRedisAnswers(() => createEvidence(ended), signal);
    },
    { turnWaitsMs: () => 200 },
  );

/** An instance of a chart of one's own. */
export interface EndOfInstance {
  readonly instance: string;
  readonly createdAt: number;
  readonly runs: number;
  readonly name: string;
  readonly apId: string;
  readonly state: WorkflowStatus;
  readonly reason: string | undefined;
}

export const startWorkflowsWorker = (options: {
  readonly queue: Queue;
  readonly connection: RedisClient;
  readonly others?: Others;
  readonly subscribers: Pick<SubscriberRegistry, 'find'>;
  readonly workflows: readonly Workflow[];
  /** Those that charts name. */
  readonly activities: Readonly<Record<string, AnyActorLogic>>;
  readonly concurrency: number;
  readonly fetchers: number;
  readonly turns: ReturnType<typeof createTurns>;
  readonly retention: { readonly doneMs: number; readonly failedMs: number };
  readonly graceMs: number;
  readonly worker: WorkerOptions;
  /** Tells the application; at least once. The stock process tells its end itself. */
  readonly notifyEnd: (end: EndOfInstance) => Promise<void>;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}): WorkflowWorker => {
  const { queue, connection, subscribers, turns, retention, notifyEnd, now } = options;
  const listing = createListing({ queue, redis: connection, retention, now });
  listing.sweep().catch((error: unknown) => options.onError(toError(error)));
  /** The API has asked before; other programs cannot. */
  const failUnknownNumber = async ({
    id = '',
    timestamp,
    opts,
    data,
  }: InstanceJob): Promise<void> => {
    const { input } = Object(data) as { readonly input?: unknown };
    const { addedAt } = begunJob({ id, timestamp, opts }, now());
    const problem = await checkNumbers(input, { now: addedAt, find: subscribers.find });
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
      if (!hasRecord(progress) && name === processName && isListed(name))
        await failUnknownNumber(job);
    },
    tellFailure: async (job) => {
      const { id = '', name: jobName, timestamp: createdAt, attemptsMade: runs, data } = job;
      const { name } = readJobName(jobName);
      if (!isListed(name)) return;
      await listing.note({
        id,
        createdAt,
        people: peopleOf(name, data),
        status: 'failed',
        job: 'failed',
      });
      const end = { instance: id, createdAt, runs, name, apId: apIdIn(job) } as const;
      if (name !== processName) await notifyEnd({ ...end, state: 'failed', reason: undefined });
    },
    tellEnd:
      (instance) =>
      async ({ record, failedReason, createdAt, runs }) => {
        const { id } = instance;
        const name = record.workflow;
        if (!isListed(name)) return;
        const status = statusOfEnd(record, failedReason);
        const job = failedReason === undefined ? 'completed' : 'failed';
        await listing.note({ id, createdAt, people: peopleOf(name, instance.data), status, job });
        if (name === processName) return;
        const ended = failedReason === undefined ? 'completed' : 'failed';
        const reason = reasonOfEnd({ ended, record, failedReason });
        const { apId } = instance.data as ProcessData;
        await notifyEnd({ instance: id, createdAt, runs, name, apId, state: status, reason });
      },
  });
};
