/** What a commit writes, and what it refuses. */
import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, assign, setup } from 'xstate';
import { testRedis } from '../../../test/support/redis.ts';
import { activity, defineWorkflow, later } from '../src/define.ts';
import type { ChildActor } from '../src/record.ts';
import { divide, join, noParts } from '../src/redis/record-parts.ts';
import { createStage } from './stage.ts';

const begin = createStage(testRedis());
const event = (type: string, more: object = {}) => ({ type, ...more }) as { type: string };

/** A chart with as many children as it is told. Each has a text and ends by its own event. */
const crowd = (began: () => void = () => undefined) => {
  const child = setup({
    actors: {
      ask: activity(async () => {
        began();
        return later;
      }),
    },
  }).createMachine({
    context: ({ input }) => ({ text: `${JSON.stringify(input)} ${'x'.repeat(300)}` }),
    initial: 'asked',
    states: { asked: { invoke: { src: 'ask' }, on: { SIGN: 'signed' } }, signed: {} },
  });
  return defineWorkflow({
    name: 'crowd',
    version: 1,
    chart: setup({ actors: { child } }).createMachine({
      context: { left: 0, filling: '' },
      initial: 'open',
      states: {
        open: {
          on: {
            CALL: {
              actions: assign(({ spawn, event: { count } }) => {
                for (let at = 0; at < count; at += 1)
                  spawn('child', { id: `c${at}`, input: `nr ${at}` } as never);
                return { left: count };
              }),
            },
            FILL: { actions: assign({ filling: ({ event: { size } }) => 'y'.repeat(size) }) },
            END: 'ended',
          },
        },
        ended: { type: 'final' },
      },
    } as never) as unknown as AnyStateMachine,
  });
};

const valuesIn = (children: Readonly<Record<string, unknown>> = {}): readonly unknown[] =>
  Object.values(children).map((child) => (child as ChildActor).chart?.value);

