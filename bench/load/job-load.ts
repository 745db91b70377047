/**
 * A producer in a process of its own: adds jobs by the contract of docs/queue-contract.md, so many
 * in flight, and learns of their ends from one reader of the events. The bare worker gets the very
 * same jobs.
 */
import { randomBytes } from 'node:crypto';
import { createHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { serveParent } from '../harness/program.ts';
import type { JobLoad, JobLoadResult } from './job-load-client.ts';
import { newProcessId, processData, processSigners, uniqueNumber } from './requests.ts';

/** Who waits for which job. */
type Waiting = Map<string, (failedReason: string | undefined) => void>;

interface Target {
  readonly queue: Queue;
  readonly connection: Redis;
  /** Begins to read the ends of jobs. A producer that waits for none does not pay for them. */
  readonly ends: () => Promise<Waiting>;
}

const targets = new Map<string, Target>();

const readEnds = async (connection: Redis, prefix: string, name: string): Promise<Waiting> => {
  // From the beginning: a reader that begins at "now" may begin after the first jobs have ended.
  const events = new QueueEvents(name, { connection, prefix, lastEventId: '0-0' });
  const waiting: Waiting = new Map();
  const end = (id: string, failedReason: string | undefined): void => {
    waiting.get(id)?.(failedReason);
    waiting.delete(id);
  };
  events.on('completed', ({ jobId }) => end(jobId, undefined));
  events.on('failed', ({ jobId, failedReason }) => end(jobId, failedReason));
  await events.waitUntilReady();
  return waiting;
};

const open = (path: string, prefix: string, name: string): Target => {
  const connection = new Redis({ path, maxRetriesPerRequest: null });
  let ends: Promise<Waiting> | undefined;
  return {
    queue: new Queue(name, { connection, prefix }),
    connection,
    ends: () => {
      ends ??= readEnds(connection, prefix, name);
      return ends;
    },
  };
};

const targetOf = ({ socketPath, prefix, body }: JobLoad): Target => {
  const queue = 'signers' in body ? 'workflows' : 'signatures';
  const name = `${socketPath} ${prefix} ${queue}`;
  const target = targets.get(name) ?? open(socketPath, prefix, queue);
  targets.set(name, target);
  return target;
};

/** `H`, the shard, seventeen letters or digits: hexadecimal ones will do. */
const newId = (): string => `H00${randomBytes(9).toString('hex').slice(0, 17)}`;

/** Of all processes so far. */
let signers = 0;

const newJob = ({ body }: JobLoad) => {
  if ('signers' in body) {
    const data = processData(body, signers);
    signers += body.people ?? processSigners;
    return { name: 'process', data, opts: { jobId: newProcessId() } };
  }
  const { MSS_SignatureReq } = body;
  const AP_Info = { ...MSS_SignatureReq.AP_Info, AP_TransID: `B${uniqueNumber()}` };
  const data = { MSS_SignatureReq: { ...MSS_SignatureReq, AP_Info } };
  return { name: 'sign', data, opts: { jobId: newId() } };
};

const add = (queue: Queue, { name, data, opts }: ReturnType<typeof newJob>): Promise<unknown> =>
  queue.add(name, data, opts);

const result = (
  count: number,
  begin: number,
  histogram: ReturnType<typeof createHistogram> | undefined,
): JobLoadResult => {
  const seconds = (performance.now() - begin) / 1000;
  return {
    count,
    seconds,
    perSecond: count / seconds,
    p50Ms: (histogram?.percentile(50) ?? 0) / 1000,
    p99Ms: (histogram?.percentile(99) ?? 0) / 1000,
  };
};

/** No job takes this long on any machine: something is broken. */
const stuckMs = 20_000;

/** Request to queryable outcome: the job has completed in Redis when its event is there. */
const flow = async (load: JobLoad): Promise<JobLoadResult> => {
  const { queue, ends } = targetOf(load);
  const waiting = await ends();
  const histogram = createHistogram();
  const begin = performance.now();
  let lastEnd = begin;
  const until = begin + (load.durationMs ?? Number.POSITIVE_INFINITY);
  const most = load.count ?? Number.POSITIVE_INFINITY;
  let started = 0;
  const loop = async (): Promise<void> => {
    while (started < most && performance.now() < until) {
      started += 1;
      const job = newJob(load);
      const sent = performance.now();
      const ended = new Promise<string | undefined>((resolve) =>
        waiting.set(job.opts.jobId, resolve),
      );
      await add(queue, job);
      const failedReason = await ended;
      if (failedReason !== undefined) throw new Error(`A job failed: ${failedReason}`);
      lastEnd = performance.now();
      histogram.record(Math.max(1, Math.round((lastEnd - sent) * 1000)));
    }
  };
  let watch: NodeJS.Timeout | undefined;
  const stuck = new Promise<never>((_, reject) => {
    watch = setInterval(() => {
      if (performance.now() - lastEnd < stuckMs) return;
      queue.getJobCounts().then((counts) => {
        reject(
          new Error(`${waiting.size} jobs do not end; in the queue: ${JSON.stringify(counts)}`),
        );
      }, reject);
    }, 1000);
  });
  await Promise.race([stuck, Promise.all(Array.from({ length: load.inFlight ?? 64 }, loop))]);
  clearInterval(watch);
  return result(started, begin, histogram);
};

const pollMs = 5;
const addAtOnce = 200;

/** Everything is there before the worker may begin; counted until the last one has completed. */
const drain = async (load: JobLoad): Promise<JobLoadResult> => {
  const { queue, connection } = targetOf(load);
  const count = load.count ?? 1000;
  await queue.pause();
  for (let added = 0; added < count; added += addAtOnce) {
    const size = Math.min(addAtOnce, count - added);
    await Promise.all(Array.from({ length: size }, () => add(queue, newJob(load))));
  }
  const ended = async (): Promise<number> => connection.zcard(queue.toKey('completed'));
  const before = await ended();
  const begin = performance.now();
  await queue.resume();
  while ((await ended()) - before < count) {
    if ((await connection.zcard(queue.toKey('failed'))) > 0) throw new Error('A job failed');
    await delay(pollMs);
  }
  return result(count, begin, undefined);
};

const bulk = async (load: JobLoad): Promise<JobLoadResult> => {
  const { queue } = targetOf(load);
  const { durationMs, inFlight = 64 } = load;
  const count = load.count ?? (durationMs === undefined ? 1000 : Number.POSITIVE_INFINITY);
  const begin = performance.now();
  const until = begin + (durationMs ?? Number.POSITIVE_INFINITY);
  let added = 0;
  for (; added < count && performance.now() < until; added += inFlight) {
    await queue.addBulk(
      Array.from({ length: Math.min(inFlight, count - added) }, () => newJob(load)),
    );
  }
  return result(Math.min(added, count), begin, undefined);
};

const drop = async (load: JobLoad): Promise<JobLoadResult> => {
  const { queue, connection } = targetOf(load);
  const begin = performance.now();
  // BullMQ's own way would occupy Redis for seconds.
  await connection.unlink(queue.toKey('wait'), queue.toKey('prioritized'));
  while ((await queue.getActiveCount()) > 0) await delay(pollMs);
  return result(0, begin, undefined);
};

const kinds = { flow, drain, bulk, drop };
serveParent((load: JobLoad) => kinds[load.kind](load));
