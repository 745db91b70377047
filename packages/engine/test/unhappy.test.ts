/**
 * What goes wrong beside the chart: effects that throw, children that cannot begin, workers of
 * another version, a Redis that is late.
 */
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { DelayedError } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { openWorkflows } from '../../../parts/workflows/charts/open.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { type RunningRedis, startRedisServer } from '../../../test/support/redis-server.ts';
import { activity, defineWorkflow } from '../src/define.ts';
import { stepTime } from '../src/index.ts';
import { createInstanceStore } from '../src/redis/instance-store.ts';
import { takeJob } from '../src/take-job.ts';
import { createTurn } from '../src/turn.ts';
import { createGate, createStage } from './stage.ts';

const redis = testRedis();
const begin = createStage(redis);

describe('an effect that throws', () => {
  it('does not repeat those before it', async () => {
    let mails = 0;
    let calls = 0;
    const chart = setup({
      actions: {
        mail: () => {
          mails += 1;
        },
        call: () => {
          calls += 1;
          if (calls < 4) throw new Error('not now');
        },
      },
    }).createMachine({
      entry: ['mail', 'call'],
      initial: 'over',
      states: { over: { type: 'final' } },
    });
    const { engine, work, ended } = begin();
    const order = defineWorkflow({ name: 'order', version: 1, chart });
    await work([order]);
    await engine.start(order, 'I-1');
    await ended('I-1');
    expect([mails, calls]).toEqual([1, 4]);
  });

  it('does not have an activity wait that has answered meanwhile', async () => {
    const asked = createGate();
    let calls = 0;
    let aheadMs = 0;
    const chart = setup({
      actors: { ask: activity(() => asked.opened) },
      actions: {
        call: (async () => {
          calls += 1;
          if (calls < 3) throw new Error('not now');
          if (calls > 3) return;
          // The job is put off until a time that does not come.
          aheadMs = 3_600_000;
          asked.open();
          await delay(20);
          throw new Error('not now');
        }) as never,
      },
    }).createMachine({
      entry: 'call',
      initial: 'asking',
      states: { asking: { invoke: { src: 'ask', onDone: 'over' } }, over: { type: 'final' } },
    });
    const { engine, work, ended } = begin();
    const order = defineWorkflow({ name: 'order', version: 1, chart });
    await work([order], { now: () => Date.now() + aheadMs });
    await engine.start(order, 'I-1');
    await ended('I-1');
    expect(calls).toBe(4);
  });
});

