/**
 * Child charts on Redis: they lie in the record of their instance. What they compute:
 * trees.test.ts.
 */
import { describe, expect, it } from 'vitest';
import { assign, forwardTo, sendParent, sendTo, setup, stopChild } from 'xstate';
import { z } from 'zod';
import { testRedis } from '../../../test/support/redis.ts';
import { activity, defineWorkflow, later } from '../src/define.ts';
import { activitiesIn, type ChildActor, childAt } from '../src/record.ts';
import { createStage } from './stage.ts';

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

const listening = setup({
  types: { context: {} as { heard: unknown } },
  actors: { listener },
}).createMachine({
  context: { heard: undefined },
  initial: 'a',
  states: {
    a: {
      invoke: {
        id: 'l/\n\t ö.1',
        src: 'listener',
        onDone: { target: 'done', actions: assign({ heard: ({ event }) => event.output }) },
      },
      entry: sendTo('l/\n\t ö.1', { type: 'SAY', n: 1 } as never),
      on: { SAY: { actions: forwardTo('l/\n\t ö.1') } },
    },
    done: { type: 'final' },
  },
  output: (({ context }: { context: { heard: unknown } }) => context.heard) as never,
});
const address = `I-1/${encodeURIComponent('l/\n\t ö.1')}`;

/** Ends by END, with an effect that fails when it is the first of all. */
const tellingStep = (name: string, told: string[]) =>
  setup({
    actions: {
      tell: () => {
        told.push(name);
        if (told.length === 1) throw new Error('not yet');
      },
    },
  }).createMachine({
    initial: 'open',
    states: { open: { on: { END: { target: 'done', actions: 'tell' } } }, done: { type: 'final' } },
  });

