/**
 * Turns run by hand: jobs that are really taken, while no worker runs, so that a test says when a
 * turn runs, what time it is then, and what becomes of the job. What a test does not replace is the
 * real thing.
 *
 * Each turn that is made here is a process of its own: what it has in memory, such as the calls
 * that go on while a job sleeps, no other one knows of.
 */
import { type Job, type Queue, Worker } from 'bullmq';
import { vi } from 'vitest';
import type { SignatureRecord } from '../../machines/record.ts';
import { type Activities, createActivities } from '../../packages/engine/src/activities.ts';
import type { Workflow } from '../../packages/engine/src/define.ts';
import { deliver } from '../../packages/engine/src/engine.ts';
import { doneEvent } from '../../packages/engine/src/interpret.ts';
import {
  createInstanceStore,
  type InstanceStore,
} from '../../packages/engine/src/redis/instance-store.ts';
import type { InstanceJob } from '../../packages/engine/src/take-job.ts';
import { createTurn } from '../../packages/engine/src/turn.ts';
import { phoneDevices } from '../../parts/phone/device.ts';
import { createPhonePrompts } from '../../parts/phone/prompts.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import type { Prompt } from '../../src/sscd/device.ts';
import { createDevices, type Devices } from '../../src/sscd/devices.ts';
import { createOutbox } from '../../src/sscd/text-gateway.ts';
import { createAnswer } from '../../src/transactions/answers.ts';
import { createIsOver } from '../../src/transactions/attempt-over.ts';
import type { ReceiptJobResult } from '../../src/transactions/contract.ts';
import { createDeviceLock } from '../../src/transactions/device-lock.ts';
import { createIsWithdrawn } from '../../src/transactions/jobs/fair-adding.ts';
import { createReadEnd } from '../../src/transactions/outcomes.ts';
import {
  closeShards,
  openShards,
  type QueueAt,
  type Shard,
} from '../../src/transactions/shards.ts';
import type { StepLog } from '../../workers/log.ts';
import { createReceiptWorkflow } from '../../workers/receipt.worker.ts';
import {
  createSignatureWorkflow,
  type SignatureActivitiesOptions,
} from '../../workers/signature.worker.ts';
import { createUpstreams } from '../../workers/upstreams.ts';
import { abandonAfterRollOut } from '../../workers/workers.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import type { TestRedis } from '../support/redis.ts';

type ReceiptOptions = Parameters<typeof createReceiptWorkflow>[0];

const quiet = { down: () => undefined, back: () => undefined };

/** What a test puts in place of the real thing. */
interface TurnChanges {
  /** What time it is; milliseconds since the epoch. */
  readonly now?: () => number;
  readonly store?: (real: InstanceStore) => InstanceStore;
  /**
   * Activities are not waited for: they go on while the job sleeps. Otherwise each answers within
   * its turn, however slow the machine. With a function the turn waits until that is true, and no
   * longer.
   */
  readonly sleepsMeanwhile?: true | (() => boolean);
  /** The process has died by the time that such an activity answers. */
  readonly dies?: true;
}

/**
 * @returns What the job returns.
 * @throws DelayedError when the job sleeps, UnrecoverableError with the reason when it has failed.
 */
type Turn<Result> = (job: Job, token: string) => Promise<Result>;

export interface ByHand {
  /** It accepts and answers, and has no workers. */
  readonly product: TestProduct;
  readonly shard: Shard;
  /** What the turns have said to be wrong. */
  readonly troubles: readonly string[];
  readonly log: StepLog;
  /**
   * Takes the next job of a queue, as a worker would, and waits for it. Its lock outlives the test.
   */
  take(at: QueueAt, token: string): Promise<Job>;
  /** The real ones, which say first whom they are to prompt. */
  devicesThat(prompted: (prompt: Prompt) => void): Devices;
  /** Ends the sleep of a job, and takes the next one. */
  wakeAndTake(at: QueueAt, id: string | undefined, token: string): Promise<Job>;
  signatureTurn(changes?: Partial<SignatureActivitiesOptions> & TurnChanges): Turn<SignatureRecord>;
  receiptTurn(changes?: Partial<ReceiptOptions> & TurnChanges): Turn<ReceiptJobResult>;
  stop(): Promise<void>;
}

const holdMs = 10_000;
const patienceMs = 10_000;

