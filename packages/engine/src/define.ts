/**
 * Defines workflows: an ordinary XState 5 chart with a name, a version and typed input.
 *
 * ```ts
 * const order = defineWorkflow({ name: 'order', version: 1, chart: orderMachine, events });
 * ```
 */
import {
  type AnyStateMachine,
  type ContextFrom,
  fromPromise,
  type InputFrom,
  type OutputFrom,
  type PromiseActorLogic,
} from 'xstate';
import { type Chart, ChartError, createChart, isChart } from './chart.ts';
import type { InstanceRecord } from './record.ts';
import { type AnyEvent, type Checked, checkBy, checkEvent, type StandardSchema } from './schema.ts';
import { decode } from './values.ts';

/** The pattern of names. Two dashes in a row are kept for the ids of instances. */
export const workflowNamePattern = /^[A-Za-z]\w*(?:-\w+)*$/;

/** Retries and timeouts of an activity. Durations are in milliseconds. */
export interface ActivityPolicy {
  /** Tries in all; then the chart gets the error. Default 1. */
  readonly attempts?: number;
  /** Pause after the first failed try, doubled after each further one. Default 1000. */
  readonly backoffMs?: number;
  /** The longest pause. Default 60 000. */
  readonly maxBackoffMs?: number;
  /** Gives the three members above from the input, where they depend on it. */
  readonly retry?: (
    input: unknown,
  ) => Pick<ActivityPolicy, 'attempts' | 'backoffMs' | 'maxBackoffMs'>;
  /** A try that takes longer is aborted, and counts as failed. Default: no limit. */
  readonly timeoutMs?: number;
  /** Time for which a turn waits for the answer of a try before its job sleeps. Default 20. */
  readonly turnWaitsMs?: (input: unknown, instance: InstanceInHand) => number;
  /** Decides when a try may begin. Waiting is not a failure. */
  readonly gate?: Gate;
  /**
   * The state is stored before a try begins, because the answer may also come as an event from
   * outside. Costs a commit. Default: where another activity has answered since the last commit.
   */
  readonly afterCommit?: (input: unknown) => boolean;
  /**
   * Time after which the engine makes another try when an answer that comes later has not come.
   * That try may give the answer. Default: the engine waits without end.
   */
  readonly lookAgainMs?: (input: unknown) => number;
  /**
   * Takes back what the activity has begun elsewhere, when the chart leaves the state without its
   * answer. Called at least once, after that is stored, also for a run that never began. Costs a
   * commit.
   */
  readonly withdraw?: (left: LeftActivity) => Promise<void>;
}

/** A run of an activity whose state was left before it had answered. */
export interface LeftActivity {
  readonly input: unknown;
  readonly instance: InstanceInHand;
  /** The token that the activity got. */
  readonly token: string;
}

/**
 * place  The try begins. {@link end} is called once, when it has ended.
 * wait   No try may begin now. Ask again after `ms`.
 */
export type GateTurn =
  | { readonly kind: 'place'; end(verdict: GateVerdict): void }
  | { readonly kind: 'wait'; readonly ms: number };

export type GateVerdict = 'answered' | 'failed' | 'not-asked';

/** A limit of one process, in memory, such as a circuit breaker. */
export interface Gate {
  turn(input: unknown, instance: InstanceInHand): GateTurn;
  /** The verdict on a try with this output. Default: answered. A try that rejects has failed. */
  verdictOf?(output: unknown): GateVerdict;
}

/** `signal`, `token` and `instance.data` are getters: `{ ...given }` does not copy them. */
export interface ActivityArguments<Input> {
  readonly input: Input;
  readonly instance: InstanceInHand;
  /** Aborts when the chart leaves the state, and when the worker stops. */
  readonly signal: AbortSignal;
  /** Names this run of the activity, in all its tries: for idempotency, and to answer later. */
  readonly token: string;
  /** When this try began; milliseconds since the epoch. */
  readonly now: number;
  /** The number of this try, from 1. A try that is cut off with its process does not count. */
  readonly attempt: number;
}

/** The instance of the current turn. */
export interface InstanceInHand {
  readonly id: string;
  /** When its job was added; milliseconds since the epoch. An id may be used again later. */
  readonly createdAt: number;
  /** When a worker asked for the job of this turn; milliseconds by the clock of Redis. */
  readonly takenAt: number;
  /** Its input, parsed by the workflow's `input`. @throws The errors of `input`. */
  readonly data: unknown;
}

/** Returned by an activity whose answer comes later, by its token (`engine.answer`). */
export const later: unique symbol = Symbol.for('paraph.later');
export type Later = typeof later;

export type ActivityFunction = (given: ActivityArguments<unknown>) => Promise<unknown>;

export interface Activity {
  readonly run: ActivityFunction;
  readonly policy: ActivityPolicy;
  /** The worker provides the activity under this name. */
  readonly provided?: string;
  /** The workflow of which the activity is an instance (other.ts). */
  readonly starts?: Workflow;
}

/**
 * Marks activities. All copies of this package in a process share it, because a chart may bring a
 * copy of its own.
 */
const activityMark = Symbol.for('paraph.activity');

