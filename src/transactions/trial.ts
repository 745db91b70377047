/**
 * Looks at a signature that came from elsewhere: is it a signature of exactly these bytes, by the key of the person who was
 * asked, for this attempt of this transaction?
 *
 * A valid signature of somebody else does not count, nor does one that the same person has made for another request with the
 * same text: the nonce among the signed attributes names transaction and attempt.
 */

import { attachCertificates } from '../pki/cms.ts';
import type { KeyCustody } from '../pki/ports.ts';
import { verifySignature } from '../pki/verify.ts';
import { type Fault, fault } from '../protocol/fault.ts';
import { bytesToSign, type SignatureRequest } from '../protocol/requests.ts';
import { nonceOf } from './ids.ts';

export interface Tried {
  readonly id: string;
  readonly attempt: number;
  readonly request: Pick<SignatureRequest, 'data' | 'msisdn'>;
  readonly signature: { readonly cms: string; readonly certificates?: string | undefined };
  /** When certificates must have been valid; milliseconds since the epoch. */
  readonly at: number;
  /**
   * own             The nonce names this transaction and attempt.
   * own-or-earlier  Or it has not the length of such a one, or there is none: until workers asked for it, anything counted.
   */
  readonly nonce: 'own' | 'own-or-earlier';
}

export type Trial = (tried: Tried) => Promise<Fault | undefined>;

/** Without `serialNumberOf` it is not known who signed, only that somebody did whom the authority has certified. */
export type TrialCustody = Pick<KeyCustody, 'chain' | 'trust'> & Partial<Pick<KeyCustody, 'serialNumberOf'>>;

/** @returns What is wrong: 422 when the certificate was not valid any more, 900 for everything else. */
export const createTrial =
  (custody: TrialCustody): Trial =>
  async ({ id, attempt, request: { data, msisdn }, signature, at, nonce: wanted }) => {
    const { cms, certificates } = signature;
    const bytes = Buffer.from(cms, 'base64');
    let complete: Uint8Array = bytes;
    if (certificates !== undefined) {
      const chain = await custody.chain(certificates);
      if (chain === undefined) return fault(900);
      try {
        complete = attachCertificates(bytes, chain.certificates);
      } catch {
        // Not a CMS that certificates could be attached to.
        return fault(900);
      }
    }
    const result = verifySignature(complete, bytesToSign(data), {
      trust: await custody.trust(),
      at: new Date(at),
    });
    if (!result.ok) return fault(result.reason === 'CERTIFICATE_EXPIRED' ? 422 : 900);
    const { nonce = new Uint8Array(), signer } = result;
    const own = nonceOf(id, attempt);
    const isEarlier = wanted === 'own-or-earlier' && nonce.length !== own.length;
    if (!isEarlier && Buffer.compare(nonce, own) !== 0) return fault(900);
    const expected = await custody.serialNumberOf?.(msisdn.number);
    return expected === undefined || signer.serialNumber === expected ? undefined : fault(900);
  };
