/**
 * Runs the workflows of the service in one shard: the charts of its operators, and the stock
 * process. Each instance is in the list (src/workflows/listing.ts) from its first turn on, so those
 * that other programs have added are there, too. Its end is noted before the job ends.
 */
import type { WorkerOptions } from 'bullmq';
import type { AnyActorLogic, PromiseActorLogic } from 'xstate';
import type { ProcessReport } from '../machines/process-report.ts';
import { activity, readJobName, type Workflow } from '../src/engine/define.ts';
import type { Locate } from '../src/engine/engine.ts';
import { hasRecord } from '../src/engine/redis/instance-store.ts';
import type { InstanceJob } from '../src/engine/take-job.ts';
import { startWorkflowWorker, type WorkflowWorker } from '../src/engine/worker.ts';
import type { CreateEvidence } from '../src/evidence/create-evidence.ts';
import type { RedisClient } from '../src/redis/connect.ts';
import type { Shard } from '../src/transactions/shards.ts';
import { mailWorkflowName, ownIdOf } from '../src/workflows/contract.ts';
import { createListing } from '../src/workflows/listing.ts';
import { type ProcessData, processName } from '../src/workflows/stock-process.ts';
import { statusOfEnd } from '../src/workflows/workflows.ts';
import type { createTurns } from './fairness.ts';

/** Children are shown with the instance that they belong to, and mails not at all. */
const isListed = (id: string, name: string): boolean => !id.includes('.') && name !== mailWorkflowName;

const apIdIn = ({ data }: InstanceJob): string => {
  const { apId } = Object(data) as { readonly apId?: unknown };
  return typeof apId === 'string' ? apId : '';
};

/** Longer than a restart of the key custody. */
const attestTries = 120;

/** Makes the evidence of a process that has ended. */
export const createAttestActivity = (
  createEvidence: CreateEvidence,
): PromiseActorLogic<string, ProcessReport> =>
  activity<ProcessReport, string>(
    ({ input: report, instance: { id, data }, now }) =>
      createEvidence({
        ...{ report, id: ownIdOf(id, processName), name: processName },
        ...{ definition: (data as ProcessData).input, endedAt: now },
      }),
    { attempts: attestTries, backoffMs: 250, maxBackoffMs: 8000, turnWaitsMs: () => 200 },
  );

export const startWorkflowsWorker = (options: {
  readonly shard: Shard;
  readonly connection: RedisClient;
  readonly locate: Locate;
  readonly workflows: readonly Workflow[];
  /** Those that charts name. */
  readonly activities: Readonly<Record<string, AnyActorLogic>>;
  readonly concurrency: number;
  readonly fetchers: number;
  readonly turns: ReturnType<typeof createTurns>;
  readonly retention: { readonly doneMs: number; readonly failedMs: number };
  readonly graceMs: number;
  readonly worker: WorkerOptions;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}): WorkflowWorker => {
  const { shard, connection, turns, retention, now } = options;
  const { queue } = shard.workflows;
  const listing = createListing({ queue, redis: connection, retention, now });
  return startWorkflowWorker({
    ...options,
    queue,
    around: (job, run) => turns.run(apIdIn(job), run),
    beforeTurn: async ({ id = '', name, timestamp, progress, attemptsMade }) => {
      // It may run again after its end.
      const mayBeNew = !hasRecord(progress) || attemptsMade > 0;
      if (mayBeNew && isListed(id, readJobName(name).name)) await listing.note(id, timestamp, 'open', 'open');
    },
    tellFailure: async ({ id = '', name, timestamp }) => {
      if (isListed(id, readJobName(name).name)) await listing.note(id, timestamp, 'failed', 'failed');
    },
    tellEnd: ({ id }) =>
      id.includes('.')
        ? undefined
        : async ({ record, failedReason, createdAt }) => {
            if (!isListed(id, record.workflow)) return;
            const jobEnd = failedReason === undefined ? 'completed' : 'failed';
            await listing.note(id, createdAt, statusOfEnd(record, failedReason), jobEnd);
          },
  });
};
