/** The engine's face: instances of one workflow, typed by its machine. */
import { randomUUID } from 'node:crypto';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { testRedis } from '../../../test/support/redis.ts';
import { activity, defineWorkflow, later } from '../src/define.ts';
import type { InstanceOf } from '../src/instances.ts';
import { createStage } from './stage.ts';

const stage = createStage(testRedis());
const newId = (): string => `order-${randomUUID()}`;

type OrderEvent = { type: 'PAID'; cents: number } | { type: 'CLOSE' } | { type: 'PICK' };

const line = setup({ types: { context: {} as { count: number } } }).createMachine({
  context: { count: 0 },
  on: { COUNT: { actions: assign({ count: ({ context }) => context.count + 1 }) } },
});

const machine = setup({
  types: {
    input: {} as { cents: number },
    context: {} as { cents: number; paid: number },
    events: {} as OrderEvent,
    output: {} as { paid: number },
    tags: {} as 'settled',
  },
  actors: { line },
}).createMachine({
  context: ({ input }) => ({ cents: input.cents, paid: 0 }),
  initial: 'open',
  invoke: { id: 'a line', src: 'line' },
  output: ({ context: { paid } }) => ({ paid }),
  states: {
    open: {
      on: {
        PAID: {
          guard: ({ context, event }) => event.cents <= context.cents - context.paid,
          actions: assign({ paid: ({ context, event }) => context.paid + event.cents }),
        },
      },
      always: { guard: ({ context }) => context.paid === context.cents, target: 'paid' },
    },
    paid: { tags: 'settled', on: { CLOSE: 'closed' } },
    closed: { type: 'final' },
  },
});
const order = defineWorkflow({ name: 'order', version: 1, chart: machine });

describe('the types', () => {
  const { engine } = { engine: undefined as unknown as ReturnType<typeof stage>['engine'] };
  type Orders = ReturnType<typeof engine.of<typeof machine, { cents: number }>>;
  const typed = <Given>(_: Given): void => undefined;

  it('are those of the machine, from the start to the output', () => {
    const of = () => engine.of(order);
    type Of = ReturnType<typeof of>;
    expectTypeOf<Of>().toEqualTypeOf<Orders>();
    expectTypeOf<Parameters<Of['start']>[1]>().toEqualTypeOf<{ cents: number }>();
    expectTypeOf<Parameters<Of['sendOrStart']>[2]>().toEqualTypeOf<OrderEvent>();
    type Found = NonNullable<Awaited<ReturnType<Of['find']>>>;
    expectTypeOf<Found>().toEqualTypeOf<InstanceOf<typeof machine>>();
    expectTypeOf<Found['output']>().toEqualTypeOf<{ paid: number } | undefined>();
    expectTypeOf<NonNullable<Found['snapshot']>['context']>().toEqualTypeOf<{
      cents: number;
      paid: number;
    }>();
    typed(async (orders: Of) => {
      // @ts-expect-error The machine takes no such input.
      await orders.start('x', { cents: '1' });
      // @ts-expect-error The machine needs its input.
      await orders.start('x');
      // @ts-expect-error The machine has no such event.
      await orders.send('x', { type: 'LOST' });
      // @ts-expect-error The event has another member.
      await orders.send('x', { type: 'PAID', euros: 1 });
      // @ts-expect-error The key is needed: it is repeated after a crash.
      await orders.sendOrStart('x', { cents: 1 }, { type: 'CLOSE' }, {});
      // @ts-expect-error The machine has no such tag.
      await orders.waitFor('x', (snapshot) => snapshot.hasTag('paid'));
      await orders.send('x', { type: 'COUNT' }, { path: 'a%20line' });
    });
  });

  it('take the input of a schema, or the result of another parser, before that of the machine', () => {
    const schema = defineWorkflow({
      name: 'a',
      version: 1,
      chart: machine,
      input: z.object({ price: z.coerce.number<string>() }),
      begin: ({ price }) => ({ cents: price * 100 }),
      reasonOf: ({ cents }) => String(cents),
      publish: ({ paid }) => paid,
    });
    const parser = defineWorkflow({
      name: 'b',
      version: 1,
      chart: machine,
      input: { parse: (given: unknown) => ({ cents: Number(given) }) },
    });
    const free = defineWorkflow({ name: 'c', version: 1, chart: setup({}).createMachine({}) });
    typed(async () => {
      await engine.of(schema).start('x', { price: '1' });
      // @ts-expect-error The schema takes a text.
      await engine.of(schema).start('x', { price: 1 });
      await engine.of(parser).start('x', { cents: 1 });
      await engine.of(free).start('x');
    });
    expect([schema, parser, free].map(({ chart }) => chart.name)).toEqual(['a', 'b', 'c']);
  });
});

