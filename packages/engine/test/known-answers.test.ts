/** Commands that a worker spares, and that it still hears of each job in time. */
import { createRedisBackend, type RedisQueueBackend } from 'bullmq';
import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { testRedis } from '../../../test/support/redis.ts';
import { defineWorkflow } from '../src/define.ts';
import { effect } from '../src/effect.ts';
import { KnownAnswers } from '../src/redis/known-answers.ts';
import { createGate, createStage } from './stage.ts';

const redis = testRedis();
const begin = createStage(redis);

const waiting = defineWorkflow({
  name: 'waiting',
  version: 1,
  chart: setup({}).createMachine({
    initial: 'open',
    states: { open: { on: { END: 'over' } }, over: { type: 'final' } },
  }),
});

/** What each call of a script gives; each answer can be held back. */
const scripted = () => {
  const answers: Promise<unknown>[] = [];
  const wakes: Promise<{ readonly member: string; readonly score: number } | undefined>[] = [];
  const asked: string[] = [];
  const known = new KnownAnswers((...given) => {
    const backend: RedisQueueBackend = createRedisBackend(...given);
    backend.execCommand = async (_, command) => {
      asked.push(command);
      return answers.shift();
    };
    backend.waitForJob = async () => (await wakes.shift()) ?? null;
    return backend;
  });
  const backend = known.factory(
    'known',
    { connection: redis.connection, skipVersionCheck: true },
    {},
  );
  const ask = (): Promise<unknown> => backend.execCommand(undefined as never, 'moveToActive', []);
  return { backend, known, answers, wakes, asked, ask, close: () => backend.close(true) };
};

const job = (alone: 0 | 1) =>
  Promise.resolve([['name', 'x', 'inbox', 'lines'], 'J-1', 0, 0, alone]);

describe('a worker that knows that no job waits', () => {
  it('takes jobs that come alone with hardly more than a command for each', async () => {
    const { engine, queue, work, until, ended, redis: client } = begin();
    await work([waiting]);
    // BullMQ calls a script by its name on the client.
    const scripts = client as unknown as Record<string, (...given: unknown[]) => unknown>;
    const name = Object.keys(client).find((each) => each.startsWith('moveToActive:')) ?? '';
    const take = scripts[name]?.bind(client);
    let asked = 0;
    scripts[name] = (...given) => {
      asked += 1;
      return take?.(...given);
    };
    for (const id of ['I-1', 'I-2', 'I-3', 'I-4', 'I-5']) {
      await engine.start(waiting, id);
      await until(id, ({ record }) => record !== undefined);
      await expect.poll(() => queue.getJobState(id)).toBe('delayed');
      expect(await engine.send(waiting, id, 'k', { type: 'END' })).toBe('taken');
      expect(await ended(id)).toMatchObject({ ended: 'completed' });
    }
    // Ten are taken. A marker of a job that was taken already costs one more; BullMQ asks thrice
    // for each.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(asked).toBeGreaterThanOrEqual(10);
    expect(asked).toBeLessThan(20);
  });

  it('asks again after it has woken, and when a sleeping job is due', async () => {
    const { backend, known, answers, asked, ask, close } = scripted();
    answers.push(job(1), Promise.resolve([0, 0, 0, Date.now() + 60, 1]), job(0), job(1));
    try {
      await ask();
      expect(known.takeFields('J-1')?.get('inbox')).toBe('lines');
      expect(known.takeFields('J-1')).toBeUndefined();
      expect([await ask(), known.isEmpty()]).toEqual([[0, 0, 0, 0], true]);
      await backend.waitForJob(1);
      await ask();
      expect([await ask(), asked.length]).toEqual([[0, 0, 0, expect.any(Number), 1], 2]);
      await expect.poll(() => known.isEmpty()).toBe(false);
      await ask();
      expect([asked.length, known.isEmpty()]).toEqual([3, false]);
      await ask();
      expect([asked.length, known.isEmpty()]).toEqual([4, true]);
    } finally {
      await close();
    }
  });

  it('goes on knowing it when a marker tells of a time', async () => {
    const { backend, known, answers, wakes, ask, close } = scripted();
    const due = Date.now() + 60;
    answers.push(job(1));
    wakes.push(Promise.resolve({ member: '1', score: due }));
    try {
      await ask();
      await backend.waitForJob(1);
      expect(await ask()).toEqual([0, 0, 0, due]);
      await expect.poll(() => known.isEmpty()).toBe(false);
    } finally {
      await close();
    }
  });

  it('does not believe what it was told before it woke, nor a pause of its queue', async () => {
    const { backend, known, answers, wakes, ask, close } = scripted();
    const [told, woken] = [createGate(), createGate()];
    answers.push(
      told.opened.then(() => [0, 0, 0, Date.now() + 60_000, 1]),
      Promise.resolve([0, 0, 500, 0]),
    );
    wakes.push(woken.opened.then(() => undefined));
    try {
      const waits = backend.waitForJob(1);
      const late = ask();
      woken.open();
      await waits;
      told.open();
      await late;
      expect(known.isEmpty()).toBe(false);
      await ask();
      expect(known.isEmpty()).toBe(false);
    } finally {
      await close();
    }
  });
});

describe('a queue that bounds how many jobs run', () => {
  it('gets the job that came while it was full, of which nobody is told', async () => {
    const { engine, queue, work, troubles } = begin();
    const [taken, held] = [createGate(), createGate()];
    await queue.setGlobalConcurrency(1);
    await work([waiting], {
      concurrency: 1,
      around: async ({ id }, turn) => {
        if (id === 'I-1') {
          taken.open();
          await held.opened;
        }
        return turn();
      },
    });
    await engine.start(waiting, 'I-1');
    await taken.opened;
    await engine.start(waiting, 'I-2');
    held.open();
    // A worker that waits for a marker looks again after ten seconds.
    await expect.poll(() => queue.getJobState('I-2'), { timeout: 8000 }).toBe('delayed');
    expect(troubles).toEqual([]);
  });
});

describe('an effect by its parameters', () => {
  it('is stored with them alone, and carried out with them again', async () => {
    const told: unknown[] = [];
    const notify = effect((text: string, { id }) => {
      told.push([text, id]);
      if (told.length === 1) throw new Error('not yet');
    });
    const telling = defineWorkflow({
      name: 'telling',
      version: 1,
      chart: setup({
        types: { context: {} as { large: string } },
        actions: { notify },
      }).createMachine({
        context: { large: 'x'.repeat(1000) },
        initial: 'open',
        states: {
          open: { on: { GO: { target: 'gone', actions: { type: 'notify', params: 'hello' } } } },
          gone: {},
        },
      }),
    });
    const { engine, work, until } = begin();
    await work([telling]);
    await engine.start(telling, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    await engine.send(telling, 'I-1', 'k', { type: 'GO', secret: 1 } as never);
    const { record } = await until('I-1', (instance) => instance.record?.effects !== undefined);
    expect(record?.effects).toEqual([
      { number: 1, kind: 'action', type: 'notify', params: 'hello' },
    ]);
    await until('I-1', (instance) => instance.record?.effects === undefined);
    expect(told).toEqual([
      ['hello', 'I-1/1'],
      ['hello', 'I-1/1'],
    ]);
  });
});
