/** Input and events that a schema reads: once, and with a sentence for each mistake. */
import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { z } from 'zod';
import { testRedis } from '../../../test/support/redis.ts';
import { defineWorkflow } from '../src/define.ts';
import { problemIn } from '../src/input-problem.ts';
import { SchemaError } from '../src/schema.ts';
import { createStage } from './stage.ts';

const newStage = createStage(testRedis());

describe('the input of an instance', () => {
  it('is transformed once, also where the engine is used as a library', async () => {
    const stage = newStage();
    const chart = setup({
      types: { input: {} as Record<string, unknown>, context: {} as Record<string, unknown> },
    }).createMachine({
      context: ({ input }) => input,
      output: ({ context }) => context,
      initial: 'done',
      states: { done: { type: 'final' } },
    });
    const workflow = defineWorkflow({
      name: 'transformed',
      version: 1,
      chart,
      input: z.object({
        // Its own output is no number of cents.
        amount: z.string().transform((text) => ({ cents: Number(text) * 100 })),
        note: z.string().transform((text) => `${text}!`),
      }),
    });
    await stage.work([workflow]);
    await stage.engine.start(workflow, 'one', { amount: '5', note: 'Hello' });
    const { ended, record, failedReason } = await stage.ended('one');
    expect({ ended, failedReason, output: record?.output }).toEqual({
      ended: 'completed',
      failedReason: undefined,
      output: { amount: { cents: 500 }, note: 'Hello!' },
    });
    const refused = stage.engine.start(workflow, 'two', { amount: 5.25, note: 'Hello' });
    await expect(refused).rejects.toThrow(SchemaError);
    await expect(refused).rejects.toThrow(
      /^amount: Invalid input: expected string, received number$/,
    );
    expect(await stage.engine.find('two')).toBeUndefined();
  });

  it('is none for a chart that is started without one, as in XState', async () => {
    const stage = newStage();
    const chart = setup({
      types: { input: {} as { readonly n: number } | undefined },
    }).createMachine({
      context: ({ input }) => ({ type: typeof input }),
      output: ({ context }) => context,
      initial: 'done',
      states: { done: { type: 'final' } },
    });
    const workflow = defineWorkflow({ name: 'without', version: 1, chart });
    await stage.work([workflow]);
    await stage.engine.start(workflow, 'one', undefined);
    expect((await stage.ended('one')).record?.output).toEqual({ type: 'undefined' });
  });

  it('is refused with each mistake as the reason of the job, in one line', async () => {
    const stage = newStage();
    const chart = setup({}).createMachine({});
    const input = z.object({ text: z.string().min(3), list: z.array(z.number()) });
    const workflow = defineWorkflow({ name: 'strict', version: 1, chart, input });
    await stage.work([workflow]);
    await stage.queue.add('strict', { text: 'SE', list: [1, 'SECRET'] }, { jobId: 'bad' });
    const { failedReason } = await stage.ended('bad');
    expect(failedReason).toBe(
      'The input is not usable: text: Too small: expected string to have >=3 characters; list[1]: Invalid input: expected number, received string',
    );
  });
});

describe('what is wrong with a value', () => {
  const problem = (schema: z.ZodType, value: unknown): string | undefined => {
    const { error } = schema.safeParse(value);
    return problemIn(error, { whole: 'input', values: [value] });
  };

  it.each([
    [z.email(), 'anna@', 'input: Invalid email address'],
    [
      z.object({ a: z.object({ b: z.literal('x') }) }),
      { a: { b: 'y' } },
      'a.b: Invalid input: expected "x"',
    ],
    [z.enum(['one', 'two']), 'three', 'input: Invalid option: expected one of "one"|"two"'],
    [
      z.object({
        how: z.union([z.object({ by: z.string(), at: z.string() }), z.object({ by: z.string() })]),
      }),
      { how: { by: 5 } },
      'how.by: Invalid input: expected string, received number',
    ],
    [
      z.object({ to: z.union([z.string(), z.literal(7), z.object({ name: z.string() })]) }),
      { to: true },
      'to: Invalid input: expected string | 7 | object',
    ],
    [z.number().refine(() => false, { error: 'must be even' }), 3, 'input must be even'],
    [
      z.string().refine(() => false, { error: ({ input }) => `${input} is taken` }),
      'SECRET',
      'input is not what it must be',
    ],
    [z.strictObject({}), { SECRET: 1 }, 'input has members that are not known here'],
    [z.string().refine(() => false, { error: 'first\nsecond' }), 'x', 'input: first second'],
  ])('is said in the words of the schema, without the value: %#', (schema, value, words) => {
    expect(problem(schema, value)).toBe(words);
  });

  it('is said ten times at most', () => {
    const value = Array.from({ length: 12 }, () => 'x');
    expect(problem(z.array(z.number()), value)?.split('; ')).toEqual([
      ...Array.from(
        { length: 10 },
        (_, at) => `[${at}]: Invalid input: expected number, received string`,
      ),
      'and 2 more',
    ]);
  });

  it('is understood of other libraries that give issues, and of nothing else', () => {
    const issues = [{ path: ['a', { key: 0 }], message: 'Expected a number' }];
    expect(
      problemIn(Object.assign(new Error('[]'), { issues }), {
        whole: 'input',
        values: [{ a: ['x'] }],
      }),
    ).toBe('a[0]: Expected a number');
    expect(problemIn(new TypeError('a bug'), { whole: 'input', values: [1] })).toBeUndefined();
  });
});