describe('an instance', () => {
  it('is started once, whoever comes first', async () => {
    const { engine, queue } = stage();
    const orders = engine.of(order);
    const id = newId();
    const given = await Promise.all([1, 2, 3, 4].map((cents) => orders.start(id, { cents })));
    expect(given.toSorted()).toEqual(['exists', 'exists', 'exists', 'started']);
    expect((await queue.getJob(id))?.data).toEqual({ cents: given.indexOf('started') + 1 });
    expect(await orders.start(id, { cents: 5 })).toBe('exists');
  });

  it('is waited for, asked what it would do, and ends with its output', async () => {
    const { engine, work } = stage();
    await work([order]);
    const orders = engine.of(order);
    const id = newId();
    expect(await orders.can(id, { type: 'CLOSE' })).toBe('unknown');
    expect(await orders.find(id)).toBeUndefined();
    await orders.start(id, { cents: 3 });
    const settled = orders.waitFor(id, (snapshot) => snapshot.hasTag('settled'));
    expect(await orders.can(id, { type: 'PAID', cents: 4 })).toBe('refused');
    expect(await orders.can(id, { type: 'PAID', cents: 3 })).toBe('taken');
    expect(await orders.send(id, { type: 'CLOSE' }, { key: 'early', judged: true })).toBe(
      'refused',
    );
    const pay = () => orders.send(id, { type: 'PAID', cents: 3 }, { key: 'pay', judged: true });
    expect([await pay(), await pay()]).toEqual(['taken', 'taken']);
    expect((await settled).context.paid).toBe(3);
    expect(await orders.can(id, { type: 'CLOSE' })).toBe('taken');
    expect((await orders.find(id))?.snapshot?.matches('paid')).toBe(true);
    await orders.send(id, { type: 'CLOSE' });
    expect(await orders.ended(id)).toMatchObject({ ended: 'completed', output: { paid: 3 } });
    expect(await orders.can(id, { type: 'CLOSE' })).toBe('finished');
    await expect(orders.waitFor(id, (snapshot) => snapshot.matches('open'))).rejects.toThrow(
      'The instance has ended before it was as wanted',
    );
    await expect(orders.waitFor(newId(), () => true)).rejects.toThrow('There is no such instance');
  });

  it('ends no wait by itself: the signal does', async () => {
    const { engine, work } = stage();
    await work([order]);
    const orders = engine.of(order);
    const id = newId();
    await orders.start(id, { cents: 3 });
    const stop = new AbortController();
    const waiting = orders.waitFor(id, (snapshot) => snapshot.matches('paid'), {
      signal: stop.signal,
    });
    stop.abort();
    await expect(waiting).rejects.toThrow('aborted');
    expect(await orders.stop(id, 'nobody pays')).toBe('taken');
    expect(await orders.ended(id)).toMatchObject({ reason: 'nobody pays', output: undefined });
  });

  it('asks changes nothing, of a child by its path too', async () => {
    const { engine, redis, queue, work } = stage();
    const worker = await work([order]);
    const orders = engine.of(order);
    const id = newId();
    await orders.start(id, { cents: 3 });
    await orders.waitFor(id, (snapshot) => snapshot.matches('open'));
    const path = 'a%20line';
    expect(await orders.send(id, { type: 'COUNT' }, { path, key: 'one', judged: true })).toBe(
      'taken',
    );
    await worker.close();
    const before = await redis.hgetall(queue.toKey(id));
    expect(await orders.can(id, { type: 'COUNT' }, { path })).toBe('taken');
    expect(await orders.can(id, { type: 'PAID', cents: 1 }, { path })).toBe('refused');
    expect(await orders.can(id, { type: 'COUNT' }, { path: 'nobody' })).toBe('refused');
    expect(await orders.can(id, { type: 'PAID', cents: 1 })).toBe('taken');
    expect(await redis.hgetall(queue.toKey(id))).toEqual(before);
    const { children } = (await orders.find(id))?.snapshot ?? {};
    expect(children?.['a line']?.getSnapshot().context).toEqual({ count: 1 });
  });
});

