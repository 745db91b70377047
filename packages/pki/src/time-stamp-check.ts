/**
 * Verifies a time stamp: that an authority for time stamps says when it saw exactly these bytes.
 *
 * Sources: RFC 3161 sections 2.3 and 2.4.2, RFC 5816.
 */
import { hash } from 'node:crypto';
import { dotted, type Element, instant, member, octets, readElement, smallNumber } from './ber.ts';
import { type Certificate, checkPath, openCertificates } from './certificate-path.ts';
import { tags } from './der.ts';
import { digestHashes, objectIdentifiers as id, signatureHashes } from './object-identifiers.ts';
import {
  isNamedBy,
  isOfSigner,
  isSignedBy,
  onlyValue,
  readAlgorithm,
  readSignedData,
  readSignerInfo,
} from './signed-data.ts';

const maxCertificates = 10;

const equal = (one: Uint8Array | undefined, other: Uint8Array): boolean =>
  one !== undefined && Buffer.compare(one, other) === 0;

const isOver = (imprint: Element | undefined, content: Uint8Array): boolean => {
  const hashName = digestHashes[dotted(imprint?.children[0]?.children[0]) ?? ''];
  return (
    hashName !== undefined && equal(octets(imprint?.children[1]), hash(hashName, content, 'buffer'))
  );
};

/** GeneralizedTime; fractions of a second, which RFC 3161 allows, are cut off. */
const timeIn = (element: Element | undefined): Date | undefined => {
  if (element?.tag !== tags.generalizedTime) return undefined;
  const text = Buffer.from(element.content)
    .toString('latin1')
    .replace(/\.\d+Z$/, 'Z');
  return instant({ ...element, content: Buffer.from(text) });
};

/**
 * @param token   A TimeStampToken, DER or BER, from anywhere.
 * @param content What must have been stamped.
 * @param options `anchors`: opened certificates that end a chain. `at`: when the certificates of
 *                the authority must be valid. `others`: further certificates for its chain.
 * @returns The time that it says; undefined when it proves nothing.
 */
export const checkTimeStamp = (
  token: Uint8Array,
  content: Uint8Array,
  options: {
    readonly anchors: readonly Certificate[];
    readonly others?: readonly Certificate[];
    readonly at: Date;
  },
): Date | undefined => {
  const signedData = readSignedData(token, 3);
  const [signerElement] = signedData?.signers ?? [];
  const signer = signerElement && readSignerInfo(signerElement);
  if (signedData === undefined || signer === undefined || signedData.signers.length !== 1)
    return undefined;
  if (signedData.certificates.length > maxCertificates) return undefined;

  const { encapsulated, certificates } = signedData;
  const info = octets(member(encapsulated, 1, tags.context(0))?.children[0]);
  if (dotted(encapsulated.children[0]) !== id.timeStampInfo || info === undefined) return undefined;
  const [version, , imprint, , genTime] = readElement(info)?.children ?? [];
  const time = timeIn(genTime);
  if (smallNumber(version) !== 1 || time === undefined || !isOver(imprint, content))
    return undefined;

  const opened = openCertificates(certificates.map(({ bytes }) => bytes));
  const all = [...opened, ...(options.others ?? []), ...options.anchors];
  const authority = all.find((each) => isOfSigner(signer, each));
  if (
    authority === undefined ||
    checkPath(authority, all, options.anchors, options.at, 'timeStamping')
  )
    return undefined;

  const { attributes } = signer;
  const digestHash = digestHashes[readAlgorithm(signer.digestAlgorithm) ?? ''];
  const named = readAlgorithm(signer.signatureAlgorithm) ?? '';
  const signatureHash = named === id.rsaEncryption ? digestHash : signatureHashes[named];
  if (digestHash === undefined || signatureHash === undefined) return undefined;
  if (dotted(onlyValue(attributes, id.contentType)) !== id.timeStampInfo) return undefined;
  if (!equal(octets(onlyValue(attributes, id.messageDigest)), hash(digestHash, info, 'buffer')))
    return undefined;
  if (!isNamedBy(attributes, authority)) return undefined;
  return isSignedBy(signer, signatureHash, authority) ? time : undefined;
};