/**
 * An activity for `setup({ actors })`. It runs at least once, outside of the chart, and its result
 * is the `done` event. XState's own `fromPromise` is an activity with one try.
 */
export const activity = <Input, Output>(
  run: (given: ActivityArguments<Input>) => Promise<Output | Later>,
  policy: ActivityPolicy = {},
): PromiseActorLogic<Output, Input> => {
  // For charts that XState itself runs, for example in tests.
  const logic = fromPromise<Output, Input>(async ({ input, signal }) => {
    const instance = { id: '', createdAt: 0, takenAt: 0, data: undefined };
    const result = await run({ input, instance, signal, token: '', now: 0, attempt: 1 });
    if (result === later) throw new Error('Only the engine can wait for a later answer');
    return result as Output;
  });
  return Object.assign(logic, { [activityMark]: { run: run as ActivityFunction, policy } });
};

/** An activity that the worker provides by its name (`activities` of startWorkflowWorker). */
export const providedActivity = <Input, Output>(name: string): PromiseActorLogic<Output, Input> => {
  const logic = activity<Input, Output>(() =>
    Promise.reject(new Error(`Only the service provides ${name}`)),
  );
  return Object.assign(logic, { [activityMark]: { ...activityOf(logic), provided: name } });
};

/**
 * An activity that is an instance of another workflow: it starts one and is answered when that one
 * has ended, with its output, or with an error and the reason why it failed or was stopped. When
 * the chart leaves the state before, the instance is stopped.
 */
export const workflow = <Machine extends AnyStateMachine, Input>(
  other: Workflow<Machine, Input>,
): PromiseActorLogic<OutputFrom<Machine>, Input> => {
  const { name } = other.chart;
  const logic = activity<Input, OutputFrom<Machine>>(
    () => Promise.reject(new Error(`Only the engine starts ${name}`)),
    { withdraw: async () => undefined },
  );
  return Object.assign(logic, { [activityMark]: { ...activityOf(logic), starts: other } });
};

export const activityOf = (logic: object): Activity | undefined =>
  (logic as { readonly [activityMark]?: Activity })[activityMark];

/** The job, for `begin` of a workflow. */
export interface BegunJob {
  readonly id: string;
  /** When it is taken up; milliseconds since the epoch. */
  readonly at: number;
  /** When it was added, or the time that it was delayed to; not later than `at`. */
  readonly addedAt: number;
  /** The option `attempts` of the BullMQ job; 0 when it has none. */
  readonly attempts: number;
}

/** @param at When it is taken up. */
export const begunJob = (
  job: {
    readonly id: string;
    readonly timestamp: number;
    /** Unchecked, because other programs write jobs, too. */
    readonly opts: unknown;
  },
  at: number,
): BegunJob => {
  const { id, timestamp, opts } = job;
  const { delay, attempts } = Object(opts) as {
    readonly delay?: unknown;
    readonly attempts?: unknown;
  };
  const delayMs = typeof delay === 'number' ? Math.max(delay, 0) : 0;
  return {
    id,
    at,
    addedAt: Math.min(timestamp + delayMs, at),
    attempts: typeof attempts === 'number' ? attempts : 0,
  };
};

/**
 * Thrown by `input`, `begin` or `check` of a workflow: the job fails with this message, one line.
 */
export class InputError extends Error {
  override readonly name = 'InputError';
}

/** Whether it is an {@link InputError}, also one of another copy of this package. */
export const isInputError = (error: unknown): error is InputError =>
  error instanceof Error && error.name === 'InputError';

/** The data of a job as the engine got it. Values that are not plain JSON were stored as marks. */
export const readData = (data: unknown): unknown => {
  try {
    return decode(data, () => undefined);
  } catch {
    throw new InputError('The input is not as the engine writes it');
  }
};

/** A workflow, typed by its machine. `Input` is what `start` takes. */
export interface Workflow<
  Machine extends AnyStateMachine = AnyStateMachine,
  Input = InputFrom<Machine>,
> {
  /** Carries types for the compiler; never set. */
  readonly types?: { readonly machine: Machine; readonly input: Input };
  readonly chart: Chart;
  /** Parses the input of `start`. @throws SchemaError, InputError */
  readonly parseInput: (input: unknown) => unknown;
  /** Makes the input of the chart from the data of the job. @throws SchemaError, InputError */
  readonly begin: (data: unknown, job: BegunJob) => unknown;
  /** @throws InputError for a context that no turn has stored. */
  readonly check: (context: unknown, instance: InstanceInHand) => void;
  /** The return value of the job. */
  readonly resultOf: (record: InstanceRecord) => unknown;
  /** Checks an event from outside. */
  readonly parseEvent: (event: unknown) => Checked<AnyEvent>;
  /** Why the job fails in a state with `meta: { job: 'failed' }`; one line. */
  readonly reasonOf: (context: unknown, failure: InstanceRecord['failure']) => string;
  /** The part of a context that may be shown to others. */
  readonly publish: (context: unknown) => unknown;
  /** Checks an event from outside for the child chart `src`. Without a schema any event passes. */
  readonly parseChildEvent: (src: string, event: unknown) => Checked<AnyEvent>;
  /** Whether its instances keep a journal (journal.ts). */
  readonly journal: boolean;
}