export const startByHand = async (
  redis: TestRedis,
  configuration: Record<string, unknown>,
): Promise<ByHand> => {
  const product = await startTestProduct(redis, { workers: false, configuration });
  const { core } = product;
  const { blocking, protocol, subscribers, seals } = core;
  const { prefix } = product.configuration.queue;
  const shards = openShards({ redis: blocking, prefix, shards: 1, onError: () => undefined });
  const [shard] = shards;
  if (shard === undefined) throw new Error('there is no shard');

  const handFor = ({ queue }: QueueAt): Worker =>
    new Worker(queue.name, null, {
      connection: redis.connection,
      prefix: shard.prefix,
      lockDuration: 60_000,
    });
  const hands = new Map([shard.signatures, shard.receipts].map((at) => [at, handFor(at)]));

  const troubles: string[] = [];
  const log: StepLog = {
    asked: () => undefined,
    signed: () => undefined,
    failed: () => undefined,
    unreachable: () => undefined,
    receipted: () => undefined,
    trouble: ({ message }: Error) => void troubles.push(message),
  };
  const custody = core.custodyOver(blocking);
  const devices = createDevices({
    custody,
    kinds: [
      phoneDevices({
        prompts: createPhonePrompts({
          redis: blocking,
          prefix,
          serviceKey: core.serviceKey,
          now: core.now,
        }),
        now: core.now,
      }),
    ],
    gateway: createOutbox(blocking, 'unused', Date.now),
  });
  const common = {
    place: { shard: 0, shards: 1 },
    protocol,
    subscribers,
    devices,
    deviceLock: createDeviceLock(blocking, prefix, Date.now, createIsOver(shards, Date.now)),
    log,
  };
  const readEnd = createReadEnd({ custody, seals, now: Date.now, onError: () => undefined });
  const providers = core.providersOver(blocking);
  const answer = createAnswer(shards, { protocol, now: Date.now });

  const closers: (() => Promise<void>)[] = [];
  const turnOf = <Result>(
    { queue }: QueueAt,
    workflow: Workflow,
    { now = Date.now, store: changed = (real) => real, sleepsMeanwhile, dies }: TurnChanges,
  ): Turn<Result> => {
    const store = changed(createInstanceStore(queue, blocking, now));
    const activities = createActivities(
      async (id, { child, run, result }) => {
        if (dies || result.kind !== 'done') return;
        await deliver(store, id, `run/${child}/${run}/by-hand`, doneEvent(child, result.output), {
          about: { child, run },
        });
      },
      async (tries) => tries.map(() => true),
      holdMs,
      (error) => log.trouble(error),
    );
    closers.push(() => activities.close(0));
    const waiting: Activities = {
      ...activities,
      of: (instance) => {
        const own = activities.of(instance);
        const untilItSleeps = async (mayEnd: () => boolean) => {
          for (;;) {
            const ended = await own.next(5);
            if (ended !== undefined || mayEnd()) return ended;
          }
        };
        return {
          ...own,
          next: (ms) =>
            typeof sleepsMeanwhile === 'function'
              ? untilItSleeps(sleepsMeanwhile)
              : own.next(ms === 0 ? 0 : patienceMs),
        };
      },
    };
    const { name, version } = workflow.chart;
    const turn = createTurn({
      store,
      find: (wanted, of = version) => (wanted === name && of === version ? workflow : undefined),
      activities: sleepsMeanwhile === true ? activities : waiting,
      observe: () => undefined,
      workflowOf: () => ({ name }),
      abandon: abandonAfterRollOut(now),
      holdMs,
      now,
      onError: log.trouble,
    });
    return (job, token) => turn(job as InstanceJob, token) as Promise<Result>;
  };

  const take: ByHand['take'] = (at, token) =>
    vi.waitFor(
      async () => {
        const job = await hands.get(at)?.getNextJob(token, { block: false });
        if (job === undefined) throw new Error('a job was expected');
        return job;
      },
      { timeout: 20_000, interval: 10 },
    );

  return {
    devicesThat: (prompted) => ({
      deviceFor: (target) => {
        const device = devices.deviceFor(target);
        return {
          ...device,
          prompt: async (prompt) => {
            prompted(prompt);
            return device.prompt(prompt);
          },
        };
      },
    }),
    product,
    shard,
    troubles,
    log,
    take,
    wakeAndTake: async (at, id = '', token) => {
      await createInstanceStore(at.queue, blocking, Date.now).wake(id);
      return take(at, token);
    },
    signatureTurn: (changes = {}) => {
      const upstreams = createUpstreams(quiet);
      const { read } = createInstanceStore(
        shard.signatures.queue,
        blocking,
        changes.now ?? Date.now,
      );
      const made = {
        ...common,
        upstreams,
        now: Date.now,
        providers,
        custody,
        seals,
        answer,
        read,
        isWithdrawn: createIsWithdrawn(shard.signatures),
        ...changes,
      };
      return turnOf(shard.signatures, createSignatureWorkflow(made), changes);
    },
    receiptTurn: (changes = {}) => {
      const made = {
        ...common,
        shard,
        providers,
        readEnd,
        upstreams: createUpstreams(quiet),
        ...changes,
      };
      return turnOf(shard.receipts, createReceiptWorkflow(made), changes);
    },
    stop: async () => {
      for (const close of closers) await close();
      for (const hand of hands.values()) await hand.close();
      await closeShards(shards);
      await product.stop();
    },
  };
};

/**
 * Writes an event as a program in another language does that dies before it can wake the job
 * (docs/queue-contract.md).
 */
export const leaveEvent = async (
  { queue, redis }: { readonly queue: Queue; readonly redis: RedisClient },
  id: string,
  name: string,
  event: object,
): Promise<void> => {
  const job = queue.toKey(id);
  const line = `${Date.now()}\t${JSON.stringify([`out/${name}`, event])}\n`;
  const before = (await redis.hget(job, 'inbox')) ?? '';
  await redis.hset(job, { inbox: before + line, [`key:out/${name}`]: 'waiting' });
};
