/** People, an authority and a clock, and what the tests of PDF signatures do again and again. */
import type { KeyCustody, UserKey } from '../../../../packages/pki/src/ports.ts';
import { now, owner } from '../../../../packages/pki/test/fixtures.ts';
import { service } from '../../../certificates/test/stage.ts';
import {
  answerTimeStampRequest,
  createTimeStampRequest,
  readTimeStampResponse,
} from '../../../certificates/time-stamp.ts';
import {
  addRevocation,
  padesAttributes,
  padesCms,
  padesSignatureValue,
  prepareSignature,
  type SignatureOrder,
  type ValidationMaterial,
} from '../../pdf/index.ts';

export const at = new Date(now);

/** The value of a result that must be one. */
export const made = <T extends { readonly ok: true }>(
  result: T | { readonly ok: false; readonly error: string },
): T => {
  if (!result.ok) throw new Error(result.error);
  return result;
};

export type Level = 'B-B' | 'B-T' | 'B-LT';

export interface Stage {
  readonly custody: KeyCustody;
  /** Has an EC key. */
  readonly ada: UserKey;
  /** Has an RSA key. */
  readonly bob: UserKey;
  readonly roots: readonly Uint8Array[];
  readonly at: Date;
  stamp(value: Uint8Array): Promise<Uint8Array>;
  /** Chains and lists of all authorities. */
  material(): Promise<ValidationMaterial>;
  /** Signs a PDF as the product does: prepare, let the key sign, embed, add the material. */
  sign(
    bytes: Uint8Array,
    key: UserKey,
    order?: Partial<SignatureOrder>,
    level?: Level,
  ): Promise<Uint8Array>;
}

/** @param start The present of this stage. */
export const openStage = async (start = now): Promise<Stage> => {
  const { custody, publisher } = service(start);
  const [ada, bob] = [
    await custody.userKey(owner()),
    await custody.userKey(owner({ msisdn: '41700092502', algorithm: 'RSA' })),
  ];
  const present = new Date(start);
  const stamp = async (value: Uint8Array): Promise<Uint8Array> => {
    const request = createTimeStampRequest(value, Buffer.alloc(8, 1));
    const answer = await answerTimeStampRequest(request, await custody.timeStampKey(), present);
    const token = readTimeStampResponse(answer);
    if (token === undefined) throw new Error('no time stamp was given');
    return token;
  };
  const material = async (): Promise<ValidationMaterial> => {
    const lists = await Promise.all(
      (await custody.authorities()).map(({ id }) => publisher.revocationList(id)),
    );
    const { certificates } = await custody.timeStampKey();
    return {
      certificates: [...ada.chain.certificates, ...bob.chain.certificates, ...certificates],
      ocsps: [],
      crls: lists.filter((list) => list !== undefined),
    };
  };
  return {
    custody,
    ada,
    bob,
    roots: await custody.trust(),
    at: present,
    stamp,
    material,
    sign: async (bytes, key, order = {}, level = 'B-B') => {
      const prepared = made(
        await prepareSignature(bytes, { fieldName: 'Signature1', at: present, ...order }),
      );
      const digest = prepared.digest('sha256');
      const [own, ...others] = key.chain.certificates;
      const signature = await key.privateKey.sign(
        padesAttributes(digest, own),
        key.algorithm === 'EC' ? 'ECDSA' : 'RS256',
      );
      const signed = { digest, signature, certificates: [own, ...others] } as const;
      const value = level === 'B-B' ? undefined : padesSignatureValue(signed);
      const cms = padesCms({ ...signed, timeStamp: value && (await stamp(value)) });
      if (cms === undefined) throw new Error('the key is another one');
      const embedded = prepared.embed(cms);
      return level === 'B-LT'
        ? made(await addRevocation(embedded, await material())).bytes
        : embedded;
    },
  };
};
