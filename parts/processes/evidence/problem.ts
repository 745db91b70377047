/** What can be wrong with an evidence record: a place, a reason, and one sentence for people. */
import type { Verification } from '../../../packages/pki/src/verify.ts';

type SignatureReason = Extract<Verification, { readonly ok: false }>['reason'];

const sentences = {
  NO_JWS: 'is no compact JWS',
  WRONG_TYPE: 'is not that of an evidence record',
  UNKNOWN_MEMBER: 'must not be there',
  MALFORMED: 'is malformed',
  UNSUPPORTED_ALGORITHM: 'names an algorithm that is not accepted',
  BAD_SIGNATURE: 'does not fit: the content or the signature was changed',
  UNTRUSTED_CHAIN: 'has no chain of certificates to a trusted root',
  CERTIFICATE_EXPIRED: 'has a certificate that was expired',
  CERTIFICATE_NOT_YET_VALID: 'has a certificate that was not valid yet',
  CERTIFICATE_REVOKED: 'has a certificate that was revoked',
  REVOCATION_UNKNOWN: 'has a certificate of which nothing says whether it was revoked',
  WRONG_PURPOSE: 'has a certificate for another purpose',
  NOT_ONE_SIGNER: 'does not have exactly one signer',
  NO_CONTENT: 'does not contain what it signs',
  CONTENT_MISMATCH: 'signs another text than that of its entry',
  NO_SIGNER_CERTIFICATE: "does not contain the signer's certificate",
  NO_SERIAL_NUMBER: 'has a certificate without a serial number of the person',
  NO_COMMON_NAME: 'has a certificate without a name',
  DIGEST_MISMATCH: 'has a digest of another text',
  NO_GATEWAY_ROOTS: 'names a gateway whose roots were not given (gatewayRoots)',
  ANOTHER_PERSON: 'was signed by another person',
  ANOTHER_TRANSACTION: 'was signed for another transaction or attempt',
  TWICE: 'is there twice',
  AMBIGUOUS: 'belongs to another person elsewhere in the record',
  AFTER_THE_END: 'is later than the end of the process',
  OUT_OF_ORDER: 'is earlier than the steps before allow',
  NOT_FAILED: 'is there although the process has not failed',
  NOT_REVOKED: 'is not what the definition revokes',
  UNKNOWN_STEP: 'is no step of the process',
  SKIPPED: 'is a step that was skipped',
  NOT_SKIPPABLE: 'has no condition, so it cannot be skipped',
  NOT_PASSABLE: 'has no rule by which the process goes on without enough signatures',
  NOT_ENDED: 'is not that of a step that is over, although the process has completed',
  NOT_ENOUGH: 'does not have the signatures that it needs',
  ANOTHER_DEFINITION: 'is the hash of another definition',
  OTHER_STEPS: 'are not those of the definition',
  NO_SIGNER: 'is no signer of its step in the definition',
  ANOTHER_TEXT: 'is not the text of the definition',
} as const satisfies Record<SignatureReason, string> & Record<string, string>;

export type ProblemReason = keyof typeof sentences;

export interface EvidenceProblem {
  /** A path in the record: `signatures[1].cms`, `header.x5c`. */
  readonly place: string;
  readonly reason: ProblemReason;
  /** `signatures[1].cms: was signed by another person` */
  readonly message: string;
}

export const problem = (place: string, reason: ProblemReason): EvidenceProblem => ({
  place,
  reason,
  message: `${place}: ${sentences[reason]}`,
});
