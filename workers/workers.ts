/**
 * Starts all workers of a process: for each shard one for signatures, one for receipts and
 * one for workflows.
 *
 * BullMQ's defaults suit batch work. Here a person waits, so locks and the check for stalled jobs
 * last seconds, a job may stall any number of times (its turn runs again), and a command that
 * failed without Redis is repeated at once.
 */
import type { Telemetry, WorkerOptions } from 'bullmq';
import type { AnyActorLogic } from 'xstate';
import type { Workflow } from '../packages/engine/src/define.ts';
import { createEngine, type Locate, turnBusyTimeoutMs } from '../packages/engine/src/engine.ts';
import { createOthers } from '../packages/engine/src/other.ts';
import { createInstanceStore } from '../packages/engine/src/redis/instance-store.ts';
import { startWorkflowWorker, type WorkflowWorker } from '../packages/engine/src/worker.ts';
import type { CreateEvidence } from '../src/evidence/create-evidence.ts';
import { tellEnds } from '../src/jobs/end-stream.ts';
import { failUnreadable } from '../src/jobs/unreadable.ts';
import type { KeyCustody } from '../src/pki/ports.ts';
import { fault, faultLine } from '../src/protocol/fault.ts';
import type { Protocol } from '../src/protocol/parse.ts';
import type { RedisClient } from '../src/redis/connect.ts';
import type { ApplicationProviders } from '../src/registry/application-providers.ts';
import type { RateLimiter } from '../src/registry/rate-limiter.ts';
import type { SubscriberRegistry } from '../src/registry/subscriber.ts';
import type { Devices } from '../src/sscd/devices.ts';
import type { Gateways } from '../src/sscd/gateways.ts';
import { createAnswer } from '../src/transactions/answers.ts';
import { receiptJobName, signatureJobName } from '../src/transactions/contract.ts';
import { createDeviceLock, createIsOver } from '../src/transactions/device-lock.ts';
import { createReadEnd } from '../src/transactions/outcomes.ts';
import type { Seals } from '../src/transactions/seal.ts';
import type { Shard } from '../src/transactions/shards.ts';
import { createFind } from '../src/transactions/transactions.ts';
import { instanceIdOf } from '../src/workflows/contract.ts';
import { serviceActivities } from '../src/workflows/service-activities.ts';
import { processActivities } from '../src/workflows/stock-process.ts';
import { asServiceWorkflow } from '../src/workflows/workflows.ts';
import { apIdOf, createFindRun } from './asked-run.ts';
import { createTurns, keepFair } from './fairness.ts';
import type { StepLog, TransactionLog, UpstreamLog } from './log.ts';
import { createReceiptWorkflow } from './receipt.worker.ts';
import { createReceiptActivity, createTellReceipted } from './receipt-activity.ts';
import { createSignActivity } from './sign-activity.ts';
import type { SignRoom } from './sign-room.ts';
import { createTellSigned } from './sign-run.ts';
import { createSignatureWorkflow } from './signature.worker.ts';
import { callerIn, type SignatureWorker, tellOfTransactions } from './transaction-events.ts';
import { createUpstreams } from './upstreams.ts';
import { type CallWebhook, createWebhookActivity } from './webhook-activity.ts';
import { createAttestActivity, type EndOfInstance, startWorkflowsWorker } from './workflow.worker.ts';

export interface WorkersOptions {
  /** Opened on `blocking`. */
  readonly shards: readonly Shard[];
  readonly blocking: RedisClient;
  readonly prefix: string;
  readonly protocol: Protocol;
  readonly providers: ApplicationProviders;
  readonly subscribers: SubscriberRegistry;
  readonly devices: Devices;
  readonly gateways?: Pick<Gateways, 'maxCalls' | 'trust'>;
  readonly custody: KeyCustody;
  readonly seals: Seals;
  readonly limiter: RateLimiter;
  readonly room: SignRoom;
  /** Host part of the profile URIs of requests that workflows make. */
  readonly authority: string;
  /** The activity of charts of one's own. */
  readonly sendMail: AnyActorLogic;
  /** For charts of one's own. */
  readonly callWebhook: CallWebhook;
  /** How long a receipt stays on the phone. */
  readonly receiptSeconds: number;
  /** As the service runs them (src/workflows/workflows.ts). */
  readonly workflows: readonly Workflow[];
  /** Where their instances are. */
  readonly locate: Locate;
  /** Makes the evidence of processes. */
  readonly createEvidence: CreateEvidence;
  /** Tells applications how their instances of charts of one's own end. */
  readonly notifyEnd: (end: EndOfInstance) => Promise<void>;
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
    const time = [deadline, addedAt].find((each) => typeof each === 'number' && each <= now() + maxAttemptMs);
    if (now() < (typeof time === 'number' ? time : 0) + laterWorkerTimeoutMs) return undefined;
    return faultLine(fault(900, 'The transaction is of a release that no worker has'));
  };

