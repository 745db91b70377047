/**
 * Takes up the instance in a job: reads what is stored of it, and refuses what no program of ours
 * has written.
 */
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import type { AnyEventObject } from 'xstate';
import { ZodError } from 'zod';
import { toError } from '../redis/to-error.ts';
import { begunJob, InputError, type InstanceInHand, readJobName, type Workflow } from './define.ts';
import { begin, type Children, failureOf, type Life, parentOf, resume } from './interpret.ts';
import { recordSchema } from './record.ts';
import {
  type About,
  hasRecord,
  type Inbox,
  type InstanceStore,
  isRunAgain,
  runKeys,
} from './redis/instance-store.ts';

export type InstanceJob = Job<unknown, unknown>;

export interface Neighbours {
  start(workflow: Workflow, id: string, input: unknown): Promise<void>;
  /** @throws When it cannot be said now whether it has arrived. */
  tell(id: string, key: string, event: AnyEventObject, about?: About): Promise<void>;
}

export interface TakeOptions {
  readonly store: InstanceStore;
  /** By name and version. */
  readonly find: (name: string, version: number | undefined) => Workflow | undefined;
  /** Starts, stops and tells other instances. Each may be told twice, under the same key. */
  readonly neighbours: Neighbours;
  /** Of a job. Default: its name says so. */
  readonly workflowOf?: ((jobName: string) => ReturnType<typeof readJobName>) | undefined;
  /**
   * Why the job of an instance fails whose version no worker has had for too long; undefined while
   * one may come.
   */
  readonly abandon?: ((context: unknown, addedAt: number) => string | undefined) | undefined;
  /** Milliseconds since the epoch, by the clock of Redis. */
  readonly now: () => number;
  readonly onTrouble: (error: Error) => void;
}

/** A job that was taken, and the instance in it. */
export interface Taken {
  readonly job: InstanceJob;
  readonly token: string;
  readonly workflow: Workflow;
  readonly instance: InstanceInHand;
  readonly life: Life;
  readonly inbox: Inbox;
  /** Tries that the store holds. */
  readonly held: readonly string[];
  /** Nothing of it is stored yet but its input. */
  readonly isNew: boolean;
  /** It is run again after it had ended. */
  readonly isReplay: boolean;
}

const otherVersionMs = 500;

/** Parses the data at the first look, once. A class: see `Life` (interpret.ts). */
class JobInHand implements InstanceInHand {
  readonly id: string;
  readonly #parse: () => unknown;
  #data: { readonly parsed: unknown } | undefined;

  constructor(id: string, parse: () => unknown) {
    this.id = id;
    this.#parse = parse;
  }

  get data(): unknown {
    this.#data ??= { parsed: this.#parse() };
    return this.#data.parsed;
  }
}

export const runName = (child: string, { run }: { readonly run: number }): string => `${child}/${run}`;
export const runNames = (children: Children): readonly string[] =>
  children.map(([name, child]) => runName(name, child));
/** Of the activities of which a try is held. */
export const heldNames = (children: Children): readonly string[] =>
  runNames(children.filter(([, { held }]) => held));

/** The job ends as failed. @param reason One line. */
export const jobFailure = (reason: string): UnrecoverableError => {
  const error = new UnrecoverableError(reason.split('\n', 1)[0]);
  // BullMQ stores the stack with the job, and this one says nothing.
  error.stack = '';
  return error;
};

/** Data come from other programs and may be anything: what cannot be read fails the job. */
export const readOrFail = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    if (error instanceof InputError) throw jobFailure(error.message);
    if (error instanceof ZodError) {
      const [first] = error.issues;
      const path = first?.path.map(String).join('.') || (first?.message ?? '');
      throw jobFailure(`The input is not usable: ${path}`);
    }
    throw error;
  }
};

/** Before an inbox is read, and where there is none to read. */
const emptyInbox: Inbox = { entries: [], length: 0, holds: new Map(), hasFailed: false, hasBegun: false };

export const readInput = (
  { job, workflow, instance, isReplay }: Pick<Taken, 'job' | 'workflow' | 'instance' | 'isReplay'>,
  at: number,
): unknown => {
  const { timestamp, attemptsStarted, opts } = job;
  const turnsBefore = attemptsStarted - 1;
  const begun = begunJob({ id: instance.id, timestamp, opts, turnsBefore, isReplay }, at);
  return readOrFail(() => workflow.begin(instance.data, begun));
};

/**
 * Reads what is stored of the instance, and takes it up.
 *
 * @throws `UnrecoverableError` when the job can never run, `DelayedError` when it is left to a worker
 *   that has its version.
 */
export const takeJob = async (options: TakeOptions, job: InstanceJob, token: string): Promise<Taken> => {
  const { store, find, neighbours, workflowOf = readJobName, abandon, now, onTrouble } = options;
  const id = job.id ?? '';

  /** No program of ours writes that. */
  const planted = (reason: string): UnrecoverableError => {
    onTrouble(new Error(`${reason}: ${id}`));
    return jobFailure(reason);
  };
  const notItsOwn = 'The record of the instance is not its own';

  const progress = Object(job.progress) as { readonly inbox?: unknown };
  const isNew = !hasRecord(progress);
  const read = isNew ? undefined : recordSchema.safeParse(progress);
  if (read?.success === false) throw planted('The record of the instance cannot be read');
  const stored = read?.data;
  const named = workflowOf(job.name);
  if (stored !== undefined && stored.workflow !== named.name) throw planted(notItsOwn);

  const workflow = find(named.name, stored?.version ?? named.version);
  if (workflow === undefined) {
    const reason = abandon?.(stored?.context, job.timestamp);
    if (reason !== undefined) throw jobFailure(reason);
    // T5. Where it cannot be put off, it stalls and is taken up again.
    await store.sleep(id, token, now() + otherVersionMs).catch((error: unknown) => onTrouble(toError(error)));
    throw new DelayedError();
  }

  const mayHaveEvents = !isNew || job.attemptsStarted > 1 || progress.inbox !== undefined;
  const held = heldNames(Object.entries(stored?.children ?? {}));
  const inbox = mayHaveEvents ? await store.readInbox(id, held) : emptyInbox;
  const instance = new JobInHand(id, () => workflow.parseInput(job.data));
  if (stored !== undefined) {
    if (!inbox.hasBegun) throw planted(notItsOwn);
    readOrFail(() => workflow.check(stored.context, instance));
  }
  const isReplay = isRunAgain({
    hasFailed: inbox.hasFailed,
    hasRecord: !isNew,
    ends: job.attemptsMade,
  });
  const taken = { job, token, workflow, instance, inbox, held, isNew, isReplay };
  try {
    const { chart } = workflow;
    if (stored !== undefined) return { ...taken, life: resume(chart, id, stored) };
    const at = now();
    return { ...taken, life: begin(chart, id, readInput(taken, at), at) };
  } catch (error) {
    const parent = isNew ? parentOf(id) : undefined;
    if (parent !== undefined) {
      const { child, run } = parent;
      const key = `${runKeys}${child}/${run}`;
      await neighbours.tell(parent.id, key, failureOf(child, error), { child, run });
    }
    if (error instanceof UnrecoverableError) throw error;
    onTrouble(toError(error));
    throw jobFailure(
      isNew ? 'The instance cannot begin' : 'The record of the instance does not fit its chart',
    );
  }
};
