/**
 * A queue as the service leaves it, made by hand: real jobs, taken and ended with BullMQ's own
 * calls, so that a test says what happens and when. What the index should say of each is kept
 * beside it.
 */
import { randomBytes } from 'node:crypto';
import { type Job, Queue, UnrecoverableError, Worker } from 'bullmq';
import type { SignatureState } from '../../../machines/signature.machine.ts';
import {
  type Fault,
  type FaultCode,
  fault,
  faultLine,
} from '../../../packages/protocol/src/fault.ts';
import type { ProfileName } from '../../../packages/protocol/src/requests.ts';
import { connectForBlocking, disconnect, whenReady } from '../../../src/redis/connect.ts';
import {
  receiptQueueName,
  shardPrefix,
  signatureJobName,
  signatureQueueName,
} from '../../../src/transactions/contract.ts';
import type { HistoryFilter } from '../../../src/transactions/history/filter.ts';
import { createHistory } from '../../../src/transactions/history/history.ts';
import {
  createIndexer,
  type Indexer,
  type IndexerOptions,
} from '../../../src/transactions/history/indexer.ts';
import type { TransactionRow } from '../../../src/transactions/history/row.ts';
import { newMsspTransId } from '../../../src/transactions/ids.ts';
import type { TestRedis } from '../../support/redis.ts';

export interface Asked {
  readonly apId?: string;
  readonly apTransId?: string;
  readonly msisdn?: string;
  readonly profile?: ProfileName;
  readonly timestamp?: number;
  readonly id?: string;
}

export const dayMs = 86_400_000;
export const retention = { signedMs: 7 * dayMs, failedMs: 30 * dayMs };

export type Stage = Awaited<ReturnType<typeof startStage>>;

const requestOf = ({ apId, apTransId, msisdn, profile }: Asked) => ({
  MajorVersion: '1',
  MinorVersion: '2',
  AP_Info: {
    AP_ID: apId ?? 'mid://shop',
    AP_TransID: apTransId ?? 'T-1',
    Instant: '2025-01-01T00:00:00Z',
  },
  MSSP_Info: { MSSP_ID: { URI: 'http://mid.vendor.ch/' } },
  MobileUser: { MSISDN: msisdn ?? '+41700092501' },
  MessagingMode: 'asynch',
  SignatureProfile: `http://mid.vendor.ch/${profile ?? 'Any-LoA4'}`,
  TimeOut: '60',
  DataToBeSigned: { MimeType: 'text/plain', Encoding: 'UTF-8', Data: 'Shop: pay?' },
  AdditionalServices: [],
});

export const startStage = async (
  test: TestRedis,
  { shards = 1, now = Date.now }: { readonly shards?: number; readonly now?: () => number } = {},
) => {
  const prefix = `${test.prefix.slice(-20)}-${randomBytes(3).toString('hex')}`;
  const redis = connectForBlocking({ url: test.url });
  await whenReady(redis);
  /** What went wrong in indexers and pages. */
  const errors: Error[] = [];
  const onError = (error: Error): void => void errors.push(error);
  const queueOf = (shard: number, name: string): Queue =>
    new Queue(name, { connection: test.connection, prefix: shardPrefix(prefix, shard) });
  const queues = Array.from({ length: shards }, (_, shard) => queueOf(shard, signatureQueueName));
  const receipts = queueOf(0, receiptQueueName);
  const hands = queues.map(
    (queue, shard) =>
      new Worker(queue.name, null, {
        connection: test.connection,
        prefix: shardPrefix(prefix, shard),
        lockDuration: 60_000,
      }),
  );
  const token = 'hand';
  const history = createHistory({ redis, prefix, shards, retention, now, onError });
  const indexers: Indexer[] = [];

  const jobOf = (asked: Asked, shard = 0): Parameters<Queue['addBulk']>[0][number] => ({
    name: signatureJobName,
    data: { MSS_SignatureReq: requestOf(asked) },
    opts: {
      jobId: asked.id ?? newMsspTransId(shard),
      ...(asked.timestamp !== undefined && { timestamp: asked.timestamp }),
    },
  });

  const attemptOf = ({ progress }: Job): number => Object(progress).context?.attempt ?? 1;
  /** As the engine does it: silently. */
  const note = async (job: Job, state: SignatureState, reason?: Fault): Promise<void> => {
    const attempt = attemptOf(job);
    const history = [{ state, attempt, at: job.timestamp, fault: reason }];
    const context = { attempt, deadline: 0, fault: reason, history };
    const record = { workflow: signatureJobName, version: 1, context };
    await redis.hset(`${job.queueQualifiedName}:${job.id}`, 'progress', JSON.stringify(record));
  };

  return {
    redis,
    prefix,
    queues,
    receipts,
    history,
    errors,
    jobOf,
    indexer: (changes: Partial<IndexerOptions> = {}): Indexer => {
      const options = { redis, prefix, shards, retention, now, onError, pollMs: 10 };
      const made = createIndexer({ ...options, ...changes });
      indexers.push(made);
      made.start();
      return made;
    },
    /** Submits one. @returns Its id. */
    submit: async (asked: Asked = {}, shard = 0): Promise<string> => {
      const { name, data, opts } = jobOf(asked, shard);
      await queues[shard]?.add(name, data, opts);
      return String(opts?.jobId);
    },
    take: async (shard = 0): Promise<Job> => {
      const job = await hands[shard]?.getNextJob(token, { block: false });
      if (job === undefined) throw new Error('a job was expected');
      return job;
    },
    sign: async (job: Job, changes: Record<string, unknown> = {}): Promise<void> => {
      const attempt = attemptOf(job);
      const at = job.timestamp;
      const record = {
        version: 1,
        state: 'signed',
        attempt,
        deadline: at + 60_000,
        outcome: { kind: 'signature', cms: 'AAAA' },
        history: [{ state: 'submitted', attempt, at }],
        ...changes,
      };
      await job.moveToCompleted(record, token, false);
    },
    fail: async (job: Job, code: FaultCode): Promise<void> => {
      await note(job, 'failed', fault(code));
      await job.moveToFailed(new UnrecoverableError(faultLine(fault(code))), token, false);
    },
    /** The device has the prompt and a person thinks. */
    ask: async (job: Job): Promise<void> => {
      await note(job, 'pending');
      await job.moveToDelayed(Date.now() + 60_000, token);
    },
    /** All rows by a filter, page by page. */
    all: async (filter: HistoryFilter, limit = 500): Promise<readonly TransactionRow[]> => {
      const rows: TransactionRow[] = [];
      let cursor: string | undefined;
      do {
        const page = await history.search(filter, { limit, cursor });
        if (page === undefined) throw new Error('the cursor was refused');
        rows.push(...page.rows);
        cursor = page.cursor;
      } while (cursor !== undefined);
      return rows;
    },
    close: async (): Promise<void> => {
      history.close();
      await Promise.all(indexers.map((indexer) => indexer.close()));
      await Promise.all(hands.map((hand) => hand.close()));
      await Promise.all([...queues, receipts].map((queue) => queue.close()));
      await disconnect(redis);
    },
  };
};
