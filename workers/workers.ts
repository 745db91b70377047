/**
 * Starts every worker of a process: for each shard one for signatures and one for receipts.
 *
 * BullMQ's defaults suit batch work. Here a person waits, so locks and the check for stalled jobs are seconds, a job may
 * stall any number of times (each is a step that runs again), and a command that failed for lack of Redis is repeated
 * at once.
 */
import { type Queue, type Telemetry, Worker, type WorkerOptions } from 'bullmq';
import type { SignatureRecord } from '../machines/record.ts';
import { graceOf, inRedisTime } from '../src/engine/redis/redis-time.ts';
import type { KeyCustody } from '../src/pki/ports.ts';
import type { Protocol } from '../src/protocol/parse.ts';
import type { RedisClient } from '../src/redis/connect.ts';
import { settlesWithin } from '../src/redis/patience.ts';
import type { ApplicationProviders } from '../src/registry/application-providers.ts';
import type { SubscriberRegistry } from '../src/registry/subscriber.ts';
import type { Devices } from '../src/sscd/devices.ts';
import { createAnswer } from '../src/transactions/answers.ts';
import type { ReceiptJobData, ReceiptJobResult, SignatureJobData } from '../src/transactions/contract.ts';
import { createReadEnd } from '../src/transactions/outcomes.ts';
import { createScreens } from '../src/transactions/screens.ts';
import type { Seals } from '../src/transactions/seal.ts';
import type { Shard } from '../src/transactions/shards.ts';
import { tellOfTransactions } from './ends.ts';
import { keepFair } from './fairness.ts';
import type { StepLog, TransactionLog, UpstreamLog } from './log.ts';
import { createReceiptStep } from './receipt.worker.ts';
import { createSignatureStep } from './signature.worker.ts';
import { createTurns } from './turns.ts';
import { failUnreadable } from './unreadable.ts';
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

/**
 * A BullMQ worker fetches one job at a time, whatever its concurrency, and each fetch is a round trip. Several workers
 * that share the concurrency among them fetch side by side; `npm run bench -- --only sign` shows what that is worth. More
 * shards fetch side by side already.
 */
const fetchersInAll = 8;

/** How many steps each of a shard's fetchers may run at once; together as many as the configuration says. */
const spread = (concurrency: number, shards: number): readonly number[] => {
  const fetchers = Math.min(concurrency, Math.ceil(fetchersInAll / shards));
  return Array.from({ length: fetchers }, (_, index) =>
    Math.floor((concurrency + fetchers - 1 - index) / fetchers),
  );
};

/** Longer than any step takes while Redis answers. */
const closePatienceMs = 8000;

/**
 * BullMQ drops old jobs only when another one ends, so on a quiet service they would outstay their retention. An hour
 * is fine: answers look at the age themselves.
 */
const cleanEveryMs = 3_600_000;
const cleanAtMost = 10_000;

const tokenOf = (token: string | undefined): string => {
  if (token === undefined) throw new Error('BullMQ gave no lock token');
  return token;
};

/** Whose a job says it is; its data has not been checked. */
const laneOfJob = ({ data }: { readonly data: unknown }): string => {
  const member = (of: unknown, name: string): unknown => (Object(of) as Record<string, unknown>)[name];
  const apId = member(member(member(data, 'MSS_SignatureReq'), 'AP_Info'), 'AP_ID');
  return typeof apId === 'string' ? apId : '';
};

export const startWorkers = (options: WorkersOptions): Workers => {
  const { shards, blocking, prefix, retention, now, log } = options;
  const answer = createAnswer(shards);
  const readEnd = createReadEnd({ ...options, onError: log.trouble });
  const screens = createScreens(blocking, prefix, now);
  const turns = createTurns();
  const upstreams = createUpstreams(options.upstreamLog, log.trouble);

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
  const workers = shards.flatMap((shard): Worker[] => {
    const place = { shard: shard.index, shards: shards.length };
    const signatureStep = createSignatureStep({
      ...options,
      at: shard.signatures,
      place,
      screens,
      upstreams,
      answer,
    });
    const receiptStep = createReceiptStep({ ...options, shard, place, screens, readEnd });
    const signatureWorkers = spread(options.concurrency, shards.length).map(
      (concurrency, index) =>
        new Worker<SignatureJobData, SignatureRecord>(
          shard.signatures.queue.name,
          (job, token) => turns.run(laneOfJob(job), () => signatureStep(job, tokenOf(token))),
          { ...workerOptions(shard), concurrency, skipStalledCheck: index > 0 },
          inRedisTime(now),
        ),
    );
    for (const worker of signatureWorkers) tellOfTransactions(worker, options);
    const receiptWorker = new Worker<ReceiptJobData, ReceiptJobResult>(
      shard.receipts.queue.name,
      (job, token) => receiptStep(job, tokenOf(token)),
      { ...workerOptions(shard), concurrency: options.concurrency },
      inRedisTime(now),
    );
    const common = { redis: blocking, onError: (error: Error) => log.trouble(error) };
    keepers.push(
      keepFair({
        ...common,
        workers: signatureWorkers,
        order: { queue: shard.signatures.queue, member: 'AP_ID' },
      }),
      keepFair({
        ...common,
        workers: [receiptWorker],
        order: { queue: shard.receipts.queue, member: 'apId' },
      }),
    );
    return [...signatureWorkers, receiptWorker];
  });
  for (const worker of workers) {
    worker.on('error', (error) => log.trouble(error));
    failUnreadable(worker, { redis: blocking, log });
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
      await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    },
    areRunning: () => workers.every((worker) => worker.isRunning()),
    close: async () => {
      clearInterval(cleaning);
      for (const keeper of keepers) keeper.close();
      const closed = await Promise.all(
        workers.map((worker) => settlesWithin(worker.close(), closePatienceMs)),
      );
      // Calls that are under way have been asked of somebody; another worker would ask again.
      await settlesWithin(upstreams.idle(), closePatienceMs);
      if (closed.every(Boolean)) return;
      // Without Redis a worker waits for it for ever, also when it is asked to close; then its connections are cut.
      for (const worker of workers) (await worker.getBackend().blockingClient)?.disconnect();
      blocking.disconnect();
    },
  };
};
