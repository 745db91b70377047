/** How instances have ended, as their applications and the console see it. */

import type { Workflow } from '../../../packages/engine/src/define.ts';
import type { Instance } from '../../../packages/engine/src/engine.ts';
import { resume } from '../../../packages/engine/src/interpret.ts';
import type { ServiceWorkflow } from '../hosted.ts';
import type { WorkflowStatus } from './contract.ts';

/** An instance that ends in a top state of this name has this status. */
export const statusOf = ({ ended, record }: Pick<Instance, 'ended' | 'record'>): WorkflowStatus => {
  if (ended === 'no') return 'open';
  if (record?.status === 'stopped' || record?.value === 'cancelled') return 'cancelled';
  return ended === 'failed' || record?.value === 'failed' ? 'failed' : 'completed';
};

/** Before the job ends. */
export const statusOfEnd = (
  record: NonNullable<Instance['record']>,
  failedReason: string | undefined,
): WorkflowStatus =>
  statusOf({ ended: failedReason === undefined ? 'completed' : 'failed', record });

/** Why an instance has failed or was cancelled; undefined for any other. */
export const reasonOfEnd = (
  instance: Pick<Instance, 'ended' | 'record' | 'failedReason'>,
): string | undefined => {
  const { record, failedReason } = instance;
  return (
    failedReason ??
    record?.reason ??
    (statusOf(instance) === 'failed' ? record?.failure?.message : undefined)
  );
};

/**
 * What an instance has come to. One that has failed rests in a state, and so its chart has no output.
 */
export const outputOf = (
  { ended, record }: Pick<Instance, 'ended' | 'record'>,
  workflow: ServiceWorkflow | undefined,
): unknown =>
  ended !== 'no' && record !== undefined && record.status !== 'stopped' && workflow?.outputOf
    ? workflow.outputOf(record.context)
    : record?.output;

/**
 * An instance as its job will end. Its application is told of the end a moment before, and it takes
 * no event any more.
 */
export const asEnded = (instance: Instance, workflow: Workflow | undefined): Instance => {
  const { id, ended, isClosed, record } = instance;
  if (ended !== 'no' || !isClosed || record === undefined || workflow === undefined)
    return instance;
  if (record.status === 'error')
    return { ...instance, ended: 'failed', failedReason: String(record.error) };
  return resume(workflow.chart, id, record).rests() === 'failed'
    ? {
        ...instance,
        ended: 'failed',
        failedReason: workflow.reasonOf(record.context, record.failure),
      }
    : { ...instance, ended: 'completed' };
};
