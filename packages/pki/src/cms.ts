import { hash, verify, X509Certificate } from 'node:crypto';
import { type Element, readElement, readHeader } from './ber.ts';
import { readCertificate } from './certificate-fields.ts';
import {
  context,
  ecdsaValue,
  encode,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  setOf,
  smallInteger,
  tags,
} from './der.ts';
import { objectIdentifiers } from './object-identifiers.ts';
import type { KeyAlgorithm, UserKey } from './ports.ts';
import { randomBytesOf } from './random.ts';
import { readSignedData, readSignerInfo } from './signed-data.ts';

/**
 * A mobile signature: CMS SignedData over embedded content, by one signer.
 *
 * It is built without certificates. They are two thirds of the bytes and the same for all
 * signatures of a user, so a transaction keeps the signature alone, and {@link attachCertificates}
 * completes it for an answer. The field is optional and unsigned (RFC 5652 5.1).
 *
 * Signed attributes are those of the live service: content type, message digest and a nonce (PKCS
 * #9 randomNonce). There is no signing time, because it would be an unproven claim of this
 * machine's clock, and the transaction has its own times.
 *
 * Sources: RFC 5652 section 5, RFC 5754 section 3, RFC 5753 2.1.1, RFC 2985 5.3.4.
 */
const id = objectIdentifiers;
const version1 = smallInteger(1);
const dataType = objectIdentifier(id.data);
const signedDataType = objectIdentifier(id.signedData);
const sha256 = sequence(objectIdentifier(id.sha256), nullValue());
const contentTypeAttribute = sequence(objectIdentifier(id.contentType), setOf(dataType));
const nonceType = objectIdentifier(id.randomNonce);
const messageDigestType = objectIdentifier(id.messageDigest);
const signedDataHead = Buffer.concat([version1, setOf(sha256)]);

/** RSA is named by the key's identifier, which all verifiers know, with NULL (RFC 5754 3.2). */
const signatureAlgorithms: Readonly<Record<KeyAlgorithm, Uint8Array>> = {
  EC: sequence(objectIdentifier(id.ecdsaWithSha256)),
  RSA: sequence(objectIdentifier(id.rsaEncryption), nullValue()),
};

/** SignerInfo up to the signed attributes, which depends on the certificate alone. */
const signerHeadOf = (certificate: Uint8Array): Uint8Array => {
  const fields = readCertificate(certificate);
  if (fields === undefined) throw new Error("the user's certificate is unreadable");
  return Buffer.concat([
    version1,
    sequence(fields.issuer.bytes, fields.serialNumber.bytes),
    sha256,
  ]);
};

// Keys are held by the custody's cache; an entry here goes when the key goes there.
const signerHeads = new WeakMap<UserKey, Uint8Array>();

const signerHead = (key: UserKey): Uint8Array => {
  const present = signerHeads.get(key);
  if (present !== undefined) return present;
  const head = signerHeadOf(key.chain.certificates[0]);
  signerHeads.set(key, head);
  return head;
};

/**
 * The bytes that a signer signs: the signed attributes with the tag of a SET OF (RFC 5652 5.4).
 *
 * @param nonce 8 to 30 bytes, so that the three attributes are in DER order.
 * @throws RangeError For a nonce out of bounds.
 */
export const attributesToSign = (content: Uint8Array, nonce: Uint8Array): Buffer => {
  if (nonce.length < 8 || nonce.length > 30) throw new RangeError('a nonce has 8 to 30 bytes');
  return encode(
    tags.set,
    contentTypeAttribute,
    sequence(nonceType, encode(tags.set, octetString(nonce))),
    sequence(messageDigestType, encode(tags.set, octetString(hash('sha256', content, 'buffer')))),
  );
};

const assemble = (
  content: Uint8Array,
  head: Uint8Array,
  attributes: Buffer,
  algorithm: KeyAlgorithm,
  signature: Uint8Array,
): Uint8Array => {
  // What is signed has the tag of a SET OF, what is written the tag [0].
  attributes[0] = tags.context(0);
  const signerInfo = sequence(
    head,
    attributes,
    signatureAlgorithms[algorithm],
    octetString(signature),
  );
  const embedded = sequence(dataType, context(0, octetString(content)));
  return sequence(
    signedDataType,
    context(0, sequence(signedDataHead, embedded, encode(tags.set, signerInfo))),
  );
};

/**
 * Signs content with a user's key.
 *
 * @param nonce See {@link attributesToSign}; 16 random bytes by default.
 * @returns A DER ContentInfo with SignedData version 1, SHA-256, `id-data` content embedded, one
 *   SignerInfo by issuer and serial number, ecdsa-with-SHA256 or RSA PKCS #1 v1.5, and **no
 *   certificates**.
 * @throws RangeError For a nonce out of bounds. Error for a key whose certificate is revoked.
 */
export const signCms = async ({
  content,
  key,
  nonce = randomBytesOf(16),
}: {
  readonly content: Uint8Array;
  readonly key: UserKey;
  readonly nonce?: Uint8Array;
}): Promise<Uint8Array> => {
  if (key.revocation !== undefined) throw new Error('the certificate of the key is revoked');
  const attributes = attributesToSign(content, nonce);
  const signature = await key.privateKey.sign(
    attributes,
    key.algorithm === 'EC' ? 'ECDSA' : 'RS256',
  );
  return assemble(content, signerHead(key), attributes, key.algorithm, signature);
};

