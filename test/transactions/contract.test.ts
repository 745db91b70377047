/**
 * The queue as other services see it: docs/queue-contract.md is followed to the letter, with bare
 * BullMQ, against the workers of a real product.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Job, Queue, QueueEvents } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { attachCertificates } from '../../packages/pki/src/cms.ts';
import { verifySignature } from '../../packages/pki/src/verify.ts';
import { parseFaultLine } from '../../packages/protocol/src/fault.ts';
import { signatureRecordSchema } from '../../src/transactions/contract.ts';
import { newMsspTransId, shardOf } from '../../src/transactions/ids.ts';
import { type Json, startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest, statusRequest } from '../support/requests.ts';

const contract = readFileSync(new URL('../../docs/queue-contract.md', import.meta.url), 'utf8');

/** The fenced blocks of one language, in the order of the document. */
const blocks = (language: string): readonly string[] =>
  [...contract.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, code]) => code ?? '',
  );

const redis = testRedis();
let product: TestProduct;
let signatures: Queue;
let events: QueueEvents;

beforeAll(async () => {
  product = await startTestProduct(redis);
  const options = {
    connection: redis.client(),
    prefix: `{${product.configuration.queue.prefix}-0}`,
  };
  signatures = new Queue('signatures', options);
  events = new QueueEvents('signatures', options);
  await events.waitUntilReady();
});

afterAll(async () => {
  await Promise.all([signatures.close(), events.close()]);
  await product.stop();
});

const add = (data: unknown, jobId = newMsspTransId(0)): Promise<Job> =>
  signatures.add('sign', data, { jobId });

/** The reason for which the job fails. */
const failureOf = async (job: Job): Promise<string> =>
  job.waitUntilFinished(events).then(
    () => 'it completed',
    ({ message }: Error) => message,
  );

/** What the document says of the progress of a job that has not completed. */
const contextOf = async (job: Job): Promise<Json> => {
  const { progress, data } = (await signatures.getJob(job.id ?? '')) ?? {};
  expect(Object.keys(data)).toEqual(['MSS_SignatureReq']);
  return Object(progress).context;
};

const isPending = async (job: Job, attempt: number): Promise<void> =>
  vi.waitFor(
    async () => {
      const context = await contextOf(job);
      expect(context).toMatchObject({ attempt, deadline: expect.any(Number) });
      expect(context.history.at(-1)).toMatchObject({ state: 'pending', attempt });
      expect(await job.getState()).toBe('delayed');
    },
    { timeout: 20_000 },
  );

describe('the example', () => {
  let lines: readonly string[];

  beforeAll(async () => {
    const [example = ''] = blocks('js');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', example],
      {
        cwd: fileURLToPath(new URL('../..', import.meta.url)),
        env: {
          ...process.env,
          REDIS_URL: redis.url.replace(/^unix:/, ''),
          PARAPH_QUEUE_PREFIX: product.configuration.queue.prefix,
        },
      },
    );
    lines = stdout.trim().split('\n');
  });

  it('gets a signature, and certificates that complete it', async () => {
    const { profile, cms, certificates }: Json = JSON.parse(lines[0] ?? '');
    expect(profile).toBe('STK-LoA4');
    const complete = attachCertificates(
      Buffer.from(cms, 'base64'),
      certificates.map((certificate: string) => Buffer.from(certificate, 'base64')),
    );
    const text = new TextEncoder().encode('Example Shop: confirm order 1?');
    const trust = await product.core.custodyOver(product.core.commands).trust();
    expect(verifySignature(complete, text, { trust, at: new Date() })).toMatchObject({ ok: true });
  });

  it('has an id by which HTTP finds the transaction', async () => {
    const { id, certificates }: Json = JSON.parse(lines[0] ?? '');
    const { status, body } = await product.post(
      '/rest/service/status',
      statusRequest(id, 'mid://shop.example.ch'),
    );
    expect(status).toBe(200);
    expect(body.MSS_StatusResp.Status.StatusCode.Value).toBe('500');
    const complete = Buffer.from(body.MSS_StatusResp.MSS_Signature.Base64Signature, 'base64');
    for (const certificate of certificates)
      expect(complete.includes(certificate, 0, 'base64')).toBe(true);
  });

  it('is told why the other request failed', () => {
    expect(lines.slice(1)).toEqual(['_401 USER_CANCEL: User cancelled the request']);
  });
});

