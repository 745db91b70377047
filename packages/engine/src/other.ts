/**
 * Other instances: `workflow(other)` in a chart, and events that effects send.
 *
 * An activity that is `workflow(other)` starts an instance and is answered when that one has ended.
 * The id of the instance follows from the token of the run, so a try after a crash finds it. Its
 * job holds the token: the worker of the other instance answers with it, after the end is stored
 * and before its job ends.
 *
 * When the chart leaves the state, the other instance is stopped. A try in a process that was
 * paused may add it later than that. So a worker that begins such an instance asks first whether
 * the run is still waited for, with this input. If not, the instance fails before its chart has
 * done anything.
 */
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { readToken } from './activities.ts';
import { readAdded } from './added.ts';
import {
  type Activity,
  type ActivityArguments,
  InputError,
  type InstanceInHand,
  type Later,
  later,
  readJobName,
  type Workflow,
} from './define.ts';
import { BusyError, type Engine, type Instance, type SendResult } from './engine.ts';
import { problemIn } from './input-problem.ts';
import { addressOf, childAt, isActivity } from './record.ts';
import { isRedisAway } from './redis/to-error.ts';
import { type InstanceJob, jobFailure } from './take-job.ts';
import type { InstanceEnd } from './turn.ts';
import { decode, encodeInput } from './values.ts';

/** The instance whose chart reaches another one. */
type From = Pick<InstanceInHand, 'id' | 'data'>;

export interface OthersOptions {
  /** An engine with a short timeout, because a turn must not wait long for another instance. */
  readonly engine: Engine;
  /** The id of an instance that a chart names. Default: the same. */
  readonly idOf?: (from: From, workflow: string, id: string) => string;
  /** The input of the job. Default: that of the activity. */
  readonly inputOf?: (from: From, input: unknown) => unknown;
  /** The workflow as its workers run it. Default: the same. */
  readonly workflowOf?: (workflow: Workflow) => Workflow;
}

export type Others = ReturnType<typeof createOthers>;

/**
 * Time after which the other instance is looked at. Normally its worker tells the end; a job that
 * was removed, or has ended without an end of its chart, tells nothing.
 */
const lookAgainMs = 3_600_000;
const pauseMs = 250;

const noRef = (): undefined => undefined;

/** The id of the instance that a run of an activity starts. */
export const idOfRun = (token: string): string => `run-${hash('sha256', token, 'base64url')}`;

/** The input in the form in which it comes back from Redis. */
const asStored = (input: unknown): unknown => JSON.parse(JSON.stringify(encodeInput(input)));

type Answer = { readonly output: unknown } | { readonly error: Error };

const answerOf = ({
  record,
  failedReason,
}: Pick<InstanceEnd, 'failedReason'> & Pick<Instance, 'record'>): Answer => {
  const reason =
    failedReason ?? (record?.status === 'stopped' ? (record.reason ?? 'stopped') : undefined);
  return reason === undefined
    ? { output: decode(record?.output, noRef) }
    : { error: new Error(reason) };
};

const untilRedisAnswers = async <T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!isRedisAway(error)) throw error;
      await delay(pauseMs, undefined, { signal });
    }
  }
};

