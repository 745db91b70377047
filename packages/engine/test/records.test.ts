/**
 * What lies in a job: who may have written it, which version of a chart it belongs to, and what
 * failed and is run again.
 */
import { describe, expect, it } from 'vitest';
import {
  type AnyStateMachine,
  assign,
  emit,
  fromCallback,
  fromObservable,
  log,
  setup,
  spawnChild,
} from 'xstate';
import { z } from 'zod';
import { testRedis } from '../../../test/support/redis.ts';
import { activity, defineWorkflow } from '../src/define.ts';
import { createGate, createStage } from './stage.ts';

const begin = createStage(testRedis());
const event = (type: string, more: object = {}) => ({ type, ...more }) as { type: string };

const signing = (signed: () => void = () => undefined) =>
  defineWorkflow({
    name: 'signing',
    version: 2,
    input: z.object({ text: z.string() }).optional(),
    chart: setup({
      actors: {
        sign: activity(async () => {
          signed();
          return 'signature';
        }),
      },
    }).createMachine({
      initial: 'open',
      states: {
        open: { on: { SIGN: 'signing' } },
        signing: { invoke: { src: 'sign', onDone: 'signed' } },
        signed: { type: 'final' },
      },
      output: 'forged' as never,
    }),
  });
const record = {
  workflow: 'signing',
  version: 2,
  status: 'done',
  value: 'signed',
  context: {},
  output: 'planted',
  next: 1,
};

/** A record with so many charts in each other. */
const chartsIn = (levels: number): object =>
  Array.from({ length: levels }).reduce<object>(
    (inner) => ({
      ...record,
      status: 'active',
      value: 'open',
      children: { c: { src: 'sign', run: 1, chart: inner } },
    }),
    { status: 'active', value: 'open' },
  );

