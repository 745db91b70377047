/**
 * Reads a CMS signature, without judging it.
 *
 * Only the form of mobile signatures is read, and that of time stamps: SignedData version 1 (for
 * time stamps 3), signers named by issuer and serial number, signed attributes present. Version 1
 * follows from `id-data` content and from that way of naming (RFC 5652 5.1, 5.3).
 *
 * Source: RFC 5652 section 5.
 */
import { hash, verify } from 'node:crypto';
import {
  dotted,
  type Element,
  member,
  octets,
  onlyMember,
  readElement,
  smallNumber,
} from './ber.ts';
import type { Certificate } from './certificate-path.ts';
import { tags } from './der.ts';
import { digestHashes, objectIdentifiers } from './object-identifiers.ts';

/** @returns Undefined for anything but one ContentInfo with a SignedData of that version. */
export const readSignedData = (cms: Uint8Array, version: 1 | 3 = 1) => {
  const contentInfo = readElement(cms);
  if (contentInfo?.tag !== tags.sequence || contentInfo.children.length !== 2) return undefined;
  if (dotted(contentInfo.children[0]) !== objectIdentifiers.signedData) return undefined;
  const signedData = onlyMember(member(contentInfo, 1, tags.context(0)), tags.sequence);
  const digestAlgorithms = member(signedData, 1, tags.set);
  const encapsulated = member(signedData, 2, tags.sequence);
  const certificates = member(signedData, 3, tags.context(0));
  const lists = member(signedData, certificates === undefined ? 3 : 4, tags.context(1));
  const place = 3 + [certificates, lists].filter((field) => field !== undefined).length;
  const signers = member(signedData, place, tags.set);
  if (smallNumber(signedData?.children[0]) !== version || signedData?.children.length !== place + 1)
    return undefined;
  if (digestAlgorithms === undefined || encapsulated === undefined || signers === undefined)
    return undefined;
  return {
    digestAlgorithms: digestAlgorithms.children,
    encapsulated,
    certificates: certificates?.children ?? [],
    /** Lists of revoked certificates, and whatever else is among them. */
    lists: lists?.children ?? [],
    signers: signers.children,
  };
};

/** @returns Undefined for another form of SignerInfo. */
export const readSignerInfo = (element: Element) => {
  const [
    version,
    identifier,
    digestAlgorithm,
    attributes,
    signatureAlgorithm,
    value,
    unsigned,
    ...more
  ] = element.children;
  const issuer = member(identifier, 0, tags.sequence);
  const serialNumber = member(identifier, 1, tags.integer);
  const signature = octets(value);
  return element.tag === tags.sequence &&
    smallNumber(version) === 1 &&
    identifier?.tag === tags.sequence &&
    issuer !== undefined &&
    serialNumber !== undefined &&
    digestAlgorithm?.tag === tags.sequence &&
    // RFC 5652 5.3: DER even where the rest is BER, since the signature is over these very bytes.
    attributes?.tag === tags.context(0) &&
    attributes.definite &&
    signatureAlgorithm?.tag === tags.sequence &&
    signature !== undefined &&
    (unsigned === undefined || unsigned.tag === tags.context(1)) &&
    more.length === 0
    ? { issuer, serialNumber, digestAlgorithm, attributes, signatureAlgorithm, signature, unsigned }
    : undefined;
};

export type SignerInfo = NonNullable<ReturnType<typeof readSignerInfo>>;

/** Whether the certificate is the one that a signer names. */
export const isOfSigner = (
  { issuer, serialNumber }: SignerInfo,
  { fields }: Certificate,
): boolean =>
  Buffer.compare(fields.issuer.bytes, issuer.bytes) === 0 &&
  Buffer.compare(fields.serialNumber.bytes, serialNumber.bytes) === 0;

/** @param hash Node's name of the hash. @returns False also for a key of another algorithm. */
export const isSignedBy = (
  { attributes, signature }: SignerInfo,
  hash: string,
  { publicKey }: Certificate,
): boolean => {
  // RFC 5652 5.4: signed with the tag of a SET OF in the place of [0].
  const bytes = Buffer.from(attributes.bytes);
  bytes[0] = tags.set;
  try {
    return verify(hash, bytes, publicKey, signature);
  } catch {
    return false;
  }
};

/** The algorithm, if its parameters are absent or NULL as for all that are accepted here. */
export const readAlgorithm = (element: Element): string | undefined => {
  const [type, parameters, ...more] = element.children;
  const isPlain =
    parameters === undefined || (parameters.tag === tags.null && parameters.content.length === 0);
  return element.tag === tags.sequence && isPlain && more.length === 0 ? dotted(type) : undefined;
};

/** The one value of an attribute that must be there once with one value (RFC 5652 11.1, 11.2). */
export const onlyValue = (attributes: Element, type: string): Element | undefined => {
  const found = attributes.children.filter((attribute) => dotted(attribute.children[0]) === type);
  const values = found.length === 1 ? member(found[0], 1, tags.set)?.children : undefined;
  return values?.length === 1 ? values[0] : undefined;
};

const sameBytes = (one: Uint8Array | undefined, other: Uint8Array): boolean =>
  one !== undefined && Buffer.compare(one, other) === 0;

/** Whether the signed attributes name this certificate: another could share its key (RFC 5035). */
export const isNamedBy = (attributes: Element, { der }: Certificate): boolean => {
  const [second] =
    onlyValue(attributes, objectIdentifiers.signingCertificateV2)?.children[0]?.children ?? [];
  if (second !== undefined) {
    const [first, value] = second.children;
    const hashName =
      first?.tag === tags.octetString ? 'sha256' : digestHashes[dotted(first?.children[0]) ?? ''];
    const digest = octets(first?.tag === tags.octetString ? first : value);
    return hashName !== undefined && sameBytes(digest, hash(hashName, der, 'buffer'));
  }
  const [first] =
    onlyValue(attributes, objectIdentifiers.signingCertificate)?.children[0]?.children ?? [];
  return sameBytes(octets(first?.children[0]), hash('sha1', der, 'buffer'));
};
