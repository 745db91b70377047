/** Charts that go on without end: they end with an error, or give way to others. */
import { afterEach, describe, expect, it } from 'vitest';
import { type AnyActorRef, assign, raise, sendParent, sendTo, setup, spawnChild } from 'xstate';
import { testRedis } from '../../../test/support/redis.ts';
import { activity, defineWorkflow, type Workflow } from '../src/define.ts';
import { createStage, type Stage } from './stage.ts';

const begin = createStage(testRedis());
const go = { type: 'GO' };
const overSteps = /^The chart goes in a circle: over 10000 steps after one event$/;

/** Each transition of the charts below counts here. */
let steps = 0;
afterEach(() => {
  steps = 0;
});
const counted = setup({
  types: { context: {} as { n: number } },
  actions: {
    count: assign({
      n: ({ context }) => {
        steps += 1;
        return context.n + 1;
      },
    }),
  },
  guards: { isOpen: () => true },
});

const toItself = sendTo(({ self }: { readonly self: AnyActorRef }) => self, go) as never;
const circles = {
  'its own queue': counted.createMachine({
    context: { n: 0 },
    on: { GO: { actions: ['count', toItself] }, END: '.over' },
    initial: 'open',
    states: { open: {}, over: { type: 'final' } },
  }),
  raise: counted.createMachine({
    context: { n: 0 },
    on: { GO: { actions: ['count', raise(go)] }, END: '.over' },
    initial: 'open',
    states: { open: {}, over: { type: 'final' } },
  }),
  always: counted.createMachine({
    context: { n: 0 },
    initial: 'open',
    states: {
      open: { on: { GO: 'there', END: 'over' } },
      there: { always: { target: 'back', actions: 'count' } },
      back: { always: { target: 'there', actions: 'count' } },
      over: { type: 'final' },
    },
  }),
};
const cases = Object.entries(circles).map(([kind, chart]) => ({ kind, chart }));

const named = (name: string, chart: Parameters<typeof defineWorkflow>[0]['chart']): Workflow =>
  defineWorkflow({ name, version: 1, chart });

/** Ends at once. */
const quick = named(
  'quick',
  setup({}).createMachine({ initial: 'over', states: { over: { type: 'final' } } }),
);

const othersEnd = async ({ engine, ended }: Stage): Promise<void> => {
  for (const id of ['Q-1', 'Q-2', 'Q-3']) {
    await engine.start(quick, id);
    expect(await ended(id)).toMatchObject({ ended: 'completed' });
  }
};

