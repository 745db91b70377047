/**
 * Events from outside: whenever they come and under whatever key, each is applied once, or refused
 * to its sender and written down.
 */
import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { testRedis } from '../../../test/support/redis.ts';
import { activity, defineWorkflow } from '../src/define.ts';
import { createEngine, spreadOver } from '../src/engine.ts';
import { maxKeys, maxWaitingEvents } from '../src/redis/deliver-script.ts';
import { createInstanceStore } from '../src/redis/instance-store.ts';
import { createGate, createStage, type Stage } from './stage.ts';

const begin = createStage(testRedis());

const chart = setup({
  types: { context: {} as { seen: unknown[] } },
  actions: {
    see: assign({ seen: ({ context, event: { at: _, ...event } }) => [...context.seen, event] }),
  },
}).createMachine({
  context: { seen: [] },
  initial: 'open',
  states: {
    open: { on: { SEE: { actions: 'see' }, CLOSE: 'closed', END: 'done' } },
    closed: { on: { KNOCK: { target: 'open', actions: 'see' }, REOPEN: 'open' } },
    done: { type: 'final' },
  },
  output: ({ context }) => context.seen,
});
const door = defineWorkflow({ name: 'door', version: 1, chart });
const event = (type: string, more: object = {}) => ({ type, ...more }) as { type: string };

/** A door that has had its first turn and sleeps. */
const asleep = async () => {
  const stage = begin();
  const worker = await stage.work([door]);
  await stage.engine.start(door, 'I-1');
  await stage.until('I-1', ({ record }) => record !== undefined);
  await expect.poll(() => stage.queue.getDelayedCount()).toBe(1);
  return { ...stage, worker };
};

