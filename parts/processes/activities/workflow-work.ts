/**
 * The work of processes and of charts of one's own: their instances, the activities that charts
 * name, and how these hear of the ends of signatures and receipts.
 */
import type { AnyActorLogic } from 'xstate';
import type { Workflow } from '../../../packages/engine/src/define.ts';
import type { Engine } from '../../../packages/engine/src/engine.ts';
import { createOthers } from '../../../packages/engine/src/other.ts';
import type { Tellers } from '../../../src/http/outgoing/tellers.ts';
import { instanceIdOf } from '../../../src/transactions/jobs/instance-ids.ts';
import type { OpenWork, WorkersOptions } from '../../../workers/workers.ts';
import type { CreateEvidence } from '../evidence/create-evidence.ts';
import type { WorkflowCounter } from '../metrics.ts';
import type { NotifyEnd } from '../notices.ts';
import { workflowsOf } from '../queue.ts';
import { serviceActivities } from '../workflows/service-activities.ts';
import { processActivities } from '../workflows/stock-process.ts';
import { asServiceWorkflow } from '../workflows/workflows.ts';
import { apIdOf, createFindRun } from './asked-run.ts';
import { createReceiptActivity, createTellReceipted } from './receipt-activity.ts';
import { createSignActivity, type SignActivityOptions } from './sign-activity.ts';
import { createTellSigned } from './sign-run.ts';
import { createWebhookActivity } from './webhook-activity.ts';
import { createAttestActivity, startWorkflowsWorker } from './workflow.worker.ts';

export interface WorkflowWorkOptions
  extends Omit<SignActivityOptions, 'redis' | 'find' | 'engine' | 'onError' | 'providers'>,
    Pick<WorkersOptions, 'providers' | 'seals' | 'retention'>,
    Pick<Tellers, 'callWebhook'> {
  readonly notifyEnd: NotifyEnd;
  readonly count: WorkflowCounter;
  /** The activity of charts of one's own. */
  readonly sendMail: AnyActorLogic;
  /** How long a receipt stays on the phone. */
  readonly receiptSeconds: number;
  /** As the service runs them (workflows/workflows.ts). */
  readonly workflows: readonly Workflow[];
  /** Finds their instances, and waits while a turn of theirs runs. */
  readonly engine: Engine;
  /** Makes the evidence of processes. */
  readonly createEvidence: CreateEvidence;
}

export const createWorkflowWork =
  (options: WorkflowWorkOptions): OpenWork =>
  (shared) => {
    const { engine } = options;
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
      [serviceActivities.sendMail]: options.sendMail,
      [serviceActivities.callWebhook]: createWebhookActivity({ call: options.callWebhook }),
      [serviceActivities.receipt]: createReceiptActivity({
        ...toSign,
        timeoutSeconds: options.receiptSeconds,
      }),
      [processActivities.sign]: createSignActivity(toSign, false),
      [processActivities.attest]: createAttestActivity(options.createEvidence),
    };
    const { subscribers, workflows, notifyEnd, count } = options;
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
          notifyEnd,
          count,
          workflows,
        });
        return { workers, queue };
      },
    };
  };
