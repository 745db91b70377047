/**
 * What activities with a job of their own share, `sign` and `receipt` of workflows; and how long
 * activities wait for Redis.
 *
 * Such a job holds the token of the run (`answerTo`), and its worker tells the run how it ended.
 * Any program with rights to a queue can add a job with any token in it. So an end is believed only
 * of the job that the run has made: its id follows from the token, and it asks for what the run
 * asks for, by its application. The run and its input are read from the instance.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { readToken } from '../src/engine/activities.ts';
import type { Chart } from '../src/engine/chart.ts';
import { activityOf, type InstanceInHand, type Workflow } from '../src/engine/define.ts';
import type { Engine } from '../src/engine/engine.ts';
import { fault } from '../src/protocol/fault.ts';
import { isRedisAway } from '../src/redis/to-error.ts';
import { rootOf, withoutTenant } from '../src/workflows/contract.ts';

const maxApTransId = 64;

/**
 * Tries of an activity that adds a job: Redis may be away, or full, for long. When it answers again,
 * what is due runs within five seconds.
 */
export const untilRedisAnswers = { attempts: Number.POSITIVE_INFINITY, backoffMs: 250, maxBackoffMs: 2000 };

/** The same within one try, which is not spent: nothing was asked of anybody. */
export const onceRedisAnswers = async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
  const { backoffMs, maxBackoffMs } = untilRedisAnswers;
  for (let pauseMs = backoffMs; ; pauseMs = Math.min(pauseMs * 2, maxBackoffMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isRedisAway(error)) throw error;
      await delay(pauseMs, undefined, { signal });
    }
  }
};

/** After the deadline; the worker of the signature, or of the receipt, has told by then. */
export const lookAgainAfterMs = 30_000;

/** What a chart has written may invoke `sign` or `receipt` without input. */
export const isObject = (input: unknown): input is object => typeof input === 'object' && input !== null;
export const noInput = fault(101, 'The activity has no input');

/** The caller of what an instance orders. @param authority Host part of the URIs of the request. */
export const callerFor = (
  { instance, now }: { readonly instance: Pick<InstanceInHand, 'id'>; readonly now: number },
  { apId, authority }: { readonly apId: string; readonly authority: string },
) => ({
  ...{ dialect: { authority }, apId, instant: new Date(now) },
  apTransId: withoutTenant(rootOf(instance.id)).slice(0, maxApTransId),
});

/**
 * The application that an instance belongs to. The data of a child is what its parent gave to it,
 * so that of the root counts.
 *
 * @param engine Of workflows.
 */
export const apIdOf = async (
  engine: Pick<Engine, 'find'>,
  instance: Pick<InstanceInHand, 'id' | 'data'>,
): Promise<string> => {
  const root = rootOf(instance.id);
  const { data } = (root === instance.id ? instance : await engine.find(root)) ?? {};
  return String((Object(data) as { readonly apId?: unknown }).apId ?? '');
};

/** A run of an activity that has not answered yet. */
export interface AskedRun {
  readonly instance: Pick<InstanceInHand, 'id' | 'data'>;
  readonly input: unknown;
  /**
   * Whether the activity is the one that the service provides under this name. True for any name
   * when this worker does not have the chart in this version: then only the input can be compared.
   */
  mayBe(activity: string): boolean;
}

const chartsOf = (workflows: readonly Workflow[]): readonly Chart[] =>
  workflows.flatMap(({ chart, children }) => [chart, ...chartsOf(Object.values(children))]);

export type FindRun = (token: string) => Promise<AskedRun | undefined>;

/**
 * Finds the run of an activity that a token names.
 *
 * @param options.engine Of workflows.
 * @param options.workflows As the service runs them.
 * @returns The function gives undefined when no instance waits for the run (any more).
 */
export const createFindRun = (options: {
  readonly engine: Pick<Engine, 'find'>;
  readonly workflows: readonly Workflow[];
}): FindRun => {
  const charts = chartsOf(options.workflows);
  return async (token) => {
    const named = readToken(token);
    const instance = named && (await options.engine.find(named.instance));
    const { workflow, version, children = {} } = instance?.record ?? {};
    const [, child] = Object.entries(children).find(([name]) => name === named?.child) ?? [];
    if (instance === undefined || child === undefined || child.ended || child.run !== named?.run)
      return undefined;
    const chart = charts.find((each) => each.name === workflow && each.version === version);
    const [, logic] = chart?.activities.find(([src]) => src === child.src) ?? [];
    const provided = logic && activityOf(logic)?.provided;
    return {
      instance,
      input: child.input,
      mayBe: (activity) => chart === undefined || provided === activity,
    };
  };
};
