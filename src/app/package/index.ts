/**
 * What other programs import from `paraph`.
 *
 * Relying parties verify signatures, and evidence records of processes. Services that share the
 * queues add jobs and read results by the contract; what they read is a signature without its
 * certificates, which `attachCertificates` completes.
 */

export { attachCertificates } from '../../../packages/pki/src/cms.ts';
export { type Verification, verifySignature } from '../../../packages/pki/src/verify.ts';
export {
  type Fault,
  type FaultCode,
  type FaultReason,
  faultLine,
  faultTable,
  isFaultCode,
  parseFaultLine,
} from '../../../packages/protocol/src/fault.ts';
export { type Evidence, hashDefinition } from '../../../parts/processes/evidence/evidence.ts';
export type { EvidenceProblem } from '../../../parts/processes/evidence/problem.ts';
export type {
  EvidenceOptions,
  EvidenceVerification,
} from '../../../parts/processes/evidence/verify-evidence.ts';
export {
  type ReceiptJobData,
  type ReceiptJobResult,
  receiptJobDataSchema,
  receiptJobId,
  receiptJobName,
  receiptJobResultSchema,
  receiptQueueName,
  type SignatureJobData,
  shardPrefix,
  signatureJobDataSchema,
  signatureJobName,
  signatureQueueName,
  signatureRecordSchema,
} from '../../transactions/contract.ts';
export { verifyEvidence } from './verify-evidence.ts';
