/**
 * What other programs import from `paraph/client`: asking a service of the signature interface over HTTP, and verifying
 * what comes back.
 */
export { type Verification, verifySignature } from '../pki/verify.ts';
export {
  type Accepted,
  type CallOptions,
  type ClientOptions,
  createClient,
  type DataToSign,
  type ReceiptRequest,
  type SignatureClient,
  type Signed,
  type SignRequest,
  signedBytes,
} from './client.ts';
export { ServiceUnreachableError, SignatureFaultError, SignatureOutstandingError } from './errors.ts';
export type { Fetch } from './patient-fetch.ts';
export type {
  LocationAnswer,
  ProfileAnswer,
  Reaction,
  ServiceAnswers,
  SscdAnswer,
  Standing,
} from './reply.ts';
export type { Approval, Dialect } from './wire-requests.ts';
