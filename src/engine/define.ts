/**
 * What a program writes to make a workflow: an ordinary XState 5 chart, and which version of it this is.
 *
 * ```ts
 * export const order = defineWorkflow({ name: 'order', version: 1, chart: orderMachine, events: orderEvents });
 * ```
 */
import { type AnyStateMachine, fromPromise, type PromiseActorLogic } from 'xstate';
import { z } from 'zod';
import { type Chart, ChartError, createChart } from './chart.ts';
import type { InstanceRecord } from './record.ts';

/** How often an activity is tried, and how long each try may take. Durations in milliseconds. */
export interface ActivityPolicy {
  /** Tries in all; then the chart gets the error. Default 1. */
  readonly attempts?: number;
  /** Pause after the first failed try, doubled after each further one. Default 1000. */
  readonly backoffMs?: number;
  /** The longest pause. Default 60 000. */
  readonly maxBackoffMs?: number;
  /** A try that takes longer is aborted, and counts as failed. Default: no limit. */
  readonly timeoutMs?: number;
  /** So long a turn waits for the answer of a try before its job sleeps. Longer where it only takes a processor. Default 20. */
  readonly turnWaitsMs?: (input: unknown) => number;
  /** Who may try when. One that may not now comes back, which is no failure. */
  readonly gate?: Gate;
  /**
   * A try begins only when the state that it belongs to is stored: from then on the answer may come from elsewhere, as an event. Costs
   * a commit. Default: never.
   */
  readonly afterCommit?: (input: unknown) => boolean;
}

/**
 * place  The try begins; {@link end} is called once, when it has ended.
 * wait   There is no place now: come again.
 */
export type GateTurn =
  | { readonly kind: 'place'; end(verdict: GateVerdict): void }
  | { readonly kind: 'wait'; readonly ms: number };

export type GateVerdict = 'answered' | 'failed' | 'not-asked';

/** Of one process, in memory: places, a circuit breaker. */
export interface Gate {
  turn(input: unknown, instance: InstanceInHand): GateTurn;
  /** What a try with this output says of whom it asked. Default: answered. One that rejects has failed. */
  verdictOf?(output: unknown): GateVerdict;
}

/** `signal` and `token` are made when they are read: name them, for `{ ...given }` does not copy them, nor `data` of the instance. */
export interface ActivityArguments<Input> {
  readonly input: Input;
  readonly instance: InstanceInHand;
  /** Aborts when the chart leaves the state, and when the worker stops. */
  readonly signal: AbortSignal;
  /** Names this run of the activity for ever, however often it is tried: for idempotency, and to answer later. */
  readonly token: string;
  /** When this try began; milliseconds since the epoch. */
  readonly now: number;
}

/** The instance that a turn has in hand. */
export interface InstanceInHand {
  readonly id: string;
  /** What it was started with, as the workflow's `input` reads it. @throws What that throws. */
  readonly data: unknown;
}

/** Returned by an activity whose answer comes later: whoever holds its token gives it (`engine.answer`). */
export const later: unique symbol = Symbol('later');
export type Later = typeof later;

export type ActivityFunction = (given: ActivityArguments<unknown>) => Promise<unknown>;

export interface Activity {
  readonly run: ActivityFunction;
  readonly policy: ActivityPolicy;
}

const activities = new WeakMap<object, Activity>();

/**
 * An activity for `setup({ actors })`: it runs at least once, outside of the chart, and its result is the `done` event.
 *
 * XState's own `fromPromise` is an activity as it stands, with one try.
 */
export const activity = <Input, Output>(
  run: (given: ActivityArguments<Input>) => Promise<Output | Later>,
  policy: ActivityPolicy = {},
): PromiseActorLogic<Output, Input> => {
  // Where XState itself runs the chart, in a test of the chart say, it is a promise like any other.
  const logic = fromPromise<Output, Input>(async ({ input, signal }) => {
    const instance = { id: '', data: undefined };
    const result = await run({ input, instance, signal, token: '', now: 0 });
    if (result === later) throw new Error('Only the engine can wait for a later answer');
    return result as Output;
  });
  activities.set(logic, { run: run as ActivityFunction, policy });
  return logic;
};

export const activityOf = (logic: object): Activity | undefined => activities.get(logic);

/** What a chart may know of its job. */
export interface BegunJob {
  readonly id: string;
  /** When it is taken up; milliseconds since the epoch. */
  readonly at: number;
  /** When it was added, or the time that it was put off to; not later than `at`, whatever the job says. */
  readonly addedAt: number;
  /** No turn has begun before this one. */
  readonly isFirstRun: boolean;
  /** It had ended, and is run again: the chart gets REPLAY next. */
  readonly isReplay: boolean;
  /** BullMQ's option of whoever added it. */
  readonly attempts: number;
}

