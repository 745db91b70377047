/** `paraph/queue`: signature requests and processes through Redis, without HTTP. See docs/queue-contract.md. */

export {
  createWorkflowQueue,
  type WorkflowOutcome,
  type WorkflowQueue,
  type WorkflowQueueOptions,
  type WorkflowStart,
} from '../../../parts/processes/workflow-queue.ts';
export * from '../../queue/index.ts';
