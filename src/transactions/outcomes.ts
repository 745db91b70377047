/**
 * What the end of a job says about its transaction.
 *
 * Whoever can write to Redis can write a return value. It is believed when it carries the seal of a worker of ours, and
 * otherwise as far as its signature verifies, as one of an earlier release. What is not believed is an internal error to
 * everybody.
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

  const isTrue = async (
    end: SealedEnd & { readonly request: SignatureRequest },
    endedAt = now(),
  ): Promise<boolean> => {
    if (seals?.fits(end)) return true;
    const { id, attempt, request, outcome } = end;
    // Nobody can verify a delivery. It stands for no signature, so it is believed where none was asked for.
    if (outcome.kind === 'delivered') return isOfPassword(request);
    const at = Math.min(endedAt, now());
    // What workers of this release have ended bears their seal, for those who can tell.
    const nonce = seals === undefined ? 'either' : 'earlier';
    return (await trial({ id, attempt, request, signature: outcome, at, nonce })) === undefined;
  };

  return async (ending, of) => {
    if (ending.kind === 'failed') {
      return { kind: 'failed', fault: parseFaultLine(ending.failedReason) ?? fault(900) };
    }
    const { data: record } = endRecordSchema.safeParse(ending.returnValue);
    const { id, request, endedAt } = of;
    const end = request !== undefined && record !== undefined && { id, request, ...record };
    if (end && (await isTrue(end, endedAt))) {
      return { kind: 'signed', signed: await signedView(end.outcome, custody) };
    }
    onError(notBelieved(id));
    return { kind: 'failed', fault: fault(900) };
  };
};
