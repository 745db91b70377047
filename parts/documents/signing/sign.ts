/** Puts one signature into a PDF: by the key of the person, or by the seal of the service. */

import type { KeyCustody, PrivateKey } from '../../../packages/pki/src/ports.ts';
import { readSignedData } from '../../../packages/pki/src/signed-data.ts';
import type { Proofs } from '../../certificates/index.ts';
import {
  addRevocation,
  padesAttributes,
  padesCms,
  padesSignatureValue,
  prepareSignature,
} from '../pdf/index.ts';
import type { FieldPlace } from './definition.ts';

/** The levels of PAdES (ETSI EN 319 142-1): bare, with a time stamp, with revocation data. */
export const levels = ['B-B', 'B-T', 'B-LT'] as const;
export type Level = (typeof levels)[number];

/** Who signs: the key, and what a reader of the PDF is told. */
export interface Signatory {
  readonly how: 'signed' | 'sealed';
  readonly privateKey: PrivateKey;
  readonly algorithm: 'EC' | 'RSA';
  /** DER, its own first. */
  readonly certificates: readonly [own: Uint8Array, ...above: Uint8Array[]];
}

/** The seal of the service. */
export const sealOf = async (custody: Pick<KeyCustody, 'sealKey'>): Promise<Signatory> => ({
  how: 'sealed',
  algorithm: 'EC',
  ...(await custody.sealKey()),
});

/**
 * The key that has signed the text, where this service has it. Otherwise the seal: a phone has its
 * key in itself, and another service gives signatures of texts alone.
 *
 * @param chain The id of the certificates of that signature; undefined for another service.
 */
export const findSignatory = async (
  custody: Pick<KeyCustody, 'keyOf' | 'sealKey'>,
  chain: string | undefined,
): Promise<Signatory> => {
  const key = chain === undefined ? undefined : await custody.keyOf(chain);
  // A certificate that was revoked since signs nothing any more.
  if (key !== undefined && key.revocation === undefined)
    return { how: 'signed', ...key, certificates: key.chain.certificates };
  return sealOf(custody);
};

export interface SignatureWords {
  readonly fieldName: string;
  readonly at: Date;
  readonly name: string;
  readonly reason: string;
  readonly place?: FieldPlace | undefined;
  readonly lines?: readonly string[];
  readonly record?: Uint8Array;
}

export type SignedPdf =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly level: Level }
  /** The document must not be signed: a sentence. */
  | { readonly ok: false; readonly error: string };

const certificatesIn = (token: Uint8Array): readonly Uint8Array[] =>
  (readSignedData(token, 3)?.certificates ?? []).map(({ bytes }) => bytes);

/**
 * @param bytes The newest revision.
 * @returns The next one.
 * @throws When a key or the authority for time stamps is out of reach: nothing has happened.
 */
export const signPdf = async (
  bytes: Uint8Array,
  words: SignatureWords,
  signatory: Signatory,
  { level, proofs }: { readonly level: Level; readonly proofs: Proofs },
): Promise<SignedPdf> => {
  const prepared = await prepareSignature(bytes, words);
  if (!prepared.ok) return prepared;
  const { privateKey, algorithm, certificates } = signatory;
  const digest = prepared.digest('sha256');
  const attributes = padesAttributes(digest, certificates[0]);
  const signature = await privateKey.sign(attributes, algorithm === 'EC' ? 'ECDSA' : 'RS256');
  const signed = { digest, signature, certificates };
  const value = padesSignatureValue(signed);
  const timeStamp = level === 'B-B' || value === undefined ? undefined : await proofs.stamp(value);
  const cms = padesCms({ ...signed, timeStamp });
  if (cms === undefined) throw new Error('A signature does not fit the certificate of its key');
  const whole = prepared.embed(cms);
  if (level !== 'B-LT') return { ok: true, bytes: whole, level };
  const all = [...certificates, ...(timeStamp === undefined ? [] : certificatesIn(timeStamp))];
  const added = await addRevocation(whole, {
    certificates: all,
    ...(await proofs.revocationOf(all)),
  });
  return added.ok ? { ...added, level } : added;
};