export const createOthers = (options: OthersOptions) => {
  const { engine, idOf = (_, __, id) => id, inputOf = (_, input) => input } = options;
  const { workflowOf = (workflow) => workflow } = options;
  const activities = new WeakMap<Workflow, Activity>();

  const startOrFind = async (
    other: Workflow,
    { input, instance, token }: ActivityArguments<unknown>,
  ): Promise<unknown> => {
    const { name } = other.chart;
    const id = idOf(instance, name, idOfRun(token));
    const given = inputOf(instance, input);
    try {
      other.parseInput(given);
    } catch (error) {
      const problem = problemIn(error, { whole: 'input', values: [input, given] });
      throw problem === undefined ? error : new InputError(`The input of ${name}: ${problem}`);
    }
    if ((await engine.start(other, id, given, { answerTo: token })) === 'started') return later;
    const found = await engine.find(id);
    if (found === undefined || found.ended === 'no') return later;
    if (!isDeepStrictEqual(found.data, asStored(given)))
      throw new Error(`Another instance of ${name} has the id of this run`);
    const answer = answerOf(found);
    if ('error' in answer) throw answer.error;
    return answer.output;
  };

  const create = (other: Workflow): Activity => {
    const workflow = workflowOf(other);
    return {
      run: (given): Promise<unknown | Later> =>
        untilRedisAnswers(given.signal, () => startOrFind(workflow, given)),
      policy: {
        // The other instance answers a run only if it finds it stored.
        afterCommit: () => true,
        lookAgainMs: () => lookAgainMs,
        withdraw: async ({ instance, token }) => {
          const id = idOf(instance, workflow.chart.name, idOfRun(token));
          if ((await engine.stop(id, `${instance.id} does not wait for it any more`)) === 'busy')
            throw new BusyError();
        },
      },
    };
  };

  /**
   * The instance whose run, named by the token, waits for this very job; undefined when none does.
   */
  const awaiting = async (
    { id = '', name, data }: InstanceJob,
    token: string,
  ): Promise<Instance | undefined> => {
    const named = readToken(token);
    const from = named && (await engine.find(named.instance));
    if (from === undefined || from.ended !== 'no' || from.isClosed) return undefined;
    const child = childAt(from.record, named?.child ?? '');
    const isAwaited =
      Math.trunc(from.createdAt) === named?.createdAt &&
      child !== undefined &&
      isActivity(child) &&
      child.run === named.run &&
      !child.ended &&
      id === idOf(from, readJobName(name).name, idOfRun(token)) &&
      isDeepStrictEqual(data, asStored(inputOf(from, decode(child.input, noRef))));
    return isAwaited ? from : undefined;
  };

  const tell = async (job: InstanceJob, token: string, answer: Answer): Promise<void> => {
    const from = await awaiting(job, token);
    if (from !== undefined && (await engine.answer(token, answer, from)) === 'busy')
      throw new BusyError();
  };

  return {
    /** The activity that `workflow(other)` stands for. */
    activityFor: (other: Workflow): Activity => {
      const activity = activities.get(other) ?? create(other);
      activities.set(other, activity);
      return activity;
    },

    /** @throws UnrecoverableError for a new instance for which no activity waits any more. */
    checkAwaited: async (job: InstanceJob): Promise<void> => {
      const { answerTo } = readAdded(job.opts) ?? {};
      if (answerTo !== undefined && (await awaiting(job, answerTo)) === undefined)
        throw jobFailure('Nobody waits for this instance any more');
    },

    /** @returns Undefined for an instance for which no activity waits. */
    tellEnd: (job: InstanceJob): ((end: InstanceEnd) => Promise<void>) | undefined => {
      const { answerTo } = readAdded(job.opts) ?? {};
      return answerTo === undefined ? undefined : (end) => tell(job, answerTo, answerOf(end));
    },

    /** Answers the waiting activity for a job that fails without an end of its chart. */
    tellFailure: async (job: InstanceJob, reason: string): Promise<void> => {
      const { answerTo } = readAdded(job.opts) ?? {};
      if (answerTo !== undefined) await tell(job, answerTo, { error: new Error(reason) });
    },

    /** Sends an event of an effect. @throws BusyError: the turn carries the effect out again. */
    send: async (
      from: From,
      key: string,
      [other, id, event, path]: readonly [Workflow, string, { readonly type: string }, string],
    ): Promise<SendResult> => {
      const address = addressOf(idOf(from, other.chart.name, id), path);
      const sent = await engine.send(workflowOf(other), address, key, event);
      if (sent === 'busy') throw new BusyError();
      return sent;
    },
  };
};
