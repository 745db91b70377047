/**
 * Starts every worker of a process: for each shard one for signatures and one for receipts.
 *
 * BullMQ's defaults suit batch work. Here a person waits, so locks and the check for stalled jobs are seconds, a job may
 * stall any number of times (its turn runs again), and a command that failed for lack of Redis is repeated
 * at once.
 */
import type { Queue, Telemetry, WorkerOptions } from 'bullmq';
import { graceOf } from '../src/engine/redis/redis-time.ts';
import { failUnreadable } from '../src/engine/redis/unreadable.ts';
import { startWorkflowWorker, type WorkflowWorker } from '../src/engine/worker.ts';
import type { KeyCustody } from '../src/pki/ports.ts';
import { fault, faultLine } from '../src/protocol/fault.ts';
import type { Protocol } from '../src/protocol/parse.ts';
import type { RedisClient } from '../src/redis/connect.ts';
import type { ApplicationProviders } from '../src/registry/application-providers.ts';
import type { SubscriberRegistry } from '../src/registry/subscriber.ts';
import type { Devices } from '../src/sscd/devices.ts';
import { createAnswer } from '../src/transactions/answers.ts';
import { receiptJobName, signatureJobName } from '../src/transactions/contract.ts';
import { createReadEnd } from '../src/transactions/outcomes.ts';
import { createScreens } from '../src/transactions/screens.ts';
import type { Seals } from '../src/transactions/seal.ts';
import type { Shard } from '../src/transactions/shards.ts';
import { type SignatureWorker, tellOfTransactions } from './ends.ts';
import { keepFair } from './fairness.ts';
import type { StepLog, TransactionLog, UpstreamLog } from './log.ts';
import { createReceiptWorkflow } from './receipt.worker.ts';
import { createSignatureWorkflow } from './signature.worker.ts';
import { createTurns } from './turns.ts';
import { createUpstreams } from './upstreams.ts';

export interface WorkersOptions {
  /** Opened on `blocking`. */
  readonly shards: readonly Shard[];
  readonly blocking: RedisClient;
  readonly prefix: string;
  readonly protocol: Protocol;
  readonly providers: ApplicationProviders;
  readonly subscribers: SubscriberRegistry;
  readonly devices: Devices;
  readonly custody: KeyCustody;
  readonly seals: Seals;
  readonly concurrency: number;
  readonly lockMs: number;
  readonly stalledCheckMs: number;
  readonly retention: { readonly signedMs: number; readonly failedMs: number };
  readonly now: () => number;
  readonly log: StepLog;
  readonly transactionLog: TransactionLog;
  readonly upstreamLog: UpstreamLog;
  /** Takes up the trace that came with a job. Without it there are no traces. */
  readonly telemetry?: Telemetry | undefined;
}

export interface Workers {
  ready(): Promise<void>;
  /** Whether every one of them takes jobs. */
  areRunning(): boolean;
  /** Takes no more jobs, lets those in hand and calls to upstreams finish, and leaves the connection open. */
  close(): Promise<void>;
}

const seconds = (ms: number): number => Math.ceil(ms / 1000);

/** `npm run bench -- --only sign` shows what several are worth. More shards fetch side by side already. */
const fetchersInAll = 8;

/** Longer than any step takes while Redis answers. */
const closePatienceMs = 8000;

/**
 * BullMQ drops old jobs only when another one ends, so on a quiet service they would outstay their retention. An hour
 * is fine: answers look at the age themselves.
 */
const cleanEveryMs = 3_600_000;
const cleanAtMost = 10_000;

/** How long a job that a newer release has begun waits for a worker of that release: longer than a roll-out takes. */
export const laterWorkerPatienceMs = 600_000;
/** No configuration allows a TimeOut as long as this. */
const longestAttemptMs = 86_400_000;

/** Other programs write jobs too: of the times that a job names, the first is believed that is not far in the future. */
export const abandonAfterRollOut =
  (now: () => number) =>
  (context: unknown, addedAt: number): string | undefined => {
    const { deadline } = Object(context) as { readonly deadline?: unknown };
    const time = [deadline, addedAt].find(
      (each) => typeof each === 'number' && each <= now() + longestAttemptMs,
    );
    if (now() < (typeof time === 'number' ? time : 0) + laterWorkerPatienceMs) return undefined;
    return faultLine(fault(900, 'The transaction is of a release that no worker has'));
  };