describe('a circle after one event', () => {
  it.each(cases)(
    'ends its instance with an error, by $kind, and no other one',
    async ({ kind, chart }) => {
      const stage = begin();
      const { engine, work, until, ended, troubles } = stage;
      const workflow = named('circle', chart);
      await work([workflow, quick], { concurrency: 1 });
      await engine.start(workflow, 'I-1');
      await until('I-1', ({ record }) => record !== undefined);
      expect(await engine.send(workflow, 'I-1', 'k', go, { judged: true }), kind).toBe('taken');
      expect(await ended('I-1')).toMatchObject({
        ended: 'failed',
        failedReason: expect.stringMatching(overSteps) as string,
        // Nothing of the circle is stored.
        record: { status: 'error', context: { n: 0 } },
      });
      expect(steps).toBeLessThanOrEqual(10_200);
      expect(troubles.map(({ name }) => name)).toEqual(['EndlessError']);
      await othersEnd(stage);
    },
  );

  it.each(cases)('is not followed by whoever sends the event: $kind', async ({ chart }) => {
    const { engine, work, until } = begin();
    const workflow = named('circle', chart);
    const worker = await work([workflow]);
    await engine.start(workflow, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    await worker.close();
    expect(await engine.send(workflow, 'I-1', 'k', go)).toBe('taken');
    expect(steps).toBeGreaterThan(0);
    expect(steps).toBeLessThan(210);
  });

  it('carries out none of its effects, and stops its children', async () => {
    let mails = 0;
    const child = setup({}).createMachine({ initial: 'open', states: { open: {} } });
    const chart = setup({
      actors: { child },
      actions: {
        mail: () => {
          mails += 1;
        },
      },
    }).createMachine({
      invoke: { id: 'c', src: 'child' },
      on: { GO: { actions: ['mail', raise(go)] } },
    });
    const { engine, work, until, ended } = begin();
    const workflow = named('mailing', chart);
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    await engine.send(workflow, 'I-1', 'k', go);
    const { ended: how, record } = await ended('I-1');
    expect([how, record?.children]).toEqual(['failed', undefined]);
    expect(mails).toBe(0);
  });

  it('ends the whole instance when a child goes in a circle', async () => {
    const child = setup({}).createMachine({
      initial: 'a',
      states: { a: { always: 'b' }, b: { always: 'a' } },
    });
    const chart = setup({
      types: { context: {} as { error: unknown } },
      actors: { child },
    }).createMachine({
      context: { error: undefined },
      invoke: {
        src: 'child',
        onError: { target: '.over', actions: assign({ error: ({ event }) => event.error }) },
      },
      initial: 'open',
      states: { open: {}, over: { type: 'final' } },
      output: ({ context }) => context.error,
    });
    const { engine, work, ended } = begin();
    const parent = named('parent', chart);
    await work([parent]);
    await engine.start(parent, 'I-1');
    expect(await ended('I-1')).toMatchObject({
      ended: 'failed',
      failedReason: expect.stringMatching(overSteps) as string,
    });
  });

  it('ends the instance when a timer or the end of an activity begins it', async () => {
    const chart = (first: object) =>
      setup({ actors: { ask: activity(async () => 'yes') } }).createMachine({
        initial: 'open',
        states: { open: first, a: { always: 'b' }, b: { always: 'a' } },
      });
    const timed = named('timed', chart({ after: { 1: 'a' } }));
    const asking = named('asking', chart({ invoke: { src: 'ask', onDone: 'a' } }));
    const { engine, work, ended } = begin();
    await work([timed, asking]);
    await engine.start(timed, 'I-1');
    await engine.start(asking, 'I-2');
    for (const id of ['I-1', 'I-2'])
      expect(await ended(id)).toMatchObject({
        ended: 'failed',
        failedReason: expect.stringMatching(overSteps) as string,
      });
  });

  it('ends parent and child, when each answers the other', async () => {
    const child = setup({}).createMachine({
      on: { PONG: { actions: sendParent({ type: 'PING' }) } },
    });
    const chart = setup({ actors: { child } }).createMachine({
      invoke: { id: 'c', src: 'child' },
      on: {
        GO: { actions: sendTo('c', { type: 'PONG' }) },
        PING: { actions: sendTo('c', { type: 'PONG' }) },
      },
    });
    const stage = begin();
    const { engine, work, until, ended } = stage;
    const workflow = named('pair', chart);
    await work([workflow, quick], { concurrency: 1 });
    await engine.start(workflow, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    await engine.send(workflow, 'I-1', 'k', go);
    expect(await ended('I-1')).toMatchObject({
      ended: 'failed',
      failedReason: expect.stringMatching(overSteps) as string,
    });
    await othersEnd(stage);
  });

  it('ends a chart that spawns itself', async () => {
    const chart = setup({}).createMachine({ entry: spawnChild('again' as never) });
    const endless = chart.provide({ actors: { again: chart } } as never);
    chart.implementations.actors['again' as never] = endless as never;
    const { engine, work, ended } = begin();
    const workflow = named('spawning', endless);
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    expect(await ended('I-1')).toMatchObject({ ended: 'failed' });
  });
});

describe('an instance that always has more to do', () => {
  const timer = named(
    'timer',
    counted.createMachine({
      context: { n: 0 },
      initial: 'a',
      on: { END: '.over' },
      states: {
        a: { after: { 0: { target: 'b', actions: 'count' } } },
        b: { after: { 0: { target: 'a', actions: 'count' } } },
        over: { type: 'final' },
      },
    }),
  );
  const asking = named(
    'asking',
    setup({
      actors: { ask: activity(async () => 'yes', { afterCommit: () => false }) },
    }).createMachine({
      initial: 'a',
      on: { END: '.over' },
      states: {
        a: { invoke: { src: 'ask', onDone: 'b' } },
        b: { invoke: { src: 'ask', onDone: 'a' } },
        over: { type: 'final' },
      },
    }),
  );
  let tries = 0;
  const failing = named(
    'failing',
    setup({
      actors: {
        ask: activity<void, void>(
          async () => {
            tries += 1;
            throw new Error('not now');
          },
          { attempts: Number.MAX_SAFE_INTEGER, backoffMs: 0 },
        ),
      },
    }).createMachine({
      initial: 'a',
      on: { END: '.over' },
      states: { a: { invoke: { src: 'ask', onDone: 'over' } }, over: { type: 'final' } },
    }),
  );

  it.each([timer, asking, failing])(
    'gives way to others and hears events: $chart.name',
    async (workflow) => {
      const stage = begin();
      const { engine, work, until, ended } = stage;
      await work([workflow, quick], { concurrency: 1 });
      await engine.start(workflow, 'I-1');
      await until('I-1', ({ record }) => record !== undefined);
      await othersEnd(stage);
      expect(await engine.send(workflow, 'I-1', 'k', { type: 'END' })).toBe('taken');
      expect(await ended('I-1')).toMatchObject({ ended: 'completed' });
    },
  );

  it('hears events after more failed tries than a doubled pause can be computed for', async () => {
    tries = 0;
    const { engine, work, ended, troubles } = begin();
    await work([failing]);
    await engine.start(failing, 'I-1');
    // 2 ** 1024 is no number any more.
    await expect.poll(() => tries, { timeout: 50_000 }).toBeGreaterThan(1100);
    expect(await engine.send(failing, 'I-1', 'k', { type: 'END' })).toBe('taken');
    expect(await ended('I-1')).toMatchObject({ ended: 'completed' });
    expect(troubles.filter(({ message }) => message !== 'not now')).toEqual([]);
  });

  it('applies each event once and in order, with rests in between', async () => {
    const chart = setup({
      types: { context: {} as { heard: number[]; left: number } },
      guards: { hasMore: ({ context }) => context.left > 0 },
      actions: {
        hear: assign({
          heard: ({ context, event }) => [...context.heard, (event as unknown as { n: number }).n],
          left: 400,
        }),
        less: assign({ left: ({ context }) => context.left - 1 }),
      },
    }).createMachine({
      context: { heard: [], left: 0 },
      initial: 'open',
      states: {
        open: { on: { SAY: { actions: 'hear', target: 'busy' }, END: 'over' } },
        busy: {
          always: [{ guard: 'hasMore', target: 'busy', reenter: true, actions: 'less' }, 'open'],
        },
        over: { type: 'final' },
      },
      output: ({ context }) => context.heard,
    });
    const { engine, work, until, ended } = begin();
    const workflow = named('hearing', chart);
    const worker = await work([workflow]);
    await engine.start(workflow, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    await worker.close();
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    // Bytes and characters differ.
    for (const n of numbers)
      expect(
        await engine.send(workflow, 'I-1', `é${n}`, { type: 'SAY', n, text: 'Zürich €' } as never),
      ).toBe('taken');
    await engine.send(workflow, 'I-1', 'end', { type: 'END' });
    let turns = 0;
    await work([workflow], {
      around: (_, run) => {
        turns += 1;
        return run();
      },
    });
    expect(await ended('I-1')).toMatchObject({ ended: 'completed', record: { output: numbers } });
    expect(turns).toBeGreaterThan(5);
    for (const n of numbers) expect(await engine.verdict('I-1', `é${n}`)).toBe('taken');
  });
});
