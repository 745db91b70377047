/**
 * What we use of BullMQ that it does not promise: scripts, hash fields, keys and methods of its
 * own. A new version that changes one of them fails here, and says which of our files to read
 * before the pin is moved.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Job, Worker } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  closeShards,
  openShards,
  type QueueAt,
  type Shard,
} from '../../src/transactions/shards.ts';
import { testRedis } from '../support/redis.ts';

const root = new URL('../../', import.meta.url);
const load = createRequire(import.meta.url);

interface Script {
  readonly keys: number;
  readonly content: string;
}

const scriptOf = (name: string): Script => {
  const [script] = Object.values(
    load(`bullmq/dist/cjs/scripts/${name}.js`) as Record<string, Script>,
  );
  if (script === undefined) throw new Error(`There is no script ${name}`);
  return script;
};

/**
 * The scripts, the first digits of the SHA-256 of each, and what of ours builds on what they do.
 */
const pins: readonly (readonly [script: string, sha256: string, files: readonly string[]])[] = [
  [
    'reprocessJob-9',
    '4ea1093385a87676',
    // It is run inside a script of ours; the others build on what it leaves (attemptsMade,
    // stacktrace).
    [
      'src/transactions/jobs/replay-once.ts',
      'packages/engine/src/take-job.ts',
      'packages/engine/src/redis/instance-store.ts',
      'src/transactions/standing.ts',
      'src/transactions/history/events.ts',
    ],
  ],
  [
    'addStandardJob-9',
    '2eee45c9ffc54d24',
    [
      'src/transactions/transactions.ts',
      'src/queue/placement.ts',
      'src/transactions/cancellation.ts',
    ],
  ],
  [
    'addPrioritizedJob-9',
    'd4652d1be004a3d7',
    ['src/queue/placement.ts', 'src/telemetry/queue-metrics.ts'],
  ],
  [
    'addDelayedJob-6',
    'e47c0db3c46bd84a',
    ['src/queue/placement.ts', 'src/telemetry/queue-metrics.ts'],
  ],
  [
    'moveToActive-11',
    '7d35069db0b831af',
    [
      'packages/engine/src/take-job.ts',
      'packages/engine/src/redis/redis-time.ts',
      'packages/engine/src/redis/bullmq-script.ts',
      'src/transactions/standstill.ts',
      'src/transactions/jobs/unreadable.ts',
    ],
  ],
  [
    'moveToFinished-14',
    '8e744ec5d65dbe9e',
    [
      'src/transactions/jobs/job-store.ts',
      'src/transactions/transactions.ts',
      'packages/engine/src/redis/bullmq-script.ts',
      'src/transactions/jobs/end-stream.ts',
      'packages/engine/src/take-job.ts',
      'packages/engine/src/turn.ts',
      'packages/engine/src/redis/instance-store.ts',
      'src/transactions/history/row.ts',
      'parts/callbacks/transaction-events.ts',
    ],
  ],
  [
    'moveToDelayed-11',
    '1a7b9311ef92fd66',
    [
      'packages/engine/src/redis/instance-store.ts',
      'packages/engine/src/redis/redis-time.ts',
      'src/telemetry/queue-metrics.ts',
    ],
  ],
  ['promote-9', '06c562bf39eaaa21', ['packages/engine/src/redis/instance-store.ts']],
  [
    'moveStalledJobsToWait-9',
    'dad86d89b50d825f',
    ['workers/workers.ts', 'src/transactions/jobs/unreadable.ts'],
  ],
  [
    'extendLocks-1',
    '14bb41f30eff2e7f',
    ['packages/engine/src/redis/instance-store.ts', 'workers/workers.ts'],
  ],
  ['cleanJobsInSet-3', 'dbdd85409e49a4e3', ['packages/engine/src/worker.ts']],
  ['removeJob-2', 'f2acb16fda20ccac', ['src/transactions/receipts.ts']],
  ['removeDeduplicationKey-1', '4c6c4fb746221521', ['src/transactions/cancellation.ts']],
];

