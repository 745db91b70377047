/**
 * Bulks of instances of workflows: failed ones run again; open ones are cancelled, or sent an event.
 *
 * The dry run asks each chart what it would do with the event, in its present state. What a chart
 * refuses when it comes to it is `refused` in the report.
 *
 * An order for an item has the id of the bulk as its key, so that it counts once when another
 * process takes the bulk over.
 */
import type { BulkOrder } from '../../../machines/bulk-replay.machine.ts';
import { readJobName } from '../../../packages/engine/src/define.ts';
import type { Instance } from '../../../packages/engine/src/engine.ts';
import {
  type BulkList,
  type BulkPlan,
  type BulkSelection,
  type BulkWork,
  type Candidate,
  candidatesOf,
  gather,
  selectedAtOnce,
} from '../../../src/console/operators/bulk-list.ts';
import type { BulkResult } from '../../../src/console/operators/bulk-store.ts';
import { includesRole, type Operator } from '../../../src/console/operators/operator.ts';
import { increment } from '../../../src/console/operators/transaction-bulk.ts';
import type { RedisClient } from '../../../src/redis/connect.ts';
import { createReplayOnce } from '../../../src/transactions/jobs/replay-once.ts';
import type { InstanceFilter } from '../instance-fields.ts';
import type { WorkflowStatus } from '../instances/contract.ts';
import type { Workflows } from '../instances/workflows.ts';
import { apIdOf, viewOf } from './workflow-detail.ts';

export type WorkflowBulkKind = 'replay' | 'cancel' | 'send';

/** A filter without the status, which the kind decides. */
export type WorkflowBulkFilter = Omit<InstanceFilter, 'status'>;
export type WorkflowBulkSelection = BulkSelection<WorkflowBulkFilter, WorkflowBulkKind>;

/** A row of a plan. */
export interface PlannedInstance {
  readonly instanceId: string;
  readonly id: string;
  readonly name: string;
  readonly apId: string;
  readonly state: unknown;
  readonly createdAt: number;
  /** Why it has failed. */
  readonly reason: string | undefined;
}

const workflowRefusals = [
  'undefined',
  'refused',
  'invalid',
  'role',
  'not-failed',
  'not-open',
] as const;
type Refusal = (typeof workflowRefusals)[number];

export interface WorkflowPlan extends BulkPlan<PlannedInstance> {
  /** The replayable ones by the name of their workflow, by AP_ID, and by why they have failed. */
  readonly byWorkflow: Readonly<Record<string, number>>;
  readonly byAp: Readonly<Record<string, number>>;
  readonly byReason: Readonly<Record<string, number>>;
  readonly refused: Readonly<Record<Refusal | 'unknown', number>>;
}

export const statusFor = (kind: string): WorkflowStatus => (kind === 'replay' ? 'failed' : 'open');

interface Found extends Candidate<PlannedInstance> {
  readonly instance: Instance;
  readonly status: WorkflowStatus;
  /** What its chart says of the event of the order. */
  readonly refusal: 'refused' | 'invalid' | undefined;
}

/** How often the job of an instance has ended, as BullMQ counts. */
const endedRunsOf = async (redis: RedisClient, workflows: Workflows, id: string): Promise<number> =>
  Number((await redis.hget(workflows.locate(id).queue.toKey(id), 'atm')) ?? 0);

