/**
 * Time and the shapes of charts, through restarts: each step is made by a worker that has never
 * seen the instance before.
 */
import { describe, expect, it } from 'vitest';
import { assign, cancel, raise, sendTo, setup } from 'xstate';
import { testRedis } from '../../../test/support/redis.ts';
import { activity, defineWorkflow, jobNameOf, later } from '../src/define.ts';
import { promotedAtOnce } from '../src/redis/bullmq-script.ts';
import { createStage } from './stage.ts';

const begin = createStage(testRedis());
const hourMs = 3_600_000;
const event = (type: string): { type: string } => ({ type });

describe('what became due while nobody was there', () => {
  it('fires in order and once; what was taken back does not', async () => {
    const listener = setup({
      types: { context: {} as { heard: string[] } },
      actions: {
        hear: assign({ heard: ({ context, event: { type } }) => [...context.heard, type] }),
      },
    }).createMachine({
      context: { heard: [] },
      initial: 'open',
      on: { FIRST: { actions: 'hear' }, SECOND: { actions: 'hear' } },
      states: { open: { on: { END: 'done' } }, done: { type: 'final' } },
      output: ({ context }) => context.heard,
    });
    const minutes = (n: number) => n * 60_000;
    const chart = setup({
      types: { context: {} as { trail: unknown[] } },
      actors: { listener },
      actions: {
        note: assign({ trail: ({ context }, what: string) => [...context.trail, what] }),
        end: assign({
          trail: ({ context, event: ended }) => [
            ...context.trail,
            (ended as { output?: unknown }).output,
          ],
        }),
      },
    }).createMachine({
      context: { trail: [] },
      initial: 'waiting',
      invoke: { id: 'l', src: 'listener', onDone: { target: '.done', actions: 'end' } },
      on: {
        TICK: { actions: { type: 'note', params: 'tick' } },
        TOCK: { actions: { type: 'note', params: 'tock' } },
        NEVER: { actions: { type: 'note', params: 'never' } },
        CANCEL: { actions: cancel('never') },
      },
      states: {
        waiting: {
          entry: [
            raise({ type: 'TOCK' }, { delay: minutes(20) }),
            raise({ type: 'TICK' }, { delay: minutes(10) }),
            raise({ type: 'NEVER' }, { delay: minutes(15), id: 'never' }),
            sendTo('l', { type: 'SECOND' } as never, { delay: minutes(12) }),
            sendTo('l', { type: 'FIRST' } as never, { delay: minutes(11) }),
            sendTo('l', { type: 'END' } as never, { delay: minutes(50) }),
          ],
          after: {
            [minutes(5)]: { actions: { type: 'note', params: 'five' } },
            [minutes(30)]: { target: 'late', actions: { type: 'note', params: 'left' } },
            [minutes(40)]: { actions: { type: 'note', params: 'of a state that was left' } },
          },
        },
        late: {},
        done: { type: 'final' },
      },
      output: ({ context }) => context.trail,
    });
    const { engine, work, until, ended } = begin();
    const timed = defineWorkflow({ name: 'timed', version: 1, chart });
    const worker = await work([timed]);
    await engine.start(timed, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    expect(await engine.send(timed, 'I-1', 'k', event('CANCEL'))).toBe('taken');
    await until('I-1', ({ record }) => record?.timers?.every(({ id }) => id !== 'never') === true);
    await worker.close();
    const later = () => Date.now() + hourMs;
    await Promise.all([1, 2].map(() => work([timed], { now: later })));
    expect((await ended('I-1')).record?.output).toEqual([
      'five',
      'tick',
      'tock',
      'left',
      ['FIRST', 'SECOND'],
    ]);
  });

  it('comes before an event that arrived after it', async () => {
    const chart = setup({}).createMachine({
      initial: 'a',
      states: {
        a: { after: { 50: 'b' }, on: { GO: 'early' } },
        b: { on: { GO: 'late' } },
        early: { type: 'final' },
        late: { type: 'final' },
      },
    });
    const { engine, work, until, ended } = begin();
    const racing = defineWorkflow({ name: 'racing', version: 1, chart });
    const worker = await work([racing]);
    // The worker is gone before the timer is due.
    await engine.start(racing, 'I-1');
    const { record } = await until('I-1', (instance) => instance.record !== undefined);
    await worker.close();
    if (record?.value === 'a')
      await expect.poll(() => Date.now()).toBeGreaterThan(record.timers?.[0]?.at ?? 0);
    expect(await engine.send(racing, 'I-1', 'k', event('GO'))).toBe('taken');
    await work([racing]);
    expect(await ended('I-1')).toMatchObject({ record: { value: 'late' } });
  });
});

describe('parallel and history states, always and output', () => {
  it('are as in XState, with another worker for each event', async () => {
    const chart = setup({
      types: { context: {} as { n: number } },
      actions: { count: assign({ n: ({ context }) => context.n + 1 }) },
    }).createMachine({
      context: { n: 0 },
      type: 'parallel',
      states: {
        work: {
          initial: 'on',
          states: {
            on: {
              initial: 'a',
              states: {
                a: { on: { NEXT: 'b' } },
                b: { initial: 'x', states: { x: { on: { NEXT: 'y' } }, y: {} } },
                shallow: { type: 'history' },
                deep: { type: 'history', history: 'deep' },
              },
              on: { OFF: 'off' },
            },
            off: { on: { SHALLOW: 'on.shallow', DEEP: 'on.deep' } },
            done: { type: 'final' },
          },
          on: { END: '.done' },
        },
        count: {
          initial: 'few',
          states: {
            few: {
              on: { '*': { actions: 'count' } },
              always: { guard: ({ context }) => context.n >= 5, target: 'many' },
            },
            many: { type: 'final' },
          },
        },
      },
      output: ({ context }) => context.n,
    });
    const { engine, work, until, ended } = begin();
    const shaped = defineWorkflow({ name: 'shaped', version: 1, chart });
    await engine.start(shaped, 'I-1');
    const steps = [
      ['NEXT', { on: { b: 'x' } }],
      ['NEXT', { on: { b: 'y' } }],
      ['OFF', 'off'],
      ['DEEP', { on: { b: 'y' } }],
      ['OFF', 'off'],
      ['SHALLOW', { on: { b: 'x' } }],
    ] as const;
    for (const [index, [type, state]] of steps.entries()) {
      await engine.send(shaped, 'I-1', `k${index}`, event(type));
      const worker = await work([shaped]);
      const { record } = await until('I-1', (instance) =>
        JSON.stringify(instance.record?.value ?? '').includes(JSON.stringify(state)),
      );
      expect(record?.value).toMatchObject({ work: state });
      await worker.close();
    }
    await work([shaped]);
    await engine.send(shaped, 'I-1', 'end', event('END'));
    expect(await ended('I-1')).toMatchObject({ record: { status: 'done', output: 5 } });
  });
});

describe('a pause that is no time', () => {
  const failing = activity<void, void>(
    async () => {
      throw new Error('not now');
    },
    { attempts: 2, backoffMs: Number.POSITIVE_INFINITY, maxBackoffMs: Number.POSITIVE_INFINITY },
  );
  const answered = activity<void, void>(async () => later as never, {
    lookAgainMs: () => Number.POSITIVE_INFINITY,
  });
  const busy = activity<void, void>(async () => undefined, {
    gate: { turn: () => ({ kind: 'wait', ms: Number.POSITIVE_INFINITY }) },
  });
  const open = (pause: object): object => ({ ...pause, on: { END: 'over' } });
  const cases: readonly (readonly [string, object])[] = [
    ['of a timer', { after: { never: 'over' } }],
    [
      'of an event to itself',
      { entry: raise({ type: 'LATE' }, { delay: Number.POSITIVE_INFINITY }) },
    ],
    ['after a failed try', { invoke: { src: 'failing' } }],
    ['before it is looked for an answer', { invoke: { src: 'answered' } }],
    ['of a gate', { invoke: { src: 'busy' } }],
  ];

  it.each(cases)('lasts until an event comes, and the record can be read: %s', async (_, pause) => {
    const chart = setup({
      actors: { failing, answered, busy },
      delays: { never: Number.POSITIVE_INFINITY },
    }).createMachine({ initial: 'open', states: { open: open(pause), over: { type: 'final' } } });
    const { engine, work, until, ended } = begin();
    const waiting = defineWorkflow({ name: 'waiting', version: 1, chart });
    await work([waiting]);
    await engine.start(waiting, 'I-1');
    await until('I-1', ({ record }) => record?.value === 'open');
    expect(await engine.send(waiting, 'I-1', 'k', event('END'))).toBe('taken');
    expect(await ended('I-1')).toMatchObject({ ended: 'completed' });
  });
});

describe('many instances that become due at once', () => {
  const chart = setup({}).createMachine({ initial: 'done', states: { done: { type: 'final' } } });
  const one = defineWorkflow({ name: 'one', version: 1, chart });

  it('do not keep Redis for themselves: a worker moves a few with each that it takes, and they all end', async () => {
    const stage = begin();
    await stage.queue.addBulk(
      Array.from({ length: 350 }, (_, index) => ({
        name: jobNameOf(one),
        data: {},
        opts: { jobId: `D-${index}`, delay: 1 },
      })),
    );
    // The first is taken by itself, the second when the first has ended.
    const delayed: number[] = [];
    await stage.work([one], {
      concurrency: 1,
      around: async (_, turn) => {
        if (delayed.length < 2) delayed.push(await stage.queue.getDelayedCount());
        return turn();
      },
    });
    await expect.poll(() => delayed).toEqual([350 - promotedAtOnce, 350 - 2 * promotedAtOnce]);
    await expect.poll(() => stage.queue.getCompletedCount(), { timeout: 50_000 }).toBe(350);
  });
});
