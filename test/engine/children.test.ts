/** Instances that other instances start, tell and stop. */
import { describe, expect, it } from 'vitest';
import { assign, forwardTo, sendParent, sendTo, setup, spawnChild, stopChild } from 'xstate';
import { activity, defineWorkflow } from '../../src/engine/define.ts';
import { createTurns } from '../../workers/fairness.ts';
import { testRedis } from '../support/redis.ts';
import { createGate, createStage } from './stage.ts';

const begin = createStage(testRedis());
const event = (type: string, more: object = {}) => ({ type, ...more }) as { type: string };

/** Notes what it hears; END ends it with that. */
const listener = setup({
  types: { context: {} as { heard: number[] } },
  actions: {
    hear: assign({
      heard: ({ context, event }) => [...context.heard, (event as unknown as { n: number }).n],
    }),
  },
}).createMachine({
  context: { heard: [] },
  initial: 'open',
  on: { SAY: { actions: 'hear' } },
  states: { open: { on: { END: 'done' } }, done: { type: 'final' } },
  output: ({ context }) => context.heard,
});

describe('a child', () => {
  it('and its parent that tell each other something at the same time do not wait for each other', async () => {
    const child = setup({ types: { context: {} as { n: number } } }).createMachine({
      context: { n: 0 },
      entry: [sendParent({ type: 'HELLO' }), sendParent({ type: 'HELLO' })],
      initial: 'open',
      states: { open: { on: { PING: 'pinged' } }, pinged: { on: { PING: 'done' } }, done: { type: 'final' } },
    });
    const parent = setup({
      types: { context: {} as { hellos: number } },
      actors: { child },
      actions: { count: assign({ hellos: ({ context }) => context.hellos + 1 }) },
    }).createMachine({
      context: { hellos: 0 },
      invoke: { id: 'c', src: 'child', onDone: '.done' },
      entry: [sendTo('c', { type: 'PING' }), sendTo('c', { type: 'PING' })],
      on: { HELLO: { actions: 'count' } },
      initial: 'open',
      states: { open: {}, done: { type: 'final' } },
      output: ({ context }) => context.hellos,
    });
    const { engine, work, ended, troubles } = begin();
    const greeting = defineWorkflow({ name: 'greeting', version: 1, chart: parent });
    await work([greeting], { concurrency: 50 });
    const ids = Array.from({ length: 20 }, (_, index) => `I-${index}`);
    const began = performance.now();
    await Promise.all(ids.map((id) => engine.start(greeting, id)));
    for (const id of ids)
      expect(await ended(id)).toMatchObject({ ended: 'completed', record: { output: 2 } });
    expect(performance.now() - began).toBeLessThan(9000);
    expect(troubles).toEqual([]);
  });

  it('does not keep its parent waiting for the turn that it has itself', async () => {
    const child = setup({}).createMachine({
      initial: 'open',
      states: { open: { on: { GO: 'done' } }, done: { type: 'final' } },
    });
    const names = Array.from({ length: 8 }, (_, index) => `c${index}`);
    const chart = setup({ actors: { child } }).createMachine({
      type: 'parallel',
      on: { NUDGE: {} },
      states: Object.fromEntries(
        names.map((id) => [
          id,
          {
            initial: 'open',
            states: {
              open: { invoke: { id, src: 'child' as const, onDone: 'done' } },
              done: { type: 'final' },
            },
          },
        ]),
      ),
    });
    const { engine, queue, work, until, ended, troubles } = begin();
    const family = defineWorkflow({ name: 'family', version: 1, chart });
    // One application has all eight turns that it may have while another one has jobs, too.
    const turns = createTurns();
    const otherEnds = createGate();
    const parentWaits = createGate();
    const other = turns.run('other', () => otherEnds.opened);
    let begun = 0;
    let isOpen = false;
    await work([family], {
      around: async (job, run) => {
        const turn = turns.run('crowd', async () => {
          if (isOpen && job.id !== 'I-1') {
            begun += 1;
            await parentWaits.opened;
          }
          return run();
        });
        if (isOpen && job.id === 'I-1') parentWaits.open();
        return turn;
      },
    });
    await engine.start(family, 'I-1');
    const children = names.map((name) => `I-1.${name}.`);
    const { record } = await until('I-1', ({ record }) => Object.keys(record?.children ?? {}).length === 8);
    const ids = children.map((id, index) => `${id}${record?.children?.[names[index] ?? '']?.run}`);
    for (const id of ids) await until(id, ({ record: stored }) => stored !== undefined);
    await expect.poll(() => queue.getDelayedCount()).toBe(9);
    isOpen = true;
    for (const id of ids) await engine.send(family, id, 'go', event('GO'));
    await expect.poll(() => begun).toBe(8);
    await engine.send(family, 'I-1', 'nudge', event('NUDGE'));
    const began = performance.now();
    expect(await ended('I-1')).toMatchObject({ ended: 'completed' });
    expect(performance.now() - began).toBeLessThan(5000);
    expect(troubles).toEqual([]);
    otherEnds.open();
    await other;
  });

  it('is stopped when its state is left, and its own children with it', async () => {
    const inner = setup({ actors: { listener } }).createMachine({ invoke: { id: 'l', src: 'listener' } });
    const chart = setup({ actors: { inner } }).createMachine({
      initial: 'a',
      states: { a: { invoke: { id: 'i', src: 'inner' }, on: { LEAVE: 'b' } }, b: {} },
    });
    const { engine, work, until, ended } = begin();
    const leaving = defineWorkflow({ name: 'leaving', version: 1, chart });
    await work([leaving]);
    await engine.start(leaving, 'I-1');
    await until('I-1.i.1', ({ record }) => record !== undefined);
    const nested = 'I-1.i.1.l.1';
    await until(nested, ({ record }) => record !== undefined);
    await engine.send(leaving, 'I-1', 'k', event('LEAVE'));
    expect(await ended('I-1.i.1')).toMatchObject({ ended: 'completed', record: { status: 'stopped' } });
    expect(await ended(nested)).toMatchObject({ ended: 'completed', record: { status: 'stopped' } });
    expect((await until('I-1', ({ record }) => record?.value === 'b')).ended).toBe('no');
  });

  it('hears what it is sent and what is forwarded to it, once and in order', async () => {
    const chart = setup({
      types: { context: {} as { heard: unknown } },
      actors: { listener },
    }).createMachine({
      context: { heard: undefined },
      initial: 'a',
      states: {
        a: {
          invoke: {
            id: 'l/\n\t ö.1',
            systemId: 'ear',
            src: 'listener',
            onDone: { target: 'done', actions: assign({ heard: ({ event }) => event.output }) },
          },
          entry: [
            sendTo('l/\n\t ö.1', { type: 'SAY', n: 1 } as never),
            sendTo(({ system }) => system.get('ear'), { type: 'SAY', n: 2 } as never),
          ],
          on: {
            SAY: { actions: forwardTo('l/\n\t ö.1') },
            END: { actions: sendTo('l/\n\t ö.1', { type: 'END' } as never) },
          },
        },
        done: { type: 'final' },
      },
      output: (({ context }: { context: { heard: unknown } }) => context.heard) as never,
    });
    const { engine, work, ended } = begin();
    const telling = defineWorkflow({ name: 'telling', version: 1, chart });
    await work([telling]);
    await work([telling]);
    await engine.start(telling, 'I-1');
    for (let n = 3; n < 30; n += 1)
      expect(await engine.send(telling, 'I-1', `k${n}`, event('SAY', { n }))).toBe('taken');
    await engine.send(telling, 'I-1', 'end', event('END'));
    expect((await ended('I-1')).record?.output).toEqual(Array.from({ length: 29 }, (_, n) => n + 1));
  });

  it('that was spawned runs until it is stopped, and one that is entered again is another one', async () => {
    const chart = setup({
      types: { context: {} as { ended: number } },
      actors: { listener },
      actions: { count: assign({ ended: ({ context }) => context.ended + 1 }) },
    }).createMachine({
      context: { ended: 0 },
      entry: spawnChild('listener', { id: 's' }),
      on: {
        STOP: { actions: stopChild('s') },
        'xstate.done.actor.s': { actions: 'count' },
      },
      initial: 'a',
      states: {
        a: {
          invoke: { id: 'l', src: 'listener', onDone: 'done' },
          on: { AGAIN: { target: 'a', reenter: true } },
        },
        done: { type: 'final' },
      },
      output: ({ context }) => context.ended,
    });
    const { engine, work, until, ended } = begin();
    const spawning = defineWorkflow({ name: 'spawning', version: 1, chart });
    await work([spawning]);
    await engine.start(spawning, 'I-1');
    const runs = async () => (await until('I-1', ({ record }) => record !== undefined)).record?.children;
    const first = await runs();
    const nameOf = (child: string, run = 0) => `I-1.${child}.${run}`;
    await until(nameOf('s', first?.s?.run), ({ record }) => record !== undefined);
    await until(nameOf('l', first?.l?.run), ({ record }) => record !== undefined);
    await engine.send(spawning, 'I-1', 'k1', event('AGAIN'));
    expect(await ended(nameOf('l', first?.l?.run))).toMatchObject({ record: { status: 'stopped' } });
    const second = await runs();
    expect(second?.s).toEqual(first?.s);
    expect(second?.l?.run).not.toBe(first?.l?.run);
    await engine.send(spawning, 'I-1', 'k2', event('STOP'));
    expect(await ended(nameOf('s', first?.s?.run))).toMatchObject({ record: { status: 'stopped' } });
    // Of the run before nothing counts any more.
    const { listener: listening } = spawning.children;
    if (listening === undefined) throw new Error('no workflow of the child');
    await engine.send(listening, nameOf('l', second?.l?.run), 'k', event('END'));
    expect(await ended('I-1')).toMatchObject({ record: { output: 0 } });
  });

  it('ends also when its parent has ended before', async () => {
    const slow = setup({ actors: { wait: activity(async () => 'over') } }).createMachine({
      initial: 'idle',
      states: {
        idle: { on: { GO: 'working' } },
        working: { invoke: { src: 'wait', onDone: 'done' } },
        done: { type: 'final' },
      },
    });
    const chart = setup({ actors: { slow } }).createMachine({
      invoke: { id: 's', src: 'slow' },
      initial: 'a',
      states: { a: { on: { END: 'done' } }, done: { type: 'final' } },
    });
    const { engine, queue, work, until, ended } = begin();
    const parent = defineWorkflow({ name: 'parent', version: 1, chart });
    await work([parent]);
    await engine.start(parent, 'I-1');
    await until('I-1.s.1', ({ record }) => record !== undefined);
    // The parent is gone altogether when its child ends.
    await expect.poll(() => queue.getDelayedCount()).toBe(2);
    await queue.remove('I-1');
    const { slow: child } = parent.children;
    if (child === undefined) throw new Error('no workflow of the child');
    await engine.send(child, 'I-1.s.1', 'k', event('GO'));
    expect(await ended('I-1.s.1')).toMatchObject({ ended: 'completed', record: { status: 'done' } });
  });

  it('that fails tells its parent, which has the reason', async () => {
    const failing = setup({
      actors: {
        fail: activity(async () => {
          throw new Error('no paper');
        }),
      },
    }).createMachine({ invoke: { src: 'fail' } });
    const chart = setup({ types: { context: {} as { why: unknown } }, actors: { failing } }).createMachine({
      context: { why: '' },
      initial: 'a',
      states: {
        a: {
          invoke: {
            src: 'failing',
            onError: { target: 'done', actions: assign({ why: ({ event }) => event.error }) },
          },
        },
        done: { type: 'final' },
      },
      output: (({ context }: { context: { why: unknown } }) => context.why) as never,
    });
    const { engine, work, ended } = begin();
    const printing = defineWorkflow({ name: 'printing', version: 1, chart });
    await work([printing]);
    await engine.start(printing, 'I-1');
    expect(await ended('I-1')).toMatchObject({ record: { output: { message: 'no paper' } } });
  });
});
