/**
 * Activities in the hands of several processes: who holds a try, who makes the next one, and who
 * gives one up.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import { compileProgram } from '../../../test/support/program.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { activity, defineWorkflow, type GateTurn, later, type Workflow } from '../src/define.ts';
import { activitiesIn } from '../src/record.ts';
import { slowIn } from './hold-worker.ts';
import { createGate, createStage } from './stage.ts';

const redis = testRedis();
const begin = createStage(redis);
const processes = new Set<ChildProcess>();
afterAll(async () => {
  for (const child of processes) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

type Run = Parameters<typeof activity<unknown, unknown>>[0];

/** Asks once; LEAVE goes on without an answer, QUIT ends. */
const asking = (run: Run, policy: Parameters<typeof activity>[1] = {}): Workflow =>
  defineWorkflow({
    name: 'asking',
    version: 1,
    chart: setup({
      types: { context: {} as { answer: unknown } },
      actors: { ask: activity(run, policy) },
    }).createMachine({
      context: { answer: undefined },
      initial: 'asking',
      states: {
        asking: {
          invoke: {
            id: 'q',
            src: 'ask',
            onDone: { target: 'done', actions: assign({ answer: ({ event }) => event.output }) },
          },
          on: { LEAVE: 'left', QUIT: 'done' },
        },
        left: { on: { END: 'done' } },
        done: { type: 'final' },
      },
      output: ({ context }) => context.answer,
    }),
  });

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

describe('an activity that looks at its own instance', () => {
  it.each([
    [
      'the state that it belongs to, where its policy waits for the commit',
      { afterCommit: () => true },
      'asking',
    ],
    ['nothing otherwise', {}, undefined],
  ])('finds %s', async (_, policy, found) => {
    const { engine, work, ended } = begin();
    const look = async ({ instance: { id } }: Parameters<Run>[0]) => ({
      found: (await engine.find(id))?.record?.value,
    });
    const workflow = asking(look, policy);
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    expect((await ended('I-1')).record?.output).toEqual({ found });
  });
});

describe('an activity that follows another', () => {
  it.each([
    [
      'begins when the answer of the other one is stored',
      {},
      { value: 'second', context: { answer: 1 } },
    ],
    ['may begin before, where its policy says so', { afterCommit: () => false }, undefined],
  ])('%s', async (_, policy, found) => {
    const { engine, work, ended } = begin();
    const chart = setup({
      types: { context: {} as { answer: unknown } },
      actors: {
        first: activity(async () => 1),
        second: activity(async ({ instance: { id } }) => (await engine.find(id))?.record, policy),
      },
      actions: {
        note: assign({ answer: ({ event }) => (event as unknown as { output: unknown }).output }),
      },
    }).createMachine({
      context: { answer: undefined },
      initial: 'first',
      states: {
        first: { invoke: { src: 'first', onDone: { target: 'second', actions: 'note' } } },
        second: { invoke: { src: 'second', onDone: { target: 'done', actions: 'note' } } },
        done: { type: 'final' },
      },
      output: ({ context }) => context.answer,
    });
    const following = defineWorkflow({ name: 'following', version: 1, chart });
    await work([following]);
    await engine.start(following, 'I-1');
    const { record } = await ended('I-1');
    if (found === undefined) expect(record?.output).toBeUndefined();
    else expect(record?.output).toMatchObject(found);
  });
});

describe('activities that run side by side', () => {
  const counts = [1, 2, 4, 10, 30];
  const cases = counts.flatMap((n) =>
    [0, 5, 60].flatMap((ms) => (['plain', 'activity'] as const).map((kind) => ({ n, ms, kind }))),
  );

  it.each(cases)('run once each: $n of $ms ms, $kind', async ({ n, ms, kind }) => {
    const { engine, work, ended } = begin();
    const runs: unknown[] = [];
    const step = async ({ input }: { readonly input: unknown }): Promise<unknown> => {
      runs.push(input);
      if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
      return input;
    };
    const one = (index: number) => ({
      initial: 'open',
      states: {
        open: { invoke: { src: 'step' as const, input: index, onDone: 'done' } },
        done: { type: 'final' as const },
      },
    });
    const chart = setup({
      actors: { step: kind === 'plain' ? fromPromise(step) : activity(step) },
    }).createMachine({
      type: 'parallel',
      states: Object.fromEntries(
        Array.from({ length: n }, (_, index) => [`s${index}`, one(index)]),
      ),
    });
    const workflow = defineWorkflow({ name: 'beside', version: 1, chart });
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    expect(await ended('I-1')).toMatchObject({ ended: 'completed' });
    expect(runs.toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: n }, (_, i) => i),
    );
  });

  it('run once, also when one ends while the next turn has its job and does not run yet', async () => {
    const { engine, work, ended } = begin();
    const answer = createGate();
    let runs = 0;
    let effects = 0;
    const workflow = defineWorkflow({
      name: 'resumed',
      version: 1,
      chart: setup({
        actors: {
          slow: activity(async () => {
            runs += 1;
            await answer.opened;
          }),
        },
        actions: {
          fail: () => {
            effects += 1;
            if (effects === 1) throw new Error('not yet');
          },
        },
      }).createMachine({
        entry: 'fail',
        initial: 'open',
        states: { open: { invoke: { src: 'slow', onDone: 'done' } }, done: { type: 'final' } },
      }),
    });
    await work([workflow], {
      around: async (_, run) => {
        if (runs === 1) {
          answer.open();
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        return run();
      },
    });
    await engine.start(workflow, 'I-1');
    expect(await ended('I-1')).toMatchObject({ ended: 'completed' });
    expect({ runs, effects }).toEqual({ runs: 1, effects: 2 });
  });
});

