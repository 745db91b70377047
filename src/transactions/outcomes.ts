import { Buffer } from 'node:buffer';
import { attachCertificates } from '../pki/cms.ts';
import type { KeyCustody } from '../pki/ports.ts';
import { fault, parseFaultLine } from '../protocol/fault.ts';
import { endRecordSchema, type StoredOutcome } from './contract.ts';
import type { Ending } from './ending.ts';
import type { SignedView, TransactionState } from './view.ts';

/** Where the certificates lie that storage leaves out. */
export type Chains = Pick<KeyCustody, 'chain'>;

/** The signature as the AP gets it: with the certificates that storage left out. */
const completeSignature = async (outcome: StoredOutcome, chains: Chains): Promise<string | undefined> => {
  if (outcome.kind === 'delivered') return undefined;
  if (outcome.certificates === undefined) return outcome.cms;
  const chain = await chains.chain(outcome.certificates);
  if (chain === undefined) throw new Error('The certificates of a stored signature are missing');
  const cms = attachCertificates(Buffer.from(outcome.cms, 'base64'), chain.certificates);
  return Buffer.from(cms).toString('base64');
};

const signedView = async (outcome: StoredOutcome, chains: Chains): Promise<SignedView> => ({
  signature: await completeSignature(outcome, chains),
  profile: outcome.profile,
  sscdId: outcome.sscdId,
  validated: outcome.validated === true,
  geofencing: outcome.geofencing,
  subscriberNetwork: outcome.subscriberNetwork,
});

/** What a job's end says about its transaction. A failure that is not written as a fault is nobody's business: 900. */
export const stateOfEnding = async (ending: Ending, chains: Chains): Promise<TransactionState> => {
  if (ending.kind === 'failed') {
    return { kind: 'failed', fault: parseFaultLine(ending.failedReason) ?? fault(900) };
  }
  const record = endRecordSchema.safeParse(ending.returnValue);
  return record.success
    ? { kind: 'signed', signed: await signedView(record.data.outcome, chains) }
    : { kind: 'failed', fault: fault(900) };
};