describe('a record that the engine has not written', () => {
  it.each([
    ['an end', record],
    ['a state', { ...record, status: 'active', value: 'signing' }],
    ['an unknown state', { ...record, status: 'active', value: 'nowhere' }],
    ['another workflow', { ...record, workflow: 'other' }],
    ['garbage', { workflow: 7 }],
    ['a record of arrays', { ...record, value: ['signed'] }],
    [
      'an unknown child',
      { ...record, status: 'active', value: 'open', children: { c: { src: 'no', run: 1 } } },
    ],
    ['charts in each other without end', chartsIn(1000)],
  ])(
    '%s, planted before the first turn, fails in one line and runs nothing',
    async (_, planted) => {
      let signed = 0;
      const workflow = signing(() => {
        signed += 1;
      });
      const other = defineWorkflow({
        name: 'other',
        version: 2,
        chart: setup({}).createMachine({
          initial: 'signed',
          states: { signed: { type: 'final' } },
        }),
      });
      const { engine, queue, work, ended } = begin();
      await engine.start(workflow, 'I-1');
      await (await queue.getJob('I-1'))?.updateProgress(planted as object);
      await work([workflow, other]);
      const instance = await ended('I-1');
      expect(instance).toMatchObject({ ended: 'failed' });
      expect(instance.failedReason).toMatch(/^The record of the instance [^\n]*$/);
      expect((await queue.getJob('I-1'))?.stacktrace?.join('')).not.toContain('at ');
      expect(signed).toBe(0);
    },
  );

  it('in the input is only an input', async () => {
    const { engine, queue, work, until, ended } = begin();
    const workflow = signing();
    await queue.add('signing', record, { jobId: 'I-1' });
    await engine.start(workflow, 'I-2', { text: 'x' });
    await work([workflow]);
    expect(await ended('I-1')).toMatchObject({
      ended: 'failed',
      failedReason:
        'The input is not usable: text: Invalid input: expected string, received undefined',
    });
    expect((await until('I-2', ({ record: own }) => own !== undefined)).record?.value).toBe('open');
  });

  it('as an input that is deeper than a stack is refused by its schema', async () => {
    const { queue, redis, work, ended } = begin();
    const data = `{"text":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    await queue.add('signing', {}, { jobId: 'I-1', delay: 60_000 });
    await redis.hset(queue.toKey('I-1'), 'data', data);
    await queue.getJob('I-1').then((job) => job?.promote());
    await work([signing()]);
    expect((await ended('I-1')).failedReason).toBe(
      'The input is not usable: text is not what it must be',
    );
  });

  it.each([
    ['a state', { value: 'nowhere' }],
    ['a child', { children: { c: { src: 'no', run: 1 } } }],
  ])(
    'between two turns, with %s that its chart does not have, fails in one line',
    async (_, planted) => {
      const { engine, queue, work, until, ended } = begin();
      const workflow = signing();
      await work([workflow]);
      await engine.start(workflow, 'I-1', { text: 'x' });
      const { record: own } = await until('I-1', ({ record: stored }) => stored !== undefined);
      await expect.poll(() => queue.getDelayedCount()).toBe(1);
      await (await queue.getJob('I-1'))?.updateProgress({ ...own, ...planted });
      expect(await engine.send(workflow, 'I-1', 'k', event('SIGN'))).toBe('taken');
      expect(await ended('I-1')).toMatchObject({
        ended: 'failed',
        failedReason: 'The record of the instance does not fit its chart',
      });
    },
  );

  it('as the return value of an open job is no end', async () => {
    const { engine, queue, redis, work, until } = begin();
    const workflow = signing();
    await work([workflow]);
    await engine.start(workflow, 'I-1', { text: 'x' });
    await until('I-1', ({ record: own }) => own !== undefined);
    await redis.hset(queue.toKey('I-1'), 'returnvalue', JSON.stringify(record));
    expect(await engine.find('I-1')).toMatchObject({ ended: 'no', record: { value: 'open' } });
  });
});

describe('versions', () => {
  const versionOf = (version: number, end: string) =>
    defineWorkflow({
      name: 'versioned',
      version,
      chart: setup({}).createMachine({
        initial: 'open',
        states: { open: { on: { END: end } }, [end]: { type: 'final' } },
      }),
    });
  const old = versionOf(1, 'oldEnd');
  const young = versionOf(2, 'youngEnd');

  it('are kept: each instance ends by its own, and is left alone by whoever does not have it', async () => {
    const { engine, work, until, ended } = begin();
    const oldWorker = await work([old]);
    await engine.start(old, 'I-1');
    await until('I-1', ({ record: own }) => own?.version === 1);
    await oldWorker.close();
    const youngWorker = await work([young]);
    await engine.start(young, 'I-2');
    await until('I-2', ({ record: own }) => own?.version === 2);
    await engine.send(old, 'I-1', 'k', event('END'));
    // The next one has had its turn after the first was put off.
    await engine.start(young, 'I-3');
    await until('I-3', ({ record: own }) => own !== undefined);
    expect(await engine.find('I-1')).toMatchObject({
      ended: 'no',
      record: { version: 1, value: 'open' },
    });
    await youngWorker.close();
    const oldAgain = await work([old]);
    await engine.send(young, 'I-2', 'k', event('END'));
    expect(await ended('I-1')).toMatchObject({ record: { value: 'oldEnd', version: 1 } });
    expect(await engine.find('I-2')).toMatchObject({
      ended: 'no',
      record: { version: 2, value: 'open' },
    });
    await oldAgain.close();
    await work([young, old]);
    expect(await ended('I-2')).toMatchObject({ record: { value: 'youngEnd', version: 2 } });
    await engine.start(young, 'I-4');
    expect(await until('I-4', ({ record: own }) => own !== undefined)).toMatchObject({
      record: { version: 2 },
    });
  });
});

describe('a state tagged failed', () => {
  const failing = (fail: () => boolean, tell: () => void = () => undefined) =>
    defineWorkflow({
      name: 'failing',
      version: 1,
      reasonOf: ({ why }: { why: string }) => why,
      chart: setup({
        types: { context: {} as { why: string; replays: unknown[] } },
        actors: {
          attempt: activity(async () => {
            if (fail()) throw new Error('no paper');
            return 'printed';
          }),
        },
        actions: { tell },
      }).createMachine({
        context: { why: '', replays: [] },
        initial: 'trying',
        states: {
          trying: {
            invoke: {
              src: 'attempt',
              onDone: 'done',
              onError: {
                target: 'failed',
                actions: assign({ why: ({ event }) => (event.error as Error).message }),
              },
            },
          },
          failed: {
            meta: { job: 'failed' },
            entry: 'tell',
            on: {
              REPLAY: {
                target: 'trying',
                actions: assign({
                  replays: ({ context, event }) => [...context.replays, event.input],
                }),
              },
            },
          },
          done: { type: 'final' },
        },
        output: ({ context }) => context.replays as never,
      }),
    });

  it('fails the job with its reason, and each retry of the job is one REPLAY with the input', async () => {
    let broken = true;
    const workflow = failing(() => broken);
    const { engine, queue, work, ended } = begin();
    await work([workflow]);
    await engine.start(workflow, 'I-1', 'input');
    expect(await ended('I-1')).toMatchObject({ ended: 'failed', failedReason: 'no paper' });
    expect(await engine.send(workflow, 'I-1', 'k', event('ANY'))).toBe('finished');
    const retry = async (options: object) => (await queue.getJob('I-1'))?.retry('failed', options);
    await retry({ resetAttemptsMade: true, resetAttemptsStarted: true });
    expect(await ended('I-1')).toMatchObject({
      ended: 'failed',
      record: { context: { replays: ['input'] } },
    });
    broken = false;
    await retry({});
    expect(await ended('I-1')).toMatchObject({
      ended: 'completed',
      record: { output: ['input', 'input'] },
    });
  });

  it('fails the job once when its worker was cut off between the commit and the failure', async () => {
    const { engine, queue, redis, work, ended, troubles } = begin();
    let told = 0;
    const workflow = failing(() => true, (async () => {
      told += 1;
      // After the commit, and before the job has failed.
      if (told === 1) await redis.del(queue.toKey('I-1:lock'));
    }) as never);
    await work([workflow], { worker: { stalledInterval: 300, lockDuration: 2000 } });
    await engine.start(workflow, 'I-1', 'input');
    expect(await ended('I-1')).toMatchObject({
      ended: 'failed',
      failedReason: 'no paper',
      record: { context: { replays: [] } },
    });
    expect(told).toBe(2);
    expect(troubles.map(({ message }) => message).join()).toMatch(/lock/i);
  });
});

describe('effects', () => {
  it('keep their ids when they are repeated, and what only observes costs no write', async () => {
    const { engine, work, ended, observed, queue, redis } = begin();
    const ids: unknown[] = [];
    const seen = createGate();
    const effects = defineWorkflow({
      name: 'effects',
      version: 1,
      observe: ['note'],
      chart: setup({
        actions: {
          note: () => undefined,
          tell: (args, { what }: { what: string }) => {
            ids.push([(args as unknown as { effect: { id: string } }).effect.id, what]);
            if (ids.length === 2) throw new Error('once more');
            seen.open();
          },
        },
      }).createMachine({
        initial: 'a',
        states: {
          a: {
            entry: [
              { type: 'tell', params: { what: 'one' } },
              'note',
              { type: 'tell', params: { what: 'two' } },
            ],
            always: 'done',
          },
          done: { type: 'final' },
        },
      }),
    });
    const observing = defineWorkflow({
      name: 'observing',
      version: 1,
      // A journal would be one write.
      journal: false,
      observe: ['note'],
      chart: setup({
        types: { emitted: {} as { type: 'progress'; part: number } },
        actions: { note: () => undefined },
      }).createMachine({
        initial: 'a',
        states: {
          a: { entry: ['note', log('said'), emit({ type: 'progress', part: 1 })], always: 'done' },
          done: { type: 'final' },
        },
      }),
    });
    await work([effects, observing]);
    await engine.start(effects, 'I-1');
    await ended('I-1');
    expect(ids).toEqual([
      ['I-1/1', 'one'],
      ['I-1/2', 'two'],
      ['I-1/2', 'two'],
    ]);
    const before = observed.length;
    await engine.start(observing, 'I-2');
    await ended('I-2');
    expect(observed.slice(before)).toMatchObject([
      { kind: 'action', type: 'note' },
      { kind: 'log', value: 'said' },
      { kind: 'emit', event: { type: 'progress', part: 1 } },
    ]);
    // No commit: the field is written by the first one.
    expect(await redis.hexists(queue.toKey('I-2'), 'open')).toBe(0);
    expect(await redis.hexists(queue.toKey('I-1'), 'open')).toBe(1);
  });

  it('are stored without a context that the record has, and get it when they are repeated', async () => {
    const { engine, work, ended, queue, redis } = begin();
    const seen: unknown[] = [];
    const text = 'x'.repeat(10_000);
    const told = defineWorkflow({
      name: 'told',
      version: 1,
      chart: setup({
        types: { context: {} as { text: string; n: number } },
        actions: {
          count: assign({ n: ({ context }) => context.n + 1 }),
          tell: async ({ context: { n, text: given } }) => {
            seen.push([n, given.length, await redis.hstrlen(queue.toKey('I-1'), 'progress')]);
            if (seen.length === 2) throw new Error('once more');
          },
        },
      }).createMachine({
        context: { text, n: 0 },
        initial: 'a',
        states: {
          a: { entry: ['tell', 'count', 'tell'], always: 'done' },
          done: { type: 'final' },
        },
      }),
    });
    await work([told]);
    await engine.start(told, 'I-1');
    await ended('I-1');
    // The first one has a context of its own.
    const stored = expect.toSatisfy((bytes: number) => bytes > 20_000 && bytes < 21_000);
    const alone = expect.toSatisfy((bytes: number) => bytes > 10_000 && bytes < 11_000);
    expect(seen).toEqual([
      [0, text.length, stored],
      [1, text.length, stored],
      [1, text.length, alone],
    ]);
  });
});

it('names of workflows leave two dashes to the ids of instances', () => {
  const named = (name: string) => () =>
    defineWorkflow({ name, version: 1, chart: setup({}).createMachine({}) });
  for (const name of ['a', 'order-2', 'a-b_c-d']) expect(named(name), name).not.toThrow();
  for (const name of ['', '2a', 'a-', 'a--b', 'a b', 'é'])
    expect(named(name), name).toThrow('name');
});

describe('what cannot be made durable', () => {
  const refused = (chart: AnyStateMachine) => () =>
    defineWorkflow({ name: 'c', version: 1, chart });

  it('is refused when it is defined, with its place', () => {
    const memory = {
      callback: fromCallback(() => undefined),
      observable: fromObservable(() => ({ subscribe: () => ({ unsubscribe: () => undefined }) })),
    };
    const why = 'lives in memory alone; an activity or a chart is needed';
    for (const [name, logic] of Object.entries(memory)) {
      const named = setup({ actors: { [name]: logic } as never });
      expect(refused(named.createMachine({})), name).toThrow(`c: the actor ${name} ${why}`);
      const inline = setup({}).createMachine({ id: 'm', invoke: { id: 'i', src: logic } as never });
      expect(refused(inline), name).toThrow(`c: the invoked i ${why}`);
      const spawned = setup({}).createMachine({ id: 'm', entry: spawnChild(logic as never) });
      expect(refused(spawned), name).toThrow(`c: what m.entry[0] spawns ${why}`);
      const child = setup({ actors: { [name]: logic } as never }).createMachine({ id: 'n' });
      expect(refused(setup({ actors: { child } }).createMachine({})), name).toThrow(
        `c/child: the actor ${name} ${why}`,
      );
    }
  });
});
