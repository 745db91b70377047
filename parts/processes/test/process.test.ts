/**
 * The signature process as applications use it: over HTTP, with real workers, simulated phones and
 * a receiver of callbacks.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWorkflowQueue } from '../../../src/app/package/queue.ts';
import { cancelTransaction } from '../../../src/transactions/cancellation.ts';
import { closeShards, openShards, shardFor } from '../../../src/transactions/shards.ts';
import { callerOf } from '../../../test/support/caller.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { verifyEvidence } from '../evidence/verify-evidence.ts';

const redis = testRedis();

const person = (msisdn: string, sign: unknown) => ({
  msisdn,
  sim: { device: { kind: 'simulated', sign, receipt: 'accepts' } },
});
const refusing = '41790000101';
const silent = (index: number) => `4179000020${index}`;
const silentCount = 7;
const appUser = '41790000301';

const apId = 'mid://process.example';

let product: TestProduct;
let receiver: Server;
const told: Json[] = [];
const readBody = async (incoming: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of incoming) text += chunk;
  return text;
};

beforeAll(async () => {
  receiver = createServer(async (incoming, outgoing) => {
    told.push({ path: incoming.url, ...JSON.parse(await readBody(incoming)) });
    outgoing.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  product = await startTestProduct(redis, {
    operations: true,
    configuration: {
      subscribers: [
        person(refusing, { fault: 401 }),
        { msisdn: appUser, apps: [{ device: { kind: 'simulated', sign: 'never-answers' } }] },
        ...Array.from({ length: silentCount }, (_, index) =>
          person(silent(index), 'never-answers'),
        ),
      ],
      applicationProviders: [{ id: apId, callback: { url: `http://127.0.0.1:${port}/hook` } }],
    },
  });
});
afterAll(async () => {
  await product.stop();
  receiver.closeAllConnections();
  receiver.close();
});

const { call, until } = callerOf(() => product);

const robot = (name: string, index = 1) => ({ name, msisdn: `+4170009250${index}` });
const quiet = (name: string, index: number) => ({ name, msisdn: `+${silent(index)}` });

const start = async (id: string, input: object): Promise<Json> => {
  const { status, body } = await call('POST', 'process', { apId, body: { id, input } });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
};
const ended = (id: string): Promise<Json> =>
  until(`process/${id}`, ({ status }) => status !== 'open', apId);

/** What the application heard of a process, in order. */
const heard = (id: string): readonly string[] =>
  told
    .filter(({ data }) => data.process === id)
    .toSorted((one, other) => Date.parse(one.timestamp) - Date.parse(other.timestamp))
    .map(({ type, data }) => [type, data.step, data.state].filter(Boolean).join(' '));

const rootsOf = async (): Promise<string> => {
  const response = await product.api.fetch(new Request('http://test/pki/root.pem'));
  return response.text();
};

