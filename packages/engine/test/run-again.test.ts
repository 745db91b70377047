/** Instances that an error of an activity has ended, and that are run again. */
import { describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { testRedis } from '../../../test/support/redis.ts';
import { activity, defineWorkflow } from '../src/define.ts';
import { createGate, createStage } from './stage.ts';

const redis = testRedis();
const begin = createStage(redis);

/** An order that is charged while somebody packs it. No state takes an error. */
const orderOf = (options: {
  readonly charge: (token: string) => Promise<string>;
  readonly pack?: (token: string) => Promise<string>;
  readonly withdrawn?: (token: string) => void;
}) =>
  defineWorkflow({
    name: 'order',
    version: 1,
    chart: setup({
      types: { context: {} as { notes: readonly string[] } },
      actors: {
        charge: activity(({ token }) => options.charge(token)),
        pack: activity(({ token }) => options.pack?.(token) ?? Promise.resolve('packed'), {
          withdraw: async ({ token }) => options.withdrawn?.(token),
        }),
      },
      actions: {
        note: assign({
          notes: ({ context, event: { type } }) => [...context.notes, type],
        }),
      },
    }).createMachine({
      context: { notes: [] },
      type: 'parallel',
      on: { NOTE: { actions: 'note' } },
      states: {
        money: {
          initial: 'quoted',
          states: {
            quoted: { on: { ORDER: 'charging' } },
            charging: { invoke: { src: 'charge', onDone: 'paid' } },
            paid: { type: 'final' },
          },
        },
        goods: {
          initial: 'packing',
          states: {
            packing: { invoke: { src: 'pack', onDone: 'packed' } },
            packed: { type: 'final' },
          },
        },
      },
      output: ({ context }) => context.notes as never,
    }),
  });

describe('an instance that an activity has ended with an error', () => {
  it('goes on from that activity when its job is run again, with what it had', async () => {
    const { engine, queue, work, ended } = begin();
    const [noted, packed] = [createGate(), createGate()];
    const charged: string[] = [];
    const packs: string[] = [];
    const withdrawn: string[] = [];
    const order = orderOf({
      charge: async (token) => {
        charged.push(token);
        if (charged.length === 2) await noted.opened;
        if (charged.length < 3) throw new Error('The bank is closed');
        packed.open();
        return 'paid';
      },
      pack: async (token) => {
        packs.push(token);
        await packed.opened;
        return 'packed';
      },
      withdrawn: (token) => void withdrawn.push(token),
    });
    await work([order]);
    await engine.start(order, 'I-1');
    await engine.send(order, 'I-1', 'k-1', { type: 'NOTE' });
    await engine.send(order, 'I-1', 'k-2', { type: 'ORDER' });
    const failed = { ended: 'failed', failedReason: 'The bank is closed' };
    expect(await ended('I-1')).toMatchObject(failed);
    const again = async () => (await queue.getJob('I-1'))?.retry('failed');
    await again();
    const judged = { judged: true };
    expect(await engine.send(order, 'I-1', 'k-3', { type: 'NOTE' }, judged)).toBe('taken');
    noted.open();
    expect(await ended('I-1')).toMatchObject(failed);
    await again();
    const end = await ended('I-1');
    expect(end).toMatchObject({ ended: 'completed', record: { output: ['NOTE', 'NOTE'] } });
    expect(end?.record).not.toHaveProperty('retry');
    // Each run is another one for those who are asked, and what was withdrawn stays so.
    expect(new Set(charged).size).toBe(3);
    expect(new Set(packs).size).toBe(3);
    expect(withdrawn).toEqual(packs.slice(0, 2));
  });

  it('goes on inside of a child chart', async () => {
    const { engine, queue, work, ended } = begin();
    let tries = 0;
    const child = setup({
      actors: {
        look: activity(async () => {
          tries += 1;
          if (tries === 1) throw new Error('Too dark');
          return 'seen';
        }),
      },
    }).createMachine({
      initial: 'first',
      states: {
        first: { after: { 5: 'looking' } },
        looking: { invoke: { src: 'look', onDone: 'over' } },
        over: { type: 'final' },
      },
    });
    const parent = defineWorkflow({
      name: 'parent',
      version: 1,
      chart: setup({ actors: { child } }).createMachine({
        initial: 'open',
        states: { open: { invoke: { src: 'child', onDone: 'done' } }, done: { type: 'final' } },
      }),
    });
    await work([parent]);
    await engine.start(parent, 'I-1');
    expect(await ended('I-1')).toMatchObject({ ended: 'failed', failedReason: 'Too dark' });
    await (await queue.getJob('I-1'))?.retry('failed');
    expect(await ended('I-1')).toMatchObject({ ended: 'completed' });
    expect(tries).toBe(2);
  });

  it('ends again as it was when an action has thrown, because that would throw again', async () => {
    const { engine, queue, work, ended } = begin();
    const thrown = defineWorkflow({
      name: 'thrown',
      version: 1,
      chart: setup({
        actions: {
          note: assign(() => {
            throw new Error('A mistake');
          }),
        },
      }).createMachine({ initial: 'a', states: { a: { on: { GO: { actions: 'note' } } } } }),
    });
    await work([thrown]);
    await engine.start(thrown, 'I-1');
    await engine.send(thrown, 'I-1', 'k', { type: 'GO' });
    const first = await ended('I-1');
    expect(first).toMatchObject({ ended: 'failed', failedReason: 'A mistake' });
    expect(first?.record).not.toHaveProperty('retry');
    await (await queue.getJob('I-1'))?.retry('failed');
    expect(await ended('I-1')).toMatchObject({ ended: 'failed', failedReason: 'A mistake' });
  });
});
