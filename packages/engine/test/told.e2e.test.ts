/**
 * Ends that somebody is told, activities that the worker provides, and those that are withdrawn
 * when their state is left.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { compileProgram } from '../../../test/support/program.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { activity, defineWorkflow, later, providedActivity } from '../src/define.ts';
import { activitiesIn } from '../src/record.ts';
import type { InstanceEnd } from '../src/turn.ts';
import { createStage } from './stage.ts';
import { toldChart } from './told-worker.ts';

const redis = testRedis();
const begin = createStage(redis);

const ends = defineWorkflow({
  name: 'ends',
  version: 1,
  chart: toldChart,
  reasonOf: () => 'it was no',
});

describe('an end that somebody is told', () => {
  it.each([
    ['yes', { ended: 'completed' }, undefined],
    ['no', { ended: 'failed', failedReason: 'it was no' }, 'it was no'],
  ])(
    'is stored before it is told, and told before the job ends: %s',
    async (say, ended, failedReason) => {
      const { engine, redis: client, queue, work, ended: until } = begin();
      const told: unknown[] = [];
      await work([ends], {
        tellEnd:
          ({ id }) =>
          async (end: InstanceEnd) => {
            const [open, finishedOn] = await client.hmget(queue.toKey(id), 'open', 'finishedOn');
            told.push({
              id,
              value: end.record.value,
              failedReason: end.failedReason,
              open,
              finishedOn,
            });
          },
      });
      await engine.start(ends, 'I-1', { say });
      expect(await until('I-1')).toMatchObject(ended);
      expect(told).toEqual([{ id: 'I-1', value: say, failedReason, open: '0', finishedOn: null }]);
    },
  );

  it('costs nothing where nobody is told: the end is the only write', async () => {
    const { engine, redis: client, queue, work, ended } = begin();
    // A journal would be one more.
    await work([{ ...ends, journal: false }], { tellEnd: () => undefined });
    await engine.start(ends, 'I-1', { say: 'yes' });
    await ended('I-1');
    expect(await client.hexists(queue.toKey('I-1'), 'open')).toBe(0);
  });

  it('is told again when telling has failed, and the job ends after it', async () => {
    const { engine, work, ended, troubles } = begin();
    let tries = 0;
    await work([ends], {
      tellEnd: () => async () => {
        tries += 1;
        if (tries < 3) throw new Error('nobody is there');
      },
    });
    await engine.start(ends, 'I-1', { say: 'yes' });
    expect(await ended('I-1')).toMatchObject({ ended: 'completed' });
    expect(tries).toBe(3);
    expect(troubles.map(({ message }) => message)).toEqual(['nobody is there', 'nobody is there']);
  });
});

describe('a worker that is killed at an end that somebody is told', () => {
  const children: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });
  let file = '';
  beforeAll(async () => {
    file = await compileProgram(new URL('told-worker.ts', import.meta.url));
  });
  const run = (prefix: string, dies: string): ChildProcess => {
    const address = 'path' in redis.connection ? redis.connection.path : redis.url;
    const child = spawn(process.execPath, [file, address ?? '', prefix, dies], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    children.push(child);
    return child;
  };

  // Four processes start in it, one after the other.
  it('leaves it to the next one, which tells the same end: before the store, after it, after the telling', async () => {
    const { engine, redis: client, queue, ended } = begin();
    const prefix = String(queue.opts.prefix);
    const told = () => client.lrange(`${prefix}:told`, 0, -1);
    for (const say of ['yes', 'no']) await engine.start(ends, `I-${say}`, { say });
    for (const dies of ['before the store', 'after the store', 'after the telling']) {
      const killed = run(prefix, dies);
      await once(killed, 'exit');
      expect(killed.signalCode).toBe('SIGKILL');
      expect(await told(), dies).toHaveLength(dies === 'after the telling' ? 1 : 0);
    }
    run(prefix, 'never');
    expect(await ended('I-yes')).toMatchObject({ ended: 'completed' });
    expect(await ended('I-no')).toMatchObject({ ended: 'failed', failedReason: 'it was no' });
    expect(new Set(await told())).toEqual(new Set(['I-yes yes', 'I-no no']));
    // The end that was told before the death is told again.
    expect((await told()).length).toBe(3);
  }, 120_000);
});

describe('an activity that the worker provides', () => {
  const asks = (logic = providedActivity<{ of: string }, string>('test.ask')) =>
    defineWorkflow({
      name: 'asks',
      version: 1,
      publish: ({ answer }: { answer: string }) => ({ answer }),
      chart: setup({
        types: { context: {} as { answer: string } },
        actors: { ask: logic },
      }).createMachine({
        context: { answer: '' },
        initial: 'asking',
        states: {
          asking: {
            on: { LEAVE: 'left' },
            invoke: {
              src: 'ask',
              input: { of: 'us' },
              onDone: {
                target: 'answered',
                actions: assign({ answer: ({ event }) => event.output }),
              },
            },
          },
          answered: { type: 'final' },
          left: { type: 'final' },
        },
      }),
    });

  it('is found by its name, also for a chart of another copy of the package', async () => {
    const copy = `../src/define.ts?copy`;
    const other = (await import(copy)) as typeof import('../src/define.ts');
    expect(other.providedActivity).not.toBe(providedActivity);
    const workflow = asks(other.providedActivity('test.ask'));
    const { engine, work, ended } = begin();
    await work([workflow], {
      activities: { 'test.ask': activity(async ({ input }) => ({ input })) },
    });
    await engine.start(workflow, 'I-1');
    const { record } = await ended('I-1');
    expect(workflow.publish(record?.context)).toEqual({ answer: { input: { of: 'us' } } });
  });

  it('refuses to start without it, with the place in the chart', async () => {
    const { work } = begin();
    await expect(work([asks()])).rejects.toThrow('asks: the actor ask is test.ask of the service');
  });

  it('believes input errors and answers of another copy of the package', async () => {
    const copy = `../src/define.ts?copy`;
    const other = (await import(copy)) as typeof import('../src/define.ts');
    expect(other.later).toBe(later);
    const workflow = other.defineWorkflow({
      name: 'picky',
      version: 1,
      chart: toldChart,
      input: {
        parse: () => {
          throw new other.InputError('say: is not for us');
        },
      },
    });
    const { queue, work, ended } = begin();
    await work([workflow]);
    await queue.add('picky@1', {}, { jobId: 'I-1' });
    expect(await ended('I-1')).toMatchObject({
      ended: 'failed',
      failedReason: 'say: is not for us',
    });
  });

  it('is withdrawn when its state is left without its answer, and only then', async () => {
    const left: unknown[] = [];
    const asked: string[] = [];
    const provided = activity<{ of: string }, string>(
      async ({ token }) => {
        asked.push(token);
        return later;
      },
      {
        withdraw: async ({ token, input, instance }) => {
          left.push({ token, input, id: instance.id });
        },
      },
    );
    const workflow = asks();
    const { engine, work, ended, until } = begin();
    await work([workflow], { activities: { 'test.ask': provided } });
    const waits = (id: string) =>
      until(id, ({ record }) => activitiesIn(record).some(([, { waits }]) => waits === true));
    for (const id of ['I-1', 'I-2']) {
      await engine.start(workflow, id);
      await waits(id);
    }
    await engine.answer(asked[1] ?? '', { output: 'yes' });
    await engine.send(workflow, 'I-1', 'k', { type: 'LEAVE' });
    expect(await ended('I-1')).toMatchObject({ record: { value: 'left' } });
    expect(await ended('I-2')).toMatchObject({ record: { value: 'answered' } });
    expect(left).toEqual([{ token: asked[0], input: { of: 'us' }, id: 'I-1' }]);
  });

  it('is tried again when its later answer has not come in time, and may have it then', async () => {
    let tries = 0;
    const provided = activity<{ of: string }, string>(
      async () => {
        tries += 1;
        return tries < 3 ? later : 'found';
      },
      { lookAgainMs: () => 30 },
    );
    const workflow = asks();
    const { engine, work, ended } = begin();
    await work([workflow], { activities: { 'test.ask': provided } });
    await engine.start(workflow, 'I-1');
    expect(await ended('I-1')).toMatchObject({ record: { context: { answer: 'found' } } });
    expect(tries).toBe(3);
  });

  it('is withdrawn when the instance is stopped from outside, and the reason is kept', async () => {
    const left: string[] = [];
    const provided = activity(async () => later, {
      withdraw: async ({ instance }) => void left.push(instance.id),
    });
    const workflow = asks();
    const { engine, work, ended, until } = begin();
    await work([workflow], { activities: { 'test.ask': provided } });
    await engine.start(workflow, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    expect(await engine.stop('I-1', 'the order was taken back')).toBe('taken');
    expect(await ended('I-1')).toMatchObject({
      ended: 'completed',
      record: { status: 'stopped', reason: 'the order was taken back' },
    });
    expect(left).toEqual(['I-1']);
    expect(await engine.stop('I-1', 'again')).toMatch(/taken|finished/);
    expect(await engine.stop('I-2')).toBe('unknown');
  });
});
