/**
 * The failed instances that a filter finds, counted by workflow and reason, for the list of
 * instances: an operator sees what has gone wrong before opening any.
 *
 * Reasons are read from the jobs, 500 in a call, because no row has room for them. One count reads
 * the newest 5000 failures at most, because the page of the list counts anew every few seconds.
 */
import type { Instance } from '../../../packages/engine/src/engine.ts';
import type { Role } from '../../../src/console/operators/operator.ts';
import { seesPeople } from '../../../src/console/redaction.ts';
import { nameIn } from '../../../src/transactions/jobs/instance-ids.ts';
import type { InstanceFilter, ListedInstance } from '../instance-fields.ts';
import type { Workflows } from '../instances/workflows.ts';

/** Failures of one workflow for one reason. */
export interface FailureGroup {
  /** The name of the workflow. */
  readonly name: string;
  /** Absent for roles that do not see people, because a reason may quote one. */
  readonly reason?: string;
  readonly number: number;
  /** Whether another run is possible of the newest or of the oldest of them. */
  readonly mayReplay: boolean;
}

export interface Failures {
  readonly found: number;
  /** Whether these are all. Otherwise they are the newest. */
  readonly isWhole: boolean;
  /** The most frequent first. */
  readonly failures: readonly FailureGroup[];
}

/** The longest text of a filter: of a longer reason its begin is looked for. */
export const maxReason = 256;
const maxCounted = 5000;
const readAtOnce = 500;

/** Whether the filter of a list asks for failed instances: only then failures are counted. */
export const isOfFailures = ({ status, failure }: InstanceFilter): boolean =>
  status === undefined ? failure !== undefined : status.includes('failed');

/** Whether an instance can be run again. */
export const isReplayable = (
  workflows: Pick<Workflows, 'mayReplay' | 'workflowFor'>,
  instance: Instance,
): boolean =>
  workflows.workflowFor(instance) !== undefined &&
  instance.ended === 'failed' &&
  workflows.mayReplay(instance);

export const createFailures = (
  workflows: Pick<Workflows, 'list' | 'findInstance' | 'mayReplay' | 'workflowFor'>,
  max = maxCounted,
) => {
  const readNewest = async (filter: InstanceFilter) => {
    const rows: ListedInstance[] = [];
    let cursor: string | undefined;
    do {
      const limit = Math.min(readAtOnce, max - rows.length);
      const wanted = { ...filter, status: ['failed'] as const };
      const page = await workflows.list(wanted, { limit, cursor, withFailure: true });
      rows.push(...(page?.rows ?? []));
      cursor = page?.cursor;
    } while (cursor !== undefined && rows.length < max);
    return { rows, isWhole: cursor === undefined };
  };

  const isOneReplayable = async (ids: readonly string[]): Promise<boolean> => {
    const found = await Promise.all(ids.map((id) => workflows.findInstance(id)));
    return found.some((each) => each !== undefined && isReplayable(workflows, each));
  };

  /**
   * @param filter Its status does not count.
   * @param role Roles that do not see people get no reasons.
   */
  return async (filter: InstanceFilter, role: Role): Promise<Failures> => {
    const { rows, isWhole } = await readNewest(filter);
    const groups = new Map<string, ListedInstance[]>();
    for (const row of rows) {
      const key = JSON.stringify([nameIn(row.id), seesPeople(role) ? row.failure : undefined]);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [row]);
      else group.push(row);
    }
    const failures = await Promise.all(
      [...groups.values()].map(async (group): Promise<FailureGroup> => {
        const [newest, oldest] = [group[0]?.id ?? '', group.at(-1)?.id ?? ''];
        const reason = seesPeople(role) ? group[0]?.failure : undefined;
        return {
          name: nameIn(newest),
          ...(reason !== undefined && { reason }),
          number: group.length,
          mayReplay: await isOneReplayable([newest, oldest]),
        };
      }),
    );
    return {
      found: rows.length,
      isWhole,
      failures: failures.toSorted((one, other) => other.number - one.number),
    };
  };
};
