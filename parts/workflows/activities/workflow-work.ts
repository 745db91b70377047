/**
 * The work of workflows: their instances, the activities that charts name, and how these hear of
 * the ends of signatures and receipts.
 */
import type { AnyActorLogic } from 'xstate';
import type { Engine } from '../../../packages/engine/src/engine.ts';
import { createOthers } from '../../../packages/engine/src/other.ts';
import type { Tellers } from '../../../src/http/outgoing/tellers.ts';
import { instanceIdOf } from '../../../src/transactions/jobs/instance-ids.ts';
import type { OpenWork, WorkersOptions } from '../../../workers/workers.ts';
import { serviceActivities } from '../charts/service-activities.ts';
import type { HostedWorkflows, ServiceWorkflow } from '../hosted.ts';
import { asServiceWorkflow } from '../instances/workflows.ts';
import type { WorkflowCounter } from '../metrics.ts';
import { workflowsOf } from '../queue.ts';
import { apIdOf, createFindRun } from './asked-run.ts';
import { createReceiptActivity, createTellReceipted } from './receipt-activity.ts';
import { createSignActivity, type SignActivityOptions } from './sign-activity.ts';
import { createTellSigned } from './sign-run.ts';
import { createWebhookActivity } from './webhook-activity.ts';
import { type NotifyEnd, startWorkflowsWorker } from './workflow.worker.ts';

export interface WorkflowWorkOptions
  extends Omit<SignActivityOptions, 'redis' | 'find' | 'engine' | 'onError' | 'providers'>,
    Pick<WorkersOptions, 'providers' | 'seals' | 'retention'> {
  readonly hosted: readonly HostedWorkflows[];
  readonly isHidden: (name: string) => boolean;
  readonly tellers: Tellers;
  readonly count: WorkflowCounter;
  /** Further ones that charts name. */
  readonly activities: Readonly<Record<string, AnyActorLogic>>;
  /** How long a receipt stays on the phone. */
  readonly receiptSeconds: number;
  /** The workflows that the service runs (instances/workflows.ts). */
  readonly workflows: readonly ServiceWorkflow[];
  /** Finds their instances, and waits while a turn of theirs runs. */
  readonly engine: Engine;
}

/** Tells an application that an instance has ended: at least once, as the same message. */
const createNotifyEnd =
  ({ tell }: Pick<Tellers, 'tell'>): NotifyEnd =>
  ({ instance, createdAt, runs, name, apId, state, reason }) =>
    tell(
      { what: 'end', apId, workflow: name, state, reason },
      { id: `end/${instance}/${createdAt}/${runs}`, instance },
    );

export const createWorkflowWork =
  (options: WorkflowWorkOptions): OpenWork =>
  (shared) => {
    const { engine, hosted, tellers } = options;
    // Charts of one's own reach instances of the application that theirs belongs to.
    const others = createOthers({
      engine,
      idOf: (from, workflow, id) => instanceIdOf(apIdOf(from), workflow, id),
      inputOf: (from, input) => ({ apId: apIdOf(from), input }),
      workflowOf: asServiceWorkflow,
    });
    const toSign = { ...options, ...shared };
    const toTell = { ...toSign, findRun: createFindRun(toSign) };
    const activities = {
      [serviceActivities.sign]: createSignActivity(toSign, true),
      [serviceActivities.callWebhook]: createWebhookActivity({ call: tellers.callWebhook }),
      [serviceActivities.receipt]: createReceiptActivity({
        ...toSign,
        timeoutSeconds: options.receiptSeconds,
      }),
      ...Object.fromEntries(
        hosted.flatMap(({ signs }) =>
          signs === undefined ? [] : [[signs, createSignActivity(toSign, false)]],
        ),
      ),
      ...options.activities,
    };
    const { subscribers, workflows, isHidden, count } = options;
    return {
      tellSigned: createTellSigned(toTell),
      tellReceipted: createTellReceipted(toTell),
      start: ({ shard, ...common }) => {
        const { queue } = workflowsOf(shard);
        const workers = startWorkflowsWorker({
          ...common,
          queue,
          others,
          activities,
          subscribers,
          notifyEnd: createNotifyEnd(tellers),
          isHidden,
          count,
          workflows,
        });
        return { workers, queue };
      },
    };
  };