describe('an event from outside', () => {
  it('reaches the chart with all its fields, however they are called', async () => {
    const { engine, ended } = await asleep();
    const more = { child: 'c', run: 1, result: { ok: true }, key: 'k', kind: 'done' };
    await engine.send(door, 'I-1', 'k1', event('SEE', more));
    await engine.send(door, 'I-1', 'k2', event('SEE', { result: 5 }));
    await engine.send(door, 'I-1', 'k3', event('END'));
    expect((await ended('I-1')).record?.output).toEqual([
      { type: 'SEE', ...more },
      { type: 'SEE', result: 5 },
    ]);
  });

  it('does not take the place of an end or a message that the engine sends, whatever its key', async () => {
    const { engine, queue, work, until, ended } = begin();
    const answer = createGate();
    let tries = 0;
    const asking = defineWorkflow({
      name: 'asking',
      version: 1,
      chart: setup({
        actors: {
          ask: activity(async () => {
            tries += 1;
            await answer.opened;
            return 'yes';
          }),
        },
      }).createMachine({
        initial: 'asking',
        on: { NUDGE: {} },
        states: {
          asking: { invoke: { id: 'q', src: 'ask', onDone: 'done' } },
          done: { type: 'final' },
        },
      }),
    });
    await work([asking]);
    await engine.start(asking, 'I-1');
    await until('I-1', ({ record }) => record !== undefined);
    await engine.send(asking, 'I-1', 'end/q/1', event('NUDGE'));
    await expect.poll(() => queue.getDelayedCount()).toBe(1);
    answer.open();
    expect(await ended('I-1')).toMatchObject({ record: { value: 'done' } });
    expect(tries).toBe(1);
  });

  it('is applied once under a key of any characters, and a key without measure is refused', async () => {
    const { engine, ended } = await asleep();
    const keys = ['a\tb', 'a\nb', '\t1\t{"type":"END"}\n', ' ', 'ä\u2028"\\', '\0', '__proto__'];
    for (const key of [...keys, ...keys])
      expect(await engine.send(door, 'I-1', key, event('SEE', { key }))).toBe('taken');
    await expect(engine.send(door, 'I-1', 'k'.repeat(1001), event('SEE'))).rejects.toThrow('key');
    await expect(engine.send(door, 'I-1', '', event('SEE'))).rejects.toThrow('key');
    await engine.send(door, 'I-1', 'end', event('END'));
    expect((await ended('I-1')).record?.output).toEqual(keys.map((key) => ({ type: 'SEE', key })));
  });

  it('is judged after those that were sent before it', async () => {
    const { engine, worker, work, ended } = await asleep();
    await worker.close();
    expect(await engine.send(door, 'I-1', 'k1', event('CLOSE'))).toBe('taken');
    expect(await engine.send(door, 'I-1', 'k2', event('KNOCK'))).toBe('taken');
    expect(await engine.send(door, 'I-1', 'k3', event('END'))).toBe('taken');
    await work([door]);
    expect((await ended('I-1')).record?.output).toEqual([{ type: 'KNOCK' }]);
  });

  it('that was refused is written down, and stays refused under its key', async () => {
    const { engine, until } = await asleep();
    expect(await engine.send(door, 'I-1', 'k1', event('KNOCK'))).toBe('refused');
    expect(await engine.send(door, 'I-1', 'k2', event('CLOSE'))).toBe('taken');
    await until('I-1', ({ record }) => record?.value === 'closed');
    expect(await engine.send(door, 'I-1', 'k1', event('KNOCK'))).toBe('refused');
    expect(await engine.send(door, 'I-1', 'k3', event('KNOCK'))).toBe('taken');
  });

  it('that the chart will not take is refused before the first turn', async () => {
    const { engine, work, ended } = begin();
    const brief = defineWorkflow({
      name: 'brief',
      version: 1,
      chart: setup({}).createMachine({ initial: 'done', states: { done: { type: 'final' } } }),
    });
    await engine.start(brief, 'I-1');
    expect(await engine.send(brief, 'I-1', 'k1', event('SEE'))).toBe('refused');
    await work([brief]);
    await ended('I-1');
    expect(await engine.send(brief, 'I-1', 'k1', event('SEE'))).toBe('refused');
    expect(await engine.send(brief, 'I-1', 'k2', event('SEE'))).toBe('finished');
  });

  it('is judged before the first turn by the same input as in it', async () => {
    const { engine, work, until } = begin();
    const limited = defineWorkflow({
      name: 'limited',
      version: 1,
      begin: (_: unknown, { attempts }) => ({ attempts }),
      chart: setup({
        types: {} as { input: { attempts: number }; context: { attempts: number } },
      }).createMachine({
        context: ({ input }) => input,
        initial: 'open',
        states: {
          open: { on: { SEE: { guard: ({ context }) => context.attempts > 0, target: 'seen' } } },
          seen: {},
        },
      }),
    });
    await engine.start(limited, 'I-1');
    expect(await engine.send(limited, 'I-1', 'k1', event('SEE'))).toBe('refused');
    await work([limited]);
    const { record } = await until('I-1', ({ record: stored }) => stored !== undefined);
    expect(record?.context).toEqual({ attempts: 0 });
  });

  it('does not begin an instance before its time', async () => {
    const { engine, queue, work } = begin();
    await work([door]);
    await engine.start(door, 'I-1', undefined, { delayMs: 3_600_000 });
    expect(await engine.send(door, 'I-1', 'k1', event('SEE'))).toBe('taken');
    expect(await queue.getDelayedCount()).toBe(1);
    expect((await engine.find('I-1'))?.record).toBeUndefined();
  });

  it('is taken while a turn is busy with its effects, without waiting for them', async () => {
    const { engine, work, until, ended } = begin();
    const begun = createGate();
    const effect = createGate();
    const slow = defineWorkflow({
      name: 'slow',
      version: 1,
      chart: setup({
        actions: {
          tell: () => {
            begun.open();
            return effect.opened as never;
          },
        },
      }).createMachine({
        initial: 'open',
        entry: 'tell',
        states: { open: { on: { END: 'done' } }, done: { type: 'final' } },
      }),
    });
    await work([slow]);
    await engine.start(slow, 'I-1');
    await begun.opened;
    const began = performance.now();
    expect(await engine.send(slow, 'I-1', 'k1', event('END'))).toBe('taken');
    expect(performance.now() - began).toBeLessThan(5000);
    expect((await until('I-1', () => true)).ended).toBe('no');
    effect.open();
    await ended('I-1');
  });

  it('finds no instance under a name that is none', async () => {
    const { engine, queue } = await asleep();
    await queue.add('door', {}, { jobId: 'other' });
    for (const id of ['wait', 'meta', 'delayed', 'I-1:lock', '', 'nobody', '\0'])
      expect(await engine.send(door, id, 'k', event('SEE')), id).toBe('unknown');
    expect(await engine.find('delayed')).toBeUndefined();
    for (const id of ['wait', 'meta', 'paused', 'limiter', 'id'])
      await expect(engine.start(door, id), id).rejects.toThrow('id');
  });
});