export const createWorkflowBulk = ({
  workflows,
  redis,
  isHidden,
}: {
  readonly workflows: Workflows;
  readonly redis: RedisClient;
  readonly isHidden: (name: string) => boolean;
}): BulkList<WorkflowBulkSelection, WorkflowPlan> => {
  /** What the chart would do with the event of the order, in its present state. */
  const foresee = async (
    instance: Instance,
    { kind, event }: WorkflowBulkSelection,
    { name: by }: Operator,
  ): Promise<Found['refusal']> => {
    const workflow = workflows.workflowFor(instance);
    if (workflow === undefined) return undefined;
    const isCancel = kind === 'cancel';
    // A chart that has no CANCEL is stopped.
    if (isCancel && !workflow.chart.machine.events.includes('CANCEL')) return undefined;
    const asked = isCancel ? { type: 'CANCEL', by, reason: '' } : event;
    if (asked === undefined) return undefined;
    try {
      const said = await workflows.engine.can(workflow, instance.id, asked);
      return said === 'refused' ? 'refused' : undefined;
    } catch {
      return isCancel ? 'refused' : 'invalid';
    }
  };

  const readOne = async (
    id: string,
    selection: WorkflowBulkSelection,
    operator: Operator,
  ): Promise<Found | undefined> => {
    const { kind = 'replay' } = selection;
    // A child is none: it belongs to the instance that has started it.
    const instance = /^[\w-]+$/.test(id) ? await workflows.findInstance(id) : undefined;
    if (instance === undefined || isHidden(readJobName(instance.jobName).name)) return undefined;
    const view = viewOf(workflows, instance);
    const isDue = view.status === statusFor(kind);
    const row = {
      instanceId: instance.id,
      id: view.id,
      name: view.name,
      apId: apIdOf(instance),
      state: view.state,
      createdAt: view.createdAt,
      reason: view.reason,
    };
    return {
      instance,
      status: view.status,
      row,
      item: { id, endedRuns: await endedRunsOf(redis, workflows, id) },
      refusal: isDue ? await foresee(instance, selection, operator) : undefined,
    };
  };

  return {
    name: 'workflows',

    select: async (selection, operator) => {
      const { kind = 'replay' } = selection;
      const filter = 'filter' in selection ? selection.filter : {};
      // Maps, because other people choose the names: `__proto__` is possible.
      const byWorkflow = new Map<string, number>();
      const byAp = new Map<string, number>();
      const byReason = new Map<string, number>();
      const read = (ids: readonly string[]) =>
        Promise.all(ids.map((id) => readOne(id, selection, operator)));
      const pages = candidatesOf(
        'ids' in selection ? { ids: selection.ids, read } : undefined,
        read,
        async (cursor) => {
          const wanted = { ...filter, status: [statusFor(kind)] };
          const page = await workflows.list(wanted, { limit: selectedAtOnce, cursor });
          return page && { ids: page.rows.map(({ id }) => id), cursor: page.cursor };
        },
      );
      const refuse = ({ instance, status, refusal }: Found): Refusal | undefined => {
        if (kind === 'replay') {
          if (status !== 'failed' && instance.ended !== 'failed') return 'not-failed';
        } else if (status !== 'open') return 'not-open';
        if (!includesRole(operator.role, 'operator')) return 'role';
        if (workflows.workflowFor(instance) === undefined) return 'undefined';
        // Only a job that has failed runs again.
        if (kind === 'replay')
          return instance.ended === 'failed' && workflows.mayReplay(instance)
            ? undefined
            : 'refused';
        return refusal;
      };
      const take = ({ row }: Found): void => {
        increment(byWorkflow, row.name);
        increment(byAp, row.apId);
        if (row.reason !== undefined) increment(byReason, row.reason);
      };
      const { items, plan } = await gather<PlannedInstance, Found, Refusal>(pages, {
        refuse,
        take,
        reasons: workflowRefusals,
        outside: ['not-failed', 'not-open'],
      });
      return {
        items,
        plan: {
          ...plan,
          byWorkflow: Object.fromEntries(byWorkflow),
          byAp: Object.fromEntries(byAp),
          byReason: Object.fromEntries(byReason),
        },
      };
    },
  };
};

const actions: Readonly<Record<string, string>> = {
  replay: 'workflow-replay',
  cancel: 'workflow-cancel',
  send: 'workflow-event',
};

/** What is done to one instance. */
export const createBulkWork = ({
  workflows,
  redis,
}: {
  readonly workflows: Workflows;
  readonly redis: RedisClient;
}): BulkWork => {
  const replayOnce = createReplayOnce(redis, (id) => workflows.locate(id).queue);

  const replay = async (
    { id: bulk, by }: BulkOrder,
    item: { readonly id: string; readonly endedRuns: number },
  ): Promise<BulkResult> => {
    const result = await replayOnce(item.id, item.endedRuns, { by, order: bulk });
    return ({ replayed: 'done', changed: 'changed', unknown: 'gone' } as const)[result];
  };

  return {
    of: 'workflows',
    action: (kind) => actions[kind] ?? kind,

    carryOut: async (item, order, { isAgain, note }) => {
      const { id: bulk, kind = 'replay', by, reason, event } = order;
      const instance = await workflows.findInstance(item.id);
      if (instance === undefined) return 'gone';
      if (kind === 'replay') {
        if (instance.ended === 'failed' && !workflows.mayReplay(instance)) return 'refused';
        if (instance.ended !== 'failed' && !isAgain) return 'changed';
        await note();
        const result = await replay(order, item);
        if (result !== 'done') await note(result);
        return result;
      }
      if (instance.ended !== 'no' && !isAgain) return 'changed';
      await note();
      const { name, id } = viewOf(workflows, instance);
      const key = `op/${bulk}`;
      const apId = apIdOf(instance);
      if (kind === 'cancel') {
        const done = await workflows.cancel(apId, name, id, { by, reason }, key);
        if (done === 'busy') return undefined;
        if (done === 'cancelled') return 'cancelled';
        // A cancel that was sent before a crash has ended it meanwhile.
        if (done === 'unknown' && isAgain && viewOf(workflows, instance).status === 'cancelled')
          return 'cancelled';
        await note(done);
        return done === 'refused' ? 'refused' : 'changed';
      }
      if (event === undefined) return 'refused';
      const { kind: said } = await workflows.send(apId, name, id, event, key);
      if (said === 'busy') return undefined;
      if (said === 'taken') return 'done';
      await note(said);
      return said === 'unknown' ? 'changed' : 'refused';
    },
  };
};
