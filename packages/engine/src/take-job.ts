/**
 * Takes up the instance in a job: reads what is stored of it, and fails a job that was written by
 * another program and cannot run.
 */
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import { firstEntry } from './added.ts';
import {
  begunJob,
  type InstanceInHand,
  isInputError,
  readData,
  readJobName,
  type Workflow,
} from './define.ts';
import { problemIn } from './input-problem.ts';
import { begin, type Life, resume } from './interpret.ts';
import { Journal } from './journal.ts';
import { type Activity, type InstanceRecord, readRecord } from './record.ts';
import type { Inbox, InboxEntry } from './redis/inbox.ts';
import { hasRecord, type InstanceStore, isRunAgain } from './redis/instance-store.ts';
import { noParts, type Parts } from './redis/record-parts.ts';
import { toError } from './redis/to-error.ts';
import { fieldsOf } from './turn-worker.ts';

export type InstanceJob = Job<unknown, unknown>;

/** The place of an error; `attempt` is the number of the try of the activity. */
export interface Place {
  readonly workflow: string;
  readonly instance: string;
  readonly activity?: string;
  readonly attempt?: number;
  /** Name of the effect that was not carried out. */
  readonly effect?: string;
}

/** @param place Undefined for an error that concerns no instance, such as a lost connection. */
export type OnError = (error: Error, place?: Place) => void;

export interface TakeOptions {
  readonly store: InstanceStore;
  /** Finds a workflow by name and version. Without a version the latest counts. */
  readonly find: (name: string, version: number | undefined) => Workflow | undefined;
  /** Name and version of the workflow of a job. Default: read from the name of the job. */
  readonly workflowOf?: ((jobName: string) => ReturnType<typeof readJobName>) | undefined;
  /**
   * When no worker has the version of an instance: the reason why its job fails, or undefined while
   * a worker may still come.
   */
  readonly abandon?: ((context: unknown, addedAt: number) => string | undefined) | undefined;
  /** Milliseconds since the epoch, by the clock of Redis. */
  readonly now: () => number;
  readonly onError: OnError;
}

/** A job that was taken, and the instance in it. */
export interface Taken {
  readonly job: InstanceJob;
  readonly token: string;
  readonly workflow: Workflow;
  readonly instance: InstanceInHand;
  readonly life: Life;
  /** Undefined before the first commit. */
  readonly record: InstanceRecord | undefined;
  /** The stored parts of `record`. */
  readonly parts: Parts;
  /** Undefined for a workflow without a journal. */
  readonly journal: Journal | undefined;
  readonly inbox: Inbox;
  /** The event that came with the start. */
  readonly first: InboxEntry | undefined;
  /** Names of the tries that the store holds (`child/run`). */
  readonly held: readonly string[];
  /** Whether only its input is stored. */
  readonly isNew: boolean;
  /** Whether it is run again after it had ended. */
  readonly isReplay: boolean;
}

const leastPutOffMs = 500;
const maxPutOffMs = 60_000;
/** Instances that are remembered: some ten megabytes. With more, all begin again. */
const maxRemembered = 100_000;

/** The time at which an instance of an unknown workflow was first put off; by store and id. */
const putOffSince = new WeakMap<InstanceStore, Map<string, number>>();

/**
 * The next pause of an instance of an unknown version: a tenth of the time since this process first
 * saw it. So a worker with the version gets it soon during a roll-out, and an instance whose chart
 * is gone costs little.
 */
const putOffMs = (store: InstanceStore, id: string, time: number): number => {
  const since = putOffSince.get(store) ?? new Map<string, number>();
  putOffSince.set(store, since);
  const first = since.get(id) ?? time;
  if (since.size >= maxRemembered) since.clear();
  since.set(id, first);
  return Math.min(Math.max(Math.round((time - first) / 10), leastPutOffMs), maxPutOffMs);
};

/** Parses the data once, when it is first read. A class: see `Life` (interpret.ts). */
class JobInHand implements InstanceInHand {
  readonly id: string;
  readonly createdAt: number;
  readonly takenAt: number;
  readonly #parse: () => unknown;
  #data: { readonly parsed: unknown } | undefined;

  constructor({ id = '', timestamp, processedOn = 0 }: InstanceJob, parse: () => unknown) {
    this.id = id;
    this.createdAt = timestamp;
    this.takenAt = processedOn;
    this.#parse = parse;
  }

  get data(): unknown {
    this.#data ??= { parsed: this.#parse() };
    return this.#data.parsed;
  }
}

type Run = Pick<Activity, 'run' | 'held'> & { readonly path: string };
export const runName = ({ path, run }: Pick<Run, 'path' | 'run'>): string => `${path}/${run}`;
export const runNames = (activities: readonly Run[]): readonly string[] => activities.map(runName);
/** Names of the activities that have a held try. */
export const heldNames = (activities: readonly Run[]): readonly string[] =>
  runNames(activities.filter(({ held }) => held));

