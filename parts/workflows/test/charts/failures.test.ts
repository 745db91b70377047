/**
 * What operators and applications learn of a chart of their own that fails: the log, and the
 * reason.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import { callerOf } from '../../../../test/support/caller.ts';
import { type Json, startTestProduct, type TestProduct } from '../../../../test/support/product.ts';
import { testRedis } from '../../../../test/support/redis.ts';
import { activity, defineWorkflow } from '../../charts/index.ts';

const redis = testRedis();
const apId = 'mid://failing.example';

const refuse = async (): Promise<never> => {
  throw new Error('The bank refused the account');
};

const payment = setup({
  types: { input: {} as { how: string }, context: {} as { how: string; undone: boolean } },
  actors: {
    charge: activity<unknown, never>(refuse, { attempts: 2, backoffMs: 1 }),
    undo: fromPromise(async () => 'undone'),
    fast: fromPromise(async () => 'done'),
  },
}).createMachine({
  id: 'payment',
  initial: 'charging',
  context: ({ input }) => ({ how: input.how, undone: false }),
  states: {
    charging: {
      invoke: {
        src: 'charge',
        onError: [
          { guard: ({ context }) => context.how === 'undo', target: 'undoing' },
          { guard: ({ context }) => context.how === 'go on', target: 'deciding' },
          { guard: ({ context }) => context.how === 'final', target: 'failed' },
          { target: 'rejected' },
        ],
      },
    },
    undoing: {
      invoke: { src: 'undo', onDone: { target: 'rejected', actions: assign({ undone: true }) } },
    },
    deciding: { on: { DECLINE: 'rejected' } },
    rejected: { meta: { job: 'failed' }, on: { REPLAY: 'charging' } },
    failed: { type: 'final' },
  },
});

const charts = [
  defineWorkflow({ name: 'payment', version: 1, chart: payment }),
  defineWorkflow({ name: 'worded', version: 1, chart: payment, reasonOf: () => 'Our own words' }),
];

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct(redis, { charts });
});
afterAll(() => product.stop());

const { call, until } = callerOf(() => product);
const begin = async (id: string, how: string, name = 'payment'): Promise<void> => {
  expect((await call('POST', name, { apId, body: { id, input: { how } } })).status).toBe(201);
};
const ended = (id: string, name = 'payment'): Promise<Json> =>
  until(`${name}/${id}`, ({ status }) => status !== 'open', apId);

describe('an instance of a chart of one’s own that fails', () => {
  it.each([
    ['at once', 'reject'],
    ['after it has undone what was done', 'undo'],
    ['in a final state of the name', 'final'],
  ])('has the error of its activity as its reason: %s', async (_, how) => {
    await begin(`r-${how}`, how);
    expect(await ended(`r-${how}`)).toMatchObject({
      status: 'failed',
      reason: 'The bank refused the account',
    });
  });

  it('has not the error of an activity that it got over, when an event ends it', async () => {
    await begin('e-1', 'go on');
    await until('payment/e-1', ({ state }) => state === 'deciding', apId);
    expect(
      (await call('POST', 'payment/e-1/events', { apId, body: { type: 'DECLINE' } })).status,
    ).toBe(202);
    expect(await ended('e-1')).toMatchObject({ status: 'failed', reason: 'failed' });
  });

  it('has the reason that its workflow gives, where it gives one', async () => {
    await begin('w-1', 'reject', 'worded');
    expect(await ended('w-1', 'worded')).toMatchObject({
      status: 'failed',
      reason: 'Our own words',
    });
  });
});

describe('the metrics', () => {
  it('count the end of an instance, and each try of an activity that failed', async () => {
    const { registry } = product.core.telemetry;
    const readMetric = async (name: string, labels: string): Promise<number> => {
      const line = (await registry.metrics())
        .split('\n')
        .find((each) => each.startsWith(`${name}{${labels}}`));
      return Number(line?.split(' ').at(-1) ?? Number.NaN);
    };
    const failed = () =>
      readMetric('paraph_workflow_ends_total', 'workflow="payment",status="failed"');
    const tries = () =>
      readMetric('paraph_activity_failures_total', 'workflow="payment",activity="charge"');
    // A workflow that has not run is there, so that its first failure is an increase.
    expect(
      await readMetric('paraph_workflow_ends_total', 'workflow="process",status="failed"'),
    ).toBe(0);
    await begin('m-0', 'reject');
    await ended('m-0');
    const [ends, before] = [await failed(), await tries()];
    await begin('m-1', 'reject');
    await ended('m-1');
    expect([await failed(), await tries()]).toEqual([ends + 1, before + 2]);
  });
});

describe('the log of activities that fail', () => {
  it('names workflow, instance, activity and try, and does not hide one instance behind another', async () => {
    const ids = ['l-1', 'l-2', 'l-3'];
    await Promise.all(ids.map((id) => begin(id, 'reject')));
    await Promise.all(ids.map((id) => ended(id)));
    const lines = product.logged
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'trouble');
    for (const id of ids) {
      const own = lines.filter(({ instance }) => String(instance).endsWith(`-payment--${id}`));
      expect(own[0]).toMatchObject({
        workflow: 'payment',
        activity: 'charge',
        attempt: 1,
        message: 'The bank refused the account',
      });
    }
  });
});
