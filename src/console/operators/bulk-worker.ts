/**
 * Runs bulks: one instance of machines/bulk-replay.machine.ts for each order. The work is one long
 * activity. Its process holds it, and another process continues when that one dies. A hold that
 * runs out unnoticed does no harm: see bulk-store.ts and replay-once.ts.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import {
  type BulkEnd,
  bulkReplayMachine,
  type BulkWork as Work,
} from '../../../machines/bulk-replay.machine.ts';
import { activity } from '../../../packages/engine/src/define.ts';
import { toError } from '../../../packages/engine/src/redis/to-error.ts';
import { settlesWithin } from '../../../packages/engine/src/settles-within.ts';
import { startWorkflowWorker } from '../../../packages/engine/src/worker.ts';
import type { Protocol } from '../../../packages/protocol/src/parse.ts';
import { createReplayOnce } from '../../transactions/jobs/replay-once.ts';
import { queueIn } from '../../transactions/shards.ts';
import type { BulkWork } from './bulk-list.ts';
import { type ReplayWork, takeUpBulk } from './bulk-run.ts';
import { bulkWorkflow, createBulkStore, keptSeconds } from './bulk-store.ts';
import { createCancelWork } from './transaction-bulk.ts';

interface BulkWorkerOptions extends ReplayWork {
  /** The queue of the instances, opened on `redis`. */
  readonly queue: Queue;
  readonly protocol: Protocol;
  /** What the lists of parts do to one item. */
  readonly works?: readonly BulkWork[];
  /** Time after which another process takes over from a dead one. Default 5000. */
  readonly holdMs?: number;
}

const stepEveryMs = 20;
const afterErrorMs = 5000;
const closeTimeoutMs = 3000;

export const startBulkWorker = (options: BulkWorkerOptions) => {
  const { queue, redis, shards, now, onError, holdMs = 5000 } = options;
  const store = createBulkStore(options);
  const common = {
    ...options,
    store,
    replayOnce: createReplayOnce(redis, queueIn(shards)),
    works: [createCancelWork(options), ...(options.works ?? [])],
  };
  const inHand = new Set<Promise<unknown>>();

  const work = async ({ order, stopping }: Work, signal: AbortSignal): Promise<BulkEnd> => {
    const { id } = order;
    if (stopping) await store.close(id);
    const run = await takeUpBulk(order, { ...common, mayGoOn: () => !signal.aborted });
    for (;;) {
      const end = await run.step();
      if (end !== undefined) return end;
      await delay(stepEveryMs, undefined, { signal });
    }
  };

  /** A failing bulk, for example an unreadable one, is tried again after some seconds. */
  const workOff = async (given: Work, signal: AbortSignal): Promise<BulkEnd> => {
    try {
      return await work(given, signal);
    } catch (error) {
      if (!signal.aborted) {
        onError(new Error(`Replays pause for some seconds: ${given.order.id}`));
        onError(toError(error));
      }
      throw error;
    }
  };

  const workflow = bulkWorkflow(
    bulkReplayMachine.provide({
      actors: {
        workOff: activity<Work, BulkEnd>(
          ({ input, signal }) => {
            const working = workOff(input, signal);
            const settled = working.catch(() => undefined).finally(() => inHand.delete(settled));
            inHand.add(settled);
            return working;
          },
          {
            attempts: Number.POSITIVE_INFINITY,
            backoffMs: afterErrorMs,
            maxBackoffMs: afterErrorMs,
          },
        ),
      },
    }),
  );

  const worker = startWorkflowWorker({
    queue,
    connection: redis,
    workflows: [workflow],
    concurrency: 10,
    now,
    onError,
    // A bulk takes longer than a stop can wait.
    graceMs: 0,
    holdMs,
    retention: { doneMs: keptSeconds * 1000, failedMs: keptSeconds * 1000 },
  });

  return {
    ready: worker.ready,
    /** Finishes the replays in progress and lets other processes take over at once. */
    close: async (): Promise<void> => {
      await worker.close();
      await settlesWithin(Promise.all(inHand), closeTimeoutMs);
    },
  };
};