describe('a signature process', () => {
  it('has three people sign in order, and its evidence verifies offline', async () => {
    const input = {
      title: 'Contract 4711',
      text: 'Contract 4711: I agree',
      steps: [
        { name: 'sales', signers: [robot('Anna', 1)] },
        { name: 'legal', signers: [robot('Beat', 2)] },
        { name: 'board', signers: [{ ...robot('Carla', 1), text: 'Contract 4711: approved' }] },
      ],
    };
    await start('c-4711', input);
    const view = await ended('c-4711');
    expect(view).toMatchObject({
      status: 'completed',
      state: 'completed',
      context: {
        steps: ['sales', 'legal', 'board'].map((name) => ({
          name,
          state: 'done',
          signers: [{ state: 'signed' }],
        })),
      },
      output: { outcome: 'completed' },
    });
    const ats: string[] = view.output.steps.map(({ signers }: Json) => signers[0].at);
    expect(ats).toEqual(ats.map((at) => new Date(at).toISOString()).toSorted());
    expect(view.context.steps.map(({ signers }: Json) => signers[0].at)).toEqual(ats);
    const verified = await verifyEvidence(view.output.evidence, { serviceRoots: await rootsOf() });
    expect(verified).toMatchObject({
      ok: true,
      evidence: {
        process: { id: 'c-4711', name: 'process', apId },
        outcome: 'completed',
        signatures: [
          { step: 'sales', name: 'Anna', text: 'Contract 4711: I agree' },
          { step: 'legal', name: 'Beat' },
          { step: 'board', name: 'Carla', text: 'Contract 4711: approved' },
        ],
      },
    });
    await expect
      .poll(() => heard('c-4711'))
      .toEqual([
        'process.step sales done',
        'process.step legal done',
        'process.step board done',
        'process.end completed',
      ]);
    // Each is an ordinary transaction of the application.
    for (const { signers } of view.output.steps)
      expect(await product.statusOf(signers[0].msspTransId, apId)).toBe('500');
  });

  it('ends a step when 2 of 3 have signed, and takes the prompt of the third off the phone', async () => {
    await start('two-of-three', {
      text: 'I agree',
      steps: [
        { name: 'vote', need: 2, signers: [quiet('Cleo', 0), robot('Anna', 1), robot('Beat', 2)] },
      ],
    });
    const view = await ended('two-of-three');
    expect(view.context.steps[0].signers.map(({ state }: Json) => state)).toEqual([
      'withdrawn',
      'signed',
      'signed',
    ]);
    // The phone is free: the next request is asked.
    const asked = product.asked().length;
    await product.submit({ msisdn: `+${silent(0)}`, apId });
    await expect.poll(() => product.asked().length).toBeGreaterThan(asked);
  });

  it('fails when somebody refuses, tells the addresses of its compensation, and keeps what was signed', async () => {
    const { port } = receiver.address() as AddressInfo;
    await start('refused', {
      text: 'I agree',
      steps: [
        { name: 'first', signers: [robot('Anna')] },
        { name: 'second', signers: [{ name: 'Dario', msisdn: `+${refusing}` }] },
        { name: 'third', signers: [robot('Beat', 2)] },
      ],
      compensation: [{ revoke: 'signatures' }, { tell: `http://127.0.0.1:${port}/undo` }],
    });
    const view = await ended('refused');
    expect(view).toMatchObject({
      status: 'failed',
      reason: 'REFUSED: step second',
      output: { outcome: 'failed', evidence: expect.any(String) },
    });
    expect(view.context.steps.map(({ signers }: Json) => signers[0].state)).toEqual([
      'revoked',
      'refused',
      'waiting',
    ]);
    const { revokedAt } = view.context.steps[0].signers[0];
    expect(revokedAt).toMatch(/^\d{4}-.*Z$/);
    expect(
      await verifyEvidence(view.output.evidence, { serviceRoots: await rootsOf() }),
    ).toMatchObject({
      ok: true,
      evidence: {
        outcome: 'failed',
        signatures: [{ step: 'first', revokedAt }],
        refusals: [{ step: 'second', kind: 'refused' }],
      },
    });
    await expect.poll(() => heard('refused')).toContain('process.failed second');
    expect(heard('refused')).toContain('process.revoked failed');
    expect(
      told.find(({ path, data }) => path === '/undo' && data.process === 'refused').data,
    ).not.toHaveProperty('url');
  });

  it('fails at its deadline, and nobody keeps a prompt', async () => {
    const asked = product.asked().length;
    await start('late', {
      text: 'I agree',
      deadline: 'PT1S',
      steps: [{ name: 'only', signers: [quiet('Cleo', 1)] }],
    });
    await expect.poll(() => product.asked().length).toBeGreaterThan(asked);
    const [msspTransId = ''] = product.asked().at(-1)?.split(' ') ?? [];
    expect(await ended('late')).toMatchObject({ status: 'failed', reason: 'EXPIRED: step only' });
    await expect.poll(() => product.statusOf(msspTransId, apId)).toBe('_401');
  });

  it('is cancelled with a reason, takes its prompts back, and takes no event any more', async () => {
    const asked = product.asked().length;
    await start('cancelled', {
      text: 'I agree',
      steps: [{ name: 'only', signers: [quiet('Cleo', 2)] }],
    });
    await expect.poll(() => product.asked().length).toBeGreaterThan(asked);
    const [msspTransId = ''] = product.asked().at(-1)?.split(' ') ?? [];
    expect(
      await call('DELETE', 'process/cancelled?reason=no%20longer%20needed', { apId }),
    ).toMatchObject({
      status: 202,
    });
    expect(await ended('cancelled')).toMatchObject({
      status: 'cancelled',
      context: { failure: { reason: 'CANCELLED', by: 'application', text: 'no longer needed' } },
    });
    await expect.poll(() => product.statusOf(msspTransId, apId)).toBe('_401');
    expect(await call('DELETE', 'process/cancelled', { apId })).toMatchObject({ status: 404 });
  });

  it('is not cancelled while it compensates: its first end stands, with evidence', async () => {
    await start('compensating', {
      text: 'I agree',
      steps: [
        { name: 'first', signers: [robot('Anna')] },
        { name: 'second', signers: [{ name: 'Rita', msisdn: `+${refusing}` }] },
      ],
      compensation: [{ name: 'revoke', signers: [quiet('Emil', 5)], deadline: 'PT2S' }],
    });
    const isRevoking = ({ context }: Json) => context?.steps[2]?.state === 'open';
    await until('process/compensating', isRevoking, apId);
    expect(await call('DELETE', 'process/compensating', { apId })).toMatchObject({
      status: 409,
      body: { error: 'refused' },
    });
    expect(await ended('compensating')).toMatchObject({
      status: 'failed',
      reason: 'REFUSED: step second',
      output: { outcome: 'failed', evidence: expect.stringContaining('.') },
    });
    await expect.poll(() => heard('compensating')).toContain('process.end failed');
  });

  it('takes a prompt that others took back for one that did not reach the person, not for a refusal', async () => {
    const { blocking, protocol } = product.core;
    const { prefix, shards: count } = product.configuration.queue;
    const shards = openShards({ redis: blocking, prefix, shards: count, onError: () => undefined });
    const cancel = async (msspTransId: string): Promise<void> => {
      const at = shardFor(shards, msspTransId)?.signatures;
      if (at === undefined) throw new Error('There is no such shard');
      await cancelTransaction(msspTransId, { at, protocol, now: Date.now, by: 'operator' });
    };
    const promptAfter = async (asked: number): Promise<string> => {
      await expect.poll(() => product.asked().length).toBeGreaterThan(asked);
      return product.asked()[asked]?.split(' ')[0] ?? '';
    };
    let asked = product.asked().length;
    await start('by-operator', {
      text: 'I agree',
      steps: [{ name: 'only', signers: [quiet('Cleo', 6)] }],
    });
    await cancel(await promptAfter(asked));
    const rests = ({ context }: Json) => context.steps[0].signers[0].state === 'rests';
    expect(await until('process/by-operator', rests, apId)).toMatchObject({
      status: 'open',
      context: { steps: [{ signers: [{ code: 401 }] }] },
    });
    // The schedule asks again: the process takes the App back from the newer request.
    asked = product.asked().length;
    const askAgain = { times: 1, every: 'PT1S' };
    const signers = [{ name: 'Emil', msisdn: `+${appUser}` }];
    await start('by-newer', { text: 'I agree', steps: [{ name: 'only', signers, askAgain }] });
    await promptAfter(asked);
    const newer = await product.submit({ msisdn: `+${appUser}`, apId });
    expect(await promptAfter(asked + 1)).toBe(newer);
    await promptAfter(asked + 2);
    for (const id of ['by-operator', 'by-newer']) await call('DELETE', `process/${id}`, { apId });
    await closeShards(shards);
  });

  it('goes on with other workers where it was', async () => {
    const asked = product.asked().length;
    await start('moved', {
      text: 'I agree',
      steps: [
        { name: 'first', signers: [robot('Anna')] },
        { name: 'second', need: 'first', signers: [quiet('Cleo', 3), quiet('Dario', 4)] },
      ],
    });
    await expect.poll(() => product.asked().length).toBe(asked + 2);
    await product.stopWorkers();
    await product.startWorkers();
    expect(await call('GET', 'process/moved', { apId })).toMatchObject({
      body: { status: 'open' },
    });
    expect(await call('DELETE', 'process/moved', { apId })).toMatchObject({ status: 202 });
    const view = await ended('moved');
    expect(
      view.context.steps.map(({ signers }: Json) => signers.map(({ state }: Json) => state)),
    ).toEqual([['signed'], ['withdrawn', 'withdrawn']]);
    expect(product.asked().length).toBe(asked + 2);
  });

  it.each([
    [{ text: 'x', steps: [] }, 'steps must have a step'],
    [
      { text: 'x', steps: [{ name: 'a', need: 2, signers: [robot('Anna')] }] },
      /^steps\[0\]\.need /,
    ],
    [
      { text: 'x', steps: [{ name: 'a', signers: [{ name: 'X', msisdn: '+41791111111' }] }] },
      /^steps\[0\]\.signers\[0\]\.msisdn /,
    ],
    [
      {
        text: 'x',
        deadline: '2020-01-01T00:00:00Z',
        steps: [{ name: 'a', signers: [robot('Anna')] }],
      },
      /^deadline /,
    ],
    [
      { text: 'x', steps: [{ name: 'a', signers: [robot('Anna')] }], other: 1 },
      'other is not known',
    ],
  ])(
    'names the place of an error in its definition and begins nothing: %#',
    async (input, message) => {
      const id = 'never';
      const refused = await call('POST', 'process', { apId, body: { id, input } });
      expect(refused).toMatchObject({
        status: 400,
        body: { error: 'bad-request', message: expect.stringMatching(message) },
      });
      expect(await call('GET', `process/${id}`, { apId })).toMatchObject({ status: 404 });
    },
  );
});

