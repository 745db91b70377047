/**
 * Jobs that somebody added by hand, badly: each ends at once, says why in words, and holds nobody
 * up.
 */
import { type JobsOptions, Queue } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseFaultLine } from '../../packages/protocol/src/fault.ts';
import type { SignatureQueue } from '../../src/app/package/queue.ts';
import { newMsspTransId } from '../../src/transactions/ids.ts';
import type { TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';
import { openQueue, order, startStage } from './stage.ts';

const redis = testRedis();
let product: TestProduct;
let queue: SignatureQueue;
let signatures: Queue;

beforeAll(async () => {
  // One job at a time: a job that held the worker up would hold up everybody.
  const workers = { concurrency: 1, lockSeconds: 1, stalledCheckSeconds: 0.5 };
  product = await startStage(redis, { configuration: { workers } });
  queue = openQueue(redis, product);
  signatures = new Queue('signatures', {
    connection: redis.client(),
    prefix: `{${product.configuration.queue.prefix}-0}`,
  });
});
afterAll(async () => {
  await queue.close();
  await signatures.close();
  await product.stop();
});

const { MSS_SignatureReq: request } = signRequest({ mode: 'asynch' });
const deep = (levels: number): unknown => (levels === 0 ? 'deep' : { more: deep(levels - 1) });

type BadJob = readonly [what: string, data: unknown, reason: RegExp, options: JobsOptions];
const bad = (what: string, data: unknown, reason: RegExp, options: JobsOptions = {}): BadJob => [
  what,
  data,
  reason,
  options,
];

const cases: readonly BadJob[] = [
  bad('null', null, /^_102 MISSING_PARAM: MSS_SignatureReq$/),
  bad('a number', 42, /^_102 MISSING_PARAM: MSS_SignatureReq$/),
  bad('a list', [request], /^_102 MISSING_PARAM: MSS_SignatureReq$/),
  bad('a text as the request', { MSS_SignatureReq: 'sign' }, /^_10[12] .*MSS_SignatureReq/),
  bad(
    'a wrapper of another operation',
    { MSS_StatusReq: {} },
    /^_102 MISSING_PARAM: MSS_SignatureReq$/,
  ),
  bad(
    'another version',
    { MSS_SignatureReq: { ...request, MajorVersion: '9' } },
    /^_108 .*MajorVersion/,
  ),
  bad(
    'no text',
    { MSS_SignatureReq: { ...request, DataToBeSigned: {} } },
    /^_102 .*DataToBeSigned\.MimeType$/,
  ),
  bad(
    'too long a text',
    {
      MSS_SignatureReq: {
        ...request,
        DataToBeSigned: { ...request.DataToBeSigned, Data: 'x'.repeat(1e5) },
      },
    },
    /^_103 .*DataToBeSigned\.Data may have 239/,
  ),
  bad(
    'a password',
    {
      MSS_SignatureReq: {
        ...request,
        AP_Info: { ...request.AP_Info, AP_PWD: 'secret-of-the-bank' },
      },
    },
    /^_101 WRONG_PARAM: MSS_SignatureReq\.AP_Info\.AP_PWD must not be in a job/,
  ),
  bad(
    'half a character',
    {
      MSS_SignatureReq: {
        ...request,
        DataToBeSigned: { ...request.DataToBeSigned, Data: '\ud83d' },
      },
    },
    /^_101 .*unpaired surrogate/,
  ),
  bad(
    'objects without end',
    { MSS_SignatureReq: { ...request, more: deep(500) } },
    /^_101 .*nested deeper/,
  ),
  bad(
    'a TimeOut of a day',
    { MSS_SignatureReq: { ...request, TimeOut: '86400' } },
    /^_101 .*TimeOut must be/,
  ),
  bad(
    'a record that is not its own to write',
    { MSS_SignatureReq: request, endedRuns: 3 },
    /^_101 .*workers/,
  ),
  bad(
    'a record of a signed transaction',
    { MSS_SignatureReq: request, transaction: { version: 1, state: 'signed', attempt: 1 } },
    /^_101 .*workers/,
  ),
  bad('many attempts', { MSS_SignatureReq: {} }, /^_102 /, { attempts: 50, backoff: 60_000 }),
  bad('the last priority', { MSS_SignatureReq: {} }, /^_102 /, { priority: 2_097_151 }),
  bad('an id of another shard', { MSS_SignatureReq: request }, /^_101 .*job id/, {
    jobId: newMsspTransId(1),
  }),
  bad('an id that is none', { MSS_SignatureReq: request }, /^_101 .*job id/, { jobId: 'order-1' }),
];

describe('a job that was added by hand', () => {
  it.each(cases)('fails at once when it has %s', async (_what, data, reason, options) => {
    const jobId = options.jobId ?? newMsspTransId(0);
    await signatures.add('sign', data, { ...options, jobId });
    // Whoever is behind it comes to their turn, and by then it has ended.
    await (await queue.enqueue(order, { priority: 2_097_151 })).result();
    const job = await signatures.getJob(jobId);
    expect(job?.failedReason).toMatch(reason);
    expect(parseFaultLine(job?.failedReason ?? '')).toBeDefined();
    expect(job?.attemptsMade).toBe(1);
    expect(await job?.getState()).toBe('failed');
  });

  it('fails soon when it is no JSON, which BullMQ cannot even take', async () => {
    const client = redis.client();
    const corrupt = async (field: string, text: string) => {
      const jobId = newMsspTransId(0);
      await signatures.add('sign', { MSS_SignatureReq: request }, { jobId, delay: 3_600_000 });
      await client.hset(signatures.toKey(jobId), field, text);
      return { jobId, field };
    };
    const jobs = [
      await corrupt('data', '{"MSS_SignatureReq":'),
      await corrupt('opts', 'nope'),
      await corrupt('opts', 'null'),
    ];
    const [first] = jobs;
    expect(await (await queue.find(first?.jobId ?? ''))?.cancel()).toBe('too-late');
    for (const { jobId } of jobs) await signatures.getBackend().promote(jobId);
    const reasonOf = async (jobId: string) =>
      (await (await queue.find(jobId))?.result().catch((error: Error) => error.message)) ??
      'it is gone';
    const reasons = await Promise.all(jobs.map(({ jobId }) => reasonOf(jobId)));
    expect(reasons).toEqual(
      jobs.map(({ field }) => `_101 WRONG_PARAM: The job is not readable: ${field} must be JSON`),
    );
    for (const { jobId, field } of jobs) {
      expect(product.logged.join('')).toContain(`Job ${jobId} cannot be read: ${field}`);
      expect(await (await signatures.getJob(jobId))?.getState()).toBe('failed');
    }
    expect(product.logged.join('')).not.toContain('nope');
  });

  it('holds up nobody, however many there are', async () => {
    const many = cases.flatMap(([, data], index) =>
      Array.from({ length: 20 }, () => ({
        name: `wrong-${index}`,
        data,
        opts: { jobId: newMsspTransId(0) },
      })),
    );
    await signatures.addBulk(many);
    const good = await queue.enqueue(order);
    await expect(good.result({ timeoutMs: 30_000 })).resolves.toMatchObject({ id: good.id });
    // A good one does not wait until all the others have ended.
    await expect
      .poll(() => signatures.getJobCounts('waiting', 'prioritized', 'delayed', 'active'))
      .toEqual({
        waiting: 0,
        prioritized: 0,
        delayed: 0,
        active: 0,
      });
  });
});