/** @param at When it is taken up. */
export const begunJob = (
  job: {
    readonly id: string;
    readonly timestamp: number;
    /** Other programs write them, too. */
    readonly opts: unknown;
    readonly turnsBefore: number;
    readonly isReplay: boolean;
  },
  at: number,
): BegunJob => {
  const { id, timestamp, opts, turnsBefore, isReplay } = job;
  const { delay, attempts } = Object(opts) as { readonly delay?: unknown; readonly attempts?: unknown };
  const delayMs = typeof delay === 'number' ? Math.max(delay, 0) : 0;
  return {
    id,
    at,
    addedAt: Math.min(timestamp + delayMs, at),
    isFirstRun: turnsBefore <= 0,
    isReplay,
    // As BullMQ has it where nobody says.
    attempts: typeof attempts === 'number' ? attempts : 0,
  };
};

/** Thrown by `input`, `begin` or `check` of a workflow: the job fails, for this reason, which is one line. */
export class InputError extends Error {
  override readonly name = 'InputError';
}

export interface Workflow {
  readonly chart: Chart;
  /** Of `start`. @throws ZodError, InputError */
  readonly parseInput: (input: unknown) => unknown;
  /** What the chart gets of what lies in the job. @throws ZodError, InputError */
  readonly begin: (data: unknown, job: BegunJob) => unknown;
  /** @throws InputError for a context that no turn has come to. */
  readonly check: (context: unknown, instance: InstanceInHand) => void;
  /** What the job of a completed instance returns. */
  readonly resultOf: (record: InstanceRecord) => unknown;
  /** Of events from outside. */
  readonly parseEvent: (event: unknown) => z.ZodSafeParseResult<{ readonly type: string }>;
  /** Why the job of an instance fails that rests in a state tagged `failed`; one line. */
  readonly reasonOf: (context: unknown) => string;
  /** Charts that it invokes or spawns, by their names in the chart; each is a workflow of its own. */
  readonly children: Readonly<Record<string, Workflow>>;
}

/** Names the version with which an instance begins, so that a worker without it leaves the instance alone. */
export const jobNameOf = ({ chart: { name, version } }: Workflow): string => `${name}@${version}`;

/** @returns Without a version where a program has added the job by itself: the latest is meant. */
export const readJobName = (jobName: string): { readonly name: string; readonly version?: number } => {
  const [name = '', version] = jobName.split('@', 2);
  return version === undefined ? { name } : { name, version: Number(version) };
};

const anyEvent = z.looseObject({ type: z.string().min(1) });
/** Those names are XState's own: from outside they would end activities and fire timers. */
const fromOutside = (schema: z.ZodType<{ readonly type: string }>) =>
  schema.refine(({ type }) => !type.startsWith('xstate.'), {
    path: ['type'],
    error: 'must not begin with xstate.',
  });

/**
 * @throws ChartError for a chart that cannot be made durable, with the place in it.
 */
export const defineWorkflow = (options: {
  /** Letters, digits, dashes and underscores. */
  readonly name: string;
  /** Stored with each instance. Raise it with each change of the chart, and keep the old one in `earlier`. */
  readonly version: number;
  readonly chart: AnyStateMachine;
  /**
   * Of the input: a zod schema, or what reads it otherwise. What does not fit is not started, or ends its job as failed where another
   * program has added it.
   */
  readonly input?: { parse(input: unknown): unknown };
  /** Makes what the chart gets of the input. Default: the input. */
  readonly begin?: (input: never, job: BegunJob) => unknown;
  /**
   * Looks at a context that was stored, and at that of an instance which completes, where other programs can write to the same Redis.
   *
   * @throws InputError
   */
  readonly check?: (context: never, instance: InstanceInHand) => void;
  /** Default: the record. */
  readonly resultOf?: (record: InstanceRecord) => unknown;
  /** The events that may come from outside. Default: any. */
  readonly events?: z.ZodType<{ readonly type: string }>;
  /** Actions that only tell something (a log line, a metric). The others are effects, carried out at least once. */
  readonly observe?: readonly string[];
  /**
   * An instance that comes to rest in a state tagged `failed` fails its job, for this reason. When a job is run again
   * that had failed, or had ended with its first commit, the chart gets the event REPLAY, with its input once more.
   */
  readonly reasonOf?: (context: never) => string;
}): Workflow => {
  const {
    name,
    version,
    chart: machine,
    input,
    begin = (given: unknown) => given,
    events = anyEvent,
    observe = [],
    reasonOf = () => 'failed',
    check = () => undefined,
    resultOf = (record: InstanceRecord): unknown => record,
  } = options;
  if (!/^[A-Za-z][\w-]*$/.test(name)) throw new ChartError('name: letters, digits, - and _, a letter first');
  if (!Number.isInteger(version) || version < 1)
    throw new ChartError(`${name}: version must be a whole number from 1`);
  const chart = createChart({ name, version, machine, observed: observe });
  const schema = fromOutside(events);
  const children = Object.fromEntries(
    chart.charts.map(([src, child]) => [
      src,
      defineWorkflow({ name: `${name}-${src}`, version, chart: child }),
    ]),
  );
  const parseInput = (given: unknown): unknown => (input === undefined ? given : input.parse(given));
  return {
    chart,
    parseInput,
    begin: (data, job) => (begin as (given: unknown, job: BegunJob) => unknown)(data, job),
    check: (context, instance) => check(context as never, instance),
    resultOf,
    parseEvent: (event) => schema.safeParse(event),
    reasonOf: (context) => reasonOf(context as never),
    children,
  };
};
