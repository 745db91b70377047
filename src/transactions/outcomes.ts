/**
 * Reads the end of a job: the state of its transaction outside the workflow.
 *
 * Any program with access to Redis can write a return value. It is trusted when it has the seal of
 * a worker, and otherwise as far as its signature verifies. An end that is not trusted is read as
 * an internal error.
 */
import { Buffer } from 'node:buffer';
import { attachCertificates } from '../../packages/pki/src/cms.ts';
import { type Fault, fault, parseFaultLine } from '../../packages/protocol/src/fault.ts';
import type { Outcome } from '../../packages/protocol/src/outcome.ts';
import { isOneTimePassword, type SignatureRequest } from '../../packages/protocol/src/requests.ts';
import { endRecordSchema } from './contract.ts';
import type { Ending } from './endings.ts';
import type { SealedEnd, Seals } from './seal.ts';
import { createVerifyOutcome, type OutcomeCustody, type UpstreamTrust } from './verify-outcome.ts';

export type SignedView = Pick<
  Outcome,
  'profile' | 'sscdId' | 'validated' | 'geofencing' | 'subscriberNetwork' | 'upstream'
> & {
  /** CMS SignedData with certificates, Base64. Undefined for a delivered text. */
  readonly signature: string | undefined;
};

export type TransactionState =
  | { readonly kind: 'open' }
  | { readonly kind: 'signed'; readonly signed: SignedView }
  | { readonly kind: 'failed'; readonly fault: Fault };

export interface TransactionView {
  readonly msspTransId: string;
  readonly request: SignatureRequest;
  readonly state: TransactionState;
  /** Milliseconds since the epoch; undefined while it is open. */
  readonly endedAt: number | undefined;
}

/** The transaction whose end is read. */
export interface EndedTransaction {
  readonly id: string;
  /** Undefined when it cannot be read. Then no signature is trusted. */
  readonly request: SignatureRequest | undefined;
  /** Milliseconds since the epoch. Default: now. */
  readonly endedAt?: number | undefined;
}

/** Reads an end. A failure whose reason is not a fault line is read as fault 900. */
export type ReadEnd = (ending: Ending, of: EndedTransaction) => Promise<TransactionState>;

/** The error for an end that is not trusted. Log and metric recognise it by its beginning. */
export const notBelieved = (id: string): Error => new Error(`A stored end was not believed: ${id}`);

/**
 * Adds the certificates, which are not stored with the signature.
 *
 * @returns CMS, Base64; undefined for a delivered text.
 */
export const completeSignature = async (
  outcome: Outcome,
  chains: Pick<OutcomeCustody, 'chain'>,
): Promise<string | undefined> => {
  if (outcome.kind === 'delivered') return undefined;
  if (outcome.certificates === undefined) return outcome.cms;
  const chain = await chains.chain(outcome.certificates);
  if (chain === undefined) throw new Error('The certificates of a stored signature are missing');
  const cms = attachCertificates(Buffer.from(outcome.cms, 'base64'), chain.certificates);
  return Buffer.from(cms).toString('base64');
};

const signedView = async (outcome: Outcome, chains: OutcomeCustody): Promise<SignedView> => {
  const { profile, sscdId, validated, geofencing, subscriberNetwork, upstream } = outcome;
  const signature = await completeSignature(outcome, chains);
  return { signature, profile, sscdId, validated, geofencing, subscriberNetwork, upstream };
};

const isOfPassword = ({ profile }: SignatureRequest): boolean => isOneTimePassword(profile.name);

export const createReadEnd = (options: {
  readonly custody: OutcomeCustody;
  /** The seals. Undefined in programs without the master key, which verify every signature. */
  readonly seals: Pick<Seals, 'fits'> | undefined;
  /** The roots of other services, for programs without the seals. */
  readonly upstreamTrust?: UpstreamTrust | undefined;
  readonly now: () => number;
  /** Gets {@link notBelieved}. */
  readonly onError: (error: Error) => void;
}): ReadEnd => {
  const { custody, seals, upstreamTrust, now, onError } = options;
  const verifyOutcome = createVerifyOutcome(custody, upstreamTrust);

  /** @returns The trusted part of the outcome; undefined when none of it is trusted. */
  const believedOf = async (
    end: SealedEnd & { readonly request: SignatureRequest },
    endedAt = now(),
  ): Promise<Outcome | undefined> => {
    const { id, attempt, request, outcome } = end;
    if (seals?.fits(end)) return outcome;
    // A delivery cannot be verified. It is trusted when no signature was requested.
    const isBelieved =
      outcome.kind === 'delivered'
        ? isOfPassword(request)
        : (await verifyOutcome({
            id,
            attempt,
            request,
            signature: outcome,
            gateway: outcome.upstream?.gateway,
            at: Math.min(endedAt, now()),
          })) === undefined;
    if (!isBelieved) return undefined;
    // The signature does not prove these members. A program without the seals must trust them.
    const { validated: _, geofencing: __, subscriberNetwork: ___, ...proven } = outcome;
    return seals === undefined ? outcome : proven;
  };

  return async (ending, of) => {
    if (ending.kind === 'failed') {
      return { kind: 'failed', fault: parseFaultLine(ending.failedReason) ?? fault(900) };
    }
    const { data: record } = endRecordSchema.safeParse(ending.returnValue);
    const { id, request, endedAt } = of;
    const end = request !== undefined && record !== undefined && { id, request, ...record };
    const believed = end ? await believedOf(end, endedAt) : undefined;
    if (believed !== undefined)
      return { kind: 'signed', signed: await signedView(believed, custody) };
    onError(notBelieved(id));
    return { kind: 'failed', fault: fault(900) };
  };
};