describe('a child chart', () => {
  it('costs no job: the whole tree is one, and ends as one', async () => {
    const workflow = defineWorkflow({ name: 'telling', version: 1, chart: listening });
    const { engine, queue, work, ended, troubles } = begin();
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    expect(await engine.send(workflow, 'I-1', 'k', event('SAY', { n: 2 }))).toBe('taken');
    // Its child is there after the first turn.
    await expect.poll(() => engine.send(workflow, address, 'end', event('END'))).toBe('taken');
    expect((await ended('I-1')).record?.output).toEqual([1, 2]);
    expect(await queue.getJobCounts()).toMatchObject({ completed: 1, failed: 0, delayed: 0 });
    expect(troubles).toEqual([]);
  });

  it('gets events from outside by its path, once and in order with those of its parent', async () => {
    const workflow = defineWorkflow({ name: 'telling', version: 1, chart: listening });
    const { engine, work, ended } = begin();
    await work([workflow]);
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    await expect
      .poll(async () => engine.send(workflow, address, 'first', event('SAY', { n: 2 })))
      .toBe('taken');
    for (let n = 3; n < 30; n += 1) {
      const to = n % 2 === 0 ? address : 'I-1';
      for (const _ of [1, 2])
        expect(await engine.send(workflow, to, `k${n}`, event('SAY', { n }))).toBe('taken');
    }
    await engine.send(workflow, address, 'end', event('END'));
    expect((await ended('I-1')).record?.output).toEqual(
      Array.from({ length: 29 }, (_, n) => n + 1),
    );
    expect(await engine.send(workflow, address, 'late', event('SAY', { n: 0 }))).toBe('finished');
  });

  it('refuses what it does not take, and what no child is there to take', async () => {
    const schema = z.object({ type: z.literal('SAY'), n: z.number() });
    const workflow = defineWorkflow({
      name: 'telling',
      version: 1,
      chart: listening,
      childEvents: { listener: schema },
    });
    const { engine, work, until } = begin();
    await work([workflow]);
    expect(await engine.send(workflow, address, 'k0', event('SAY', { n: 1 }))).toBe('unknown');
    await engine.start(workflow, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    for (const wrong of ['I-1/nobody', `${address}/nobody`, 'I-1/%'])
      expect(await engine.send(workflow, wrong, 'k1', event('SAY', { n: 1 }))).toBe('refused');
    const refused = engine.send(workflow, address, 'k2', event('END'));
    await expect(refused).rejects.toThrow(
      /^type: Invalid input: expected "SAY"; n: Invalid input: expected number, received undefined$/,
    );
  });

  it('has activities that fail, are tried again, and answer later by their token', async () => {
    let tries = 0;
    const tokens: string[] = [];
    const worker = setup({
      types: { context: {} as { got: unknown[] } },
      actors: {
        flaky: activity(
          async () => {
            tries += 1;
            if (tries < 3) throw new Error('not yet');
            return 'at last';
          },
          { attempts: 3, backoffMs: 20 },
        ),
        slow: activity(async ({ token }) => {
          tokens.push(token);
          return later;
        }),
      },
    }).createMachine({
      context: { got: [] },
      initial: 'trying',
      states: {
        trying: {
          invoke: {
            src: 'flaky',
            onDone: {
              target: 'waiting',
              actions: assign({ got: ({ context, event }) => [...context.got, event.output] }),
            },
          },
        },
        waiting: {
          invoke: {
            id: 'the slow one',
            src: 'slow',
            onDone: {
              target: 'done',
              actions: assign({ got: ({ context, event }) => [...context.got, event.output] }),
            },
          },
        },
        done: { type: 'final' },
      },
      output: ({ context }) => context.got,
    });
    const chart = setup({
      types: { context: {} as { result: unknown } },
      actors: { worker },
    }).createMachine({
      context: { result: undefined },
      initial: 'a',
      states: {
        a: {
          invoke: {
            id: 'w',
            src: 'worker',
            onDone: { target: 'b', actions: assign({ result: ({ event }) => event.output }) },
          },
        },
        b: { type: 'final' },
      },
      output: (({ context }: { context: { result: unknown } }) => context.result) as never,
    });
    const workflow = defineWorkflow({ name: 'delegating', version: 1, chart });
    const { engine, work, until, ended } = begin();
    const first = await work([workflow]);
    await engine.start(workflow, 'I-1');
    const { record } = await until('I-1', ({ record }) =>
      activitiesIn(record).some(
        ([path, { waits }]) => path === 'w/the%20slow%20one' && waits === true,
      ),
    );
    expect(childAt(record, 'w')).toMatchObject({ src: 'worker', chart: { value: 'waiting' } });
    // Another process has it from the record.
    await first.close();
    await work([workflow]);
    expect(await engine.answer(tokens[0] ?? '', { output: 'the answer' })).toBe('taken');
    expect((await ended('I-1')).record?.output).toEqual(['at last', 'the answer']);
  });

  it('has its activities aborted and taken back when its state is left, however deep', async () => {
    const aborted: string[] = [];
    const withdrawn: unknown[] = [];
    const leaf = setup({
      actors: {
        hang: activity(
          ({ signal }) =>
            new Promise((_, reject) => {
              signal.addEventListener('abort', () => {
                aborted.push('leaf');
                reject(new Error('aborted'));
              });
            }),
          { withdraw: async ({ input }) => void withdrawn.push(input) },
        ),
      },
    }).createMachine({ invoke: { src: 'hang', input: { of: 'the leaf' } } });
    const branch = setup({ actors: { leaf } }).createMachine({
      invoke: { id: 'leaf', src: 'leaf' },
    });
    const chart = setup({ actors: { branch } }).createMachine({
      initial: 'a',
      states: {
        a: {
          invoke: { id: 'branch', src: 'branch' },
          on: { LEAVE: 'b' },
          after: { 3600000: 'late' },
        },
        b: {},
        late: {},
      },
    });
    const workflow = defineWorkflow({ name: 'leaving', version: 1, chart });
    const { engine, work, until } = begin();
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    await until('I-1', ({ record }) => activitiesIn(record).some(([, { held }]) => held === true));
    await engine.send(workflow, 'I-1', 'k', event('LEAVE'));
    const { record } = await until(
      'I-1',
      ({ record }) => record?.value === 'b' && record.effects === undefined,
    );
    expect(record).not.toHaveProperty('children');
    expect(record).not.toHaveProperty('timers');
    await expect.poll(() => aborted).toEqual(['leaf']);
    expect(withdrawn).toEqual([{ of: 'the leaf' }]);
  });

  it('has effects of its own, which name it and keep their ids', async () => {
    const done: unknown[] = [];
    const child = setup({
      actions: {
        note: (given, params: string) => {
          const { effect } = given as unknown as { effect: { id: string; address: string } };
          done.push([effect.id, effect.address, params]);
        },
      },
    }).createMachine({
      entry: [{ type: 'note', params: 'begun' }, sendParent({ type: 'HELLO' })],
      on: { GO: { actions: { type: 'note', params: 'gone' } } },
    });
    const chart = setup({ actors: { child } }).createMachine({
      invoke: { id: 'c', src: 'child' },
      initial: 'a',
      states: { a: { on: { HELLO: 'b' } }, b: { on: { END: 'c' } }, c: { type: 'final' } },
    });
    const workflow = defineWorkflow({ name: 'noting', version: 1, chart });
    const { engine, work, until, ended } = begin();
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    await until('I-1', ({ record }) => record?.value === 'b');
    await engine.send(workflow, 'I-1/c', 'k', event('GO'));
    await engine.send(workflow, 'I-1', 'end', event('END'));
    await ended('I-1');
    expect(done).toEqual([
      [expect.stringMatching(/^I-1\/\d+$/), 'I-1/c', 'begun'],
      [expect.stringMatching(/^I-1\/\d+$/), 'I-1/c', 'gone'],
    ]);
    expect(new Set(done.map((each) => (each as string[])[0])).size).toBe(2);
  });

  it('has its effects carried out when another chart has its name by then', async () => {
    const told: string[] = [];
    const [first, second] = [tellingStep('first', told), tellingStep('second', told)];
    const workflow = defineWorkflow({
      name: 'steps',
      version: 1,
      chart: setup({ actors: { first, second } }).createMachine({
        initial: 'one',
        states: {
          one: { invoke: { id: 'step', src: 'first', onDone: 'two' } },
          two: { invoke: { id: 'step', src: 'second', onDone: 'three' } },
          three: { type: 'final' },
        },
      }),
    });
    const { engine, work, until, ended } = begin();
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    await engine.send(workflow, 'I-1/step', 'end', event('END'));
    await until('I-1', ({ record }) => record?.value === 'two' && record.effects === undefined);
    expect(told).toEqual(['first', 'first']);
    await engine.send(workflow, 'I-1/step', 'end again', event('END'));
    await ended('I-1');
    expect(told).toEqual(['first', 'first', 'second']);
  });

  it('has its effects carried out when a step has made it and another has stopped it', async () => {
    const told: string[] = [];
    const made = tellingStep('made', told);
    const workflow = defineWorkflow({
      name: 'making',
      version: 1,
      chart: setup({}).createMachine({
        context: {},
        initial: 'one',
        states: {
          one: {
            entry: assign(({ spawn }) => {
              spawn(made, { id: 'made' } as never);
              return {};
            }),
            on: { 'xstate.done.actor.made': { target: 'two', actions: stopChild('made') } },
          },
          two: {},
        },
      }),
    });
    const { engine, work, until, troubles } = begin();
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    await engine.send(workflow, 'I-1/made', 'end', event('END'));
    await until('I-1', ({ record }) => record?.value === 'two' && record.effects === undefined);
    expect(told).toEqual(['made', 'made']);
    expect(troubles.map(({ message }) => message)).toEqual(['not yet']);
  });

  it('has its effects carried out when the same step has made another in its place', async () => {
    const told: string[] = [];
    const [first, second] = [tellingStep('first', told), tellingStep('second', told)];
    const workflow = defineWorkflow({
      name: 'making',
      version: 1,
      chart: setup({ types: { context: {} as { made: number } } }).createMachine({
        context: { made: 0 },
        initial: 'one',
        states: {
          one: {
            entry: assign(({ spawn, context: { made } }) => {
              spawn(made === 0 ? first : second, { id: 'made' } as never);
              return { made: made + 1 };
            }),
            on: {
              'xstate.done.actor.made': {
                target: 'one',
                reenter: true,
                actions: stopChild('made'),
              },
            },
          },
        },
      }),
    });
    const { engine, work, until } = begin();
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    await engine.send(workflow, 'I-1/made', 'end', event('END'));
    await expect.poll(() => told.length, { timeout: 10_000 }).toBe(2);
    expect(told).toEqual(['first', 'first']);
  });

  it('has its activity taken back, again after an error, when a step has made it', async () => {
    const told: string[] = [];
    const ask = activity(async () => later, {
      withdraw: async ({ input }) => {
        told.push(String(input));
        if (told.length === 1) throw new Error('not yet');
      },
    });
    const made = setup({ actors: { ask } }).createMachine({
      initial: 'open',
      states: { open: { invoke: { src: 'ask', input: 'it' }, on: { END: 'left' } }, left: {} },
    });
    const workflow = defineWorkflow({
      name: 'making',
      version: 1,
      chart: setup({}).createMachine({
        entry: assign(({ spawn }) => {
          spawn(made, { id: 'made' } as never);
          return {};
        }),
      }),
    });
    const { engine, work, until, troubles } = begin();
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    await engine.send(workflow, 'I-1/made', 'end', event('END'));
    await expect.poll(() => told).toEqual(['it', 'it']);
    await until('I-1', ({ record }) => record?.effects === undefined);
    expect(troubles.map(({ message }) => message)).toEqual(['not yet']);
  });

  it('that fails tells its parent, which has the error with all that it says', async () => {
    const failing = setup({
      actors: {
        fail: activity(async () => {
          throw Object.assign(new TypeError('no paper', { cause: { tray: 2 } }), {
            code: 'E_PAPER',
            status: 503,
          });
        }),
      },
    }).createMachine({ invoke: { src: 'fail' } });
    const chart = setup({
      types: { context: {} as { why: unknown } },
      actors: { failing },
    }).createMachine({
      context: { why: '' },
      initial: 'a',
      states: {
        a: {
          invoke: {
            src: 'failing',
            onError: {
              target: 'done',
              guard: ({ event }) => (event.error as { code?: string }).code === 'E_PAPER',
              actions: assign({
                why: ({ event }) => {
                  const { name, message, code, status, cause } = event.error as Error & {
                    code: string;
                    status: number;
                  };
                  return {
                    name,
                    message,
                    code,
                    status,
                    cause,
                    isError: event.error instanceof Error,
                  };
                },
              }),
            },
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
    expect((await ended('I-1')).record?.output).toEqual({
      name: 'TypeError',
      message: 'no paper',
      code: 'E_PAPER',
      status: 503,
      cause: { tray: 2 },
      isError: true,
    });
  });

  it('speaks to its parent and hears from it within one turn', async () => {
    const child = setup({ types: { context: {} as { n: number } } }).createMachine({
      context: { n: 0 },
      on: {
        PING: [
          { guard: ({ context }) => context.n === 100, target: '.done' },
          {
            actions: [assign({ n: ({ context }) => context.n + 1 }), sendParent({ type: 'PONG' })],
          },
        ],
      },
      initial: 'open',
      states: { open: {}, done: { type: 'final' } },
    });
    const chart = setup({ actors: { child } }).createMachine({
      invoke: { id: 'c', src: 'child', onDone: '.done' },
      entry: sendTo('c', { type: 'PING' }),
      on: { PONG: { actions: sendTo('c', { type: 'PING' }) } },
      initial: 'open',
      states: { open: {}, done: { type: 'final' } },
    });
    const workflow = defineWorkflow({ name: 'greeting', version: 1, chart });
    let turns = 0;
    const { engine, work, ended } = begin();
    await work([workflow], {
      around: (_, run) => {
        turns += 1;
        return run();
      },
    });
    await engine.start(workflow, 'I-1');
    expect(await ended('I-1')).toMatchObject({ ended: 'completed' });
    expect(turns).toBe(1);
  });
});

it('the record of a child is what its parent stores of it', async () => {
  const workflow = defineWorkflow({ name: 'telling', version: 1, chart: listening });
  const { engine, work, until } = begin();
  await work([workflow]);
  await engine.start(workflow, 'I-1');
  const { record } = await until('I-1', ({ record }) => record !== undefined);
  const child = childAt(record, encodeURIComponent('l/\n\t ö.1')) as ChildActor | undefined;
  expect(child?.chart).toEqual({ status: 'active', value: 'open', context: { heard: [1] } });
});
