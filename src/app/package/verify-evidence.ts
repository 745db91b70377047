/** `verifyEvidence` of `paraph`, with what parts add to processes. */
import { documentsInDefinition } from '../../../parts/documents/signing/definition.ts';
import {
  createVerifyEvidence,
  type VerifyEvidence,
} from '../../../parts/processes/evidence/verify-evidence.ts';

/**
 * Verifies the evidence record of a process (`output.evidence`).
 *
 * @param evidence A compact JWS, from anywhere.
 * @returns The content, or all that is wrong with it. Problems name places and never repeat values.
 * @throws TypeError When the roots or `at` are not usable.
 */
export const verifyEvidence: VerifyEvidence = createVerifyEvidence(documentsInDefinition);
