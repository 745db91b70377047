/**
 * Whoever has access to the queues: brings answers from elsewhere, replays what failed, and reads
 * what is stored. It uses the queues as docs/queue-contract.md offers them.
 */
import { randomUUID } from 'node:crypto';
import { createEngine, type SendResult, spreadOver } from '../../packages/engine/src/engine.ts';
import { addressOf, pathOf } from '../../packages/engine/src/record.ts';
import { createProtocol } from '../../packages/protocol/src/parse.ts';
import { defaultProtocolRules } from '../../packages/protocol/src/rules.ts';
import { processName } from '../../parts/processes/names.ts';
import { createProcessWorkflow } from '../../parts/processes/stock-process.ts';
import { workflowQueueName, workflowsOf } from '../../parts/workflows/queue.ts';
import { connectForBlocking, connectForCommands, disconnect } from '../../src/redis/connect.ts';
import { type AnswerResult, createAnswer } from '../../src/transactions/answers.ts';
import {
  recordIn,
  signatureJobName,
  signatureRecordSchema,
} from '../../src/transactions/contract.ts';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import { instanceIdOf } from '../../src/transactions/jobs/instance-ids.ts';
import { closeShards, openShards, shardFor } from '../../src/transactions/shards.ts';
import { signRequest } from '../support/requests.ts';
import type { Told } from './journal.ts';
import { crowdId, numberOf, processesId } from './people.ts';
import { createRandom } from './random.ts';

export interface StoredFields {
  readonly [field: string]: string;
}

export interface Operator {
  cancel(
    id: string,
    attempt: number,
    detail: string,
  ): Promise<AnswerResult | { readonly problem: string }>;
  /** @returns What became of it, and the attempt that begins if it worked. */
  replay(id: string): Promise<{ readonly told: Told; readonly attempt: number }>;
  /** The job's hash; empty for a job that is not there. @throws When Redis is not. */
  read(id: string): Promise<StoredFields>;
  /** Ids of all jobs, in all shards. @throws When Redis is not there. */
  everyId(): Promise<readonly string[]>;
  /** Jobs that have not ended, by where they are. @throws When Redis is not there. */
  open(): Promise<readonly { readonly id: string; readonly state: string }[]>;
  /** Sends an event to a signer of the open step of a process, as the signer's page does. */
  tellSigner(
    process: string,
    signer: { readonly step: number; readonly key: string },
    event: { readonly type: 'SIGN' | 'DECLINE' },
  ): Promise<SendResult | { readonly problem: string }>;
  /** All instances of workflows, and their children. @throws When Redis is not there. */
  instances(): Promise<readonly StoredInstance[]>;
  /** What happened in the queues since the last call, in the words and the time of Redis. */
  news(): Promise<readonly News[]>;
  close(): Promise<void>;
}

export interface StoredInstance {
  /** A child has the id of its parent before its own. */
  readonly id: string;
  readonly isOver: boolean;
}

export interface News {
  readonly id: string;
  readonly event: string;
  /** Milliseconds since the epoch, by the clock of Redis. */
  readonly at: number;
}

const problemOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const openStates = ['wait', 'active', 'delayed', 'prioritized'] as const;

/** What begins the AP_TransID of the application that floods. */
export const crowdMark = 'CROWD-';

/** Adds so many requests of one application to each shard, as a bare producer does. */
export const addCrowd = async (url: string, count: number): Promise<void> => {
  // One that does not give up: half a flood is none.
  const redis = connectForBlocking({ url });
  redis.on('error', () => undefined);
  const shards = openShards({ redis, prefix: 'faults', shards: 2, onError: () => undefined });
  try {
    await Promise.all(
      shards.map(async ({ index, signatures }) => {
        for (let added = 0; added < count; added += 250) {
          const jobs = Array.from({ length: Math.min(250, count - added) }, (_, position) => {
            const { AP_Info, ...request } = signRequest({
              apId: crowdId,
              mode: 'asynch',
              msisdn: numberOf('robot', createRandom(`${added + position}`)),
            }).MSS_SignatureReq;
            const named = { ...AP_Info, AP_TransID: `${crowdMark}${index}-${added + position}` };
            return {
              name: signatureJobName,
              data: { MSS_SignatureReq: { ...request, AP_Info: named } },
              opts: { jobId: newMsspTransId(index) },
            };
          });
          await signatures.queue.addBulk(jobs);
        }
      }),
    );
  } finally {
    await closeShards(shards);
    await disconnect(redis);
  }
};