describe('a script of BullMQ', () => {
  it.each(pins)('%s is as it was when ours were written', (name, sha256, files) => {
    const { content, keys } = scriptOf(name);
    for (const file of files)
      expect(existsSync(new URL(file, root)), `${file} is gone: move the pin`).toBe(true);
    expect(
      createHash('sha256').update(content).digest('hex').slice(0, 16),
      `BullMQ's ${name} has changed. Read what is new in it, then look at ${files.join(', ')}. Then put the new hash here.`,
    ).toBe(sha256);
    expect(keys).toBe(Number(name.split('-').at(-1)));
  });

  /** As its head says. */
  const placesOf = (name: string, indent: number) =>
    [
      ...scriptOf(name).content.matchAll(
        new RegExp(`^ {${indent}}((?:KEYS|ARGV)\\[\\d+\\]) +(.*)$`, 'gm'),
      ),
    ].map(([, place, what]) => [place, what]);

  it('moveToFinished has the keys and arguments where src/transactions/jobs/end-stream.ts reads them', () => {
    expect(placesOf('moveToFinished-14', 6)).toEqual(
      expect.arrayContaining([
        ['KEYS[4]', 'event stream key'],
        ['KEYS[12]', 'jobId key'],
        ['ARGV[1]', 'jobId'],
        ['ARGV[4]', 'return value / failed reason'],
        ['ARGV[5]', 'target (completed/failed)'],
      ]),
    );
  });

  it('reprocessJob takes the keys and arguments that src/transactions/jobs/replay-once.ts gives it', () => {
    expect(placesOf('reprocessJob-9', 4)).toEqual([
      ['KEYS[1]', 'job key'],
      ['KEYS[2]', 'events stream'],
      ['KEYS[3]', 'job state'],
      ['KEYS[4]', 'wait key'],
      ['KEYS[5]', 'meta'],
      ['KEYS[6]', 'active key'],
      ['KEYS[7]', 'marker key'],
      ['KEYS[8]', 'prioritized key'],
      ['KEYS[9]', 'priority counter key'],
      ['ARGV[1]', 'job.id'],
      ['ARGV[2]', "(job.opts.lifo ? 'R' : 'L') + 'PUSH'"],
      ['ARGV[3]', 'propVal - failedReason/returnvalue'],
      ['ARGV[4]', 'prev state - failed/completed'],
      ['ARGV[5]', 'reset attemptsMade - "1" or "0"'],
      ['ARGV[6]', 'reset attemptsStarted - "1" or "0"'],
    ]);
  });
});

const redis = testRedis();
const client = redis.client();
let shards: readonly Shard[];
let at: QueueAt;
let worker: Worker;

beforeAll(() => {
  shards = openShards({
    redis: client,
    prefix: redis.prefix.slice(-32),
    shards: 1,
    onError: () => undefined,
  });
  const [shard] = shards;
  if (shard === undefined) throw new Error('a shard was expected');
  at = shard.signatures;
  worker = new Worker(at.queue.name, null, { connection: redis.connection, prefix: shard.prefix });
});
afterAll(async () => {
  await worker.close();
  await closeShards(shards);
});

const fieldsOf = async ({ id = '' }: Job): Promise<readonly string[]> =>
  (await client.hkeys(at.queue.toKey(id))).toSorted();
const take = async (): Promise<Job> => {
  const job = await worker.getNextJob('hand', { block: false });
  if (job === undefined) throw new Error('a job was expected');
  return job;
};
/** What `jobFailure` of packages/engine/src/take-job.ts makes. */
const failure = (): Error => Object.assign(new Error('_401 USER_CANCEL: x'), { stack: '' });

