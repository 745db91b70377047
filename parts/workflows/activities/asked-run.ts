/**
 * What activities with a job of their own share, `sign` and `receipt` of workflows.
 *
 * Such a job holds the token of the run (`answerTo`), and its worker tells the run how it ended.
 * Any program with rights to a queue can add a job with any token in it. So an end is believed only
 * of the job that the run has made: its id follows from the token, and it asks for what the run
 * asks for, by its application. The run and its input are read from the instance.
 */
import { readToken } from '../../../packages/engine/src/activities.ts';
import type { Chart } from '../../../packages/engine/src/chart.ts';
import type { Origin } from '../../../packages/engine/src/chart-parts.ts';
import {
  activityOf,
  type InstanceInHand,
  type Workflow,
} from '../../../packages/engine/src/define.ts';
import type { Engine, Instance } from '../../../packages/engine/src/engine.ts';
import {
  activitiesIn,
  type ChartRecord,
  type ChildActor,
  namesIn,
  pathOf,
} from '../../../packages/engine/src/record.ts';
import { fault } from '../../../packages/protocol/src/fault.ts';
import { withoutTenant } from '../../../src/transactions/jobs/instance-ids.ts';

const maxApTransId = 64;

/** After the deadline; the worker of the signature, or of the receipt, has told by then. */
export const lookAgainAfterMs = 30_000;

/** What a chart has written may invoke `sign` or `receipt` without input. */
export const isObject = (input: unknown): input is object =>
  typeof input === 'object' && input !== null;
export const noInput = fault(101, 'The activity has no input');

/** The caller of what an instance orders. @param authority Host part of the URIs of the request. */
export const callerFor = (
  { instance, now }: { readonly instance: Pick<InstanceInHand, 'id'>; readonly now: number },
  { apId, authority }: { readonly apId: string; readonly authority: string },
) => ({
  dialect: { authority },
  apId,
  instant: new Date(now),
  apTransId: withoutTenant(instance.id).slice(0, maxApTransId),
});

/** The application that an instance belongs to. */
export const apIdOf = ({ data }: Pick<InstanceInHand, 'data'>): string =>
  String((Object(data) as { readonly apId?: unknown }).apId ?? '');

/** A run of an activity that has not answered yet. */
export interface AskedRun {
  readonly instance: Instance;
  readonly input: unknown;
  /**
   * Whether the activity is the one that the service provides under this name. True for any name
   * when this worker does not have the chart in this version: then only the input can be compared.
   */
  mayBe(activity: string): boolean;
}

/** The name under which the service provides the activity at a path. */
const providedAt = (
  chart: Chart,
  record: ChartRecord | undefined,
  path: string,
): string | undefined => {
  const [name = '', ...below] = namesIn(path);
  const child = record?.children?.[name];
  if (child === undefined) return undefined;
  const part = chart.partOf(child.src, child.origin as Origin | undefined);
  if (part.kind === 'chart')
    return providedAt(
      part.chart,
      (child as ChildActor).chart,
      below.map((each) => pathOf('', each)).join('/'),
    );
  return activityOf(part.logic)?.provided;
};

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
  return async (token) => {
    const named = readToken(token);
    const instance = named && (await options.engine.find(named.instance));
    const { record } = instance ?? {};
    const [, asked] = activitiesIn(record).find(([path]) => path === named?.child) ?? [];
    if (instance === undefined || asked === undefined || asked.run !== named?.run) return undefined;
    const workflow = options.workflows.find(
      ({ chart }) => chart.name === record?.workflow && chart.version === record.version,
    );
    const provided = workflow && providedAt(workflow.chart, record, named.child);
    return {
      instance,
      input: asked.input,
      mayBe: (activity) => workflow === undefined || provided === activity,
    };
  };
};
