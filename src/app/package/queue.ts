/** `paraph/queue`: signature requests and processes through Redis, without HTTP. See docs/queue-contract.md. */

export type {
  WorkflowOutcome,
  WorkflowQueue,
  WorkflowQueueOptions,
  WorkflowStart,
} from '../../../parts/workflows/workflow-queue.ts';
export * from '../../queue/index.ts';
export { createWorkflowQueue } from './workflow-queue.ts';
