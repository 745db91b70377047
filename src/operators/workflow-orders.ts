/**
 * Instances of workflows for operators: the list, one of them, and orders to it.
 *
 * An order to an instance is in the audit log before it is carried out. The list and the states are
 * for every role; what people have entered or signed (context, output, reasons) is not.
 */
import type { Workflows, WorkflowView } from '../workflows/workflows.ts';
import { type Audit, doneBy, type NewAuditEntry, noted } from './audit.ts';
import { includesRole, type Operator } from './operator.ts';
import { isReason } from './replay-policy.ts';

export interface WorkflowRow extends Pick<WorkflowView, 'name' | 'version' | 'status' | 'state'> {
  /** Of the instance: with the application in it. */
  readonly instance: string;
  /** As the application has chosen it. */
  readonly id: string;
  readonly apId: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly endedAt: number | undefined;
}

export interface WorkflowDetail extends WorkflowRow, Pick<WorkflowView, 'context' | 'output' | 'reason'> {}

type Refused = { readonly refused: 'role' | 'reason' };
export type SendOrderResult =
  | 'taken'
  | 'refused'
  | 'busy'
  | 'unknown'
  | { readonly invalid: string }
  | Refused;
export type CancelOrderResult = 'cancelled' | 'busy' | 'unknown' | Refused;
export type ReplayOrderResult = 'replayed' | 'not-failed' | 'unknown' | Refused;

export interface WorkflowFilter {
  readonly name?: string | undefined;
  readonly status?: WorkflowView['status'] | undefined;
  readonly apId?: string | undefined;
}

export const createWorkflowOrders = ({
  workflows,
  audit,
}: {
  readonly workflows: Workflows;
  readonly audit: Pick<Audit, 'record'>;
}) => {
  const { locate, findInstance, view } = workflows;

  /** Children belong to the instance that has started them. */
  const find = async (instance: string): Promise<WorkflowDetail | undefined> => {
    if (!/^[\w-]+$/.test(instance)) return undefined;
    const found = await findInstance(instance);
    if (found === undefined) return undefined;
    const { apId } = Object(found.data) as { readonly apId?: unknown };
    return { ...view(found), instance, apId: typeof apId === 'string' ? apId : '' };
  };

  const refusalOf = ({ role }: Operator, reason: string | undefined): Refused | undefined => {
    if (!includesRole(role, 'operator')) return { refused: 'role' };
    return reason === undefined || isReason(reason) ? undefined : { refused: 'reason' };
  };

  return {
    find,

    /** Newest first. @returns Undefined for an invalid cursor. */
    list: async (
      filter: WorkflowFilter,
      page: { readonly limit: number; readonly cursor?: string | undefined },
    ): Promise<{ readonly rows: readonly WorkflowRow[]; readonly cursor?: string } | undefined> => {
      const listed = await workflows.list(filter, page);
      if (listed === undefined) return undefined;
      const found = await Promise.all(listed.rows.map(({ id }) => find(id)));
      const rows = found.flatMap((each): WorkflowRow[] => {
        if (each === undefined) return [];
        const { context: _, output: __, reason: ___, ...row } = each;
        return [row];
      });
      return { ...listed, rows };
    },

    /** @param key Sent again under the same key, the event counts once. */
    send: async (
      instance: string,
      event: { readonly type: string },
      {
        operator,
        key,
        reason,
      }: { operator: Operator; key?: string | undefined; reason?: string | undefined },
    ): Promise<SendOrderResult> => {
      const refusal = refusalOf(operator, reason);
      if (refusal !== undefined) return refusal;
      const found = await find(instance);
      if (found === undefined) return 'unknown';
      const entry: NewAuditEntry = {
        ...{ ...doneBy(operator), action: 'workflow-event' as const, target: instance },
        ...{ details: { event: event.type }, ...(reason !== undefined && { reason }) },
      };
      const send = () => workflows.send(found.apId, found.name, found.id, event, key);
      const result = await noted(audit, entry, send, ({ kind }) => kind === 'taken');
      return result.kind === 'invalid' ? { invalid: result.message } : result.kind;
    },

    cancel: async (instance: string, operator: Operator, reason: string): Promise<CancelOrderResult> => {
      const refusal = refusalOf(operator, reason);
      if (refusal !== undefined) return refusal;
      const found = await find(instance);
      if (found === undefined) return 'unknown';
      const entry = { ...doneBy(operator), action: 'cancel', target: instance, reason } as const;
      const order = { by: operator.name, reason };
      const cancel = () => workflows.cancel(found.apId, found.name, found.id, order);
      return noted(audit, entry, cancel, (result) => result === 'cancelled');
    },

    /** Runs a failed instance again: its chart gets REPLAY. */
    replay: async (
      instance: string,
      operator: Operator,
      reason: string | undefined,
    ): Promise<ReplayOrderResult> => {
      const refusal = refusalOf(operator, reason);
      if (refusal !== undefined) return refusal;
      if ((await find(instance)) === undefined) return 'unknown';
      const entry: NewAuditEntry = {
        ...{ ...doneBy(operator), action: 'replay' as const, target: instance },
        ...(reason !== undefined && { reason }),
      };
      const replay = async (): Promise<ReplayOrderResult> => {
        const job = await locate(instance).queue.getJob(instance);
        if (job === undefined) return 'unknown';
        if (!(await job.isFailed())) return 'not-failed';
        try {
          await job.retry('failed');
          return 'replayed';
        } catch {
          // Another one has replayed it.
          if (!(await job.isFailed())) return 'not-failed';
          throw new Error('A failed instance could not be run again');
        }
      };
      return noted(audit, entry, replay, (result) => result === 'replayed');
    },
  };
};

export type WorkflowOrders = ReturnType<typeof createWorkflowOrders>;