describe('a process that another program adds', () => {
  const definition = { text: 'I agree', steps: [{ name: 'only', signers: [robot('Anna')] }] };

  it('is added with nothing but BullMQ, by the documented contract', async () => {
    const tenant = createHash('sha256').update(apId).digest('base64url').slice(0, 12);
    const { prefix } = product.configuration.queue;
    const queue = new Queue('workflows', { connection: redis.client(), prefix: `{${prefix}-0}` });
    const job = await queue.add(
      'process',
      { apId, input: definition },
      { jobId: `${tenant}-process--bare-1` },
    );
    const view = await ended('bare-1');
    expect(view).toMatchObject({
      status: 'completed',
      version: 1,
      output: { evidence: expect.any(String) },
    });
    // The job itself returns all but the evidence.
    const { evidence: _, ...shown } = view.output;
    // Its times are milliseconds.
    const result = JSON.parse(JSON.stringify(shown), (name, value) =>
      name === 'at' ? Date.parse(value) : value,
    );
    expect((await queue.getJob(job.id ?? ''))?.returnvalue).toEqual(result);
    await queue.add(
      'process',
      { apId, input: { steps: [] } },
      { jobId: `${tenant}-process--bare-2` },
    );
    expect(await ended('bare-2')).toMatchObject({
      status: 'failed',
      reason: 'steps must have a step',
    });
    const steps = [
      { name: 'only', signers: [robot('Anna'), { name: 'Ben', msisdn: '+41799999999' }] },
    ];
    const asked = product.asked().length;
    await queue.add(
      'process',
      { apId, input: { text: 'I', steps } },
      { jobId: `${tenant}-process--bare-3` },
    );
    expect(await ended('bare-3')).toMatchObject({
      status: 'failed',
      reason: 'steps[0].signers[1].msisdn is not known',
    });
    expect(product.asked()).toHaveLength(asked);
    for (const jobId of [
      `AAAAAAAAAAAA-process--bare-4`,
      `${tenant}-other--bare-4`,
      `${tenant}-process--ä`,
      'bare',
    ]) {
      const wrong = await queue.add('process', { apId, input: definition }, { jobId });
      await expect.poll(() => wrong.isFailed(), { message: jobId }).toBe(true);
      expect((await queue.getJob(jobId))?.failedReason).toMatch(
        /^The id of the job is not that of/,
      );
    }
    expect(product.asked()).toHaveLength(asked);
    const rows = async () =>
      (await product.workflows.list({ apId, name: 'process' }, { limit: 100 }))?.rows;
    await expect
      .poll(async () => (await rows())?.find(({ id }) => id.endsWith('bare-2'))?.status)
      .toBe('failed');
    expect((await rows())?.find(({ id }) => id.endsWith('bare-1'))?.status).toBe('completed');
    await queue.close();
  });

  it('asks anew, and tells anew, when its id is used again after its job is gone', async () => {
    const { prefix } = product.configuration.queue;
    const queue = new Queue('workflows', { connection: redis.client(), prefix: `{${prefix}-0}` });
    const ask = async (text: string): Promise<Json> => {
      await start('contract-17', { text, steps: [{ name: 'only', signers: [robot('Anna', 3)] }] });
      return ended('contract-17');
    };
    const first = await ask('The first text');
    // As retention does, for all instances of the process.
    const removeEnded = async (): Promise<number> => {
      const jobs = (await queue.getJobs()).filter(({ id }) => id?.includes('--contract-17'));
      for (const job of jobs) if (await job.isCompleted()) await job.remove();
      return jobs.length;
    };
    // Their ends are known a moment before their jobs are over.
    await expect.poll(removeEnded).toBe(0);
    const second = await ask('The second text');
    const ids = [first, second].map(({ context }) => context.steps[0].signers[0].msspTransId);
    expect(ids).toEqual([expect.stringMatching(/^H/), expect.stringMatching(/^H/)]);
    expect(ids[0]).not.toBe(ids[1]);
    const ends = () => heard('contract-17').filter((each) => each.startsWith('process.end '));
    await expect.poll(() => ends().length).toBe(2);
    await queue.close();
  });

  it('is added by the typed producer, with an outcome', async () => {
    const { prefix } = product.configuration.queue;
    const few = createWorkflowQueue({ redisUrl: redis.url, prefix, apId });
    await expect(few.start('mail', [{ id: 'typed-1', input: {} }])).rejects.toThrow('name must be');
    expect(await few.start('process', [{ id: 'typed-1', input: definition }])).toEqual([
      { kind: 'accepted', id: 'typed-1' },
    ]);
    expect(await ended('typed-1')).toMatchObject({ status: 'completed' });
    await few.close();
  });
});
