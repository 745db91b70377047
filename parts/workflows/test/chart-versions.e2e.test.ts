/**
 * A chart of one's own belongs to its version: a start with another chart under it is refused while
 * instances need the former.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { type AnyStateMachine, setup } from 'xstate';
import type { Workflow } from '../../../packages/engine/src/define.ts';
import { StartError } from '../../../src/app/start-error.ts';
import { startTestProduct } from '../../../test/support/product.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { defineWorkflow } from '../charts/index.ts';

const apId = 'http://bank.example';

interface Changes {
  readonly version?: number;
  /** Name of the state that waits. */
  readonly waiting?: string;
  readonly inner?: string;
  readonly isEnough?: (amount: number) => boolean;
  readonly description?: string;
}

const payment = ({
  version = 1,
  waiting = 'waiting',
  inner = 'one',
  isEnough = (amount) => amount > 5,
  description = 'Waits',
}: Changes = {}): Workflow => {
  const child = setup({}).createMachine({ initial: inner, states: { [inner]: {} } });
  const guards = { isEnough: ({ event }: { event: unknown }) => isEnough(Object(event).amount) };
  return defineWorkflow({
    name: 'payment',
    version,
    chart: setup({ actors: { child }, guards }).createMachine({
      description,
      initial: waiting,
      states: {
        [waiting]: {
          invoke: { src: 'child' },
          on: { PAID: { guard: 'isEnough', target: 'done' }, FAIL: 'bad' },
        },
        bad: { meta: { job: 'failed' }, on: { REPLAY: waiting } },
        done: { type: 'final' },
      },
    } as never) as unknown as AnyStateMachine,
  });
};

describe('a start with a chart of one’s own', () => {
  const redis = testRedis();
  const start = async (...charts: readonly Workflow[]) => {
    const product = await startTestProduct(redis, { charts });
    onTestFinished(() => product.stop());
    const { workflows } = product;
    const stateIs = (id: string, state: string) =>
      expect
        .poll(async () => (await workflows.find(apId, 'payment', id))?.state, {
          timeout: 20_000,
          interval: 20,
        })
        .toBe(state);
    return {
      stop: product.stop,
      stateIs,
      begin: async (id: string) => {
        expect((await workflows.start(apId, 'payment', {}, id)).kind).toBe('started');
        await stateIs(id, 'waiting');
      },
      send: (id: string, event: { type: string; amount?: number }) =>
        workflows.send(apId, 'payment', id, event),
    };
  };

  it('that was changed under its version is refused while instances are open, and only then', async () => {
    const first = await start(payment());
    // Nobody has begun an instance.
    await first.stop();
    await (await start(payment({ waiting: 'resting' }))).stop();

    const second = await start(payment());
    await second.begin('one');
    await second.stop();
    const words =
      'workflows: the chart payment of version 1 was changed, and instances that began in it are open or can be replayed. Raise the version of the changed chart, and export the former one beside it until they have ended.';
    for (const changes of [{ waiting: 'resting' }, { inner: 'two' }]) {
      const error = await start(payment(changes)).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(StartError);
      expect(error).toMatchObject({ message: words });
    }

    // Programs and words may change: instances go on with them.
    const third = await start(
      payment({ isEnough: () => true, description: 'Waits for the money' }),
    );
    expect(await third.send('one', { type: 'FAIL' })).toEqual({ kind: 'taken' });
    await third.stateIs('one', 'bad');
    await third.stop();
    await expect(start(payment({ waiting: 'resting' }))).rejects.toThrow(words);

    // The changed one has a version of its own.
    const fourth = await start(payment(), payment({ version: 2, waiting: 'resting' }));
    await fourth.stop();
  });
});

describe('a start beside another process', () => {
  const redis = testRedis();

  it('needs the same charts, whoever comes first', async () => {
    const started = await Promise.allSettled([
      startTestProduct(redis, { charts: [payment()] }),
      startTestProduct(redis, { charts: [payment()] }),
    ]);
    const products = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(products).toHaveLength(2);
    const [one] = products;
    expect((await one?.workflows.start(apId, 'payment', {}, 'one'))?.kind).toBe('started');
    await expect
      .poll(async () => (await one?.workflows.find(apId, 'payment', 'one'))?.state, {
        timeout: 20_000,
      })
      .toBe('waiting');
    await expect(startTestProduct(redis, { charts: [payment({ waiting: 'x' })] })).rejects.toThrow(
      StartError,
    );
    for (const each of products) await each.stop();
  });
});
