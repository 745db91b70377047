/** `paraph/queue`: signature requests through Redis, without HTTP. See docs/queue-contract.md. */

export type {
  WorkflowOutcome,
  WorkflowQueue,
  WorkflowQueueOptions,
  WorkflowStart,
} from '../../parts/workflows/workflow-queue.ts';
export type { Approval as ApprovalInput } from '../protocol/approval.ts';
export type { DeviceAnswer } from '../protocol/outcome.ts';
export type { GeofencingInput } from '../protocol/write-request.ts';
export type { EnqueueOutcome } from '../queue/bulk.ts';
export type { ConnectionOptions } from '../queue/connections.ts';
export {
  InvalidRequestError,
  NoResultError,
  type RequestObjection,
  SignatureFailedError,
  type Unsettled,
} from '../queue/errors.ts';
export type { SignatureHandle, SignatureResult, WaitOptions } from '../queue/handle.ts';
export type { EnqueueOptions } from '../queue/placement.ts';
export type { SignatureInput } from '../queue/request.ts';
export {
  createSignatureQueue,
  type EnqueuedSignature,
  type SignatureQueue,
  type SignatureQueueOptions,
} from '../queue/signature-queue.ts';
export type { AnswerResult } from '../transactions/answers.ts';
export type { CancelResult } from '../transactions/cancellation.ts';
export type { SignatureStatus } from '../transactions/standing.ts';
export { createWorkflowQueue } from './workflow-queue.ts';
