/**
 * Charts of an operator, run by the service: over HTTP, with `sign` of the service, and for each
 * application its own.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { createGate } from '../../../../packages/engine/test/stage.ts';
import { fault } from '../../../../packages/protocol/src/fault.ts';
import { createAnswer } from '../../../../src/transactions/answers.ts';
import { closeShards, openShards } from '../../../../src/transactions/shards.ts';
import { basic, callerOf } from '../../../../test/support/caller.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../../test/support/product.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { defineWorkflow, service, type Workflow } from '../../charts/index.ts';

const redis = testRedis();

const approval = setup({
  types: {
    input: {} as { msisdn: string; text: string; profile?: string },
    context: {} as { msisdn: string; text: string; profile?: string; outcome: unknown },
  },
  actors: { sign: service.sign },
}).createMachine({
  context: ({ input }) => ({ ...input, outcome: undefined }),
  initial: 'waiting',
  output: ({ context }) => context.outcome,
  states: {
    waiting: { on: { ASK: 'asking' } },
    asking: {
      on: { LEAVE: 'left' },
      invoke: {
        src: 'sign',
        input: ({ context: { msisdn, text, profile } }) => ({ msisdn, text, profile }),
        onDone: { target: 'done', actions: assign({ outcome: ({ event }) => event.output }) },
      },
    },
    left: { type: 'final' },
    done: { type: 'final' },
  },
});

const charts: Workflow[] = [
  defineWorkflow({
    name: 'approval',
    version: 2,
    chart: approval,
    input: z.strictObject({
      msisdn: z.string(),
      text: z.string().max(100, { error: 'must have 100 characters at most' }),
      profile: z.string().optional(),
    }),
    events: z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('ASK') }),
      z.strictObject({ type: z.literal('LEAVE') }),
    ]),
    publish: ({ outcome }) => ({ isOver: outcome !== undefined }),
  }),
];

const held = setup({}).createMachine({
  initial: 'busy',
  states: {
    busy: { on: { FREE: 'idle' } },
    idle: { on: { CANCEL: 'cancelled' } },
    cancelled: { type: 'final' },
  },
});
charts.push(
  defineWorkflow({
    name: 'held',
    version: 1,
    chart: held,
    input: z.strictObject({}),
    events: z.looseObject({ type: z.enum(['FREE', 'CANCEL']) }),
  }),
);

/** Ends, and then tells it until the test lets it go on. */
let telling: Promise<void> | undefined;
const told: string[] = [];
const slow = setup({
  types: { input: {} as { how: string }, context: {} as { how: string } },
  actions: {
    tell: async (_, how: string) => {
      told.push(how);
      await telling;
    },
  },
}).createMachine({
  context: ({ input }) => input,
  initial: 'waiting',
  output: ({ context }) => context,
  states: {
    waiting: {
      on: {
        END: [
          { guard: ({ context }) => context.how === 'broken', target: 'broken' },
          { guard: ({ context }) => context.how === 'cancelled', target: 'cancelled' },
          { target: 'done' },
        ],
      },
    },
    broken: { meta: { job: 'failed' }, entry: { type: 'tell', params: 'broken' } },
    cancelled: { type: 'final', entry: { type: 'tell', params: 'cancelled' } },
    done: { type: 'final', entry: { type: 'tell', params: 'done' } },
  },
});
charts.push(
  defineWorkflow({ name: 'slow', version: 1, chart: slow, reasonOf: () => 'it is broken' }),
);

const device = { kind: 'simulated', sign: 'never-answers', receipt: 'never-answers' } as const;
/** People with a phone of their own, who never answer. */
const silentNumbers = [1, 2, 3].map((index) => `4179000000${index}`);
const subscribers = silentNumbers.map((msisdn) => ({ msisdn, sim: { device } }));

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct(redis, { charts, configuration: { subscribers } });
});
afterAll(() => product.stop());

const { call, until } = callerOf(() => product);

