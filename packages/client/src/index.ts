/** `paraph/client`: the signature interface over HTTP, and verification of signatures. */
export { type Verification, verifySignature } from '../../pki/src/verify.ts';
export type { Approval } from '../../protocol/src/approval.ts';
export type { Dialect } from '../../protocol/src/uris.ts';
export type { DataToSign } from '../../protocol/src/write-request.ts';
export type { ReceiptRequest, SignRequest } from './calls.ts';
export {
  type Accepted,
  type CallOptions,
  type ClientOptions,
  createClient,
  type SignatureClient,
  type Signed,
  type StatusOptions,
  signedBytes,
} from './client.ts';
export {
  ServiceUnreachableError,
  SignatureFaultError,
  SignatureOutstandingError,
} from './errors.ts';
export type { Fetch } from './fetch.ts';
export type {
  LocationAnswer,
  ProfileAnswer,
  Reaction,
  ServiceAnswers,
  SscdAnswer,
  Standing,
} from './reply.ts';