describe('a check that throws what it should not', () => {
  it('is a bug: the turn is tried again, before the first look and before the end', async () => {
    let checks = 0;
    const chart = setup({}).createMachine({
      initial: 'open',
      states: { open: { on: { END: 'over' } }, over: { type: 'final' } },
    });
    const check = (): void => {
      checks += 1;
      if (checks === 1 || checks === 3) throw new TypeError('a bug');
    };
    const order = defineWorkflow({ name: 'order', version: 1, chart, check });
    const { engine, work, until, ended, troubles } = begin();
    await work([order]);
    await engine.start(order, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    expect(await engine.send(order, 'I-1', 'k', { type: 'END' })).toBe('taken');
    expect(await ended('I-1')).toMatchObject({ ended: 'completed', record: { value: 'over' } });
    expect([checks, troubles.map(({ message }) => message)]).toEqual([5, ['a bug', 'a bug']]);
  });
});

describe('a child that cannot begin', () => {
  it('is an error of its parent', async () => {
    const child = setup({}).createMachine({
      context: () => {
        throw new Error('no context');
      },
    });
    const chart = setup({ actors: { child } }).createMachine({
      initial: 'asking',
      states: {
        asking: { invoke: { src: 'child', onDone: 'never', onError: 'caught' } },
        caught: { type: 'final' },
        never: {},
      },
    });
    const { engine, work, ended } = begin();
    const parent = defineWorkflow({ name: 'parent', version: 1, chart });
    await work([parent]);
    await engine.start(parent, 'I-1');
    expect((await ended('I-1')).record?.value).toBe('caught');
  });
});

describe('an instance that a newer program has started', () => {
  it('is left alone by a worker that has the earlier version only', async () => {
    const chart = setup({}).createMachine({ initial: 'over', states: { over: { type: 'final' } } });
    const old = defineWorkflow({
      name: 'order',
      version: 1,
      chart,
      input: z.object({ msisdn: z.string() }),
    });
    const fresh = defineWorkflow({
      name: 'order',
      version: 2,
      chart,
      input: z.object({ to: z.string() }),
    });
    const { engine, work, ended } = begin();
    await work([old]);
    await engine.start(fresh, 'I-1', { to: 'x' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await work([fresh, old]);
    expect(await ended('I-1')).toMatchObject({ ended: 'completed', record: { version: 2 } });
  });
});

describe('an instance whose workflow no worker has', () => {
  it('is looked at less and less often, up to a minute', async () => {
    let time = Date.parse('2025-03-01T12:00:00Z');
    const pauses: number[] = [];
    const options = {
      store: {
        sleep: async (_: string, __: string, until: number) => void pauses.push(until - time),
      },
      find: () => undefined,
      now: () => time,
      onError: (error: Error) => {
        throw error;
      },
    };
    const job = { id: 'I-1', name: 'gone@1', progress: {}, timestamp: time };
    for (let look = 0; look < 100; look += 1) {
      await expect(takeJob(options as never, job as never, 'token')).rejects.toThrow(DelayedError);
      time += pauses.at(-1) ?? 0;
    }
    expect(pauses.slice(0, 10)).toEqual(Array(10).fill(500));
    expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
    expect(pauses.at(-1)).toBe(60_000);
  });
});

describe('a turn that fails again and again', () => {
  /** @returns The pauses between turns that each fail by this error. */
  const pausesAfter = async (error: Error): Promise<readonly number[]> => {
    const pauses: number[] = [];
    const turn = createTurn({
      store: { sleep: async (_: string, __: string, until: number) => void pauses.push(until) },
      beforeTurn: () => Promise.reject(error),
      now: () => 0,
      onError: () => undefined,
    } as never);
    for (let look = 0; look < 20; look += 1)
      await expect(turn({ id: 'I-1', name: 'order@1' } as never, 'token')).rejects.toThrow(
        DelayedError,
      );
    return pauses;
  };

  it.each([
    'OOM command not allowed when used memory > maxmemory',
    'READONLY You cannot write against a read only replica.',
    'Command timed out',
  ])('goes on soon after Redis takes writes again: %s', async (message) => {
    expect(Math.max(...(await pausesAfter(new Error(message))))).toBeLessThanOrEqual(2000);
  });

  it('is tried less and less often, up to a minute, when Redis is not the reason', async () => {
    const pauses = await pausesAfter(new TypeError('a bug'));
    expect(pauses).toEqual(pauses.toSorted((one, other) => one - other));
    expect(pauses.at(-1)).toBe(60_000);
  });
});

describe('a slow activity that ends while Redis takes no writes', () => {
  const full: { redis?: RunningRedis } = {};
  beforeAll(async () => {
    full.redis = await startRedisServer();
  });
  afterAll(() => full.redis?.stop());
  const beginThere = createStage({
    ...redis,
    get connection() {
      return { host: '127.0.0.1', port: full.redis?.port ?? 0, db: 0, maxRetriesPerRequest: null };
    },
  });

  it('is not run again: its answer comes as soon as Redis takes writes', async () => {
    const gate = createGate();
    let runs = 0;
    const chart = setup({
      actors: {
        ask: activity(() => {
          runs += 1;
          return gate.opened;
        }),
      },
    }).createMachine({
      initial: 'asking',
      states: { asking: { invoke: { src: 'ask', onDone: 'over' } }, over: { type: 'final' } },
    });
    const { engine, work, until, ended, queue, redis: client, troubles } = beginThere();
    const order = defineWorkflow({ name: 'order', version: 1, chart });
    await work([order]);
    await engine.start(order, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    await vi.waitFor(async () => expect(await queue.getDelayedCount()).toBe(1), 20_000);
    await client.config('SET', 'maxmemory', '1');
    gate.open();
    await vi.waitFor(() => expect(troubles.join()).toContain('OOM'), 20_000);
    await client.config('SET', 'maxmemory', '0');
    await ended('I-1');
    expect(runs).toBe(1);
  });
});

describe('the time of a step', () => {
  it('is that of its event, for every part of the chart that computes, and no field of the event', async () => {
    const chart = setup({
      types: { context: {} as { times: number[]; fields: string[] } },
    }).createMachine({
      context: () => ({ times: [stepTime()], fields: [] }),
      initial: 'a',
      states: {
        a: {
          after: {
            20: {
              target: 'over',
              guard: () => stepTime() > 0,
              actions: assign(({ context, event }) => ({
                times: [...context.times, stepTime()],
                fields: Object.keys(event),
              })),
            },
          },
        },
        over: { type: 'final' },
      },
      output: ({ context }) => context,
    });
    const { engine, work, ended } = begin();
    const timed = defineWorkflow({ name: 'timed', version: 1, chart });
    await work([timed]);
    await engine.start(timed, 'I-1');
    const { record } = await ended('I-1');
    const { times = [], fields = [] } = Object(record?.output) as {
      times?: number[];
      fields?: string[];
    };
    expect(fields).toEqual(['type']);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(20);
  });
});

describe('an instance that lives long', () => {
  it('does not grow with each activity that it has run', async () => {
    const chart = setup({
      actors: {
        ask: activity<void, void>(() => new Promise((resolve) => setTimeout(resolve, 25))),
      },
    }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { src: 'ask', onDone: 'b' } },
        b: { invoke: { src: 'ask', onDone: 'a' } },
      },
    });
    const { engine, work, until, redis: client, queue } = begin();
    const loop = defineWorkflow({ name: 'loop', version: 1, chart });
    await work([loop]);
    await engine.start(loop, 'I-1');
    await until('I-1', ({ record }) => (record?.next ?? 0) > 10);
    const fields = await client.hkeys(queue.toKey('I-1'));
    expect(fields.filter((field) => field.startsWith('key:')).length).toBeLessThan(3);
  });
});

describe('the lock of a job', () => {
  const renewals = (troubles: readonly Error[]): number =>
    troubles.filter(({ message }) => message.startsWith('could not renew lock')).length;
  const open = setup({}).createMachine({ initial: 'open', states: { open: {} } });
  const resting = defineWorkflow({ name: 'resting', version: 1, chart: open });
  /** BullMQ looks every 25 ms which locks to renew. */
  const worker = { lockDuration: 100 };

  it('is not renewed after it was given back, however late Redis answers', async () => {
    const { engine, work, redis: client, troubles } = begin();
    const real = client.eval.bind(client) as (...given: readonly unknown[]) => Promise<unknown>;
    const slept = createGate();
    client.eval = (async (...given: readonly unknown[]) => {
      const answer = await real(...given);
      if (!String(given[0]).includes('moveToDelayed')) return answer;
      await delay(150);
      slept.open();
      return answer;
    }) as never;
    await work([resting], { worker });
    await engine.start(resting, 'I-1');
    await slept.opened;
    expect(troubles).toEqual([]);
  });

  it('is lost once, and not again with each renewal', async () => {
    const { engine, work, queue, redis: client, troubles } = begin();
    const over = createGate();
    const around = async (): Promise<unknown> => {
      await client.del(queue.toKey('I-1:lock'));
      await expect.poll(() => renewals(troubles)).toBeGreaterThan(0);
      await delay(150);
      over.open();
      return undefined;
    };
    await work([resting], { worker: { ...worker, stalledInterval: 60_000 }, around });
    await engine.start(resting, 'I-1');
    await over.opened;
    expect(renewals(troubles)).toBe(1);
  });
});

describe('a program that begins while Redis is away', () => {
  it('starts instances when Redis has come', async () => {
    const server = createServer((socket) => {
      const path = redis.url.startsWith('unix:')
        ? { path: redis.url.slice('unix:'.length) }
        : undefined;
      const there = connect(
        path ?? { host: new URL(redis.url).hostname, port: Number(new URL(redis.url).port) },
      );
      const end = (): void => void [socket, there].map((each) => each.destroy());
      for (const each of [socket, there]) each.on('error', end).on('close', end);
      socket.pipe(there).pipe(socket);
    });
    const listen = (port: number) =>
      new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
    await listen(0);
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const chart = setup({}).createMachine({ initial: 'over', states: { over: { type: 'final' } } });
    const order = defineWorkflow({ name: 'order', version: 1, chart });
    const workflows = openWorkflows({
      redisUrl: `redis://127.0.0.1:${port}`,
      prefix: `${redis.prefix}-late`,
      onError: () => undefined,
    });
    await expect(workflows.of(order).start('I-1')).rejects.toThrow();
    await listen(port);
    const starts = (): Promise<boolean> =>
      workflows
        .of(order)
        .start('I-1')
        .then(
          () => true,
          () => false,
        );
    await expect.poll(starts, { timeout: 20_000 }).toBe(true);
    await workflows.close();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('a process that dies with thousands of tries', () => {
  it('leaves none of them waiting behind the others', async () => {
    const { queue, redis: client } = begin();
    const store = createInstanceStore(queue, client, Date.now);
    const ids = Array.from({ length: 2500 }, (_, index) => `I-${index}`);
    await queue.addBulk(
      ids.map((id) => ({ name: 'order', data: {}, opts: { jobId: id, delay: 3_600_000 } })),
    );
    await client.zadd(queue.toKey('tries:held'), ...ids.flatMap((id) => [1, `${id} ask/1`]));
    await store.wakeLapsed();
    expect(await queue.getJobCounts('delayed', 'waiting')).toEqual({ delayed: 0, waiting: 2500 });
  });
});

describe('a try that becomes due while its turn goes to sleep', () => {
  it.each([1, 2, 3, 4, 5, 6])('is made, after a pause of %i ms', async (backoffMs) => {
    let tries = 0;
    const chart = setup({
      actors: {
        ask: activity<void, void>(
          async () => {
            tries += 1;
            if (tries === 1) throw new Error('not now');
          },
          { attempts: 2, backoffMs },
        ),
      },
    }).createMachine({
      initial: 'asking',
      states: { asking: { invoke: { src: 'ask', onDone: 'over' } }, over: { type: 'final' } },
    });
    const { engine, work, ended } = begin();
    const asking = defineWorkflow({ name: 'asking', version: 1, chart });
    // Time passes with each look at the clock.
    let looks = 0;
    await work([asking], { now: () => Date.now() + looks++ });
    await engine.start(asking, 'I-1');
    expect((await ended('I-1')).record?.value).toBe('over');
  });
});
