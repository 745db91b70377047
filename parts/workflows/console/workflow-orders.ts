/** Orders to open instances, as pages and API give them: cancel, and those of parts. */
import type { Context } from 'hono';
import { doneBy, type NewAuditEntry, noted } from '../../../src/console/operators/audit.ts';
import type { Operator } from '../../../src/console/operators/operator.ts';
import { type OrderError, present } from '../../../src/console/order-errors.ts';
import { unknownPage } from '../../../src/console/pages/session-pages.ts';
import type { SendOutcome } from '../instances/workflows.ts';
import type { WorkflowConsoleDeps } from './deps.ts';
import { type WorkflowErrorName, workflowErrors } from './notices.ts';
import type { WorkflowDetails, WorkflowRow } from './workflow-detail.ts';

const maxReason = 500;

type Failure = 'unknown' | 'undefined' | 'ended' | 'busy' | 'reason';

/** How an order has ended. `More`: what only this order may end with. */
export type Done<More extends string = never> = 'done' | Failure | More;

const errors = {
  unknown: 'workflow-unknown',
  undefined: 'workflow-undefined',
  ended: 'workflow-ended',
  busy: 'workflow-busy',
  reason: 'reason',
} as const satisfies Record<Failure, WorkflowErrorName>;

export interface WorkflowOrders {
  /**
   * Carries out an order to an instance that is open, and records it in the audit log.
   *
   * @param id Of the instance, not of a child.
   * @param about.reason Empty: none.
   * @param about.details For the audit log, beside the name of the workflow.
   */
  order<More extends string>(
    id: string,
    operator: Operator,
    about: {
      readonly action: NewAuditEntry['action'];
      readonly reason: string;
      readonly details?: NewAuditEntry['details'];
    },
    work: (found: WorkflowRow) => Promise<Done<More>>,
  ): Promise<Done<More>>;
  /** Sends an event to an instance, in the name of its application. */
  send(found: WorkflowRow, event: { readonly type: string }): Promise<SendOutcome>;
  /** The answer of the API. */
  answer<More extends string>(done: Done<More>, more: Readonly<Record<More, OrderError>>): Response;
  /**
   * Shows the page of the instance.
   *
   * @param good The name of the notice.
   * @param more The names of notices about what only this order may end with.
   */
  show<More extends string>(
    c: Context,
    id: string,
    done: Done<More>,
    good: string,
    more: Readonly<Record<More, string>>,
  ): Response | Promise<Response>;
}

export const createWorkflowOrders = (
  { workflows, audit }: Pick<WorkflowConsoleDeps, 'workflows' | 'audit'>,
  details: WorkflowDetails,
): WorkflowOrders => {
  const findOpen = async (
    id: string,
    operator: Operator,
  ): Promise<WorkflowRow | 'unknown' | 'undefined' | 'ended'> => {
    const found = await details.find(id, operator.role);
    if (found === undefined) return 'unknown';
    if (details.workflowOf(found) === undefined) return 'undefined';
    return found.status === 'open' ? found : 'ended';
  };

  return {
    order: async (id, operator, { action, reason, details: more }, work) => {
      if (reason.length > maxReason) return 'reason';
      const found = await findOpen(id, operator);
      if (typeof found === 'string') return found;
      const entry = {
        ...doneBy(operator),
        action,
        target: id,
        details: { name: found.name, ...more },
        ...(reason !== '' && { reason }),
      };
      return noted(
        audit,
        entry,
        () => work(found),
        (done) => done === 'done' || done,
      );
    },
    send: ({ apId, name, id }, event) => workflows.send(apId, name, id, event),
    answer: (done, more) => {
      const all: Readonly<Record<string, OrderError>> = { ...workflowErrors(errors), ...more };
      return present<string, 'done'>(done, 'done', all);
    },
    show: (c, id, done, good, more) => {
      if (done === 'unknown') return c.html(unknownPage('workflow'), 404);
      const names: Readonly<Record<string, string>> = { done: good, ...errors, ...more };
      return c.redirect(`/admin/workflows/${encodeURIComponent(id)}?notice=${names[done]}`, 303);
    },
  };
};
