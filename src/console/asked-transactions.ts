/**
 * The transactions that an instance of a chart of one's own has asked for, over its children.
 *
 * A chart need not keep the id of a transaction. But the id follows from the instance, the child
 * and its run (`transactionOfRun`), and runs are counted. So each run that a state with `sign` may
 * have had is looked up.
 */
import { tokenOf } from '../engine/activities.ts';
import type { Chart } from '../engine/chart.ts';
import { activityOf, type Workflow } from '../engine/define.ts';
import type { Instance } from '../engine/engine.ts';
import { childInstanceId } from '../engine/interpret.ts';
import { parseFaultLine } from '../protocol/fault.ts';
import { shardFor } from '../transactions/answers.ts';
import { endingOf } from '../transactions/endings.ts';
import { transactionOfRun } from '../transactions/ids.ts';
import { serviceActivities } from '../workflows/service-activities.ts';
import type { AdminApiDeps } from './deps.ts';

export interface AskedTransaction {
  readonly msspTransId: string;
  /** The state that has asked, below those of the parents: `checking: asking`. */
  readonly state: string;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** Undefined while it is open. */
  readonly end: { readonly at: number; readonly what: string } | undefined;
}

/** Look-ups for one instance with its children. The latest runs come first. */
const maxLookups = 500;

const isSign = ({ chart }: Workflow, src: string): boolean =>
  chart.kindOf(src) === 'activity' && activityOf(chart.logicOf(src))?.provided === serviceActivities.sign;

export const createFindAsked = ({ workflows, shards }: Pick<AdminApiDeps, 'workflows' | 'shards'>) => {
  const read = async (token: string, state: string): Promise<readonly AskedTransaction[]> => {
    const msspTransId = transactionOfRun(token, shards.length);
    const job = await shardFor(shards, msspTransId)?.signatures.jobs.read(msspTransId);
    const { answerTo } = Object(job?.data) as { readonly answerTo?: unknown };
    if (job === undefined || answerTo !== token) return [];
    const ending = endingOf(job);
    const code = ending?.kind === 'failed' ? (parseFaultLine(ending.failedReason)?.code ?? 900) : undefined;
    const what = code === undefined ? 'Signed' : `Not signed: ${code}`;
    const end = job.finishedOn === undefined ? undefined : { at: job.finishedOn, what };
    return [{ msspTransId, state, askedAt: job.timestamp, end }];
  };

  return async (instance: Instance, workflow: Workflow): Promise<readonly AskedTransaction[]> => {
    let left = maxLookups;
    const look = async (
      of: Pick<Instance, 'id' | 'createdAt' | 'record'>,
      own: Workflow,
      above: string,
    ): Promise<readonly AskedTransaction[]> => {
      const found: Promise<readonly AskedTransaction[]>[] = [];
      const next = of.record?.next ?? 0;
      // A chart file may use an earlier copy of the package, whose charts do not say it.
      const { invoked = [] }: Partial<Chart> = own.chart;
      for (let run = next - 1; run >= 0 && left > 0; run -= 1) {
        for (const { child, src, state } of invoked) {
          const chart = own.children[src];
          if (chart === undefined && !isSign(own, src)) continue;
          left -= 1;
          if (chart === undefined) {
            found.push(read(tokenOf(of, child, run), `${above}${state}`));
            continue;
          }
          const started = workflows.findInstance(childInstanceId(of.id, child, run));
          found.push(started.then((each) => (each ? look(each, chart, `${above}${state}: `) : [])));
        }
      }
      return (await Promise.all(found)).flat();
    };
    return look(instance, workflow, '');
  };
};
