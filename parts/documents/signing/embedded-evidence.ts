/** The evidence record in a signed PDF, verified offline. */
import { hash } from 'node:crypto';
import { type EvidenceVerification, openVerifyEvidence } from '../../processes/index.ts';
import { recordsIn } from '../pdf/index.ts';
import { documentsIn, documentsInDefinition } from './definition.ts';
import { evidenceField } from './evidence-field.ts';

type Evidence = Extract<EvidenceVerification, { readonly ok: true }>['evidence'];

export interface EmbeddedEvidence {
  /** A compact JWS. */
  readonly record: string;
  /** Undefined where it does not verify. */
  readonly evidence: Evidence | undefined;
  readonly problems: readonly string[];
}

/**
 * @param roots Of the service, DER.
 * @returns Undefined for a PDF without one.
 */
export const readEvidence = async (
  bytes: Uint8Array,
  roots: readonly Uint8Array[],
): Promise<EmbeddedEvidence | undefined> => {
  const found = recordsIn(bytes).get(evidenceField);
  if (found === undefined) return undefined;
  const record = Buffer.from(found).toString('latin1');
  const verify = await openVerifyEvidence(documentsInDefinition);
  const verified = await verify(record, { serviceRoots: roots });
  if (!verified.ok)
    return {
      record,
      evidence: undefined,
      problems: verified.problems.map(({ message }) => message),
    };
  const { evidence } = verified;
  // The PDF begins with the document that the people have read.
  const isOf = documentsIn(evidence).some(
    ({ size, sha256 }) => hash('sha256', bytes.subarray(0, size), 'hex') === sha256,
  );
  return { record, evidence, problems: isOf ? [] : ['documents: none of them is this PDF'] };
};