const unreadable = (names: readonly string[]): string =>
  faultLine(fault(101, `The job is not readable: ${names.join(', ')} must be JSON`));

/** Whose a job says it is; its data has not been checked. */
const laneOfJob = ({ data }: { readonly data: unknown }): string => {
  const member = (of: unknown, name: string): unknown => (Object(of) as Record<string, unknown>)[name];
  const apId = member(member(member(data, 'MSS_SignatureReq'), 'AP_Info'), 'AP_ID');
  return typeof apId === 'string' ? apId : '';
};

export const startWorkers = (options: WorkersOptions): Workers => {
  const { shards, blocking, prefix, retention, now, log } = options;
  const answer = createAnswer(shards, options);
  const readEnd = createReadEnd({ ...options, onError: log.trouble });
  const screens = createScreens(blocking, prefix, now);
  const turns = createTurns();
  const upstreams = createUpstreams(options.upstreamLog);

  const workerOptions = (shard: Shard): WorkerOptions => ({
    connection: blocking,
    prefix: shard.prefix,
    lockDuration: options.lockMs,
    stalledInterval: options.stalledCheckMs,
    maxStalledCount: Number.MAX_SAFE_INTEGER,
    runRetryDelay: 500,
    removeOnComplete: { age: seconds(retention.signedMs) },
    removeOnFail: { age: seconds(retention.failedMs) },
    ...(options.telemetry !== undefined && { telemetry: options.telemetry }),
  });

  const keepers: { close(): void }[] = [];
  const started = shards.flatMap((shard): readonly WorkflowWorker[] => {
    const place = { shard: shard.index, shards: shards.length };
    const common = {
      connection: blocking,
      now,
      onTrouble: log.trouble,
      abandon: abandonAfterRollOut(now),
      concurrency: options.concurrency,
      // Who has been asked by a call that is given up is asked again.
      graceMs: closePatienceMs,
      worker: workerOptions(shard),
    };
    const signing = startWorkflowWorker({
      ...common,
      queue: shard.signatures.queue,
      workflows: [createSignatureWorkflow({ ...options, place, screens, upstreams, answer })],
      workflowOf: () => ({ name: signatureJobName }),
      fetchers: Math.ceil(fetchersInAll / shards.length),
      around: (job, run) => turns.run(laneOfJob(job), run),
    });
    const receipting = startWorkflowWorker({
      ...common,
      queue: shard.receipts.queue,
      workflows: [createReceiptWorkflow({ ...options, shard, place, screens, readEnd })],
      workflowOf: () => ({ name: receiptJobName }),
    });
    for (const worker of signing.workers) tellOfTransactions(worker as SignatureWorker, options);
    const fair = { redis: blocking, onError: (error: Error) => log.trouble(error) };
    keepers.push(
      keepFair({
        ...fair,
        workers: signing.workers,
        order: { queue: shard.signatures.queue, member: 'AP_ID' },
      }),
      keepFair({
        ...fair,
        workers: receipting.workers,
        order: { queue: shard.receipts.queue, member: 'apId' },
      }),
    );
    return [signing, receipting];
  });
  const workers = started.flatMap((each) => each.workers);
  for (const worker of workers) {
    failUnreadable(worker, { redis: blocking, reasonOf: unreadable, onTrouble: log.trouble });
  }

  const clean = async (queue: Queue): Promise<void> => {
    await queue.clean(graceOf(retention.signedMs, now), cleanAtMost, 'completed');
    await queue.clean(graceOf(retention.failedMs, now), cleanAtMost, 'failed');
  };
  const cleaning = setInterval(() => {
    for (const { signatures, receipts } of shards) {
      for (const { queue } of [signatures, receipts]) clean(queue).catch((error) => log.trouble(error));
    }
  }, cleanEveryMs);
  cleaning.unref();

  return {
    ready: async () => {
      await Promise.all(started.map((each) => each.ready()));
    },
    areRunning: () => workers.every((worker) => worker.isRunning()),
    close: async () => {
      clearInterval(cleaning);
      for (const keeper of keepers) keeper.close();
      // Without Redis a worker waits for it for ever, also when it is asked to close; then its connections are cut.
      if (!(await Promise.all(started.map((each) => each.close()))).every(Boolean)) blocking.disconnect();
    },
  };
};