describe('a send that may have to start', () => {
  const pay = { type: 'PAID', cents: 2 } as const;

  it('stores start and event together: the first turn applies it, once for each key', async () => {
    const { engine, work } = stage();
    const orders = engine.of(order);
    const id = newId();
    const both = (key: string) => orders.sendOrStart(id, { cents: 5 }, pay, { key });
    expect(await both('a')).toBe('started');
    // No worker has run yet.
    expect(await both('a')).toBe('taken');
    expect(await both('b')).toBe('taken');
    expect(await orders.can(id, pay)).toBe('refused');
    await work([order]);
    expect(await orders.send(id, pay, { key: 'a', judged: true })).toBe('taken');
    expect(await orders.send(id, pay, { key: 'c', judged: true })).toBe('refused');
    expect(await both('b')).toBe('taken');
    expect((await orders.find(id))?.snapshot?.context.paid).toBe(4);
  });

  it('keeps the verdict on the event when the first turn ends the instance', async () => {
    const { engine, work } = stage();
    const quick = setup({ types: { events: {} as { type: 'GO' | 'NO' } } }).createMachine({
      initial: 'a',
      states: { a: { on: { GO: 'b' } }, b: { type: 'final' } },
    });
    const quickly = defineWorkflow({ name: 'quick', version: 1, chart: quick });
    await work([quickly]);
    const all = engine.of(quickly);
    const id = newId();
    expect(await all.sendOrStart(id, undefined, { type: 'GO' }, { key: 'go' })).toBe('started');
    expect(await all.ended(id)).toMatchObject({ ended: 'completed' });
    expect(await all.send(id, { type: 'GO' }, { key: 'go' })).toBe('taken');
    const other = newId();
    await all.sendOrStart(other, undefined, { type: 'NO' }, { key: 'no' });
    expect(await all.send(other, { type: 'NO' }, { key: 'no', judged: true })).toBe('refused');
  });

  it('starts nothing where the event or the input is none of the workflow', async () => {
    const { engine } = stage();
    const events = z.object({ type: z.literal('PAID'), cents: z.number() });
    const strict = defineWorkflow({ name: 'order', version: 1, chart: machine, events });
    const orders = engine.of(strict);
    const id = newId();
    const start = orders.sendOrStart(id, { cents: 1 }, { type: 'CLOSE' }, { key: 'a' });
    await expect(start).rejects.toThrow(
      /^type: Invalid input: expected "PAID"; cents: Invalid input: expected number, received undefined$/,
    );
    const empty = orders.sendOrStart(id, { cents: 1 }, pay, { key: '' });
    await expect(empty).rejects.toThrow('key: 1 to 1000 characters');
    expect(await orders.find(id)).toBeUndefined();
  });
});

describe('what cannot be stored', () => {
  const bad = { list: [1, () => 1] };
  const refused = 'list[1]: a function cannot be stored';
  const asked: { token: string } = { token: '' };
  const chart = setup({
    types: {
      input: {} as { how: string; more?: unknown },
      context: {} as { how: string; said?: string },
    },
    actors: {
      ask: activity<string, unknown>(async ({ input, token }) => {
        asked.token = token;
        if (input === 'later') return later;
        if (input === 'slow') await new Promise((resolve) => setTimeout(resolve, 100));
        if (input.endsWith('throws')) throw Object.assign(new Error('no'), bad);
        return bad;
      }),
    },
  }).createMachine({
    context: ({ input }) => ({ how: input.how }),
    initial: 'asking',
    states: {
      asking: {
        invoke: {
          src: 'ask',
          input: ({ context }) => context.how,
          onDone: 'done',
          onError: {
            target: 'done',
            actions: assign({ said: ({ event }) => (event.error as Error).message }),
          },
        },
        on: { NOTE: {} },
      },
      done: { type: 'final' },
    },
  });
  const asking = defineWorkflow({ name: 'asking', version: 1, chart });

  it('is refused with its place before anything is acknowledged', async () => {
    const { engine, work } = stage();
    await work([asking]);
    const all = engine.of(asking);
    const id = newId();
    await expect(all.start(id, { how: 'later', more: bad })).rejects.toThrow(
      `input.more.${refused}`,
    );
    expect(await all.find(id)).toBeUndefined();
    await all.start(id, { how: 'later' });
    await expect.poll(() => asked.token).not.toBe('');
    const event = { type: 'NOTE', ...bad };
    await expect(all.send(id, event)).rejects.toThrow(`event.${refused}`);
    await expect(all.can(id, event)).rejects.toThrow(`event.${refused}`);
    await expect(engine.answer(asked.token, { output: bad })).rejects.toThrow(`output.${refused}`);
    const error = Object.assign(new Error('no'), bad);
    await expect(engine.answer(asked.token, { error })).rejects.toThrow(`error.${refused}`);
    expect(await engine.answer(asked.token, { error: { code: 7 } })).toBe('taken');
  });

  it.each(['fast', 'slow'])('is the same error of an activity that is %s', async (how) => {
    const { engine, work } = stage();
    await work([asking]);
    const all = engine.of(asking);
    const id = newId();
    await all.start(id, { how });
    expect((await all.ended(id)).snapshot?.context.said).toBe(`output.${refused}`);
    await all.start(`${id}-throws`, { how: `${how} throws` });
    expect((await all.ended(`${id}-throws`)).snapshot?.context.said).toBe(`error.${refused}`);
  });

  it('is not what JSON alone could not keep: an input, too, comes as it was given', async () => {
    const { engine, work } = stage();
    const since = setup({
      types: {
        input: {} as { since: Date; some: bigint },
        context: {} as { since: Date; some: bigint },
      },
    }).createMachine({ context: ({ input }) => input });
    const dated = defineWorkflow({
      name: 'dated',
      version: 1,
      chart: since,
      input: z.object({ since: z.date(), some: z.bigint() }),
    });
    await work([dated]);
    const all = engine.of(dated);
    const id = newId();
    const input = { since: new Date(5), some: 2n ** 70n };
    await all.start(id, input);
    expect((await all.waitFor(id, () => true)).context).toEqual(input);
  });
});
