import { describe, expect, it } from 'vitest';
import { assign, fromPromise, raise, sendParent, sendTo, setup } from 'xstate';
import { z } from 'zod';
import { testRedis } from '../../../test/support/redis.ts';
import { activity, defineWorkflow, later } from '../src/define.ts';
import { activitiesIn } from '../src/record.ts';
import { createStage } from './stage.ts';

const begin = createStage(testRedis());

describe('an invoked activity', () => {
  it('gives its result to the chart, and the instance ends with the output of the chart', async () => {
    const chart = setup({
      types: {
        context: {} as { sum: number },
        input: {} as { a: number; b: number },
        output: {} as number,
      },
      actors: {
        add: fromPromise(
          async ({ input }: { input: { a: number; b: number } }) => input.a + input.b,
        ),
      },
    }).createMachine({
      context: { sum: 0 },
      initial: 'adding',
      states: {
        adding: {
          invoke: {
            src: 'add',
            input: ({ event }) => (event as unknown as { input: { a: number; b: number } }).input,
            onDone: { target: 'done', actions: assign({ sum: ({ event }) => event.output }) },
          },
        },
        done: { type: 'final' },
      },
      output: ({ context }) => context.sum,
    });
    const { engine, work, ended, troubles } = begin();
    const adding = defineWorkflow({ name: 'adding', version: 1, chart });
    await work([adding]);
    await engine.start(adding, 'I-1', { a: 2, b: 3 });
    expect(await ended('I-1')).toMatchObject({
      ended: 'completed',
      record: { status: 'done', output: 5 },
    });
    expect(troubles).toEqual([]);
  });

  it('is tried again as its policy says, and then the chart has the error', async () => {
    const tries: number[] = [];
    const chart = setup({
      actors: {
        fail: activity(
          async () => {
            tries.push(performance.now());
            throw new RangeError('not today');
          },
          { attempts: 3, backoffMs: 20 },
        ),
      },
    }).createMachine({
      context: { message: '' },
      initial: 'trying',
      states: {
        trying: {
          invoke: {
            src: 'fail',
            onDone: 'done',
            onError: {
              target: 'done',
              actions: assign({ message: ({ event }) => (event.error as Error).message }),
            },
          },
        },
        done: { type: 'final' },
      },
      output: ({ context }) => context.message,
    });
    const { engine, work, ended } = begin();
    const trying = defineWorkflow({ name: 'trying', version: 1, chart });
    await work([trying]);
    await engine.start(trying, 'I-1');
    expect(await ended('I-1')).toMatchObject({ record: { output: 'not today' } });
    expect(tries).toHaveLength(3);
  });

  it('may answer later, from elsewhere, and the first answer counts', async () => {
    const tokens: string[] = [];
    const chart = setup({
      actors: {
        ask: activity<unknown, string>(async ({ token }) => {
          tokens.push(token);
          return later;
        }),
      },
    }).createMachine({
      context: { answer: '' },
      initial: 'asking',
      states: {
        asking: {
          invoke: {
            src: 'ask',
            onDone: { target: 'done', actions: assign({ answer: ({ event }) => event.output }) },
          },
        },
        done: { type: 'final' },
      },
      output: ({ context }) => context.answer,
    });
    const { engine, queue, work, until, ended } = begin();
    const asking = defineWorkflow({ name: 'asking', version: 1, chart });
    await work([asking]);
    await engine.start(asking, 'I-1');
    await until('I-1', ({ record }) =>
      activitiesIn(record).some(([, { waits }]) => waits === true),
    );
    await expect.poll(() => queue.getDelayedCount()).toBe(1);
    const [token = ''] = tokens;
    expect(await engine.answer(token, { output: 'yes' })).toBe('taken');
    expect(['taken', 'finished']).toContain(await engine.answer(token, { output: 'no' }));
    expect(await ended('I-1')).toMatchObject({ record: { output: 'yes' } });
  });

  it('is given up when its state is left: its signal aborts and its answer is refused', async () => {
    let aborted = false;
    const chart = setup({
      actors: {
        wait: activity(
          ({ signal }) =>
            new Promise((_, reject) => {
              signal.addEventListener('abort', () => {
                aborted = true;
                reject(new Error('aborted'));
              });
            }),
        ),
      },
    }).createMachine({
      initial: 'waiting',
      states: {
        waiting: { invoke: { src: 'wait' }, on: { LEAVE: 'left' } },
        left: { on: { END: 'done' } },
        done: { type: 'final' },
      },
    });
    const { engine, work, until, ended } = begin();
    const waiting = defineWorkflow({ name: 'waiting', version: 1, chart });
    await work([waiting]);
    await engine.start(waiting, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    expect(await engine.send(waiting, 'I-1', 'k1', { type: 'LEAVE' })).toBe('taken');
    await until('I-1', ({ record }) => record?.value === 'left');
    expect(aborted).toBe(true);
    await engine.send(waiting, 'I-1', 'k2', { type: 'END' });
    await ended('I-1');
  });
});

describe('time', () => {
  it('fires after at its time, and cancels it when the state is left', async () => {
    const chart = setup({ delays: { soon: 30 } }).createMachine({
      initial: 'a',
      states: {
        a: { after: { soon: 'b', 60000: 'late' } },
        b: { entry: raise({ type: 'NEXT' }, { delay: 20 }), on: { NEXT: 'done' } },
        late: {},
        done: { type: 'final' },
      },
    });
    const { engine, work, ended } = begin();
    const timed = defineWorkflow({ name: 'timed', version: 1, chart });
    await work([timed]);
    await engine.start(timed, 'I-1');
    const { record } = await ended('I-1');
    expect(record).toMatchObject({ status: 'done', value: 'done' });
    expect(record?.timers).toBeUndefined();
  });
});

describe('events from outside', () => {
  const chart = setup({
    types: {
      context: {} as { seen: number[] },
      events: {} as { type: 'SEE'; n: number } | { type: 'END' },
    },
  }).createMachine({
    context: { seen: [] },
    initial: 'open',
    states: {
      open: {
        on: {
          SEE: { actions: assign({ seen: ({ context, event }) => [...context.seen, event.n] }) },
          END: 'done',
        },
      },
      done: { type: 'final' },
    },
    output: ({ context }) => context.seen,
  });
  const events = z.discriminatedUnion('type', [
    z.object({ type: z.literal('SEE'), n: z.number() }),
    z.object({ type: z.literal('END') }),
    z.object({ type: z.literal('OTHER') }),
  ]);
  const seeing = defineWorkflow({ name: 'seeing', version: 1, chart, events });

  it('are applied in order, each once, whether they come before the first turn or during it', async () => {
    const { engine, work, ended, until } = begin();
    await engine.start(seeing, 'I-1');
    for (let n = 0; n < 5; n += 1)
      await engine.send(seeing, 'I-1', `k${n}`, { type: 'SEE', n } as never);
    await engine.send(seeing, 'I-1', 'k1', { type: 'SEE', n: 1 } as never);
    await work([seeing]);
    for (let n = 5; n < 40; n += 1)
      await engine.send(seeing, 'I-1', `k${n}`, { type: 'SEE', n } as never);
    await until(
      'I-1',
      ({ record }) => (record?.context as { seen: number[] } | undefined)?.seen.length === 40,
    );
    expect(await engine.send(seeing, 'I-1', 'end', { type: 'END' })).toBe('taken');
    expect((await ended('I-1')).record?.output).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(await engine.send(seeing, 'I-1', 'k41', { type: 'SEE', n: 41 } as never)).toBe(
      'finished',
    );
  });

  it('are refused to their sender when the chart does not take them, and checked by the schema before', async () => {
    const { engine, work, until } = begin();
    await work([seeing]);
    await engine.start(seeing, 'I-1');
    await engine.send(seeing, 'I-1', 'k', { type: 'SEE', n: 1 } as never);
    // Until it rests: beside a turn that runs, what comes is taken and judged afterwards.
    await until(
      'I-1',
      ({ record }) => (record?.context as { seen: number[] } | undefined)?.seen.length === 1,
    );
    expect(await engine.send(seeing, 'I-1', 'o', { type: 'OTHER' })).toBe('refused');
    await expect(engine.send(seeing, 'I-1', 'x', { type: 'SEE' })).rejects.toThrow('n');
    await expect(engine.send(seeing, 'I-1', 'x', { type: 'xstate.stop' })).rejects.toThrow('type');
    expect(await engine.send(seeing, 'unknown', 'x', { type: 'END' })).toBe('unknown');
  });
});

describe('an invoked chart', () => {
  it('lies in the record of its parent; messages go both ways, and its end reaches its parent', async () => {
    const child = setup({
      types: { context: {} as { n: number }, input: {} as { n: number } },
    }).createMachine({
      context: ({ input }) => ({ n: input.n }),
      initial: 'idle',
      entry: sendParent({ type: 'HELLO' }),
      states: { idle: { on: { WORK: 'done' } }, done: { type: 'final' } },
      output: ({ context }) => context.n * 2,
    });
    const parent = setup({
      types: { context: {} as { result: number } },
      actors: { worker: child },
    }).createMachine({
      context: { result: 0 },
      initial: 'delegating',
      states: {
        delegating: {
          invoke: {
            id: 'w',
            src: 'worker',
            input: { n: 21 },
            onDone: {
              target: 'done',
              actions: assign({ result: ({ event }) => event.output as number }),
            },
          },
          on: { HELLO: { actions: sendTo('w', { type: 'WORK' }) } },
        },
        done: { type: 'final' },
      },
      output: ({ context }) => context.result,
    });
    const { engine, work, ended, troubles } = begin();
    const delegating = defineWorkflow({ name: 'delegating', version: 1, chart: parent });
    await work([delegating]);
    await engine.start(delegating, 'I-1');
    expect(await ended('I-1')).toMatchObject({ record: { output: 42 } });
    expect(troubles).toEqual([]);
  });
});

describe('custom actions', () => {
  it('are carried out after the commit, with their parameters and a stable id', async () => {
    const calls: unknown[] = [];
    const chart = setup({
      types: { context: {} as { n: number } },
      actions: {
        tell: (args, params: { n: number }) => {
          calls.push({ id: (args as unknown as { effect: { id: string } }).effect.id, params });
        },
      },
    }).createMachine({
      context: { n: 3 },
      initial: 'a',
      states: {
        a: { entry: { type: 'tell', params: ({ context }) => ({ n: context.n }) }, always: 'done' },
        done: { type: 'final' },
      },
    });
    const { engine, work, ended } = begin();
    const telling = defineWorkflow({ name: 'telling', version: 1, chart });
    await work([telling]);
    await engine.start(telling, 'I-1');
    await ended('I-1');
    expect(calls).toEqual([{ id: 'I-1/1', params: { n: 3 } }]);
  });
});
