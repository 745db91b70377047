/**
 * Signatures over bytes that lie elsewhere, by the rules for advanced signatures (CAdES baseline):
 * CMS SignedData without content, whose signed attributes are the content type, the digest of those
 * bytes, and the certificate (ESS signing-certificate-v2), so that no other can take its place.
 * There is no signing time among them: in a PDF it stands in the signature dictionary (ETSI EN 319
 * 142-1 6.3), and a time that proves something comes from a time stamp.
 *
 * Sources: RFC 5652 section 5, RFC 5035, ETSI EN 319 122-1 section 5 and 6.
 */
import { hash, verify } from 'node:crypto';
import { dotted, type Element, member, octets } from './ber.ts';
import { type Certificate, openCertificate, openCertificates } from './certificate-path.ts';
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

const sha256 = sequence(objectIdentifier(id.sha256), nullValue());

const attribute = (type: string, value: Uint8Array): Buffer =>
  sequence(objectIdentifier(type), setOf(value));

/**
 * The bytes that a key signs: the signed attributes with the tag of a SET OF (RFC 5652 5.4).
 *
 * @param digest      SHA-256 of what is signed.
 * @param certificate Of the key, DER.
 */
export const detachedAttributes = (digest: Uint8Array, certificate: Uint8Array): Buffer => {
  if (digest.length !== 32) throw new RangeError('a SHA-256 digest has 32 bytes');
  const certificateId = sequence(octetString(hash('sha256', certificate, 'buffer')));
  return setOf(
    attribute(id.contentType, objectIdentifier(id.data)),
    attribute(id.messageDigest, octetString(digest)),
    attribute(id.signingCertificateV2, sequence(sequence(certificateId))),
  );
};

/** Opened once for all signatures of a person: that costs more than to sign. */
const openOwn = (der: Uint8Array): Certificate => {
  const certificate = openCertificate(der);
  if (certificate === undefined) throw new Error('the certificate of the key is unreadable');
  return certificate;
};

/** r and s of P-256, 32 bytes each. */
const rawSignatureBytes = 64;

/**
 * Makes the CMS around a signature of {@link detachedAttributes}.
 *
 * @param signature    Of an EC key DER, or r and s (64 bytes, as WebCrypto gives them); of an RSA
 *                     key PKCS #1 v1.5. With SHA-256.
 * @param certificates DER, that of the key first; all are embedded.
 * @param timeStamp    A TimeStampToken over the signature value: an unsigned attribute.
 * @returns DER. Undefined when the key of the certificate has not made the signature.
 */
export const createDetachedCms = ({
  digest,
  signature,
  certificates,
  timeStamp,
}: {
  readonly digest: Uint8Array;
  readonly signature: Uint8Array;
  readonly certificates: readonly [own: Uint8Array, ...others: Uint8Array[]];
  readonly timeStamp?: Uint8Array | undefined;
}): Uint8Array | undefined => {
  const [own] = certificates;
  const { fields, publicKey } = openOwn(own);
  const attributes = detachedAttributes(digest, own);
  const value = signatureValue({ digest, signature, certificate: own });
  if (value === undefined) return undefined;
  attributes[0] = tags.context(0);
  const isEc = publicKey.asymmetricKeyType === 'ec';
  const algorithm = isEc
    ? sequence(objectIdentifier(id.ecdsaWithSha256))
    : sequence(objectIdentifier(id.rsaEncryption), nullValue());
  const signer = sequence(
    smallInteger(1),
    sequence(fields.issuer.bytes, fields.serialNumber.bytes),
    sha256,
    attributes,
    algorithm,
    octetString(value),
    ...(timeStamp === undefined ? [] : [context(1, attribute(id.timeStampToken, timeStamp))]),
  );
  return sequence(
    objectIdentifier(id.signedData),
    context(
      0,
      sequence(
        smallInteger(1),
        setOf(sha256),
        sequence(objectIdentifier(id.data)),
        context(0, ...certificates),
        encode(tags.set, signer),
      ),
    ),
  );
};

/**
 * The signature as a CMS holds it, which is what a time stamp of it is over.
 *
 * @param signature As in {@link createDetachedCms}.
 * @returns Undefined when the key of the certificate has not made it.
 */