describe('a large tree', () => {
  it('is stored in parts, of which a commit writes those that changed', async () => {
    const { engine, work, until, redis, queue, troubles } = begin();
    const workflow = crowd();
    await work([workflow]);
    await engine.start(workflow, 'many');
    await until('many', ({ record }) => record !== undefined);
    await engine.send(workflow, 'many', 'call', event('CALL', { count: 100 }));
    await until('many', ({ record }) => valuesIn(record?.children).length === 100);
    const asleep = async (): Promise<Record<string, string>> => {
      for (;;) {
        const hash = await redis.hgetall(queue.toKey('many'));
        if (hash.open === '2' && hash.inbox === '') return hash;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const before = await asleep();
    const parts = Object.keys(before).filter((field) => field.startsWith('part:'));
    expect(parts.length).toBeGreaterThan(20);
    await engine.send(workflow, 'many/c50', 'sign', event('SIGN'));
    await until('many', ({ record }) => valuesIn(record?.children).includes('signed'));
    const after = await asleep();
    const written = Object.entries(after).filter(([field, text]) => before[field] !== text);
    const bytes = written.reduce((sum, [field, text]) => sum + field.length + text.length, 0);
    expect(bytes).toBeLessThan(Object.values(before).join('').length / 10);
    const { record } = await until('many', () => true);
    expect(valuesIn(record?.children).filter((value) => value === 'signed')).toHaveLength(1);
    await engine.send(workflow, 'many', 'end', event('END'));
    await until('many', ({ ended }) => ended === 'completed');
    const left = Object.keys(await redis.hgetall(queue.toKey('many')));
    expect(left.filter((field) => field.startsWith('part:'))).toEqual([]);
    expect(troubles).toEqual([]);
  });

  it('comes back as it was, whatever changes in it', () => {
    let parts = noParts;
    const stored = new Map<number, string>();
    let random = 7;
    const roll = (below: number): number => {
      random = (random * 16807) % 2147483647;
      return random % below;
    };
    const items: string[] = [];
    for (let round = 0; round < 300; round += 1) {
      const at = roll(items.length + 1);
      if (roll(3) === 0) items.splice(at, 1 + roll(3));
      else if (roll(2) === 0) items[at] = `${roll(1e9)} é}"{ ${'😀'.repeat(roll(90))}`;
      else items.splice(at, 0, ...Array.from({ length: roll(9) }, () => 'same '.repeat(20)));
      const record = { workflow: 'w', items: items.map((text) => ({ text })) };
      const division = divide(record, JSON.stringify(record), true, parts);
      for (const { name } of division.gone) stored.delete(name);
      for (const { name, text } of division.added) stored.set(name, text);
      const joined = join(JSON.parse(division.progress), (name) => stored.get(name));
      expect(joined.record).toEqual(record);
      expect(stored.size).toBe(new Set(joined.parts.all.map(({ name }) => name)).size);
      parts = division.parts;
    }
  });
});

describe('a tree beyond its bound', () => {
  it.each([
    ['too many children', event('CALL', { count: 1001 }), /more than 1000 children/],
    ['too many bytes', event('FILL', { size: 1_100_000 }), /more than 1048576 bytes/],
  ])('ends with a sentence, and keeps what was stored: %s', async (_, large, sentence) => {
    const { engine, work, until, ended } = begin();
    let asked = 0;
    const workflow = crowd(() => {
      asked += 1;
    });
    await work([workflow]);
    await engine.start(workflow, 'big');
    await until('big', ({ record }) => record !== undefined);
    await engine.send(workflow, 'big', 'small', event('FILL', { size: 3 }));
    await until(
      'big',
      ({ record }) => (record?.context as { filling?: string })?.filling === 'yyy',
    );
    await engine.send(workflow, 'big', 'large', large);
    const { failedReason, record } = await ended('big');
    expect(failedReason).toMatch(sentence);
    expect(record?.context).toMatchObject({ filling: 'yyy' });
    expect(record?.status).toBe('error');
    expect(await engine.verdict('big', 'large')).toBe('refused');
    expect(asked).toBe(0);
  });
});

/** So many charts in each other, when it has heard GO. */
const nested = (levels: number) => {
  const machine = (inner: AnyStateMachine): AnyStateMachine =>
    setup({ actors: { inner } }).createMachine({
      initial: 'open',
      states: { open: { invoke: { src: 'inner' } } },
    }) as unknown as AnyStateMachine;
  const innermost = setup({}).createMachine({}) as unknown as AnyStateMachine;
  const inner = Array.from({ length: levels - 2 }).reduce<AnyStateMachine>(
    (below) => machine(below),
    innermost,
  );
  const chart = setup({ actors: { inner } }).createMachine({
    initial: 'idle',
    states: { idle: { on: { GO: 'open' } }, open: { invoke: { src: 'inner' } } },
  });
  return defineWorkflow({ name: `nested-${levels}`, version: 1, chart });
};

describe('charts in each other', () => {
  it('are at most a hundred; with one more the instance ends with a sentence', async () => {
    const { engine, work, until, ended } = begin();
    const [most, more] = [nested(100), nested(101)];
    await work([most, more]);
    for (const [id, workflow] of [
      ['most', most],
      ['more', more],
    ] as const) {
      await engine.start(workflow, id);
      await until(id, ({ record }) => record !== undefined);
      await engine.send(workflow, id, 'go', event('GO'));
    }
    expect((await ended('more')).failedReason).toMatch(/more than 100 charts in each other/);
    expect((await until('most', ({ record }) => record?.value === 'open')).ended).toBe('no');
  });
});

describe('a commit that puts its job to sleep', () => {
  it('counts once when its answer is lost, and the job sleeps', async () => {
    const { engine, work, until, redis, queue, troubles } = begin();
    let begun = 0;
    const workflow = crowd(() => {
      begun += 1;
    });
    const evaluate = redis.eval.bind(redis) as (...given: unknown[]) => Promise<unknown>;
    let lost = 0;
    // As a client does whose connection was cut before the answer came.
    Reflect.set(redis, 'eval', async (script: string, ...given: unknown[]) => {
      const answer = await evaluate(script, ...given);
      if (!script.includes('moveToDelayed') || lost >= 3 || answer !== 1) return answer;
      if (Number(given[0]) === 4) return answer;
      lost += 1;
      return evaluate(script, ...given);
    });
    await work([workflow]);
    await engine.start(workflow, 'one');
    await until('one', ({ record }) => record !== undefined);
    await engine.send(workflow, 'one', 'call', event('CALL', { count: 1 }));
    await until('one', ({ record }) => valuesIn(record?.children).length === 1);
    await engine.send(workflow, 'one/c0', 'sign', event('SIGN'));
    await until('one', ({ record }) => valuesIn(record?.children).includes('signed'));
    expect(lost).toBeGreaterThan(0);
    expect(begun).toBe(1);
    await engine.send(workflow, 'one', 'end', event('END'));
    await until('one', ({ ended }) => ended === 'completed');
    expect(await queue.getDelayedCount()).toBe(0);
    expect(troubles).toEqual([]);
  });

  it('takes no event that came meanwhile, when it is sent again after a timeout', async () => {
    const { engine, work, until, redis, queue } = begin();
    const workflow = crowd();
    const answers: unknown[] = [];
    let sent: Promise<unknown> | undefined;
    const evaluate = redis.eval.bind(redis) as (...given: unknown[]) => Promise<unknown>;
    let isOver = true;
    Reflect.set(redis, 'eval', async (script: string, keys: number, ...given: unknown[]) => {
      const isSleep = script.includes('moveToDelayed') && keys > 5;
      if (isOver || !isSleep) return evaluate(script, keys, ...given);
      isOver = true;
      sent = engine.send(workflow, 'one', 'late', event('FILL', { size: 5 }));
      await expect.poll(() => redis.hget(queue.toKey('one'), 'inbox')).toContain('late');
      answers.push(await evaluate(script, keys, ...given));
      throw new Error('Command timed out');
    });
    await work([workflow]);
    await engine.start(workflow, 'one');
    await until('one', ({ record }) => record !== undefined);
    isOver = false;
    await engine.send(workflow, 'one', 'early', event('FILL', { size: 5 }));
    await expect.poll(() => engine.verdict('one', 'early')).toBe('taken');
    await expect.poll(() => engine.verdict('one', 'late')).toBe('taken');
    expect([answers, await sent]).toEqual([[2], 'taken']);
  });
});
