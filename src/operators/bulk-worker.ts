/**
 * Runs bulk replays: one instance of machines/bulk-replay.machine.ts for each order. The work is one long activity: the process that
 * has it holds it, and when that process dies another goes on. That a hold may lapse unnoticed does no harm: see bulk-store.ts and
 * replay-once.ts.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { type BulkEnd, type BulkWork, bulkReplayMachine } from '../../machines/bulk-replay.machine.ts';
import { activity } from '../engine/define.ts';
import { graceOf } from '../engine/redis/redis-time.ts';
import { createReplayOnce } from '../engine/redis/replay-once.ts';
import { startWorkflowWorker } from '../engine/worker.ts';
import { settlesWithin } from '../redis/patience.ts';
import { toError } from '../redis/to-error.ts';
import { queueIn } from '../transactions/answers.ts';
import { type ReplayWork, takeUpBulk } from './bulk-run.ts';
import { bulkWorkflow, createBulkStore, keptSeconds } from './bulk-store.ts';
import { createTakeOver } from './earlier-bulks.ts';

export interface BulkWorker {
  ready(): Promise<void>;
  /** Finishes the replays in hand and lets others take over at once. */
  close(): Promise<void>;
}

export interface BulkWorkerOptions extends ReplayWork {
  /** Of the instances, opened on `redis`. */
  readonly queue: Queue;
  /** How long after its last sign of life another process takes over; default 5000. */
  readonly holdMs?: number;
}

const stepEveryMs = 20;
const afterErrorMs = 5000;
const closePatienceMs = 3000;
const cleanEveryMs = 3_600_000;
const cleanAtMost = 10_000;
const takeOverEveryMs = 60_000;

export const startBulkWorker = (options: BulkWorkerOptions): BulkWorker => {
  const { queue, redis, prefix, shards, now, onError, holdMs = 5000 } = options;
  const store = createBulkStore(options);
  const common = { ...options, store, replayOnce: createReplayOnce(redis, queueIn(shards)) };
  const inHand = new Set<Promise<unknown>>();

  const work = async ({ order, stopping }: BulkWork, signal: AbortSignal): Promise<BulkEnd> => {
    const { id } = order;
    if (stopping) await store.close(id);
    const run = await takeUpBulk(order, { ...common, mayGoOn: () => !signal.aborted });
    for (;;) {
      const end = await run.step();
      if (end !== undefined) return end;
      await delay(stepEveryMs, undefined, { signal });
    }
  };

  /** What cannot be done, such as a bulk that cannot be read, rests for a while. */
  const workOff = async (given: BulkWork, signal: AbortSignal): Promise<BulkEnd> => {
    try {
      return await work(given, signal);
    } catch (error) {
      if (!signal.aborted) {
        onError(new Error(`Replays rest for some seconds: ${given.order.id}`));
        onError(toError(error));
      }
      throw error;
    }
  };

  const workflow = bulkWorkflow(
    bulkReplayMachine.provide({
      actors: {
        workOff: activity<BulkWork, BulkEnd>(
          ({ input, signal }) => {
            const working = workOff(input, signal);
            const settled = working.catch(() => undefined).finally(() => inHand.delete(settled));
            inHand.add(settled);
            return working;
          },
          { attempts: Number.POSITIVE_INFINITY, backoffMs: afterErrorMs, maxBackoffMs: afterErrorMs },
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
    // A bulk lasts longer than any stop waits.
    graceMs: 0,
    holdMs,
    worker: { removeOnComplete: { age: keptSeconds }, removeOnFail: { age: keptSeconds } },
  });

  // As in workers.ts: BullMQ drops old jobs only when another one ends.
  const clean = (): void => {
    for (const state of ['completed', 'failed'] as const) {
      queue.clean(graceOf(keptSeconds * 1000, now), cleanAtMost, state).catch(onError);
    }
  };
  const takeOver = createTakeOver({ queue, redis, prefix, now });
  const takeOverAll = (): void => void takeOver().catch(onError);
  takeOverAll();
  const timers = [setInterval(clean, cleanEveryMs), setInterval(takeOverAll, takeOverEveryMs)];
  for (const timer of timers) timer.unref();

  return {
    ready: worker.ready,
    close: async () => {
      for (const timer of timers) clearInterval(timer);
      await worker.close();
      await settlesWithin(Promise.all(inHand), closePatienceMs);
    },
  };
};