export const signatureValue = ({
  digest,
  signature,
  certificate,
}: {
  readonly digest: Uint8Array;
  readonly signature: Uint8Array;
  readonly certificate: Uint8Array;
}): Uint8Array | undefined => {
  const { publicKey } = openOwn(certificate);
  const isRaw = publicKey.asymmetricKeyType === 'ec' && signature.length === rawSignatureBytes;
  const value = isRaw ? ecdsaValue(signature) : signature;
  const attributes = detachedAttributes(digest, certificate);
  try {
    return verify('sha256', attributes, publicKey, value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const maxCertificates = 20;
const maxTimeStamps = 3;

const equal = (one: Uint8Array | undefined, other: Uint8Array): boolean =>
  one !== undefined && Buffer.compare(one, other) === 0;

/** A detached signature that was read, and whose own cryptography was checked. */
export interface DetachedSignature {
  /** Of the signer; the key in it has made the signature. */
  readonly certificate: Certificate;
  /** All that could be read, those in the CMS and the others that were given. */
  readonly certificates: readonly Certificate[];
  /** The attribute signing-certificate names the certificate; without it another could stand in. */
  readonly namesCertificate: boolean;
  /** The attribute signing-time, which baseline signatures of a PDF must not have. */
  readonly claimsTime: boolean;
  readonly signature: Uint8Array;
  /** TimeStampTokens over the signature, unchecked. */
  readonly timeStamps: readonly Uint8Array[];
}

export type DetachedFailure =
  | 'MALFORMED'
  | 'NOT_ONE_SIGNER'
  | 'UNSUPPORTED_ALGORITHM'
  | 'NO_SIGNER_CERTIFICATE'
  | 'DIGEST_MISMATCH'
  | 'BAD_SIGNATURE';

/**
 * Reads a detached signature and checks digest and signature value, not the chain.
 *
 * @param cms      DER or BER, from anywhere.
 * @param digestOf The digest of the signed bytes; asked once, with the hash that the CMS names.
 * @param others   Further certificates, DER.
 */
export const readDetached = (
  cms: Uint8Array,
  digestOf: (hashName: 'sha256' | 'sha384' | 'sha512') => Uint8Array,
  others: readonly Uint8Array[] = [],
):
  | { readonly ok: true; readonly found: DetachedSignature }
  | { readonly ok: false; readonly reason: DetachedFailure } => {
  const signedData = readSignedData(cms);
  if (signedData === undefined) return { ok: false, reason: 'MALFORMED' };
  const { signers, encapsulated } = signedData;
  const [element] = signers;
  if (element === undefined || signers.length !== 1) return { ok: false, reason: 'NOT_ONE_SIGNER' };
  const signer = readSignerInfo(element);
  const digest = octets(onlyValue(signer?.attributes ?? element, id.messageDigest));
  const isDetached =
    dotted(encapsulated.children[0]) === id.data && encapsulated.children.length === 1;
  if (signer === undefined || digest === undefined || !isDetached)
    return { ok: false, reason: 'MALFORMED' };
  if (dotted(onlyValue(signer.attributes, id.contentType)) !== id.data)
    return { ok: false, reason: 'MALFORMED' };
  const digestHash = digestHashes[readAlgorithm(signer.digestAlgorithm) ?? ''];
  const named = readAlgorithm(signer.signatureAlgorithm) ?? '';
  const signatureHash = named === id.rsaEncryption ? digestHash : signatureHashes[named];
  if (digestHash === undefined || signatureHash !== digestHash)
    return { ok: false, reason: 'UNSUPPORTED_ALGORITHM' };
  if (!equal(digest, digestOf(digestHash))) return { ok: false, reason: 'DIGEST_MISMATCH' };
  const inside = signedData.certificates.slice(0, maxCertificates).map(({ bytes }) => bytes);
  const certificates = openCertificates([...inside, ...others]);
  const certificate = certificates.find((each) => isOfSigner(signer, each));
  if (certificate === undefined) return { ok: false, reason: 'NO_SIGNER_CERTIFICATE' };
  if (!isSignedBy(signer, digestHash, certificate)) return { ok: false, reason: 'BAD_SIGNATURE' };
  return {
    ok: true,
    found: {
      certificate,
      certificates,
      namesCertificate: isNamedBy(signer.attributes, certificate),
      claimsTime: signer.attributes.children.some(
        (each) => dotted(each.children[0]) === id.signingTime,
      ),
      signature: signer.signature,
      timeStamps: (signer.unsigned?.children ?? [])
        .filter((each: Element) => dotted(each.children[0]) === id.timeStampToken)
        .flatMap((each: Element) => member(each, 1, tags.set)?.children ?? [])
        .slice(0, maxTimeStamps)
        .map(({ bytes }) => bytes),
    },
  };
};
