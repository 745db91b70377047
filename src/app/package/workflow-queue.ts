/** `createWorkflowQueue` of `paraph/queue`, with what parts say of their workflows. */
import { documentInputs } from '../../../parts/documents/signing/inputs.ts';
import { processInputs } from '../../../parts/processes/inputs.ts';
import {
  createCheckedQueue,
  type InputRules,
  type WorkflowQueue,
  type WorkflowQueueOptions,
} from '../../../parts/workflows/workflow-queue.ts';

const rules: readonly InputRules[] = [processInputs, documentInputs];

/** A producer of signature processes, and of instances of charts of the service's operators. */
export const createWorkflowQueue = (options: WorkflowQueueOptions): WorkflowQueue =>
  createCheckedQueue(options, rules);