describe('a job with bad data', () => {
  const { MSS_SignatureReq: request } = signRequest({ mode: 'asynch' });

  it.each([
    ['no request', {}, '_102 MISSING_PARAM: MSS_SignatureReq'],
    [
      'an empty request',
      { MSS_SignatureReq: {} },
      '_102 MISSING_PARAM: MSS_SignatureReq.MajorVersion',
    ],
    ['no object', 'sign this', '_102 MISSING_PARAM: MSS_SignatureReq'],
    [
      'no number',
      { MSS_SignatureReq: { ...request, MobileUser: {} } },
      '_102 MISSING_PARAM: MSS_SignatureReq.MobileUser.MSISDN',
    ],
    [
      'a number that nobody has',
      { MSS_SignatureReq: { ...request, MobileUser: { MSISDN: '+41791234567' } } },
      '_105 UNKNOWN_CLIENT: MSISDN is unknown',
    ],
    [
      'a mode that there is not',
      { MSS_SignatureReq: { ...request, MessagingMode: 'later' } },
      '_101 WRONG_PARAM: MSS_SignatureReq.MessagingMode must be synch or asynch',
    ],
  ])('fails at once when it has %s', async (_, data, reason) => {
    expect(await failureOf(await add(data))).toBe(reason);
    expect(parseFaultLine(reason)).toBeDefined();
  });

  it('says nothing of a password that somebody left in it', async () => {
    const job = await add({
      MSS_SignatureReq: {
        ...request,
        AP_Info: { ...request.AP_Info, AP_PWD: 'hunter2', AP_ID: '' },
      },
    });
    expect(await failureOf(job)).toBe('_102 MISSING_PARAM: MSS_SignatureReq.AP_Info.AP_ID');
    expect(product.logged.join('\n')).not.toContain('hunter2');
  });
});

describe('a job of another service', () => {
  it('is one job however often it is added', async () => {
    const id = newMsspTransId(0);
    const data = signRequest({ mode: 'asynch' });
    const [first, second] = [await add(data, id), await add(data, id)];
    await first.waitUntilFinished(events);
    expect(second.id).toBe(id);
    expect((await signatures.getJob(id))?.attemptsMade).toBe(1);
  });

  it('fails at once under an id that is no MSSP_TransID', async () => {
    const job = await add(signRequest({ mode: 'asynch' }), 'order-1');
    expect(await failureOf(job)).toBe(
      '_101 WRONG_PARAM: The job id must be an MSSP_TransID of this shard',
    );
  });

  it('runs again as the next attempt when it is retried', async () => {
    const job = await add(signRequest({ mode: 'asynch', msisdn: '+41000092402' }));
    expect(await failureOf(job)).toBe('_402 PIN_BLOCKED: PIN of the mobile user is blocked');
    const retried = await signatures.getJob(job.id ?? '');
    await retried?.retry('failed');
    await vi.waitFor(async () => {
      const context = await contextOf(job);
      expect(context).toMatchObject({ attempt: 2, fault: { code: 402 } });
      expect(context.history.at(-1)).toMatchObject({ state: 'failed', attempt: 2 });
    }, 20_000);
  });
});