const robot = { msisdn: '+41700092501', text: 'I agree' };
const silent = (index: number) => ({ msisdn: silentNumbers[index] ?? '', text: 'I agree' });

describe('a chart of an operator', () => {
  it('is started, takes an event, has a person sign, and shows its output', async () => {
    const started = await call('POST', 'approval', { body: { id: 'a-1', input: robot } });
    expect(started).toMatchObject({
      status: 201,
      body: { id: 'a-1', name: 'approval', version: 2, status: 'open' },
    });
    expect(started.response.headers.get('location')).toBe('/workflows/approval/a-1');
    await until('approval/a-1', ({ state }) => state === 'waiting');
    expect(await call('POST', 'approval/a-1/events', { body: { type: 'ASK' } })).toMatchObject({
      status: 202,
      body: { result: 'taken' },
    });
    const ended = await until('approval/a-1', ({ status }) => status !== 'open');
    expect(ended).toMatchObject({
      status: 'completed',
      state: 'done',
      context: { isOver: true },
      output: { kind: 'signed', attempt: 1 },
    });
    expect(Object.keys(ended.output).toSorted()).toEqual(['at', 'attempt', 'kind', 'msspTransId']);
    expect(Date.parse(ended.endedAt)).toBeGreaterThanOrEqual(Date.parse(ended.createdAt));
    const { status, body: journal } = await call('GET', 'approval/a-1/journal');
    expect(status).toBe(200);
    expect(journal.dropped).toBe(0);
    for (const { at } of journal.entries) expect(new Date(at).toISOString()).toBe(at);
    const brief = journal.entries.map(({ at: _, ...entry }: Json) => entry);
    expect(brief).toContainEqual({ kind: 'state', entered: ['waiting'] });
    expect(brief).toContainEqual(
      expect.objectContaining({ kind: 'event', type: 'ASK', result: 'taken' }),
    );
    expect(brief).toContainEqual(
      expect.objectContaining({
        kind: 'activity',
        attempt: 1,
        stage: 'done',
        path: expect.any(String),
      }),
    );
    expect(brief.at(-1)).toEqual({ kind: 'state', entered: ['done'] });
    for (const value of [robot.msisdn, robot.text, ended.output.msspTransId])
      expect(JSON.stringify(journal)).not.toContain(value);
    // It is an ordinary transaction of the application.
    expect(await product.statusOf(ended.output.msspTransId, 'mid://ap.example')).toBe('500');
    expect(await product.statusOf(ended.output.msspTransId, 'mid://other.example')).toBe('_101');
  });

  it('is the same when it is started again, and another input under its id is refused', async () => {
    expect((await call('POST', 'approval', { body: { id: 'a-2', input: robot } })).status).toBe(
      201,
    );
    expect((await call('POST', 'approval', { body: { id: 'a-2', input: robot } })).status).toBe(
      200,
    );
    const other = await call('POST', 'approval', { body: { id: 'a-2', input: silent(0) } });
    expect(other).toMatchObject({ status: 409, body: { error: 'conflict' } });
    const first = await call('POST', 'approval', { body: { input: robot } });
    const second = await call('POST', 'approval', { body: { input: robot } });
    expect(first.body.id).not.toBe(second.body.id);
  });

  it.each([
    [{ input: { ...robot, text: 'x'.repeat(101) } }, 'text must have 100 characters at most'],
    [{ input: { ...robot, secret: 'value' } }, 'input has members that are not known here'],
    [{ input: { text: 'I agree' } }, 'msisdn: Invalid input: expected string, received undefined'],
    [
      { input: { text: 5, msisdn: robot.msisdn.length } },
      'msisdn: Invalid input: expected string, received number; text: Invalid input: expected string, received number',
    ],
    [
      { input: { msisdn: true, text: 'x'.repeat(101), secret: 'value', other: 1 } },
      'msisdn: Invalid input: expected string, received boolean; text must have 100 characters at most; input has members that are not known here',
    ],
    [{ id: 'a b', input: robot }, 'id must be 1 to 64 letters, digits, - or _'],
    [{ input: robot, other: 1 }, 'The body must be an object of input and, optionally, id'],
    ['{', 'Body is not JSON'],
  ])('names the place of an error and begins nothing: %#', async (body, message) => {
    expect(await call('POST', 'approval', { body })).toMatchObject({
      status: 400,
      body: { error: 'bad-request', message },
    });
  });

  it('is unknown to other applications, in every way', async () => {
    await call('POST', 'approval', { body: { id: 'a-3', input: robot } });
    const apId = 'mid://other.example';
    const unknown = {
      status: 404,
      body: { error: 'not-found', message: 'There is no such instance' },
    };
    for (const id of ['a-3', 'nobody-has-this']) {
      expect(await call('GET', `approval/${id}`, { apId })).toMatchObject(unknown);
      expect(await call('GET', `approval/${id}/events`, { apId })).toMatchObject(unknown);
      expect(await call('GET', `approval/${id}/journal`, { apId })).toMatchObject(unknown);
      expect(await call('DELETE', `approval/${id}`, { apId })).toMatchObject(unknown);
      expect(
        await call('POST', `approval/${id}/events`, { apId, body: { type: 'ASK' } }),
      ).toMatchObject(unknown);
    }
    expect(
      await call('POST', 'approval', { apId, body: { id: 'a-3', input: silent(0) } }),
    ).toMatchObject({
      status: 201,
    });
  });

  it('refuses events that its chart does not take, or not now, and takes one once for its key', async () => {
    await call('POST', 'approval', { body: { id: 'a-4', input: silent(0) } });
    await until('approval/a-4', ({ state }) => state === 'waiting');
    const send = (body: unknown, headers = {}) =>
      call('POST', 'approval/a-4/events', { body, headers });
    expect(await send({ type: 'NONE' })).toMatchObject({
      status: 400,
      body: { message: "type: Invalid discriminator value. Expected 'ASK' | 'LEAVE'" },
    });
    expect(await send({ type: 'xstate.stop' })).toMatchObject({ status: 400 });
    expect(await send({ type: 'LEAVE' })).toMatchObject({
      status: 409,
      body: { error: 'refused' },
    });
    const key = { 'idempotency-key': 'k-1' };
    expect(await send({ type: 'ASK' }, key)).toMatchObject({ status: 202 });
    expect(await send({ type: 'ASK' }, key)).toMatchObject({ status: 202 });
    expect(await send({ type: 'ASK' })).toMatchObject({ status: 409 });
  });

  it('repeats its first verdict on an event with a key, also when it has ended since', async () => {
    await call('POST', 'approval', { body: { id: 'a-10', input: robot } });
    await until('approval/a-10', ({ state }) => state === 'waiting');
    const send = (type: string, key?: string) =>
      call('POST', 'approval/a-10/events', {
        body: { type },
        headers: key === undefined ? {} : { 'idempotency-key': key },
      });
    expect(await send('LEAVE', 'k-1')).toMatchObject({ status: 409, body: { error: 'refused' } });
    expect(await send('ASK', 'k-2')).toMatchObject({ status: 202, body: { result: 'taken' } });
    await until('approval/a-10', ({ endedAt }) => endedAt !== undefined);
    expect(await send('LEAVE', 'k-1')).toMatchObject({ status: 409, body: { error: 'refused' } });
    expect(await send('ASK', 'k-2')).toMatchObject({ status: 202, body: { result: 'taken' } });
    expect(await send('ASK', 'k-3')).toMatchObject({ status: 404, body: { error: 'not-found' } });
    expect(await send('ASK')).toMatchObject({ status: 404, body: { error: 'not-found' } });
  });

  it('keep nothing of events without a key that were refused', async () => {
    await call('POST', 'approval', { body: { id: 'a-9', input: silent(0) } });
    await until('approval/a-9', ({ state }) => state === 'waiting');
    const fields = async (): Promise<number> => {
      const [job = ''] = await redis.client().keys(`*${redis.prefix}*:workflows:*-approval--a-9`);
      return redis.client().hlen(job);
    };
    const before = await fields();
    for (let sent = 0; sent < 3; sent += 1) {
      expect(await call('POST', 'approval/a-9/events', { body: { type: 'LEAVE' } })).toMatchObject({
        status: 409,
      });
    }
    expect(before).toBeGreaterThan(5);
    expect(await fields()).toBe(before);
  });

  it('takes the prompt off the phone when it leaves the state', async () => {
    await call('POST', 'approval', {
      body: { id: 'a-5', input: silent(1) },
      apId: 'mid://five.example',
    });
    const send = (type: string) =>
      call('POST', 'approval/a-5/events', { body: { type }, apId: 'mid://five.example' });
    await expect.poll(async () => (await send('ASK')).status).toBe(202);
    const theirs = async (): Promise<string | undefined> => {
      for (const line of product.asked()) {
        const [id = ''] = line.split(' ');
        if ((await product.statusOf(id, 'mid://five.example')) === '504') return id;
      }
      return undefined;
    };
    await expect.poll(theirs).toBeDefined();
    const msspTransId = (await theirs()) ?? '';
    expect(await product.statusOf(msspTransId, 'mid://five.example')).toBe('504');
    expect(await send('LEAVE')).toMatchObject({ status: 202 });
    await expect.poll(() => product.statusOf(msspTransId, 'mid://five.example')).toBe('_401');
  });

  it('has nobody asked by a process that was paused in `sign`, and goes on after the state was left', async () => {
    const { blocking } = product.core;
    const name = Object.keys(blocking).find((each) => each.startsWith('addStandardJob:')) ?? '';
    const add = Reflect.get(blocking, name) as (...given: readonly unknown[]) => Promise<unknown>;
    onTestFinished(() => void Reflect.set(blocking, name, add));
    const pausing = createGate();
    const goingOn = createGate();
    const added = createGate<unknown>();
    Reflect.set(blocking, name, async function (this: unknown, ...given: readonly unknown[]) {
      if (!JSON.stringify(given).includes('answerTo')) return add.apply(this, [...given]);
      pausing.open();
      await goingOn.opened;
      const answer = await add.apply(this, [...given]);
      added.open(answer);
      return answer;
    });
    await call('POST', 'approval', { body: { id: 'a-6', input: silent(1) } });
    await until('approval/a-6', ({ state }) => state === 'waiting');
    const send = (type: string) => call('POST', 'approval/a-6/events', { body: { type } });
    expect(await send('ASK')).toMatchObject({ status: 202 });
    await pausing.opened;
    expect(await send('LEAVE')).toMatchObject({ status: 202 });
    await until('approval/a-6', ({ status }) => status === 'completed');
    goingOn.open();
    expect(await product.statusOf(String(await added.opened), 'mid://ap.example')).toBe('_101');
  });

  it('gets the fault of a person, of the request, and of a number that is not known, as its output', async () => {
    const outputOf = async (id: string, input: object): Promise<Json> => {
      await call('POST', 'approval', { body: { id, input } });
      await until(`approval/${id}`, ({ state }) => state === 'waiting');
      await call('POST', `approval/${id}/events`, { body: { type: 'ASK' } });
      return (await until(`approval/${id}`, ({ status }) => status !== 'open')).output;
    };
    expect(await outputOf('b-1', { ...robot, msisdn: '+41000092402' })).toMatchObject({
      kind: 'failed',
      code: 402,
      reason: 'PIN_BLOCKED',
      msspTransId: expect.stringMatching(/^H/),
    });
    const unknown = await outputOf('b-2', { ...robot, msisdn: '+41791111111' });
    expect(unknown).toMatchObject({ kind: 'failed', code: 105 });
    expect(unknown.msspTransId).toBeUndefined();
    expect(await outputOf('b-3', { ...robot, profile: 'MID/v1/OtpProfileText' })).toMatchObject({
      code: 109,
    });
  });

  it('is cancelled with a reason, and its prompt with it', async () => {
    const asked = product.asked().length;
    await call('POST', 'approval', { body: { id: 'c-1', input: silent(0) } });
    await until('approval/c-1', ({ state }) => state === 'waiting');
    expect(await call('DELETE', `approval/c-1?reason=${'x'.repeat(501)}`)).toMatchObject({
      status: 400,
    });
    expect(await call('DELETE', 'approval/c-1?reason=taken%20back')).toMatchObject({ status: 202 });
    expect(await until('approval/c-1', ({ status }) => status !== 'open')).toMatchObject({
      status: 'cancelled',
      reason: 'taken back',
    });
    expect(await call('DELETE', 'approval/c-1')).toMatchObject({ status: 404 });
    expect(product.asked()).toHaveLength(asked);
  });

  it('is cancelled when its chart takes it, also after it has not', async () => {
    await call('POST', 'held', { body: { id: 'c-2', input: {} } });
    await until('held/c-2', ({ state }) => state === 'busy');
    expect(await call('DELETE', 'held/c-2')).toMatchObject({
      status: 409,
      body: { error: 'refused' },
    });
    await call('POST', 'held/c-2/events', { body: { type: 'FREE' } });
    expect(await call('DELETE', 'held/c-2')).toMatchObject({ status: 202 });
    expect(await until('held/c-2', ({ status }) => status !== 'open')).toMatchObject({
      status: 'cancelled',
    });
  });

  it('is cancelled by an operator, whatever the keys of the events that its application has sent', async () => {
    await call('POST', 'held', { body: { id: 'c-3', input: {} } });
    await until('held/c-3', ({ state }) => state === 'busy');
    const headers = { 'idempotency-key': 'cancel/olga' };
    const free = { body: { type: 'FREE' }, headers };
    expect((await call('POST', 'held/c-3/events', free)).status).toBe(202);
    const order = { by: 'olga', reason: 'Wrong' };
    const { workflows } = product;
    expect(await workflows.cancel('mid://ap.example', 'held', 'c-3', order)).toBe('cancelled');
    expect(await until('held/c-3', ({ status }) => status !== 'open')).toMatchObject({
      status: 'cancelled',
    });
  });

  it.each([
    ['done', { status: 'completed', output: { how: 'done' } }],
    ['cancelled', { status: 'cancelled', output: { how: 'cancelled' } }],
    ['broken', { status: 'failed', reason: 'it is broken' }],
  ])('has ended for its application when it tells so: %s', async (how, end) => {
    await call('POST', 'slow', { body: { id: `e-${how}`, input: { how } } });
    await until(`slow/e-${how}`, ({ state }) => state === 'waiting');
    let goOn: () => void = () => undefined;
    telling = new Promise((resolve) => {
      goOn = resolve;
    });
    await call('POST', `slow/e-${how}/events`, { body: { type: 'END' } });
    await expect.poll(() => told, { interval: 10 }).toContain(how);
    const before = await call('GET', `slow/e-${how}`);
    const late = await call('POST', `slow/e-${how}/events`, { body: { type: 'END' } });
    goOn();
    const { endedAt: _, ...after } = await until(
      `slow/e-${how}`,
      ({ endedAt }) => endedAt !== undefined,
    );
    expect([before.body, late.status]).toMatchObject([{ ...end, state: how }, 404]);
    expect(before.body).toEqual(after);
  });

  it('sends its changes until it ends', async () => {
    await call('POST', 'approval', { body: { id: 'd-1', input: robot } });
    const response = await product.api.fetch(
      new Request('http://test/workflows/approval/d-1/events', {
        headers: { authorization: basic('mid://ap.example') },
      }),
    );
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    await until('approval/d-1', ({ state }) => state === 'waiting');
    await call('POST', 'approval/d-1/events', { body: { type: 'ASK' } });
    const text = await response.text();
    const last = text.trim().split('\n\n').at(-1) ?? '';
    expect(last).toMatch(/^event: end\ndata: /);
    expect(JSON.parse(last.slice(last.indexOf('{')))).toMatchObject({
      id: 'd-1',
      status: 'completed',
    });
    expect(text).toContain('event: state');
  });

  it('keeps no stream open for HEAD, which nobody reads', async () => {
    const events = (id: string, method: string) =>
      product.api.fetch(
        new Request(`http://test/workflows/approval/${id}/events`, {
          method,
          headers: { authorization: basic('mid://ap.example') },
        }),
      );
    await call('POST', 'approval', { body: { id: 'd-2', input: robot } });
    for (let head = 0; head < 20; head += 1) expect((await events('d-2', 'HEAD')).status).toBe(200);
    expect((await events('none', 'HEAD')).status).toBe(404);
    const open = await events('d-2', 'GET');
    expect(open.status).toBe(200);
    await open.body?.cancel();
  });

  it('ends a stream that it cannot go on with, and the log says why', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    onTestFinished(() => said.mockRestore());
    await call('POST', 'approval', { body: { id: 'd-3', input: robot } });
    await until('approval/d-3', ({ state }) => state === 'waiting');
    const { body } = await product.api.fetch(
      new Request('http://test/workflows/approval/d-3/events', {
        headers: { authorization: basic('mid://ap.example') },
      }),
    );
    const reader = body?.getReader();
    // How long to wait before the next try, and the state.
    for (let read = 0; read < 2; read += 1) await reader?.read();
    const troubles = () => product.logged.filter((line) => line.includes('"msg":"trouble"')).length;
    const before = troubles();
    const rows = (await product.workflows.list({}, { limit: 100 }))?.rows ?? [];
    const instanceId = rows.find(({ id }) => id.endsWith('-d-3'))?.id ?? '';
    // Another program has made this of its record: `publish` of the chart throws.
    const record = {
      workflow: 'approval',
      version: 2,
      status: 'active',
      value: 'waiting',
      next: 1,
    };
    const key = product.workflows.locate(instanceId).queue.toKey(instanceId);
    await redis.client().hset(key, 'progress', JSON.stringify({ ...record, context: null }));
    expect(await reader?.read()).toMatchObject({ done: true });
    expect(troubles()).toBe(before + 1);
    expect(said).not.toHaveBeenCalled();
  });

  it('takes no room from an application while the body of its request has not come', async () => {
    const apId = 'mid://stalled.example';
    const bodies: ReadableStreamDefaultController[] = [];
    const stalled = Array.from({ length: 6 }, (_, index) =>
      product.api.fetch(
        new Request(`http://test/workflows/approval${index % 2 === 0 ? '' : '/a-1/events'}`, {
          method: 'POST',
          headers: { authorization: basic(apId), 'content-type': 'application/json' },
          body: new ReadableStream({ start: (controller) => void bodies.push(controller) }),
          duplex: 'half',
        }),
      ),
    );
    // While another one asks, one application has room for four at once.
    await call('GET', 'approval/a-1');
    expect((await call('GET', 'approval/a-1', { apId })).status).toBe(404);
    for (const body of bodies) body.close();
    for (const { status } of await Promise.all(stalled)) expect(status).toBe(400);
  });

  it('takes the scheme of an AP_ID that is not encoded for no application, and says what is wrong', async () => {
    const unencoded = ['mid://ap.example:', 'mid://ap.example:secret', 'http://bank.example:x:y'];
    for (const userinfo of [
      ...unencoded,
      'urn:example:ap:',
      'urn:example:ap:secret',
      'did:web:ap.example:',
    ]) {
      const headers = { authorization: `Basic ${btoa(userinfo)}` };
      const response = await product.api.fetch(
        new Request('http://test/workflows/approval/a-1', { headers }),
      );
      const body = (await response.json()) as { error: string; message: string };
      expect([response.status, body.error]).toEqual([401, 'unauthorized']);
      expect(body.message).toContain('form-urlencoded');
      expect(body.message).not.toContain('secret');
    }
    // Encoded, or without a colon, as before.
    for (const [apId, password] of [
      ['mid://ap.example', '//x'],
      ['shop', 'x//'],
    ] as const) {
      const headers = { authorization: basic(apId, password) };
      const response = await product.api.fetch(
        new Request('http://test/workflows/approval/a-1', { headers }),
      );
      expect(response.status).not.toBe(401);
    }
  });

  it('needs an application that proves who it is', async () => {
    const request = (headers: Record<string, string>) =>
      product.api.fetch(new Request('http://test/workflows/approval/a-1', { headers }));
    for (const headers of [
      {},
      { authorization: 'Basic ???' },
      { authorization: `Basic ${btoa('%:')}` },
    ]) {
      const response = await request(headers as Record<string, string>);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain('Basic');
    }
    const refused = product.logged
      .map((line) => JSON.parse(line))
      .filter(({ path }) => path === '/workflows/{name}/{id}');
    expect(
      refused.some(({ refused: why }) => why === 'AP_ID and AP_PWD are wrong, or missing'),
    ).toBe(true);
    expect(await call('POST', 'nothing', { body: { input: 1 } })).toMatchObject({ status: 404 });
  });

  it('is in the list from its first turn to its end, newest first, also when another program has added it', async () => {
    const apId = 'mid://list.example';
    for (const id of ['l-1', 'l-2', 'l-3'])
      await call('POST', 'approval', { apId, body: { id, input: robot } });
    const { workflows } = product;
    const list = async (filter: object, limit = 10) =>
      (await workflows.list({ apId, ...filter }, { limit }))?.rows.map(
        ({ id, status }) => `${id.split('-').slice(-2).join('-')} ${status}`,
      );
    await expect.poll(() => list({})).toEqual(['l-3 open', 'l-2 open', 'l-1 open']);
    await call('DELETE', 'approval/l-2', { apId });
    await expect.poll(() => list({ status: ['cancelled'] })).toEqual(['l-2 cancelled']);
    expect(await list({ name: 'approval', status: ['open'] })).toEqual(['l-3 open', 'l-1 open']);
    expect(await list({ name: 'other' })).toEqual([]);
    const page = await workflows.list({ apId }, { limit: 2 });
    const next = await workflows.list({ apId }, { limit: 2, cursor: page?.cursor });
    expect([page?.rows.length, next?.rows.length]).toEqual([2, 1]);
    expect(await workflows.list({}, { limit: 1, cursor: 'none' })).toBeUndefined();
  });
});

