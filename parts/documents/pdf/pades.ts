/**
 * The signature of a PDF as CMS: PAdES baseline, levels B-B and B-T.
 *
 * Source: ETSI EN 319 142-1 section 6.3.
 */
import {
  createDetachedCms,
  detachedAttributes,
  signatureValue,
} from '../../../packages/pki/src/detached.ts';

/**
 * The bytes that a person's key signs, with SHA-256.
 *
 * @param digest      SHA-256 of the byte range.
 * @param certificate Of the key, DER.
 */
export const padesAttributes = (digest: Uint8Array, certificate: Uint8Array): Uint8Array =>
  detachedAttributes(digest, certificate);

interface SignedAttributes {
  readonly digest: Uint8Array;
  /** Of {@link padesAttributes}. EC: DER, or r and s of 32 bytes each. RSA: PKCS #1 v1.5. */
  readonly signature: Uint8Array;
  /** DER, that of the key first. */
  readonly certificates: readonly [own: Uint8Array, ...others: Uint8Array[]];
}

/**
 * What a time stamp of the signature must be over (a request to a time-stamping authority has its
 * hash). @returns Undefined when the key of the certificate has not made the signature.
 */
export const padesSignatureValue = ({
  digest,
  signature,
  certificates: [certificate],
}: SignedAttributes): Uint8Array | undefined => signatureValue({ digest, signature, certificate });

/**
 * @param order With `timeStamp`, a TimeStampToken over {@link padesSignatureValue}, the level is
 *   B-T, without it B-B.
 * @returns The CMS to embed. Undefined when the key of the certificate has not made the signature.
 */
export const padesCms = (
  order: SignedAttributes & { readonly timeStamp?: Uint8Array | undefined },
): Uint8Array | undefined => createDetachedCms(order);
