/** `@paraph/queue`: signature requests through Redis, without HTTP. See docs/queue-contract.md. */

export type { Approval as ApprovalInput } from '../../packages/protocol/src/approval.ts';
export type { DeviceAnswer } from '../../packages/protocol/src/outcome.ts';
export type { GeofencingInput } from '../../packages/protocol/src/write-request.ts';
export type { AnswerResult } from '../transactions/answers.ts';
export type { CancelResult } from '../transactions/cancellation.ts';
export type { SignatureStatus } from '../transactions/standing.ts';
export type { EnqueueOutcome } from './bulk.ts';
export type { ConnectionOptions } from './connections.ts';
export {
  InvalidRequestError,
  NoResultError,
  type RequestObjection,
  SignatureFailedError,
  type Unsettled,
} from './errors.ts';
export type { SignatureHandle, SignatureResult, WaitOptions } from './handle.ts';
export type { EnqueueOptions } from './placement.ts';
export type { SignatureInput } from './request.ts';
export {
  createSignatureQueue,
  type EnqueuedSignature,
  type SignatureQueue,
  type SignatureQueueOptions,
} from './signature-queue.ts';