/** r and s of P-256, 32 bytes each. */
const rawSignatureBytes = 64;

/**
 * Makes the CMS of a signature that a device has made with its own EC P-256 key, over the bytes of
 * {@link attributesToSign} for the same content and nonce.
 *
 * @param signature   r and s, 32 bytes each (IEEE P1363), as WebCrypto gives them.
 * @param certificate DER.
 * @returns The same as {@link signCms}. Undefined when the key of the certificate has not made the
 * signature.
 */
export const completeCms = ({
  content,
  nonce,
  signature,
  certificate,
}: {
  readonly content: Uint8Array;
  readonly nonce: Uint8Array;
  readonly signature: Uint8Array;
  readonly certificate: Uint8Array;
}): Uint8Array | undefined => {
  const attributes = attributesToSign(content, nonce);
  const { publicKey } = new X509Certificate(certificate);
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  if (signature.length !== rawSignatureBytes || !verify('sha256', attributes, key, signature))
    return undefined;
  return assemble(content, signerHeadOf(certificate), attributes, 'EC', ecdsaValue(signature));
};

const unfit = (): Error =>
  new Error('certificates fit only into a DER CMS SignedData that has none');

/**
 * Puts certificates into a signature that has none, in the order given.
 *
 * CertificateSet is a SET OF, which DER would sort. The order user, issuing authority, root is
 * kept, because validators walk the certificates as encoded, and CMS is BER, where a SET OF has any
 * order (RFC 5652 section 1).
 *
 * @param cms          SignedData of {@link signCms} or any other with definite lengths.
 * @param certificates DER.
 * @throws When there are certificates already or the bytes are something else: they come from our
 *   own storage.
 */
export const attachCertificates = (
  cms: Uint8Array,
  certificates: readonly Uint8Array[],
): Uint8Array => {
  /** Start and end of a value's content; six of them are all that is read. */
  const open = (offset: number, tag: number, end = cms.length): { start: number; end: number } => {
    const header = readHeader(cms, offset, end);
    if (header?.tag !== tag || header.contentEnd === undefined) throw unfit();
    return { start: header.contentStart, end: header.contentEnd };
  };
  const contentInfo = open(0, tags.sequence);
  const type = open(contentInfo.start, tags.objectIdentifier, contentInfo.end);
  const explicit = open(type.end, tags.context(0), contentInfo.end);
  const signedData = open(explicit.start, tags.sequence, explicit.end);
  const version = open(signedData.start, tags.integer, signedData.end);
  const digestAlgorithms = open(version.end, tags.set, signedData.end);
  const encapsulated = open(digestAlgorithms.end, tags.sequence, signedData.end);
  if (
    contentInfo.end !== cms.length ||
    explicit.end !== contentInfo.end ||
    signedData.end !== explicit.end
  )
    throw unfit();
  if (Buffer.compare(cms.subarray(contentInfo.start, type.end), signedDataType) !== 0)
    throw unfit();
  if (cms[encapsulated.end] === tags.context(0)) throw unfit();
  return sequence(
    signedDataType,
    context(
      0,
      sequence(
        cms.subarray(signedData.start, encapsulated.end),
        context(0, ...certificates),
        cms.subarray(encapsulated.end, signedData.end),
      ),
    ),
  );
};

/** The value that was signed with the key: what a time stamp of a signature is over. */
export const signatureValueOf = (cms: Uint8Array): Uint8Array | undefined => {
  const [signer] = readSignedData(cms)?.signers ?? [];
  return signer && readSignerInfo(signer)?.signature;
};

/**
 * Puts a time stamp of the signature and lists of revoked certificates into a signature with
 * certificates (the attribute of CAdES-T, ETSI EN 319 122-1 5.3). Both are unsigned.
 *
 * @param timeStamp TimeStampToken. @param lists CRLs, DER; instead of those that were there.
 * @throws For anything but SignedData of one signer.
 */
export const attachProof = (
  cms: Uint8Array,
  { timeStamp, lists }: { readonly timeStamp: Uint8Array; readonly lists: readonly Uint8Array[] },
): Uint8Array => {
  const signedData = readElement(cms)?.children[1]?.children[0];
  const [signer, ...others] = readSignedData(cms)?.signers ?? [];
  if (signedData === undefined || signer === undefined || others.length > 0)
    throw new Error('time stamps fit only into a CMS SignedData of one signer');
  const bytesOf = (elements: readonly Element[]): readonly Uint8Array[] =>
    elements.map(({ bytes }) => bytes);
  const isUnsigned = ({ tag }: Element): boolean => tag === tags.context(1);
  const attribute = sequence(objectIdentifier(id.timeStampToken), setOf(timeStamp));
  const present = bytesOf(signer.children.find(isUnsigned)?.children ?? []);
  const unsigned = encode(tags.context(1), ...[...present, attribute].toSorted(Buffer.compare));
  const signerInfo = sequence(
    ...bytesOf(signer.children.filter((each) => !isUnsigned(each))),
    unsigned,
  );
  const fields = signedData.children.slice(0, -1).filter((each) => !isUnsigned(each));
  return sequence(
    signedDataType,
    context(0, sequence(...bytesOf(fields), context(1, ...lists), encode(tags.set, signerInfo))),
  );
};
