/** Charts of operators that start each other's instances and tell them events, over HTTP. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { callerOf } from '../../../../test/support/caller.ts';
import { startTestProduct, type TestProduct } from '../../../../test/support/product.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { defineWorkflow, effectOf, type Workflow, workflow } from '../../charts/index.ts';

const tallyMachine = setup({
  types: { context: {} as { count: number }, events: {} as { type: 'COUNT' } },
}).createMachine({
  context: { count: 0 },
  on: { COUNT: { actions: assign({ count: ({ context }) => context.count + 1 }) } },
});
const tally = defineWorkflow({
  name: 'tally',
  version: 1,
  chart: tallyMachine,
  publish: (context) => context,
});

const lineMachine = setup({
  types: {
    input: {} as { item: string },
    context: {} as { item: string },
    events: {} as { type: 'PACKED' },
    output: {} as string,
  },
}).createMachine({
  context: ({ input }) => input,
  initial: 'open',
  output: ({ context }) => `${context.item} packed`,
  states: {
    open: { on: { PACKED: 'packed' }, after: { 60000: 'packed' } },
    packed: { type: 'final' },
  },
});
const line = defineWorkflow({
  name: 'line',
  version: 1,
  chart: lineMachine,
  input: z.object({ item: z.string() }),
});

const orderMachine = setup({
  types: {
    input: {} as { item: string },
    context: {} as { item: string; end?: string },
    events: {} as { type: 'LEAVE' },
  },
  actors: { line: workflow(line) },
  actions: { count: (given) => effectOf(given).send(tally, 'all', { type: 'COUNT' }) },
}).createMachine({
  context: ({ input }) => input,
  initial: 'packing',
  output: ({ context }) => context.end,
  states: {
    packing: {
      on: { LEAVE: 'left' },
      invoke: {
        src: 'line',
        input: ({ context }) => ({ item: context.item }),
        onDone: { target: 'done', actions: assign({ end: ({ event }) => event.output }) },
        onError: { target: 'done', actions: assign({ end: ({ event }) => String(event.error) }) },
      },
    },
    left: { type: 'final' },
    done: { entry: 'count', type: 'final' },
  },
});
const order = defineWorkflow({
  name: 'order',
  version: 1,
  chart: orderMachine,
  input: z.object({ item: z.string() }),
});

describe('charts of an operator', () => {
  const redis = testRedis();
  let product: TestProduct;
  const charts: readonly Workflow[] = [order, line, tally];
  beforeAll(async () => {
    product = await startTestProduct(redis, { charts });
  });
  afterAll(() => product.stop());
  const { call, until } = callerOf(() => product);

  const lineOf = async (apId?: string): Promise<string> => {
    const own = async (): Promise<string | undefined> => {
      const keys = await redis
        .client()
        .keys(`*${redis.prefix.slice(-32)}*:workflows:*-line--run-*`);
      const ids = keys.flatMap((key) => /-line--(run-[\w-]+)$/.exec(key)?.[1] ?? []);
      for (const id of ids) {
        const { status, body } = await call('GET', `line/${id}`, { apId });
        if (status === 200 && body.status === 'open') return id;
      }
      return undefined;
    };
    await expect.poll(own, { timeout: 20_000 }).toBeDefined();
    return (await own()) ?? '';
  };

  it('start each other: the other one is an instance of the same application, with its own id', async () => {
    expect((await call('POST', 'tally', { body: { id: 'all' } })).status).toBe(201);
    expect(
      (await call('POST', 'order', { body: { id: 'o-1', input: { item: 'a book' } } })).status,
    ).toBe(201);
    const id = await lineOf();
    expect(await call('GET', `line/${id}`, { apId: 'mid://other.example' })).toMatchObject({
      status: 404,
    });
    expect(await call('POST', `line/${id}/events`, { body: { type: 'PACKED' } })).toMatchObject({
      status: 202,
    });
    expect(await until('order/o-1', ({ status }) => status !== 'open')).toMatchObject({
      status: 'completed',
      output: 'a book packed',
    });
    await until('tally/all', ({ context }) => context.count === 1);
  });

  it('stop the other one when the state is left', async () => {
    const apId = 'mid://two.example';
    await call('POST', 'order', { body: { id: 'o-2', input: { item: 'a pen' } }, apId });
    const id = await lineOf(apId);
    expect(await call('POST', 'order/o-2/events', { body: { type: 'LEAVE' }, apId })).toMatchObject(
      {
        status: 202,
      },
    );
    expect(await until(`line/${id}`, ({ status }) => status !== 'open', apId)).toMatchObject({
      status: 'cancelled',
      reason: expect.stringMatching(/-order--o-2 does not wait for it any more$/),
    });
  });

  it('are started without an input where they take none, and each start is what was started', async () => {
    const { body: first, status } = await call('POST', 'tally', { body: {} });
    expect(status).toBe(201);
    await until(`tally/${first.id}`, ({ context }) => context?.count === 0);
    expect(await call('POST', 'tally', { body: { id: 'once' } })).toMatchObject({ status: 201 });
    expect(await call('POST', 'tally', { body: { id: 'once' } })).toMatchObject({ status: 200 });
    expect(await call('POST', 'tally', { body: { id: 'once', input: 1 } })).toMatchObject({
      status: 409,
    });
    expect(await call('POST', 'order', { body: {} })).toMatchObject({
      status: 400,
      body: { message: 'input: Invalid input: expected object, received undefined' },
    });
  });

  it('refuse what no JSON of an application may be: a value that the engine writes for another', async () => {
    const date = { xstate$$type: 'Date', value: 1 };
    expect(await call('POST', 'tally', { body: { input: { list: [date] } } })).toMatchObject({
      status: 400,
      body: { message: 'input.list[0]: a member xstate$$type cannot be stored' },
    });
    await call('POST', 'tally', { body: { id: 'marked' } });
    expect(
      await call('POST', 'tally/marked/events', { body: { type: 'COUNT', date } }),
    ).toMatchObject({
      status: 400,
      body: { message: 'event.date: a member xstate$$type cannot be stored' },
    });
  });
});
