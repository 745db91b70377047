/**
 * Verifies a signature from outside: it must sign exactly these bytes, with the key of the person
 * who got the prompt, for this attempt of this transaction.
 *
 * The nonce among the signed attributes names transaction and attempt, so a signature for another
 * request with the same text does not count.
 *
 * A signature from another service is verified up to the roots of that service. Its nonce and the
 * serial number of its signer cannot be checked here: for person and request that service is
 * trusted.
 */
import { attachCertificates } from '../../packages/pki/src/cms.ts';
import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import { verifySignature } from '../../packages/pki/src/verify.ts';
import { type Fault, fault } from '../../packages/protocol/src/fault.ts';
import { bytesToSign, type SignatureRequest } from '../../packages/protocol/src/requests.ts';
import { nonceOf } from './ids.ts';

export interface ClaimedOutcome {
  readonly id: string;
  readonly attempt: number;
  readonly request: Pick<SignatureRequest, 'data' | 'msisdn'>;
  readonly signature: { readonly cms: string; readonly certificates?: string | undefined };
  /** The name of the other service that has delivered the signature. */
  readonly gateway?: string | undefined;
  /** The time at which certificates must have been valid; milliseconds since the epoch. */
  readonly at: number;
}

export type VerifyOutcome = (tried: ClaimedOutcome) => Promise<Fault | undefined>;

/** The custody. Without `serialNumberOf` a signature of any person of the authority passes. */
export type OutcomeCustody = Pick<KeyCustody, 'chain' | 'trust'> &
  Partial<Pick<KeyCustody, 'serialNumberOf'>>;

/** @returns The roots (DER) of the signatures of a service; undefined for an unknown service. */
export type UpstreamTrust = (name: string) => readonly Uint8Array[] | undefined;

/** @returns 422 when the certificate was expired, 900 for every other error. */
export const createVerifyOutcome =
  (custody: OutcomeCustody, upstreamTrust: UpstreamTrust = () => undefined): VerifyOutcome =>
  async ({ id, attempt, request: { data, msisdn }, signature, gateway, at }) => {
    const { cms, certificates } = signature;
    const bytes = Buffer.from(cms, 'base64');
    let complete: Uint8Array = bytes;
    if (certificates !== undefined) {
      const chain = await custody.chain(certificates);
      if (chain === undefined) return fault(900);
      try {
        complete = attachCertificates(bytes, chain.certificates);
      } catch {
        // The text is not a CMS.
        return fault(900);
      }
    }
    const trust = gateway === undefined ? await custody.trust() : upstreamTrust(gateway);
    if (trust === undefined) return fault(900);
    const result = verifySignature(complete, bytesToSign(data), { trust, at: new Date(at) });
    if (!result.ok) return fault(result.reason === 'CERTIFICATE_EXPIRED' ? 422 : 900);
    if (gateway !== undefined) return undefined;
    const { nonce = new Uint8Array(), signer } = result;
    if (Buffer.compare(nonce, nonceOf(id, attempt)) !== 0) return fault(900);
    const expected = await custody.serialNumberOf?.(msisdn.number, at);
    return expected === undefined || signer.serialNumber === expected ? undefined : fault(900);
  };
