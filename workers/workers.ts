/**
 * Starts all workers of a process: for each shard one for signatures, one for receipts, and those
 * that others give for jobs of their own.
 *
 * BullMQ's defaults suit batch work. Here a person waits, so locks and the check for stalled jobs
 * last seconds, a job may stall any number of times (its turn runs again), and a command that
 * failed without Redis is repeated at once.
 */
import type { Queue, Telemetry, WorkerOptions } from 'bullmq';
import { createInstanceStore } from '../packages/engine/src/redis/instance-store.ts';
import type { TurnOptions } from '../packages/engine/src/turn.ts';
import { startWorkflowWorker, type WorkflowWorker } from '../packages/engine/src/worker.ts';
import type { KeyCustody } from '../packages/pki/src/ports.ts';
import { fault, faultLine } from '../packages/protocol/src/fault.ts';
import type { Protocol } from '../packages/protocol/src/parse.ts';
import type { RedisClient } from '../src/redis/connect.ts';
import type { ApplicationProviders } from '../src/registry/application-providers.ts';
import type { OtherServices } from '../src/registry/other-services.ts';
import type { SubscriberRegistry } from '../src/registry/subscriber.ts';
import type { Devices } from '../src/sscd/devices.ts';
import { createAnswer } from '../src/transactions/answers.ts';
import { createIsOver } from '../src/transactions/attempt-over.ts';
import { receiptJobName, signatureJobName } from '../src/transactions/contract.ts';
import { createDeviceLock } from '../src/transactions/device-lock.ts';
import { tellEnds } from '../src/transactions/jobs/end-stream.ts';
import { createIsWithdrawn } from '../src/transactions/jobs/fair-adding.ts';
import { failUnreadable } from '../src/transactions/jobs/unreadable.ts';
import type { ReadEnd } from '../src/transactions/outcomes.ts';
import type { Seals } from '../src/transactions/seal.ts';
import type { Shard } from '../src/transactions/shards.ts';
import type { FindTransaction } from '../src/transactions/transactions.ts';
import { createTurns, keepFair } from './fairness.ts';
import type { StepLog, TransactionLog, UpstreamLog } from './log.ts';
import { createReceiptWorkflow } from './receipt.worker.ts';
import { createSignatureWorkflow } from './signature.worker.ts';
import { callerIn, type SignatureWorker, tellOfTransactions } from './transaction-events.ts';
import { createUpstreams } from './upstreams.ts';

type TellEnd = NonNullable<TurnOptions['tellEnd']>;

