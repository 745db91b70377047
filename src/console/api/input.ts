/**
 * What the API is told, checked. A problem names the field and what it must be, never what it was.
 */
import type { Context } from 'hono';
import { z } from 'zod';
import type { HistoryFilter } from '../../history/filter.ts';
import { auditActions } from '../../operators/audit.ts';
import { callbacksPerSecond } from '../../operators/callback-replays.ts';
import { roles } from '../../operators/operator.ts';
import { faultCodes } from '../../protocol/fault.ts';
import { profileNames } from '../../protocol/requests.ts';
import type { ConsoleEnvironment } from '../deps.ts';
import { refuse } from './answers.ts';

export type Input<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly response: Response };

export const states = ['submitted', 'pending', 'signed', 'failed', 'receipted'] as const;

const listOf = <T extends z.ZodType>(entry: T) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? value.split(',') : value),
    z.array(entry).min(1).max(50),
  );

/** Milliseconds since the epoch, or a date of ISO 8601. */
const time = z.preprocess(
  (value) => {
    if (typeof value !== 'string') return value;
    if (/^\d{1,15}$/.test(value)) return Number(value);
    return /^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?$/.test(value) ? Date.parse(value) : Number.NaN;
  },
  z.int({ error: 'must be milliseconds since the epoch or an ISO 8601 date' }).min(0),
);
const count = (most: number) => z.coerce.number().pipe(z.int().min(1).max(most));
const text = (most: number) => z.string().min(1).max(most);
const cursor = z.string().max(100).optional();

const filterShape = {
  state: listOf(z.enum(states)).optional(),
  fault: listOf(z.coerce.number().pipe(z.literal(faultCodes))).optional(),
  apId: text(256).optional(),
  msisdn: z
    .string()
    .regex(/^\+?\d{3,15}$/, { error: 'must be a number with its country code' })
    .optional(),
  profile: z.enum(profileNames).optional(),
  from: time.optional(),
  to: time.optional(),
  text: text(256).optional(),
};

export const detailQuery = z.object({ reveal: z.stringbool().default(true) });
export const eventsQuery = z.object({ rows: z.stringbool().default(false) });

export const transactionsQuery = z.strictObject({
  ...filterShape,
  limit: count(500).default(50),
  cursor,
});

const { state: _, ...failedShape } = filterShape;
const replayFilter = z.strictObject({ ...failedShape, maxAttempts: count(1000).optional() });

const selection = {
  filter: replayFilter.optional(),
  ids: z.array(text(100)).min(1).max(20_000).optional(),
};
const oneOf = {
  error: 'must have either filter or ids',
};
const hasOne = (body: { filter?: unknown; ids?: unknown }): boolean =>
  (body.filter === undefined) !== (body.ids === undefined);

const reason = text(500);

export const planBody = z.strictObject({ ...selection, reason: reason.optional() }).refine(hasOne, oneOf);
export const startBody = z
  .strictObject({ ...selection, reason, perSecond: z.number().min(0.01).max(1000).default(5) })
  .refine(hasOne, oneOf);
export const optionalReasonBody = z.strictObject({ reason: reason.optional() });
export const reasonBody = z.strictObject({ reason });

const callbackShape = { apId: text(256).optional(), to: time.optional() };
const callbackFilter = z.strictObject(callbackShape);
export const callbacksQuery = z.strictObject({
  ...callbackShape,
  // The others are found by their transaction.
  state: z.literal('dead', { error: 'must be dead' }).default('dead'),
  limit: count(500).default(50),
  cursor,
});
export const callbackPlanBody = z.strictObject({ filter: callbackFilter });
export const callbackReplayBody = z.strictObject({
  filter: callbackFilter,
  reason: reason.optional(),
  perSecond: z
    .number()
    .min(callbacksPerSecond.least)
    .max(callbacksPerSecond.most)
    .default(callbacksPerSecond.usual),
});

export const overviewQuery = z.strictObject({ hours: z.coerce.number().min(0.1).max(25).default(1) });
export const replaysQuery = z.strictObject({ limit: count(200).default(50) });
export const auditQuery = z.strictObject({
  from: time.optional(),
  to: time.optional(),
  who: text(64).optional(),
  action: z.enum(auditActions).optional(),
  target: text(256).optional(),
  limit: count(1000).default(100),
  cursor,
});

const phoneShape = { msisdn: text(40).optional(), oidcSubject: text(255).optional() };
export const userBody = z.strictObject({
  name: text(64),
  role: z.enum(roles),
  password: text(1024).optional(),
  ...phoneShape,
});
export const phoneBody = z.strictObject(phoneShape);
export const roleBody = z.strictObject({ role: z.enum(roles) });
export const tokenBody = z.strictObject({
  label: text(100).default('API'),
  days: z.number().min(0.01).max(366).default(90),
});

/** @returns What a filter of the API is to the search. */
export const filterOf = (
  query: {
    readonly [name in keyof typeof filterShape]?: z.output<(typeof filterShape)[name]>;
  },
): HistoryFilter => {
  const { state, fault, apId, msisdn, profile, from, to, text: part } = query;
  return {
    ...(state !== undefined && { states: state }),
    ...(fault !== undefined && { faults: fault }),
    ...(apId !== undefined && { apId }),
    ...(msisdn !== undefined && { msisdn }),
    ...(profile !== undefined && { profile }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(part !== undefined && { text: part }),
  };
};

const problem = ({ issues }: z.ZodError): Response => {
  const [issue] = issues;
  const unknown = issue?.code === 'unrecognized_keys';
  const field = issue?.path.join('.') ?? '';
  // The library's own sentences may quote what was sent; ours may not.
  const custom = issue?.message.startsWith('must ') ? issue.message : 'is not what it must be';
  const about = unknown ? 'has members that are not known here' : custom;
  return refuse(400, 'bad-request', `${field === '' ? 'The request' : field} ${about}`);
};

const checked = <T extends z.ZodType>(schema: T, value: unknown): Input<z.output<T>> => {
  const found = schema.safeParse(value);
  return found.success ? { ok: true, value: found.data } : { ok: false, response: problem(found.error) };
};

/** Empty fields of a form are none. */
export const readQuery = <T extends z.ZodType>(
  c: Context<ConsoleEnvironment>,
  schema: T,
): Input<z.output<T>> =>
  checked(
    schema,
    Object.fromEntries(
      Object.entries(c.req.queries()).flatMap(([name, values]) => {
        const value = values.join(',');
        return value === '' ? [] : [[name, value]];
      }),
    ),
  );

export const readJson = async <T extends z.ZodType>(
  c: Context<ConsoleEnvironment>,
  schema: T,
): Promise<Input<z.output<T>>> => {
  const body = await c.req.text();
  if (body === '') return checked(schema, {});
  if (!(c.req.header('content-type') ?? '').toLowerCase().startsWith('application/json')) {
    return { ok: false, response: refuse(400, 'bad-request', 'Content-Type must be application/json') };
  }
  try {
    return checked(schema, JSON.parse(body));
  } catch {
    return { ok: false, response: refuse(400, 'bad-request', 'The body is not JSON') };
  }
};
