/**
 * Transactions are counted where the queue confirms what has become of them, so that each end
 * counts once.
 */
import { DelayedError, type Job, UnrecoverableError, Worker } from 'bullmq';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { SignatureRecord } from '../../machines/record.ts';
import { fault, faultLine } from '../../packages/protocol/src/fault.ts';
import { protocol } from '../../packages/protocol/test/samples.ts';
import { createTelemetry } from '../../src/app/telemetry.ts';
import type { SignatureJobData } from '../../src/transactions/contract.ts';
import { closeShards, openShards, type Shard } from '../../src/transactions/shards.ts';
import { tellOfTransactions } from '../../workers/transaction-events.ts';
import { testRedis } from '../support/redis.ts';
import { readExposition } from './exposition.ts';

const redis = testRedis();
const client = redis.client();
const apId = 'http://named.example';
const record: SignatureRecord = {
  version: 1,
  state: 'submitted',
  attempt: 1,
  deadline: 60_000,
  history: [{ state: 'submitted', attempt: 1, at: 0 }],
};
let shards: readonly Shard[] = [];
let worker: Worker<SignatureJobData, SignatureRecord>;
let count: (state: string, fault?: string) => Promise<number | undefined>;

type Run = (job: Job<SignatureJobData>, token: string) => Promise<SignatureRecord>;
/** What the next runs do, one after the other. */
const runs: Run[] = [];

const shard = (): Shard => {
  const [only] = shards;
  if (only === undefined) throw new Error('there is no shard');
  return only;
};
const signatures = () => shard().signatures.queue;
const add = (...next: readonly Run[]) => {
  runs.push(...next);
  return signatures().add(
    'sign',
    { MSS_SignatureReq: { AP_Info: { AP_ID: apId } } },
    { attempts: 2 },
  );
};

beforeAll(() => {
  shards = openShards({
    redis: client,
    prefix: redis.prefix.slice(-32),
    shards: 1,
    onError: () => undefined,
  });
  worker = new Worker(
    signatures().name,
    (job, token = '') => runs.shift()?.(job, token) ?? Promise.reject(new Error('a run too many')),
    { connection: redis.connection, prefix: shard().prefix },
  );
  worker.on('error', () => undefined);
  const { registry, transactionLog } = createTelemetry({
    version: '1',
    apIds: [apId],
    areas: [],
    oauth: [],
    access: { open: true },
    tracing: { enabled: false, serviceName: 'paraph' },
    processMetrics: false,
    now: Date.now,
  });
  tellOfTransactions(worker, {
    transactionLog,
    protocol,
    log: { signed: () => undefined, failed: () => undefined },
  });
  count = async (state, code) =>
    readExposition(await registry.metrics()).valueOf('paraph_transactions_total', {
      ap: apId,
      state,
      ...(code !== undefined && { fault: code }),
    });
});
afterAll(async () => {
  await worker.close();
  await closeShards(shards);
});

it('a run that is cut off at its end, and the one that takes its place, count once', async () => {
  const cutOff: Run = async (job) => {
    // As the check for stalled jobs does with one whose worker is silent; another worker takes it
    // and goes on.
    await client.del(`${signatures().toKey(job.id ?? '')}:lock`);
    await client.lrem(signatures().toKey('active'), 1, job.id ?? '');
    await client.rpush(signatures().toKey('wait'), job.id ?? '');
    return record;
  };
  const asleep: Run = async (job, token) => {
    await job.moveToDelayed(Date.now(), token);
    throw new DelayedError();
  };
  await add(cutOff, asleep, async () => record);
  await vi.waitFor(async () => expect(await count('signed')).toBe(1), {
    timeout: 20_000,
    interval: 10,
  });
  expect(runs).toEqual([]);
  expect(await count('submitted')).toBe(1);
  expect(await count('failed')).toBeUndefined();
});

it('a run that its producer wants to be tried again is no end; each end of a replayed transaction is', async () => {
  const denied: Run = async () => {
    throw new UnrecoverableError(faultLine(fault(401)));
  };
  const broken: Run = async () => {
    throw new Error('of no fault');
  };
  const { id = '' } = await add(broken, denied);
  await vi.waitFor(async () => expect(await count('failed', '401')).toBe(1), {
    timeout: 20_000,
    interval: 10,
  });
  expect(await count('failed', '900')).toBeUndefined();
  runs.push(broken);
  await (await signatures().getJob(id))?.retry('failed');
  await vi.waitFor(async () => expect(await count('failed', '900')).toBe(1), {
    timeout: 20_000,
    interval: 10,
  });
  expect(await count('failed', '401')).toBe(1);
  expect(await count('submitted')).toBe(2);
});