describe('one sender of very many events', () => {
  const fieldsOf = async ({ queue, redis }: Pick<Stage, 'queue' | 'redis'>) =>
    (await redis.hkeys(queue.toKey('I-1'))).filter((field) => field.startsWith('key:')).length;

  it('leaves a bounded number of keys with the instance, refused or taken, and the last ones count once', async () => {
    const { engine, queue, redis } = await asleep();
    const send = (key: string, type: string) => engine.send(door, 'I-1', key, event(type));
    expect(await send('first', 'SEE')).toBe('taken');
    await expect.poll(() => engine.verdict('I-1', 'first')).toBe('taken');
    for (let index = 0; index < maxKeys + 20; index += 10) {
      const keys = Array.from({ length: 10 }, (_, more) => `k${index + more}`);
      await Promise.all(keys.map((key) => send(key, 'KNOCK')));
    }
    expect(await fieldsOf({ queue, redis })).toBe(maxKeys);
    expect(await send('close', 'CLOSE')).toBe('taken');
    expect(await fieldsOf({ queue, redis })).toBe(maxKeys);
    await expect.poll(() => engine.verdict('I-1', 'close')).toBe('taken');
    // It was refused under this key, although the door would take it by now.
    expect(await send(`k${maxKeys + 19}`, 'KNOCK')).toBe('refused');
    expect(await send('k0', 'KNOCK')).toBe('taken');
  });

  it('does not take the place of keys of operators, nor they of those of applications', async () => {
    const { engine, queue, redis } = await asleep();
    const send = (key: string, type: string) => engine.send(door, 'I-1', key, event(type));
    for (const key of ['op/1', 'app/1', 'other']) expect(await send(key, 'KNOCK')).toBe('refused');
    const many = async (origin: string, count: number) => {
      for (let index = 0; index < count; index += 10)
        await Promise.all(
          Array.from({ length: 10 }, (_, more) => send(`${origin}k${index + more}`, 'KNOCK')),
        );
    };
    await many('app/', maxKeys + 20);
    expect(await engine.verdict('I-1', 'app/1')).toBeUndefined();
    for (const key of ['op/1', 'other']) expect(await engine.verdict('I-1', key)).toBe('refused');
    await many('op/', maxKeys + 20);
    expect(await engine.verdict('I-1', 'op/1')).toBeUndefined();
    expect(await engine.verdict('I-1', `app/k${maxKeys + 19}`)).toBe('refused');
    expect(await fieldsOf({ queue, redis })).toBe(2 * maxKeys + 1);
  });

  it('is told to wait while a hundred wait, which keeps no answer of an activity from the instance', async () => {
    const { engine, worker, work, queue, redis, until } = await asleep();
    await worker.close();
    const impatient = createEngine(spreadOver([queue], redis, Date.now), Date.now, 0);
    const see = (index: number) =>
      impatient.send(door, 'I-1', `k${index}`, event('SEE', { index }));
    for (let index = 0; index < maxWaitingEvents; index += 1)
      expect(await see(index)).toBe('taken');
    expect(await see(maxWaitingEvents)).toBe('busy');
    expect(await impatient.verdict('I-1', `k${maxWaitingEvents}`)).toBeUndefined();
    expect(await see(0)).toBe('taken');
    const store = createInstanceStore(queue, redis, Date.now);
    const answer = { about: { child: 'c', run: 1 } };
    expect(await store.deliver('I-1', 'end/c/1', event('DONE'), answer)).toMatchObject({
      given: 'waiting',
    });
    await work([door]);
    await until('I-1', ({ record }) => Object(record?.context).seen.length === maxWaitingEvents);
    expect(await engine.send(door, 'I-1', `k${maxWaitingEvents}`, event('SEE'))).toBe('taken');
  });

  it('does not fill the inbox with long events', async () => {
    const { worker, queue, redis } = await asleep();
    await worker.close();
    const impatient = createEngine(spreadOver([queue], redis, Date.now), Date.now, 0);
    const sent: string[] = [];
    for (let index = 0; index < 6; index += 1)
      sent.push(
        await impatient.send(door, 'I-1', `k${index}`, event('SEE', { text: 'x'.repeat(60_000) })),
      );
    expect(sent).toEqual(['taken', 'taken', 'taken', 'taken', 'taken', 'busy']);
  });
});

