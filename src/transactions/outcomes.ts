/**
 * What the end of a job says about its transaction.
 *
 * Whoever can write to Redis can write a return value. It is believed when it carries the seal of a worker of ours, and
 * otherwise as far as its signature verifies: an earlier release makes no seal, and drops that of a later one when it adds a
 * receipt. What is not believed is an internal error to everybody.
 */
import { Buffer } from 'node:buffer';
import { attachCertificates } from '../pki/cms.ts';
import { fault, parseFaultLine } from '../protocol/fault.ts';
import type { SignatureRequest } from '../protocol/requests.ts';
import { endRecordSchema, type StoredOutcome } from './contract.ts';
import type { Ending } from './ending.ts';
import type { SealedEnd, Seals } from './seal.ts';
import { createTrial, type TrialCustody } from './trial.ts';
import type { SignedView, TransactionState } from './view.ts';

/** The transaction that an end is read for. */
export interface Ended {
  readonly id: string;
  /** Undefined where it cannot be read: no signature is believed then. */
  readonly request: SignatureRequest | undefined;
  /** Milliseconds since the epoch; now, where it is not known. */
  readonly endedAt?: number | undefined;
}

/** A failure that is not written as a fault is nobody's business: 900. */
export type ReadEnd = (ending: Ending, of: Ended) => Promise<TransactionState>;

/** The line of the log and the metric that count it know it by its beginning. */
export const notBelieved = (id: string): Error => new Error(`A stored end was not believed: ${id}`);

/** The signature as the AP gets it: with the certificates that storage left out. */
const completeSignature = async (
  outcome: StoredOutcome,
  chains: TrialCustody,
): Promise<string | undefined> => {
  if (outcome.kind === 'delivered') return undefined;
  if (outcome.certificates === undefined) return outcome.cms;
  const chain = await chains.chain(outcome.certificates);
  if (chain === undefined) throw new Error('The certificates of a stored signature are missing');
  const cms = attachCertificates(Buffer.from(outcome.cms, 'base64'), chain.certificates);
  return Buffer.from(cms).toString('base64');
};

const signedView = async (outcome: StoredOutcome, chains: TrialCustody): Promise<SignedView> => ({
  signature: await completeSignature(outcome, chains),
  profile: outcome.profile,
  sscdId: outcome.sscdId,
  validated: outcome.validated === true,
  geofencing: outcome.geofencing,
  subscriberNetwork: outcome.subscriberNetwork,
});

const isOfPassword = ({ profile }: SignatureRequest): boolean =>
  profile.name === 'MID/v1/OtpProfileText' || profile.name === 'MID/v1/OtpProfileFlash';

export const createReadEnd = (options: {
  readonly custody: TrialCustody;
  /** Undefined in programs without the master key: they verify every signature. */
  readonly seals: Pick<Seals, 'fits'> | undefined;
  readonly now: () => number;
  /** Hears of ends that are not believed. */
  readonly onError: (error: Error) => void;
}): ReadEnd => {
  const { custody, seals, now, onError } = options;
  const trial = createTrial(custody);

  /** @returns What of the outcome is believed; undefined for nothing. */
  const believedOf = async (
    end: SealedEnd & { readonly request: SignatureRequest },
    endedAt = now(),
  ): Promise<StoredOutcome | undefined> => {
    const { id, attempt, request, outcome } = end;
    if (seals?.fits(end)) return outcome;
    // Nobody can verify a delivery. It stands for no signature, so it is believed where none was asked for.
    const isBelieved =
      outcome.kind === 'delivered'
        ? isOfPassword(request)
        : (await trial({
            ...{ id, attempt, request, signature: outcome },
            at: Math.min(endedAt, now()),
            nonce: 'own-or-earlier',
          })) === undefined;
    if (!isBelieved) return undefined;
    // No signature vouches for these. A program without the seals believes them as it believes the Redis they lie in.
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
    if (believed !== undefined) return { kind: 'signed', signed: await signedView(believed, custody) };
    onError(notBelieved(id));
    return { kind: 'failed', fault: fault(900) };
  };
};