/** The error that makes BullMQ fail the job. @param reason Only its first line is used. */
export const jobFailure = (reason: string): UnrecoverableError => {
  const error = new UnrecoverableError(reason.split('\n', 1)[0]);
  // BullMQ would store the stack with the job.
  error.stack = '';
  return error;
};

/** Fails the job when its data cannot be read: other programs may have written it. */
export const readOrFail = <T>(read: () => T, value?: unknown): T => {
  try {
    return read();
  } catch (error) {
    if (isInputError(error)) throw jobFailure(error.message);
    // A workflow of the service reads the `input` of its data.
    const values = [value, (Object(value) as { readonly input?: unknown }).input];
    const problem = problemIn(error, { whole: 'the whole', values });
    throw problem === undefined ? error : jobFailure(`The input is not usable: ${problem}`);
  }
};

const emptyInbox: Inbox = {
  entries: [],
  length: 0,
  holds: new Map(),
  hasFailed: false,
  hasBegun: false,
};

export const readInput = (
  {
    job: { timestamp, opts, data },
    workflow,
    instance,
  }: Pick<Taken, 'job' | 'workflow' | 'instance'>,
  at: number,
): unknown => {
  const begun = begunJob({ id: instance.id, timestamp, opts }, at);
  return readOrFail(() => workflow.begin(instance.data, begun), data);
};

/**
 * Reads what is stored of the instance, and takes it up.
 *
 * @throws `UnrecoverableError` when the job can never run, `DelayedError` when it is left to a
 *   worker that has its version.
 */
export const takeJob = async (
  options: TakeOptions,
  job: InstanceJob,
  token: string,
): Promise<Taken> => {
  const { store, find, workflowOf = readJobName, abandon, now } = options;
  const id = job.id ?? '';
  const named = workflowOf(job.name);
  const onError = (error: Error): void =>
    options.onError(error, { workflow: named.name, instance: id });

  /** Reports a record that another program has written. */
  const planted = (reason: string): UnrecoverableError => {
    onError(new Error(`${reason}: ${id}`));
    return jobFailure(reason);
  };
  const notItsOwn = 'The record of the instance is not its own';

  const progress = Object(job.progress) as { readonly inbox?: unknown };
  const isNew = !hasRecord(progress);
  const fields = fieldsOf(job);
  const { record: whole, parts } = isNew
    ? { record: undefined, parts: noParts }
    : await store.whole(id, progress, fields);
  const stored = isNew ? undefined : readRecord(whole);
  if (!isNew && stored === undefined) throw planted('The record of the instance cannot be read');
  if (stored !== undefined && stored.workflow !== named.name) throw planted(notItsOwn);

  /** Puts the job off. When that fails the job stalls, and is taken again. */
  const putOff = async (): Promise<DelayedError> => {
    const time = now();
    await store
      .sleep(id, token, time + putOffMs(store, id, time))
      .catch((error: unknown) => onError(toError(error)));
    return new DelayedError();
  };
  const workflow = find(named.name, stored?.version ?? named.version);
  if (workflow === undefined) {
    const reason = abandon?.(stored?.context, job.timestamp);
    if (reason !== undefined) throw jobFailure(reason);
    // T5
    throw await putOff();
  }
  putOffSince.get(store)?.delete(id);

  const instance = new JobInHand(job, () => workflow.parseInput(readData(job.data)));
  const journal = workflow.journal ? new Journal() : undefined;
  let life: Life;
  try {
    const at = now();
    life =
      stored === undefined
        ? begin(
            workflow.chart,
            id,
            readInput({ job, workflow, instance }, at),
            at,
            undefined,
            journal,
          )
        : resume(workflow.chart, id, stored, undefined, journal);
  } catch (error) {
    if (error instanceof UnrecoverableError) throw error;
    onError(toError(error));
    throw jobFailure(
      isNew ? 'The instance cannot begin' : 'The record of the instance does not fit its chart',
    );
  }
  const held = isNew ? [] : heldNames(life.activities());
  const mayHaveEvents = !isNew || job.attemptsStarted > 1 || progress.inbox !== undefined;
  // A try of this process may have ended since the job was taken: its end lies in the inbox now.
  const isAsTaken = held.length === 0 && life.activities().every(({ waits }) => waits);
  const inbox = !mayHaveEvents
    ? emptyInbox
    : fields !== undefined && isAsTaken
      ? store.inboxIn(fields)
      : await store.readInbox(id, held);
  if (stored !== undefined) {
    if (!inbox.hasBegun) throw planted(notItsOwn);
    readOrFail(() => workflow.check(life.context(), instance));
  }
  const isReplay = isRunAgain({
    hasFailed: inbox.hasFailed,
    hasRecord: !isNew,
    ends: job.attemptsMade,
  });
  const first = isNew ? firstEntry(job.opts, job.timestamp) : undefined;
  return {
    job,
    token,
    workflow,
    instance,
    record: stored,
    parts,
    inbox,
    first,
    held,
    isNew,
    isReplay,
    life,
    journal,
  };
};
