/**
 * Looks at a signature before the service answers with it: is it a signature of exactly these bytes, by a key whose
 * certificate we issued?
 */

import { attachCertificates } from '../src/pki/cms.ts';
import type { KeyCustody } from '../src/pki/ports.ts';
import { verifySignature } from '../src/pki/verify.ts';
import { type Fault, fault } from '../src/protocol/fault.ts';
import { bytesToSign, type DataToBeSigned } from '../src/protocol/requests.ts';

export type Trial = (
  data: DataToBeSigned,
  signature: { readonly cms: string; readonly certificates?: string | undefined },
) => Promise<Fault | undefined>;

/** @returns What is wrong: 422 when the certificate was not valid any more, 900 for everything else. */
export const createTrial =
  (custody: KeyCustody, now: () => number): Trial =>
  async (data, { cms, certificates }) => {
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
      at: new Date(now()),
    });
    if (result.ok) return undefined;
    return fault(result.reason === 'CERTIFICATE_EXPIRED' ? 422 : 900);
  };