const unreadable = (names: readonly string[]): string =>
  faultLine(fault(101, `The job is not readable: ${names.join(', ')} must be JSON`));

export const startWorkers = (options: WorkersOptions) => {
  const { shards, blocking, prefix, retention, now, log } = options;
  const answer = createAnswer(shards, options);
  const readEnd = createReadEnd({ ...options, onError: log.trouble });
  const deviceLock = createDeviceLock(blocking, prefix, now, createIsOver(shards, now));
  const workflowEngine = createEngine(options.locate, now, turnBusyTimeoutMs);
  const find = createFind({ ...options, readEnd });
  // Charts of one's own reach instances of the application that theirs belongs to.
  const others = createOthers({
    engine: workflowEngine,
    idOf: (from, workflow, id) => instanceIdOf(apIdOf(from), workflow, id),
    inputOf: (from, input) => ({ apId: apIdOf(from), input }),
    workflowOf: asServiceWorkflow,
  });
  const toSign = { ...options, redis: blocking, find, engine: workflowEngine, onError: log.trouble };
  const toTell = { ...toSign, findRun: createFindRun(toSign) };
  const activities = {
    [serviceActivities.sign]: createSignActivity(toSign, true),
    [serviceActivities.sendMail]: options.sendMail,
    [serviceActivities.callWebhook]: createWebhookActivity({ call: options.callWebhook }),
    [serviceActivities.receipt]: createReceiptActivity({ ...toSign, timeoutSeconds: options.receiptSeconds }),
    [processActivities.sign]: createSignActivity(toSign, false),
    [processActivities.attest]: createAttestActivity(options.createEvidence),
  };
  // Signatures and workflows share the CPU, so they share the turns.
  const turns = createTurns();
  const upstreams = createUpstreams(options.upstreamLog, undefined, options.gateways?.maxCalls);

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
    const signing = startWorkflowWorker({
      ...common,
      abandon,
      queue: shard.signatures.queue,
      workflows: [createSignatureWorkflow({ ...options, place, deviceLock, upstreams, answer, read })],
      workflowOf: () => ({ name: signatureJobName }),
      tellEnd: createTellSigned(toTell),
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
      workflows: [createReceiptWorkflow({ ...options, shard, place, deviceLock, upstreams, readEnd })],
      workflowOf: () => ({ name: receiptJobName }),
      tellEnd: createTellReceipted(toTell),
    });
    const flowing = startWorkflowsWorker({
      ...common,
      ...{ shard, others, activities, turns, subscribers: options.subscribers },
      notifyEnd: options.notifyEnd,
      workflows: options.workflows,
      fetchers,
    });
    for (const worker of signing.workers) tellOfTransactions(worker as SignatureWorker, options);
    const fair = { redis: blocking, onError: log.trouble };
    const orders = [
      { workers: signing.workers, order: { queue: shard.signatures.queue, member: 'AP_ID' } },
      { workers: receipting.workers, order: { queue: shard.receipts.queue, member: 'apId' } },
      { workers: flowing.workers, order: { queue: shard.workflows.queue, member: 'apId' } },
    ] as const;
    keepers.push(...orders.map((each) => keepFair({ ...fair, ...each })));
    return [signing, receipting, flowing];
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
      if (!(await Promise.all(started.map((each) => each.close()))).every(Boolean)) blocking.disconnect();
    },
  };
};