describe('a commit that Redis gets twice, because its answer was lost', () => {
  /** Sends the commits of a job again, as ioredis does after a cut connection. */
  const twice = (redis: Redis, between: () => Promise<unknown>) => {
    const real = redis.eval.bind(redis) as (...given: readonly unknown[]) => Promise<unknown>;
    const answers: unknown[] = [];
    redis.eval = (async (...given: readonly unknown[]) => {
      const answer = await real(...given);
      if (!String(given[0]).includes("'progress', record")) return answer;
      await between();
      const again = await real(...given);
      answers.push([answer, again]);
      return again;
    }) as never;
    return answers;
  };

  it('keeps the events that have come in between', async () => {
    const { engine, redis, worker, work, queue, ended } = await asleep();
    await worker.close();
    await engine.send(door, 'I-1', 'k1', event('SEE', { number: 1 }));
    await engine.send(door, 'I-1', 'k2', event('SEE', { number: 2 }));
    const sent: Promise<unknown>[] = [];
    const length = async () => (await redis.hget(queue.toKey('I-1'), 'inbox'))?.length ?? 0;
    const answers = twice(redis, async () => {
      if (sent.length > 0) return;
      const before = await length();
      sent.push(engine.send(door, 'I-1', 'k3', event('KNOCK')));
      sent.push(engine.send(door, 'I-1', 'k4', event('SEE', { number: 3 })));
      await expect.poll(async () => (await length()) > before).toBe(true);
    });
    await work([door]);
    await expect.poll(() => sent.length).toBe(2);
    await Promise.all(sent);
    await engine.send(door, 'I-1', 'end', event('END'));
    const { record } = await ended('I-1');
    expect(record?.output).toMatchObject([{ number: 1 }, { number: 2 }, { number: 3 }]);
    const verdicts = ['k1', 'k2', 'k3', 'k4', 'end'].map((key) => engine.verdict('I-1', key));
    expect(await Promise.all(verdicts)).toEqual(['taken', 'taken', 'refused', 'taken', 'taken']);
    // Of one that slept the second finds its own id, or that of the turn after it. Events that have
    // come in between are of that turn.
    const same = [
      [1, 1],
      [1, 0],
      [2, 2],
    ];
    expect(answers.length).toBeGreaterThan(0);
    for (const pair of answers) expect(same).toContainEqual(pair);
  });
});
