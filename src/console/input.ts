/**
 * Reads and checks the input of programs and forms. An error names each wrong field, never its
 * value.
 */
import type { Context, MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { sayIssues } from '../../packages/engine/src/issues.ts';
import { e164 } from '../../packages/protocol/src/schemas/common.ts';
import { count, text, time } from '../transactions/history/fields.ts';
import { refuse } from './answers.ts';
import type { ConsoleEnvironment } from './deps.ts';
import { demanding } from './openapi.ts';

type Reader<Target extends 'json' | 'query', T extends z.ZodType> = MiddlewareHandler<
  ConsoleEnvironment,
  string,
  { in: Record<Target, z.input<T>>; out: Record<Target, z.output<T>> }
>;

export { count, text, time };

export const paged = (usual: number, max: number) => ({
  limit: count(max).default(usual),
  cursor: z.string().max(100).optional(),
});

/** A phone number, with or without a plus sign. The output is digits. */
export const msisdn = z
  .string()
  .regex(e164, { error: 'must be a number with its country code' })
  .transform((written) => written.replace('+', ''));
/** Reads a number from a form. @returns Digits; undefined for a text that is not a number. */
export const msisdnIn = (written = ''): string | undefined =>
  msisdn.safeParse(written.replaceAll(/[\s()-]/g, '')).data;

export const reason = text(500);
export const reasonBody = z.strictObject({ reason });
export const optionalReasonBody = reasonBody.partial();

const reader = <Target extends 'json' | 'query', T extends z.ZodType>(
  target: Target,
  schema: T,
  read: (c: Context) => Promise<unknown>,
): Reader<Target, T> =>
  demanding({ [target]: schema }, async (c, next) => {
    const value = await read(c);
    if (value instanceof Response) return value;
    const found = schema.safeParse(value);
    if (!found.success) {
      const about = { whole: 'The request', values: [value] };
      return refuse(400, 'bad-request', sayIssues(found.error.issues, about));
    }
    c.req.addValidatedData(target, found.data as object);
    return next();
  });

/** Reads the query for `c.req.valid('query')` of the route. Empty fields are left out. */
export const query = <T extends z.ZodType>(schema: T): Reader<'query', T> =>
  reader('query', schema, async (c) => {
    const values = Object.entries(c.req.queries()).map(
      ([name, all]) => [name, all.join(',')] as const,
    );
    return Object.fromEntries(values.filter(([, value]) => value !== ''));
  });

/** Reads the body for `c.req.valid('json')` of the route. */
export const json = <T extends z.ZodType>(schema: T): Reader<'json', T> =>
  reader('json', schema, async (c) => {
    const body = await c.req.text();
    if (body === '') return {};
    if (!(c.req.header('content-type') ?? '').toLowerCase().startsWith('application/json')) {
      return refuse(400, 'bad-request', 'Content-Type must be application/json');
    }
    try {
      return JSON.parse(body);
    } catch {
      return refuse(400, 'bad-request', 'The body is not JSON');
    }
  });

/** The texts of a form by name, without files. */
export const readForm = async (
  c: Context<ConsoleEnvironment>,
): Promise<Readonly<Partial<Record<string, string>>>> => {
  const form = Object.entries(await c.req.parseBody());
  return Object.fromEntries(
    form.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
};