/** The name of the job of an instance: `<workflow>@<version>`, with the version it begins with. */
export const jobNameOf = ({ chart: { name, version } }: Workflow): string => `${name}@${version}`;

/** @returns Has no version for a job that another program has added: the latest version counts. */
export const readJobName = (
  jobName: string,
): { readonly name: string; readonly version?: number } => {
  const [name = '', version] = jobName.split('@', 2);
  return version === undefined ? { name } : { name, version: Number(version) };
};

/** A schema with `parse`, such as zod's, or an object with such a function. */
interface Parser {
  parse(input: unknown): unknown;
}

/** The parser of a workflow without `input`: the machine says what it takes. */
interface Unparsed<Machine extends AnyStateMachine> {
  parse(input: unknown): InputFrom<Machine>;
}

/** What `start` takes: the input type of a Standard Schema, or the result of another parser. */
type StartInput<Given extends Parser | StandardSchema> = Given extends {
  readonly '~standard': { readonly types?: { readonly input: infer Input } | undefined };
}
  ? Input
  : ParsedInput<Given>;

type ParsedInput<Given> = Given extends Parser
  ? ReturnType<Given['parse']>
  : Given extends StandardSchema<infer Output>
    ? Output
    : never;

/** @throws ChartError for a chart that cannot be made durable. */
export const defineWorkflow = <
  Machine extends AnyStateMachine,
  Given extends Parser | StandardSchema = Unparsed<Machine>,
>(options: {
  /** Letters, digits, dashes and underscores. */
  readonly name: string;
  /** Stored with each instance. Raise it with each change of the chart. */
  readonly version: number;
  readonly chart: Machine;
  /**
   * A schema (Standard Schema), or another parser. An instance with other input is not started; a
   * job with other data that another program has added fails.
   */
  readonly input?: Given;
  /** Makes the input of the chart from the parsed input. Default: the same. */
  begin?(input: ParsedInput<Given>, job: BegunJob): InputFrom<Machine>;
  /**
   * Checks a context that was stored, and the final one: other programs may write to the same
   * Redis.
   *
   * @throws InputError
   */
  check?(context: ContextFrom<Machine>, instance: InstanceInHand): void;
  /** Default: the record. */
  readonly resultOf?: (record: InstanceRecord) => unknown;
  /** The events that may come from outside. Default: any. */
  readonly events?: StandardSchema<AnyEvent>;
  /**
   * The schemas of events of charts that it invokes or spawns, by name in the chart. Default: any.
   */
  readonly childEvents?: Readonly<Record<string, StandardSchema<AnyEvent>>>;
  /** Actions for logs and metrics. The others are effects, carried out at least once. */
  readonly observe?: readonly string[];
  /**
   * In a state with `meta: { job: 'failed' }` the job fails with this reason. Default: the error of
   * the activity that failed last. When it is run again, or after an end without a commit, the
   * chart gets REPLAY with its input.
   */
  reasonOf?(context: ContextFrom<Machine>): string;
  /** The part of the context that may be shown to others. Default: nothing. */
  publish?(context: ContextFrom<Machine>): unknown;
  /**
   * Each instance keeps what it went through (journal.ts): two hundred lines, with names and
   * without values. Default: true.
   */
  readonly journal?: boolean;
}): Workflow<Machine, StartInput<Given>> => {
  const {
    name,
    version,
    chart: machine,
    input,
    begin = (given: unknown) => given,
    events,
    observe = [],
    reasonOf,
    check = () => undefined,
    resultOf = (record: InstanceRecord): unknown => record,
    publish = () => undefined,
    childEvents = {},
    journal = true,
  } = options;
  if (typeof name !== 'string' || !workflowNamePattern.test(name))
    throw new ChartError('name: letters, digits, _ and single dashes between them, a letter first');
  if (!Number.isInteger(version) || version < 1)
    throw new ChartError(`${name}: version must be a whole number from 1`);
  if (!isChart(machine))
    throw new ChartError(
      `${name}: chart must be a machine of XState, by setup(…).createMachine(…)`,
    );
  const chart = createChart({
    name,
    version,
    machine,
    observed: observe,
    isWithdrawn: (logic) =>
      activityOf(logic)?.provided !== undefined || activityOf(logic)?.policy.withdraw !== undefined,
  });
  const parseInput = (given: unknown): unknown => {
    if (input === undefined) return given;
    if (!('~standard' in input)) return input.parse(given);
    const checked = checkBy(input, given);
    if (!checked.success) throw checked.error;
    return checked.data;
  };
  return {
    chart,
    parseInput,
    begin: (data, job) => (begin as (given: unknown, job: BegunJob) => unknown)(data, job),
    check: (context, instance) => check(context as never, instance),
    resultOf,
    parseEvent: (event) => checkEvent(events, event),
    reasonOf: (context, failure) => reasonOf?.(context as never) ?? failure?.message ?? 'failed',
    publish: (context) => publish(context as never),
    parseChildEvent: (src, event) => checkEvent(childEvents[src], event),
    journal,
  };
};