describe('the hash and the keys of a job', () => {
  it('hold, in each state, the fields by which ours know it, and the events tell of each change', async () => {
    const { queue } = at;
    const added = ['data', 'deid', 'delay', 'name', 'opts', 'priority', 'timestamp'];
    const job = await queue.add('sign', {}, { deduplication: { id: 'same', ttl: 60_000 } });
    expect(await fieldsOf(job)).toEqual(added);
    expect(await client.lindex(queue.toKey('wait'), -1)).toBe(job.id);
    expect(await client.get(queue.toKey('de:same'))).toBe(job.id);

    const taken = await take();
    const run = [...added, 'ats', 'processedOn'].toSorted();
    expect(await fieldsOf(job)).toEqual(run);
    expect(await client.get(`${queue.toKey(job.id ?? '')}:lock`)).toBe('hand');

    await taken.moveToFailed(failure(), 'hand', false);
    const ended = [...run, 'atm', 'failedReason', 'finishedOn', 'stacktrace'].toSorted();
    expect(await fieldsOf(job)).toEqual(ended);
    expect(await client.zscore(queue.toKey('failed'), job.id ?? '')).not.toBeNull();
    expect(await client.get(queue.toKey('de:same'))).toBe(job.id);

    await (await queue.getJob(job.id ?? ''))?.retry('failed', { resetAttemptsMade: true });
    const again = [...added, 'ats', 'stacktrace'].toSorted();
    expect(await fieldsOf(job)).toEqual(again);

    const second = await take();
    const wakeAt = Date.now() + 60_000;
    await second.moveToDelayed(wakeAt, 'hand');
    const score = Number(await client.zscore(queue.toKey('delayed'), job.id ?? ''));
    expect(Math.floor(score / 0x1000)).toBe(wakeAt);
    await queue.getBackend().promote(job.id ?? '');
    await expect(queue.getBackend().promote(job.id ?? '')).rejects.toMatchObject({ code: -3 });
    const third = await take();
    await third.moveToCompleted({ signed: true }, 'hand', false);
    expect(await client.hget(queue.toKey(job.id ?? ''), 'returnvalue')).toBe('{"signed":true}');
    expect(await client.zscore(queue.toKey('completed'), job.id ?? '')).not.toBeNull();
    await queue.remove(job.id ?? '');
    expect(await client.exists(queue.toKey(job.id ?? ''))).toBe(0);

    // Read by src/transactions/history/events.ts and parts/callbacks/follower.ts.
    const entries = await client.xrange(queue.toKey('events'), '-', '+');
    const told = entries.map(([, entry]) => entry.join(' '));
    expect(told.filter((entry) => entry !== 'event drained')).toEqual([
      `event added jobId ${job.id} name sign`,
      `event waiting jobId ${job.id}`,
      `event active jobId ${job.id} prev waiting`,
      `event failed jobId ${job.id} failedReason _401 USER_CANCEL: x prev active`,
      `event retries-exhausted jobId ${job.id} attemptsMade 1`,
      `event waiting jobId ${job.id} prev failed`,
      `event active jobId ${job.id} prev waiting`,
      `event delayed jobId ${job.id} delay ${wakeAt}`,
      `event waiting jobId ${job.id} prev delayed`,
      `event active jobId ${job.id} prev waiting`,
      `event completed jobId ${job.id} returnvalue {"signed":true} prev active`,
      `event removed jobId ${job.id} prev completed`,
    ]);
  });

  it('say where it waits', async () => {
    const { queue } = at;
    const urgent = await queue.add('sign', {}, { priority: 3 });
    const score = Number(await client.zscore(queue.toKey('prioritized'), urgent.id ?? ''));
    expect(Math.floor(score / 2 ** 32)).toBe(3);
    const delayed = await queue.add('sign', {}, { delay: 60_000 });
    const due = Number(await client.zscore(queue.toKey('delayed'), delayed.id ?? ''));
    expect(Math.floor(due / 0x1000)).toBe(delayed.timestamp + 60_000);
    await queue.pause();
    expect(await client.hget(queue.toKey('meta'), 'paused')).toBe('1');
    const held = await queue.add('sign', {});
    expect(await client.lrange(queue.toKey('wait'), 0, -1)).toEqual([held.id]);
    await queue.resume();
    for (const job of [urgent, delayed, held]) await queue.remove(job.id ?? '');
  });

  it('is failed by a mark, without a turn (src/transactions/jobs/unreadable.ts)', async () => {
    const { queue } = at;
    const job = await queue.add('sign', {});
    await client.hset(queue.toKey(job.id ?? ''), 'defa', '_401 USER_CANCEL: x');
    expect((await take()).deferredFailure).toBe('_401 USER_CANCEL: x');
  });

  it('is freed for equal requests when it ends, unless they may join for a time', async () => {
    const { queue } = at;
    const job = await queue.add('sign', {}, { deduplication: { id: 'open' } });
    expect((await queue.add('sign', {}, { deduplication: { id: 'open' } })).id).toBe(job.id);
    await (await take()).moveToCompleted({}, 'hand', false);
    expect(await client.exists(queue.toKey('de:open'))).toBe(0);
  });
});

describe('a method of BullMQ that is not its interface', () => {
  it('is where ours call it', () => {
    const { queue } = at;
    const ours = {
      'src/transactions/shards.ts': [(queue as unknown as { addJob?: unknown }).addJob],
      'src/transactions/jobs/job-store.ts': [queue.toKey],
      'packages/engine/src/redis/instance-store.ts': [
        queue.getBackend().promote,
        queue.getBackend().moveToDelayed,
        queue.toKey,
        queue.keys,
      ],
      'packages/engine/src/worker.ts': [worker.getBackend().blockingClient],
      'src/transactions/jobs/unreadable.ts': [worker.toKey],
    };
    for (const [file, used] of Object.entries(ours)) {
      for (const each of used) expect(each, `Look at ${file}`).toBeDefined();
    }
  });
});