export const openOperator = (url: string): Operator => {
  const redis = connectForCommands({ url });
  redis.on('error', () => undefined);
  const shards = openShards({
    redis,
    prefix: 'faults',
    shards: 2,
    queues: [workflowQueueName],
    onError: () => undefined,
  });
  const answer = createAnswer(shards, {
    protocol: createProtocol(defaultProtocolRules),
    now: Date.now,
  });
  const queues = shards.flatMap(({ signatures, receipts }) => [signatures.queue, receipts.queue]);
  const locate = spreadOver(
    shards.map((shard) => workflowsOf(shard).queue),
    redis,
    Date.now,
  );
  const engine = createEngine(locate, Date.now);
  const workflow = createProcessWorkflow();
  let lastRead: ReadonlyMap<string, string> = new Map();
  const signaturesOf = (id: string) => {
    const shard = shardFor(shards, id);
    if (shard === undefined) throw new Error(`${id} names no shard`);
    return shard.signatures.queue;
  };

  /** Hashes right below a prefix: those of jobs. */
  const idsIn = async (prefix: string): Promise<readonly string[]> => {
    const ids = new Set<string>();
    let cursor = '0';
    do {
      const command = ['MATCH', `${prefix}*`, 'COUNT', '1000', 'TYPE', 'hash'];
      const [next, keys] = (await redis.call('SCAN', cursor, ...command)) as [string, string[]];
      cursor = next;
      for (const key of keys) ids.add(key.slice(prefix.length));
    } while (cursor !== '0');
    return [...ids].filter((id) => !id.includes(':') && id !== 'meta');
  };

  return {
    cancel: async (id, attempt, detail) => {
      try {
        return await answer(id, attempt, { kind: 'fault', fault: { code: 401, detail } });
      } catch (error) {
        return { problem: problemOf(error) };
      }
    },
    replay: async (id) => {
      let attempt = 2;
      try {
        const job = await signaturesOf(id).getJob(id);
        if (job === undefined) return { told: { kind: 'unknown', cause: 'no job' }, attempt };
        const record = signatureRecordSchema.safeParse(recordIn(job.progress));
        attempt = (record.data?.attempt ?? 1) + 1;
        await job.retry('failed');
        return { told: { kind: 'replayed' }, attempt };
      } catch (error) {
        return { told: { kind: 'unknown', cause: problemOf(error) }, attempt };
      }
    },
    read: (id) => redis.hgetall(signaturesOf(id).toKey(id)),
    everyId: async () => {
      const ids = await Promise.all(
        shards.map(({ signatures }) => idsIn(signatures.queue.toKey(''))),
      );
      return ids.flat().filter((id) => /^H[0-9A-Za-z]{19}$/.test(id));
    },
    tellSigner: async (process, { step, key }, event) => {
      try {
        const root = instanceIdOf(processesId, processName, process);
        const children = Object.entries((await engine.find(root))?.record?.children ?? {});
        const [name] = children.find(([each]) => each.startsWith(`${step}-${key}-`)) ?? [];
        if (name === undefined) return 'unknown';
        const address = addressOf(root, pathOf('', name));
        return await engine.send(workflow, address, randomUUID(), event, { judged: true });
      } catch (error) {
        return { problem: problemOf(error) };
      }
    },
    instances: async () => {
      const found: StoredInstance[] = [];
      for (const { queue } of shards.map(workflowsOf)) {
        for (const id of await idsIn(queue.toKey(''))) {
          const [name, finishedOn] = await redis.hmget(queue.toKey(id), 'name', 'finishedOn');
          if (typeof name === 'string') found.push({ id, isOver: typeof finishedOn === 'string' });
        }
      }
      return found;
    },
    open: async () => {
      const found: { id: string; state: string }[] = [];
      for (const queue of [...queues, ...shards.map((shard) => workflowsOf(shard).queue)]) {
        for (const state of openStates) {
          for (const job of await queue.getJobs([state], 0, 50)) {
            if (job?.id !== undefined) found.push({ id: job.id, state });
          }
        }
      }
      return found;
    },
    news: async () => {
      const news: News[] = [];
      // Kept when all have been read: what a call that failed had read is read again.
      const read = new Map(lastRead);
      for (const queue of queues) {
        const stream = queue.toKey('events');
        for (;;) {
          const from = read.get(stream) ?? '-';
          const entries = await redis.xrange(
            stream,
            from === '-' ? '-' : `(${from}`,
            '+',
            'COUNT',
            2000,
          );
          for (const [entryId, fields] of entries) {
            read.set(stream, entryId);
            const field = (name: string): string => fields[fields.indexOf(name) + 1] ?? '';
            const id = fields.includes('jobId') ? field('jobId') : '';
            if (id !== '')
              news.push({ id, event: field('event'), at: Number(entryId.split('-')[0]) });
          }
          if (entries.length < 2000) break;
        }
      }
      lastRead = read;
      return news;
    },
    close: async () => {
      await closeShards(shards);
      await disconnect(redis);
    },
  };
};