/** What the workers of one shard run with. */
export interface WorkOfShard {
  readonly shard: Shard;
  readonly connection: RedisClient;
  readonly concurrency: number;
  readonly fetchers: number;
  /** All jobs of a process share the CPU, so they share the turns. */
  readonly turns: ReturnType<typeof createTurns>;
  readonly retention: { readonly doneMs: number; readonly failedMs: number };
  readonly graceMs: number;
  readonly worker: WorkerOptions;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

/** Jobs of a kind of their own, run beside signatures and receipts. */
export interface Work {
  /**
   * Gives the function that reports the end of a signature; undefined when nothing waits for it.
   */
  readonly tellSigned: TellEnd;
  /** Gives the function that reports the end of a receipt; undefined when nothing waits for it. */
  readonly tellReceipted: TellEnd;
  /** Starts the workers of one shard. `queue` is kept in the fair order by `apId`. */
  start(common: WorkOfShard): { readonly workers: WorkflowWorker; readonly queue: Queue };
}

export type OpenWork = (shared: {
  readonly redis: RedisClient;
  readonly find: FindTransaction;
  readonly onError: (error: Error) => void;
}) => Work;

export interface WorkersOptions {
  /** Opened on `blocking`. */
  readonly shards: readonly Shard[];
  readonly blocking: RedisClient;
  readonly prefix: string;
  readonly protocol: Protocol;
  readonly providers: ApplicationProviders;
  readonly subscribers: SubscriberRegistry;
  readonly devices: Devices;
  readonly services?: Pick<OtherServices, 'trust' | 'maxCalls'>;
  readonly custody: KeyCustody;
  readonly seals: Seals;
  readonly readEnd: ReadEnd;
  readonly find: FindTransaction;
  readonly concurrency: number;
  readonly lockMs: number;
  readonly stalledCheckMs: number;
  readonly retention: { readonly signedMs: number; readonly failedMs: number };
  readonly now: () => number;
  readonly log: StepLog;
  readonly transactionLog: TransactionLog;
  readonly upstreamLog: UpstreamLog;
  /** Continues the trace that came with a job. */
  readonly telemetry?: Telemetry | undefined;
  /** Jobs of others, which use transactions. */
  readonly more?: readonly OpenWork[];
}

/** `npm run bench -- --only sign` compares numbers. Several shards fetch side by side already. */
const maxFetchers = 8;

/** Longer than any turn takes while Redis answers. */
const graceMs = 8000;

/** A job of a later release waits so long for a worker of that release: longer than a roll-out. */
export const laterWorkerTimeoutMs = 600_000;
/** No configuration allows a TimeOut as long as this. */
const maxAttemptMs = 86_400_000;

/** Other programs write jobs, too, so a time far in the future is not believed. */
export const abandonAfterRollOut =
  (now: () => number) =>
  (context: unknown, addedAt: number): string | undefined => {
    const { deadline } = Object(context) as { readonly deadline?: unknown };
    const time = [deadline, addedAt].find(
      (each) => typeof each === 'number' && each <= now() + maxAttemptMs,
    );
    if (now() < (typeof time === 'number' ? time : 0) + laterWorkerTimeoutMs) return undefined;
    return faultLine(fault(900, 'The transaction is of a release that no worker has'));
  };

const unreadable = (names: readonly string[]): string =>
  faultLine(fault(101, `The job is not readable: ${names.join(', ')} must be JSON`));

export const startWorkers = (options: WorkersOptions) => {
  const { shards, blocking, prefix, retention, now, log } = options;
  const answer = createAnswer(shards, options);
  const deviceLock = createDeviceLock(blocking, prefix, now, createIsOver(shards, now));
  const more = (options.more ?? []).map((open) =>
    open({ redis: blocking, find: options.find, onError: log.trouble }),
  );
  /** The first that waits for this end. */
  const tellFirst =
    (tells: readonly TellEnd[]): TellEnd =>
    (...ended) => {
      for (const tell of tells) {
        const told = tell(...ended);
        if (told !== undefined) return told;
      }
      return undefined;
    };
  const turns = createTurns();
  const upstreams = createUpstreams(options.upstreamLog, undefined, options.services?.maxCalls);

  const workerOptions = (shard: Shard): WorkerOptions => ({
    connection: blocking,
    prefix: shard.prefix,
    lockDuration: options.lockMs,
    stalledInterval: options.stalledCheckMs,
    maxStalledCount: Number.MAX_SAFE_INTEGER,
    runRetryDelay: 500,
    ...(options.telemetry !== undefined && { telemetry: options.telemetry }),
  });

  // Before a worker takes the scripts of BullMQ as they are.
  tellEnds(blocking);
  let running = 0;
  const keepers: { close(): void }[] = [];
  const fetchers = Math.ceil(maxFetchers / shards.length);
  const started = shards.flatMap((shard): readonly WorkflowWorker[] => {
    const place = { shard: shard.index, shards: shards.length };
    const { read } = createInstanceStore(shard.signatures.queue, blocking, now);
    const abandon = abandonAfterRollOut(now);
    const common = {
      connection: blocking,
      now,
      onError: log.trouble,
      concurrency: options.concurrency,
      retention: { doneMs: retention.signedMs, failedMs: retention.failedMs },
      // After a call that is given up the person is asked again.
      graceMs,
      worker: workerOptions(shard),
    };
    const isWithdrawn = createIsWithdrawn(shard.signatures);
    const signing = startWorkflowWorker({
      ...common,
      abandon,
      queue: shard.signatures.queue,
      workflows: [
        createSignatureWorkflow({
          ...options,
          place,
          deviceLock,
          upstreams,
          answer,
          read,
          isWithdrawn,
        }),
      ],
      workflowOf: () => ({ name: signatureJobName }),
      tellEnd: tellFirst(more.map(({ tellSigned }) => tellSigned)),
      fetchers,
      around: async (job, run) => {
        running += 1;
        try {
          return await turns.run(callerIn(job).apId ?? '', run);
        } finally {
          running -= 1;
        }
      },
    });
    const receipting = startWorkflowWorker({
      ...common,
      abandon,
      queue: shard.receipts.queue,
      workflows: [createReceiptWorkflow({ ...options, shard, place, deviceLock, upstreams })],
      workflowOf: () => ({ name: receiptJobName }),
      tellEnd: tellFirst(more.map(({ tellReceipted }) => tellReceipted)),
    });
    const others = more.map(({ start }) => start({ ...common, shard, turns, fetchers }));
    for (const worker of signing.workers) tellOfTransactions(worker as SignatureWorker, options);
    const fair = { redis: blocking, onError: log.trouble };
    const orders = [
      { workers: signing.workers, order: { queue: shard.signatures.queue, member: 'AP_ID' } },
      { workers: receipting.workers, order: { queue: shard.receipts.queue, member: 'apId' } },
      ...others.map(({ workers, queue }) => ({
        workers: workers.workers,
        order: { queue, member: 'apId' as const },
      })),
    ] as const;
    keepers.push(...orders.map((each) => keepFair({ ...fair, ...each })));
    return [signing, receipting, ...others.map(({ workers }) => workers)];
  });
  const workers = started.flatMap((each) => each.workers);
  for (const worker of workers) {
    failUnreadable(worker, { redis: blocking, reasonOf: unreadable, onError: log.trouble });
  }

  return {
    ready: async (): Promise<void> => {
      await Promise.all(started.map((each) => each.ready()));
    },
    /** Signature jobs in hand. */
    running: (): number => running,
    /** Whether all of them take jobs. */
    areRunning: (): boolean => workers.every((worker) => worker.isRunning()),
    /**
     * Takes no more jobs, lets turns and calls to upstreams finish, and leaves the connection open.
     */
    close: async (): Promise<void> => {
      for (const keeper of keepers) keeper.close();
      // A worker that cannot reach Redis never closes, so its connection is cut.
      if (!(await Promise.all(started.map((each) => each.close()))).every(Boolean))
        blocking.disconnect();
    },
  };
};