describe('an activity that takes long', () => {
  it('goes on while its job sleeps, and holds no place of the worker', async () => {
    const { engine, queue, work, ended } = begin();
    const both = createGate();
    let under = 0;
    const workflow = asking(async () => {
      under += 1;
      if (under === 2) both.open();
      await both.opened;
      return 'met';
    });
    await work([workflow], { concurrency: 1 });
    await Promise.all(['I-1', 'I-2'].map((id) => engine.start(workflow, id)));
    for (const id of ['I-1', 'I-2'])
      expect(await ended(id)).toMatchObject({ record: { output: 'met' } });
    expect(under).toBe(2);
    expect(await queue.getActiveCount()).toBe(0);
  });

  it('is held for as long as its process lives, and no other makes it', async () => {
    const { engine, work, ended } = begin();
    let tries = 0;
    const workflow = asking(async () => {
      tries += 1;
      await new Promise((resolve) => setTimeout(resolve, 900));
      return 'once';
    });
    await work([workflow], { holdMs: 300 });
    await work([workflow], { holdMs: 300 });
    await engine.start(workflow, 'I-1');
    expect(await ended('I-1')).toMatchObject({ record: { output: 'once' } });
    expect(tries).toBe(1);
  });

  it('is made again by another process when its own has died', async () => {
    const { engine, queue, work, ended } = begin();
    const address = 'path' in redis.connection ? redis.connection.path : redis.url;
    const child = spawn(
      process.execPath,
      [
        await compileProgram(new URL('hold-worker.ts', import.meta.url)),
        address,
        String(queue.opts.prefix),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    processes.add(child);
    const said = once(child.stdout, 'data');
    const workflow = slowIn(async () => 'second');
    await engine.start(workflow, 'I-1');
    expect(String(await said)).toContain('trying');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await work([workflow], { holdMs: 500, worker: { lockDuration: 500, stalledInterval: 200 } });
    expect(await ended('I-1')).toMatchObject({ record: { output: 'second' } });
  });

  it.each(['LEAVE', 'QUIT'])(
    'is given up where it runs when %s has left its state elsewhere',
    async (type) => {
      const { engine, work, until } = begin();
      const given = createGate<AbortSignal>();
      const first = asking(async ({ signal }) => {
        given.open(signal);
        await aborted(signal);
        return 'late';
      });
      const free = createGate();
      const busy = createGate();
      const blocking = defineWorkflow({
        name: 'blocking',
        version: 1,
        chart: setup({
          actions: {
            block: () => {
              busy.open();
              return free.opened as never;
            },
          },
        }).createMachine({ entry: 'block', initial: 'done', states: { done: { type: 'final' } } }),
      });
      await work([first, blocking], { concurrency: 1, holdMs: 600 });
      await engine.start(first, 'I-1');
      const signal = await given.opened;
      await until('I-1', ({ record }) => record !== undefined);
      // From now on the process of the try has no place for turns.
      await engine.start(blocking, 'B-1');
      await busy.opened;
      await work([asking(async () => 'elsewhere')], { holdMs: 600 });
      expect(await engine.send(first, 'I-1', 'k', { type })).toBe('taken');
      await expect.poll(() => signal.aborted, { timeout: 20_000 }).toBe(true);
      free.open();
      expect(await until('I-1', ({ record }) => record?.value !== 'asking')).toMatchObject({
        record: { value: type === 'QUIT' ? 'done' : 'left' },
      });
    },
  );

  it('is aborted and left to another process when its own stops, and none begins there any more', async () => {
    const { engine, queue, work, ended } = begin();
    const signals: AbortSignal[] = [];
    const workflow = asking(async ({ signal }) => {
      signals.push(signal);
      await aborted(signal);
      throw new Error('aborted');
    });
    const worker = await work([workflow], { graceMs: 300 });
    await engine.start(workflow, 'I-1');
    await expect.poll(() => queue.getDelayedCount()).toBe(1);
    const closed = worker.close();
    await engine.start(workflow, 'I-2');
    await closed;
    expect(signals.map((signal) => signal.aborted)).toEqual(signals.map(() => true));
    await work([asking(async () => 'second')]);
    for (const id of ['I-1', 'I-2'])
      expect(await ended(id)).toMatchObject({ record: { output: 'second' } });
  });
});

describe('a turn whose lock is lost', () => {
  it('leaves nothing behind that answers for another input', async () => {
    const { engine, queue, redis: client, work, ended, troubles } = begin();
    const answers: Array<ReturnType<typeof createGate<void>>> = [createGate(), createGate()];
    let chosen = 0;
    let echoed = 0;
    const workflow = defineWorkflow({
      name: 'choosing',
      version: 1,
      chart: setup({
        types: { context: {} as { n: unknown; echo: unknown } },
        actors: {
          choose: activity(async () => {
            chosen += 1;
            return chosen;
          }),
          echo: activity<unknown, unknown>(
            async ({ input }) => {
              const mine = answers[echoed];
              echoed += 1;
              // As if this process had been paused for longer than the lock lasts.
              if (echoed === 1) await client.del(queue.toKey('I-1:lock'));
              await mine?.opened;
              return input;
            },
            // It begins in a state that is not stored.
            { afterCommit: () => false },
          ),
        },
      }).createMachine({
        context: { n: 0, echo: 0 },
        initial: 'choosing',
        states: {
          choosing: {
            invoke: {
              src: 'choose',
              onDone: { target: 'echoing', actions: assign({ n: ({ event }) => event.output }) },
            },
          },
          echoing: {
            invoke: {
              src: 'echo',
              input: (({ context }: { context: { n: unknown } }) => context.n) as never,
              onDone: { target: 'done', actions: assign({ echo: ({ event }) => event.output }) },
            },
          },
          done: { type: 'final' },
        },
        output: (({ context }: { context: unknown }) => context) as never,
      }),
    });
    await work([workflow], { worker: { stalledInterval: 300, lockDuration: 2000 } });
    await engine.start(workflow, 'I-1');
    await expect.poll(() => troubles.map(({ message }) => message)).toContain('The lock is lost');
    // It answers when the turn is over, and before the next one.
    answers[0]?.open();
    await expect.poll(() => queue.getDelayedCount()).toBe(1);
    answers[1]?.open();
    expect(await ended('I-1')).toMatchObject({ record: { output: { n: 2, echo: 2 } } });
    expect(echoed).toBe(2);
  });

  it('is over, also where it wanted to end its job', async () => {
    const { engine, queue, redis: client, work, ended, troubles } = begin();
    let told = 0;
    const workflow = defineWorkflow({
      name: 'telling',
      version: 1,
      chart: setup({
        actions: {
          tell: (async () => {
            told += 1;
            if (told === 1) await client.set(queue.toKey('I-1:lock'), 'another');
          }) as never,
        },
      }).createMachine({ initial: 'done', states: { done: { type: 'final', entry: 'tell' } } }),
    });
    const worker = await work([workflow], { worker: { stalledInterval: 300, lockDuration: 2000 } });
    await engine.start(workflow, 'I-1');
    await expect.poll(() => troubles.map(({ message }) => message).join()).toMatch(/lock/i);
    await client.del(queue.toKey('I-1:lock'));
    expect(await ended('I-1')).toMatchObject({ ended: 'completed' });
    expect(told).toBe(2);
    await worker.close();
  });
});

describe('the gate of an activity', () => {
  it('puts off a try that has no place, which is no failure, and hears of each end once', async () => {
    const { engine, work, ended } = begin();
    const turns: string[] = [];
    const gate = {
      turn: (input: unknown): GateTurn => {
        turns.push(`turn ${String(input)}`);
        if (turns.length < 3) return { kind: 'wait', ms: 30 };
        return { kind: 'place', end: (verdict) => turns.push(verdict) };
      },
    };
    const workflow = asking(async () => 'in', { gate });
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    expect(await ended('I-1')).toMatchObject({ record: { output: 'in' } });
    expect(turns).toEqual(['turn undefined', 'turn undefined', 'turn undefined', 'answered']);
  });

  it('hears once of a try that took too long', async () => {
    const { engine, work, ended } = begin();
    const ends: string[] = [];
    let tries = 0;
    const workflow = asking(
      async ({ signal }) => {
        tries += 1;
        if (tries === 2) return 'second';
        await aborted(signal);
        throw new Error('aborted');
      },
      {
        attempts: 2,
        backoffMs: 1,
        timeoutMs: 60,
        gate: { turn: () => ({ kind: 'place', end: (verdict) => ends.push(verdict) }) },
      },
    );
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    expect(await ended('I-1')).toMatchObject({ record: { output: 'second' } });
    expect(ends).toEqual(['failed', 'answered']);
  });
});

describe('an answer that comes later', () => {
  const waiting = async () => {
    const stage = begin();
    const given = createGate<string>();
    const workflow = asking(async ({ token }) => {
      given.open(token);
      return later;
    });
    await stage.work([workflow]);
    await stage.engine.start(workflow, 'I-1');
    const token = await given.opened;
    await stage.until('I-1', ({ record }) =>
      activitiesIn(record).some(([, { waits }]) => waits === true),
    );
    await expect.poll(() => stage.queue.getDelayedCount()).toBe(1);
    return { ...stage, token, workflow };
  };

  it('is taken once, and a token that nobody gave answers nothing', async () => {
    const { engine, token, ended, until } = await waiting();
    const forge = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
    for (const wrong of [
      '',
      'x',
      `${token}x`,
      forge('wait', 'q', 1),
      forge('I-2', 'q', 1),
      forge('I-1', 'q'),
    ])
      expect(await engine.answer(wrong, { output: 'forged' }), wrong).toBe('unknown');
    for (const wrong of [forge('I-1', 'q', 2), forge('I-1', 'r', 1), forge('I-1', '__proto__', 1)])
      expect(await engine.answer(wrong, { output: 'forged' }), wrong).toBe('refused');
    expect((await until('I-1', () => true)).record?.value).toBe('asking');
    expect(await engine.answer(token, { output: 'yes' })).toBe('taken');
    expect(await engine.answer(token, { error: new Error('no') })).toBe('taken');
    expect(await ended('I-1')).toMatchObject({ record: { output: 'yes' } });
    expect(await engine.answer(token, { output: 'again' })).toBe('taken');
  });

  it('is refused when the state was left before', async () => {
    const { engine, token, workflow, until } = await waiting();
    await engine.send(workflow, 'I-1', 'k', { type: 'LEAVE' });
    await until('I-1', ({ record }) => record?.value === 'left');
    expect(await engine.answer(token, { output: 'late' })).toBe('refused');
  });

  it('is given to an instance as its sender has read it, which is not read again', async () => {
    const { engine, redis, token, ended } = await waiting();
    const found = await engine.find('I-1');
    const read = vi.spyOn(redis, 'hmget');
    const given = await engine.answer(token, { output: 'yes' }, found);
    const reads = read.mock.calls.filter((call) => call.flat().includes('progress'));
    expect({ given, reads }).toEqual({ given: 'taken', reads: [] });
    expect(await ended('I-1')).toMatchObject({ record: { output: 'yes' } });
  });

  it('does not count when the state was left after its sender had read the instance', async () => {
    const { engine, queue, redis, token, workflow, until } = await waiting();
    const found = await engine.find('I-1');
    await engine.send(workflow, 'I-1', 'k', { type: 'LEAVE' });
    await until('I-1', ({ record }) => record?.value === 'left');
    await engine.answer(token, { output: 'late' }, found);
    await expect.poll(() => redis.hget(queue.toKey('I-1'), 'key:end/q/1')).toBe('refused');
    expect((await until('I-1', () => true)).record?.value).toBe('left');
  });

  it('is no answer to another instance that was read', async () => {
    const { engine, token, workflow, until } = await waiting();
    await engine.start(workflow, 'I-2');
    const found = await until('I-2', ({ record }) => record?.value === 'asking');
    await engine.send(workflow, 'I-1', 'k', { type: 'LEAVE' });
    await until('I-1', ({ record }) => record?.value === 'left');
    expect(await engine.answer(token, { output: 'late' }, found)).toBe('refused');
    expect((await until('I-2', () => true)).record?.value).toBe('asking');
  });
});

describe('an activity that fails', () => {
  it('fails its instance where the chart has no onError, with the reason in one line', async () => {
    const { engine, work, ended } = begin();
    const workflow = asking(async () => {
      throw new RangeError('not today\nnor tomorrow');
    });
    await work([workflow]);
    await engine.start(workflow, 'I-1');
    expect(await ended('I-1')).toMatchObject({ ended: 'failed', failedReason: 'not today' });
  });

  it('has its tries counted over a restart', async () => {
    const { engine, work, until, ended } = begin();
    let tries = 0;
    const workflow = asking(
      async () => {
        tries += 1;
        throw new Error(`try ${tries}`);
      },
      { attempts: 3, backoffMs: 150 },
    );
    const worker = await work([workflow]);
    await engine.start(workflow, 'I-1');
    await until('I-1', ({ record }) =>
      activitiesIn(record).some(([, { failures }]) => failures === 1),
    );
    await worker.close();
    await work([workflow]);
    expect(await ended('I-1')).toMatchObject({ ended: 'failed', failedReason: 'try 3' });
    expect(tries).toBe(3);
  });
});