describe('an answer for a device', () => {
  const [script = ''] = blocks('lua');
  const answers = blocks('json').map((text): Json => JSON.parse(text));
  const cancelled = answers.find(({ kind }) => kind === 'fault');

  const send = (
    job: Job,
    name: string,
    attempt: number,
    answer: unknown = cancelled,
  ): Promise<unknown> =>
    redis
      .client()
      .eval(script, 1, signatures.toKey(job.id ?? ''), name, attempt, JSON.stringify(answer));

  /** As the document says: what the script says, or what becomes of the answer. */
  const bring = async (
    job: Job,
    ...given: [name: string, attempt: number, answer?: unknown]
  ): Promise<unknown> => {
    const said = await send(job, ...given);
    if (said !== 'waiting') return said;
    for (;;) {
      await job.promote().catch(() => undefined);
      const key = signatures.toKey(job.id ?? '');
      const [verdict, ended] = await redis.client().hmget(key, `key:out/${given[0]}`, 'finishedOn');
      if (verdict !== 'waiting') return verdict;
      if (ended != null) return 'refused';
      await delay(5);
    }
  };

  it('ends the attempt it is for, once', async () => {
    const job = await add(signRequest({ mode: 'asynch', msisdn: '+41700092507' }));
    await isPending(job, 1);
    const ended = failureOf(job);
    expect(await bring(job, 'of-another-attempt', 2)).toBe('refused');
    const both = await Promise.all([bring(job, 'first', 1), bring(job, 'second', 1)]);
    expect(both.filter((each) => each === 'taken')).toHaveLength(1);
    expect(await ended).toBe('_401 USER_CANCEL: User cancelled the request');
    expect(await bring(job, 'third', 1)).toBe('finished');
    expect(await Promise.all([bring(job, 'first', 1), bring(job, 'second', 1)])).toEqual(both);
  });

  it('is refused before anybody was asked, and for a job that there is not', async () => {
    const job = await signatures.add('sign', signRequest({ mode: 'asynch' }), {
      jobId: newMsspTransId(0),
      delay: 60_000,
    });
    expect(await bring(job, 'first', 1)).toBe('refused');
    await job.remove();
    expect(await bring(job, 'second', 1)).toBe('unknown');
    expect(await redis.client().exists(signatures.toKey(job.id ?? ''))).toBe(0);
  });

  it('counts for an attempt that a replay has begun', async () => {
    const job = await add(signRequest({ mode: 'asynch', msisdn: '+41700092507' }));
    await isPending(job, 1);
    const ended = failureOf(job);
    expect(await bring(job, 'first', 1)).toBe('taken');
    await ended;
    await (await signatures.getJob(job.id ?? ''))?.retry('failed');
    await isPending(job, 2);
    expect(await bring(job, 'late', 1)).toBe('refused');
    expect(await bring(job, 'next', 2)).toBe('taken');
  });

  it.each([
    ['of an unknown kind', { kind: 'zzz' }],
    ['without a fault', { kind: 'fault' }],
    ['no object', 7],
  ])('ends the attempt as fault 900 when it is %s', async (_, nonsense) => {
    const job = await add(signRequest({ mode: 'asynch', msisdn: '+41700092507' }));
    await isPending(job, 1);
    const ended = failureOf(job);
    expect(await bring(job, 'first', 1, nonsense)).toBe('taken');
    expect(await ended).toBe('_900 INTERNAL_ERROR: Unknown Error');
  });

  it('holds nobody up when its line cannot be read', async () => {
    const job = await add(signRequest({ mode: 'asynch', msisdn: '+41700092507' }));
    await isPending(job, 1);
    const ended = failureOf(job);
    const lines =
      'nonsense\n1\tnonsense\n1\t7\n1\t["out/x"]\n1\t["out/x",null]\n1\t[7,{"type":"CANCEL"}]\n';
    await redis.client().hset(signatures.toKey(job.id ?? ''), 'inbox', lines);
    expect(await bring(job, 'first', 1)).toBe('taken');
    expect(await ended).toBe('_401 USER_CANCEL: User cancelled the request');
  });
});

describe('what the document shows', () => {
  it('is described by a schema that refers to nothing it does not have, and knows no password', () => {
    const text = readFileSync(
      new URL('../../docs/queue-contract.schema.json', import.meta.url),
      'utf8',
    );
    const { $ref, $defs }: Json = JSON.parse(text);
    expect($ref).toBe('#/$defs/SignatureJobData');
    const references = [...text.matchAll(/"#\/\$defs\/([^"]+)"/g)].map(([, name]) => name ?? '');
    for (const name of references) expect(Object.keys($defs)).toContain(name);
    expect(text).not.toContain('AP_PWD');
  });

  it('is a record that readers accept', () => {
    const [record = ''] = blocks('json');
    expect(signatureRecordSchema.parse(JSON.parse(record))).toEqual(JSON.parse(record));
  });

  it('is an id of the first shard', () => {
    const [id = ''] = /H00[0-9A-Za-z]{17}/.exec(contract) ?? [];
    expect(shardOf(id, 1)).toBe(0);
  });
});
