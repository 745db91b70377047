/** People, an authority and a clock, and what the tests of PDF signatures do again and again. */

import type { KeyCustody, UserKey } from '../../../../packages/pki/src/ports.ts';
import { newCustody, now, owner } from '../../../../packages/pki/test/fixtures.ts';
import {
  padesAttributes,
  padesCms,
  padesSignatureValue,
  prepareSignature,
  type SignatureOrder,
} from '../../pdf/index.ts';

export const at = new Date(now);

/** The value of a result that must be one. */
export const made = <T extends { readonly ok: true }>(
  result: T | { readonly ok: false; readonly error: string },
): T => {
  if (!result.ok) throw new Error(result.error);
  return result;
};

export interface Signing {
  readonly key: UserKey;
  readonly order?: Partial<SignatureOrder>;
  /** Makes a time stamp over these bytes. */
  readonly stamp?: (value: Uint8Array) => Promise<Uint8Array>;
}

/** Signs a PDF as the product does: prepare, let the key sign, embed. */
export const sign = async (
  bytes: Uint8Array,
  { key, order = {}, stamp }: Signing,
): Promise<Uint8Array> => {
  const prepared = made(await prepareSignature(bytes, { fieldName: 'Signature1', at, ...order }));
  const digest = prepared.digest('sha256');
  const [own, ...others] = key.chain.certificates;
  const signature = await key.privateKey.sign(
    padesAttributes(digest, own),
    key.algorithm === 'EC' ? 'ECDSA' : 'RS256',
  );
  const signed = { digest, signature, certificates: [own, ...others] } as const;
  const value = padesSignatureValue(signed);
  const timeStamp = value && (await stamp?.(value));
  const cms = padesCms({ ...signed, timeStamp });
  if (cms === undefined) throw new Error('the key is another one');
  return prepared.embed(cms);
};

export const openStage = async (): Promise<{ custody: KeyCustody; ada: UserKey; bob: UserKey }> => {
  const custody = newCustody();
  return {
    custody,
    ada: await custody.userKey(owner()),
    bob: await custody.userKey(owner({ msisdn: '41700092502', algorithm: 'RSA' })),
  };
};