describe('a transaction that was asked by a chart and is run again by a tool', () => {
  it('changes nothing: its first end was told, and counts', async () => {
    const apId = 'mid://again.example';
    const asked = product.asked().length;
    await call('POST', 'approval', {
      apId,
      body: { id: 'r-1', input: silent(2) },
    });
    await expect
      .poll(
        async () =>
          (await call('POST', 'approval/r-1/events', { apId, body: { type: 'ASK' } })).status,
      )
      .toBe(202);
    const shards = openShards({
      redis: product.core.commands,
      ...product.configuration.queue,
      onError: () => undefined,
    });
    const answer = createAnswer(shards, product.core);
    await expect.poll(() => product.asked().length).toBeGreaterThan(asked);
    const [id = ''] = product.asked().at(-1)?.split(' ') ?? [];
    expect(await answer(id, 1, { kind: 'fault', fault: fault(208) })).toBe('accepted');
    const view = await until('approval/r-1', ({ status }) => status === 'completed', apId);
    expect(view.output).toMatchObject({ kind: 'failed', code: 208, msspTransId: id });
    await expect.poll(() => product.replay(id)).toBe('replayed');
    await expect.poll(() => product.asked().includes(`${id} 2`)).toBe(true);
    expect(await answer(id, 2, { kind: 'fault', fault: fault(401) })).toBe('accepted');
    await expect.poll(() => product.statusOf(id, apId)).toBe('_401');
    expect((await call('GET', 'approval/r-1', { apId })).body).toEqual(view);
    await closeShards(shards);
  });
});
