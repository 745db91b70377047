/**
 * Finds the transactions that an instance of an operator's chart, or one of its children, has
 * requested.
 *
 * A chart need not keep the id of a transaction. But the id is computed from the instance, the
 * child and its run (`transactionOfRun`), and runs are numbered. So each possible run of a state
 * with `sign` is looked up.
 */
import { tokenOf } from '../../../packages/engine/src/activities.ts';
import type { Chart } from '../../../packages/engine/src/chart.ts';
import { activityOf, type Workflow } from '../../../packages/engine/src/define.ts';
import type { Instance } from '../../../packages/engine/src/engine.ts';
import { namesIn, pathOf } from '../../../packages/engine/src/record.ts';
import { parseFaultLine } from '../../../packages/protocol/src/fault.ts';
import type { AdminApiDeps } from '../../../src/console/deps.ts';
import { endingOf } from '../../../src/transactions/endings.ts';
import { transactionOfRun } from '../../../src/transactions/ids.ts';
import { shardFor } from '../../../src/transactions/shards.ts';
import { serviceActivities } from '../charts/service-activities.ts';

export interface AskedTransaction {
  readonly msspTransId: string;
  /** The state that has requested it, after those of the parents: `checking: asking`. */
  readonly state: string;
  /** The path of the child that has requested it; empty for the instance itself. */
  readonly path: string;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** Undefined while it is open. */
  readonly end: { readonly at: number; readonly what: string } | undefined;
}

/** Look-ups for one instance with its children. The latest runs come first. */
const maxLookups = 500;

/** A state that requests signatures: the path of its activity, and its text. */
interface Place {
  readonly path: string;
  readonly state: string;
}

/** Levels that are searched, because a chart may contain itself. */
const maxDepth = 5;

const placesIn = ({ invoked, parts }: Chart, above: Place, depth = 0): readonly Place[] =>
  invoked.flatMap(({ child, src, state }): readonly Place[] => {
    const part = parts.get(src);
    const place = { path: pathOf(above.path, child), state: `${above.state}${state}` };
    if (part?.kind === 'chart')
      return depth < maxDepth
        ? placesIn(part.chart, { ...place, state: `${place.state}: ` }, depth + 1)
        : [];
    const provided = part?.kind === 'activity' ? activityOf(part.logic)?.provided : undefined;
    return provided === serviceActivities.sign ? [place] : [];
  });

export const createFindAsked = ({ shards }: Pick<AdminApiDeps, 'shards'>) => {
  const read = async (
    token: string,
    state: string,
    path: string,
  ): Promise<readonly AskedTransaction[]> => {
    const msspTransId = transactionOfRun(token, shards.length);
    const job = await shardFor(shards, msspTransId)?.signatures.jobs.read(msspTransId);
    const { answerTo } = Object(job?.data) as { readonly answerTo?: unknown };
    if (job === undefined || answerTo !== token) return [];
    const ending = endingOf(job);
    const code =
      ending?.kind === 'failed' ? (parseFaultLine(ending.failedReason)?.code ?? 900) : undefined;
    const what = code === undefined ? 'Signed' : `Not signed: ${code}`;
    const end = job.finishedOn === undefined ? undefined : { at: job.finishedOn, what };
    return [{ msspTransId, state, path, askedAt: job.timestamp, end }];
  };

  return async (instance: Instance, { chart }: Workflow): Promise<readonly AskedTransaction[]> => {
    // A chart file may use an earlier copy of the package, whose charts do not have `invoked`.
    const places =
      (chart as Partial<Chart>).invoked === undefined
        ? []
        : placesIn(chart, { path: '', state: '' });
    const runs = Array.from({ length: instance.record?.next ?? 0 }, (_, run) => run).reverse();
    const lookups = runs
      .flatMap((run) => places.map((place) => ({ ...place, run })))
      .slice(0, maxLookups);
    const found = lookups.map(({ path, state, run }) =>
      read(tokenOf(instance, path, run), state, namesIn(path).slice(0, -1).reduce(pathOf, '')),
    );
    return (await Promise.all(found)).flat();
  };
};
