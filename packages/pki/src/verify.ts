import { hash, type KeyObject } from 'node:crypto';
import { dotted, member, octets } from './ber.ts';
import { onlyAttribute } from './certificate-fields.ts';
import {
  type Certificate,
  checkPath,
  openCertificate,
  openCertificates,
  type PathFailure,
} from './certificate-path.ts';
import { tags } from './der.ts';
import { objectIdentifiers } from './object-identifiers.ts';
import { findStanding, type RevocationMaterial } from './revocation-check.ts';
import {
  isOfSigner,
  isSignedBy,
  onlyValue,
  readAlgorithm,
  readSignedData,
  readSignerInfo,
  type SignerInfo,
} from './signed-data.ts';
import { checkTimeStamp } from './time-stamp-check.ts';

/**
 * Verifies a mobile signature: that this user signed exactly these bytes.
 *
 * CMS allows signatures that prove little: without content, without signed attributes, by several
 * signers, over another type of content, with any algorithm. Each has been an attack on some
 * verifier, and neither this service nor the live one needs them. So only one form is accepted:
 * embedded `id-data`, one signer, signed attributes, SHA-256.
 *
 * The chain is checked before the signature, so that no work is done with an untrusted key.
 *
 * Sources: RFC 5652 section 5, RFC 5753, RFC 5754; interface section 2.1 (MSS_Signature).
 */
type VerificationFailure =
  /** The bytes are not a CMS signature of this form; `part` says where reading ended. */
  | { readonly reason: 'MALFORMED'; readonly part: string }
  | { readonly reason: 'UNSUPPORTED_ALGORITHM' }
  | { readonly reason: 'NOT_ONE_SIGNER'; readonly signers: number }
  | { readonly reason: 'NO_CONTENT' }
  | { readonly reason: 'CONTENT_MISMATCH' }
  | { readonly reason: 'NO_SIGNER_CERTIFICATE' }
  | { readonly reason: 'NO_SERIAL_NUMBER' }
  | { readonly reason: 'NO_COMMON_NAME' }
  | { readonly reason: 'DIGEST_MISMATCH' }
  | { readonly reason: 'BAD_SIGNATURE' }
  | { readonly reason: 'CERTIFICATE_REVOKED'; readonly revokedAt: Date }
  /** Nothing of what was given says whether the certificate is revoked. */
  | { readonly reason: 'REVOCATION_UNKNOWN' }
  | PathFailure;

interface Signer {
  /** The serialNumber of the subject, `MIDCHE…`; not the number of the certificate. */
  readonly serialNumber: string;
  readonly commonName: string;
  /** DER. */
  readonly certificate: Uint8Array;
}

export type Verification =
  | {
      readonly ok: true;
      readonly signer: Signer;
      /** The signed attribute randomNonce (PKCS #9); undefined where there is none. */
      readonly nonce: Uint8Array | undefined;
      /** When the signature existed, by a time stamp in it that was verified. */
      readonly timeStamp: Date | undefined;
      /** What says that the certificate was not revoked; `none` when nothing was given. */
      readonly revocation: 'ocsp' | 'crl' | 'none';
    }
  | ({ readonly ok: false } & VerificationFailure);

const refused = (failure: VerificationFailure): Verification => ({ ok: false, ...failure });
const malformed = (part: string): Verification => refused({ reason: 'MALFORMED', part });

const id = objectIdentifiers;
// Enough for any chain, and a bound on the work for a hostile signature.
const maxCertificates = 10;
const maxTimeStamps = 3;

const signatureFits = (algorithm: string | undefined, key: KeyObject): boolean =>
  key.asymmetricKeyType === 'ec'
    ? algorithm === id.ecdsaWithSha256
    : algorithm === id.rsaEncryption || algorithm === id.sha256WithRsa;

const equal = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

const verified = (
  { der, fields }: Certificate,
  proof: Pick<Extract<Verification, { ok: true }>, 'nonce' | 'revocation' | 'timeStamp'>,
): Verification => {
  const serialNumber = onlyAttribute(fields.subject, id.serialNumber);
  const commonName = onlyAttribute(fields.subject, id.commonName);
  if (serialNumber === undefined) return refused({ reason: 'NO_SERIAL_NUMBER' });
  if (commonName === undefined) return refused({ reason: 'NO_COMMON_NAME' });
  return {
    ok: true,
    signer: { serialNumber, commonName, certificate: Uint8Array.from(der) },
    ...proof,
  };
};

/** @throws TypeError */
const openAnchors = (trust: readonly Uint8Array[]): readonly Certificate[] =>
  trust.map((der) => {
    const anchor = openCertificate(der);
    if (anchor === undefined) throw new TypeError('a trusted certificate is unreadable');
    return anchor;
  });

/** The earliest time that a good time stamp in the signature proves. */
const findTimeStamp = (
  { unsigned, signature }: SignerInfo,
  check: {
    readonly anchors: readonly Certificate[];
    readonly others: readonly Certificate[];
    at: Date;
  },
): Date | undefined => {
  const tokens = (unsigned?.children ?? [])
    .filter((attribute) => dotted(attribute.children[0]) === id.timeStampToken)
    .flatMap((attribute) => member(attribute, 1, tags.set)?.children ?? []);
  const times = tokens
    .slice(0, maxTimeStamps)
    .map(({ bytes }) => checkTimeStamp(bytes, signature, check))
    // A time that is still to come proves nothing.
    .filter((time) => time !== undefined && time <= check.at);
  return times.toSorted((one, other) => Number(one) - Number(other))[0];
};

/**
 * Verifies a CMS signature against the data that was to be signed.
 *
 * Compare `signer.serialNumber` with the expected user afterwards: the signature of another user is
 * valid, too.
 *
 * A signature that has a time stamp is judged at the time of that stamp, as long as the
 * certificate of the time stamp is good. So it outlives its own certificate.
 *
 * @param cms          The decoded `Base64Signature`, DER or BER, from anywhere.
 * @param expectedData What was sent as DataToBeSigned; text is taken as UTF-8.
 * @param options      `trust`: certificates (DER) that end a chain. `at`: when certificates must be
 *                     valid, by default now. `timeStampTrust`: those that end the chain of a time
 *                     stamp, by default `trust`. `revocation`: lists and OCSP answers; one of them,
 *                     or of the lists in the signature, must say that the signer's certificate was
 *                     not revoked at that time. `now`: the present, by default that of this
 *                     machine; what is dated after it says nothing about revocation.
 * @returns The signer, or the first reason to refuse. Never throws for anything in `cms`.
 * @throws When a certificate of `trust` is unreadable: that is the caller's configuration.
 */
export const verifySignature = (
  cms: Uint8Array,
  expectedData: Uint8Array | string,
  {
    trust,
    now = new Date(),
    at = now,
    timeStampTrust,
    revocation,
  }: {
    readonly trust: readonly Uint8Array[];
    readonly at?: Date;
    readonly now?: Date;
    readonly timeStampTrust?: readonly Uint8Array[] | undefined;
    readonly revocation?: RevocationMaterial | undefined;
  },
): Verification => {
  const anchors = openAnchors(trust);
  const timeAnchors = timeStampTrust === undefined ? anchors : openAnchors(timeStampTrust);

  const signedData = readSignedData(cms);
  if (signedData === undefined) return malformed('SignedData');
  const { digestAlgorithms, encapsulated, certificates, lists, signers } = signedData;
  const [signerElement] = signers;
  if (signerElement === undefined || signers.length !== 1)
    return refused({ reason: 'NOT_ONE_SIGNER', signers: signers.length });
  const signerInfo = readSignerInfo(signerElement);
  if (signerInfo === undefined) return malformed('SignerInfo');
  if (
    ![...digestAlgorithms, signerInfo.digestAlgorithm].every(
      (each) => readAlgorithm(each) === id.sha256,
    )
  )
    return refused({ reason: 'UNSUPPORTED_ALGORITHM' });

  if (dotted(encapsulated.children[0]) !== id.data || encapsulated.children.length > 2)
    return malformed('eContentType');
  if (encapsulated.children.length === 1) return refused({ reason: 'NO_CONTENT' });
  const explicit = member(encapsulated, 1, tags.context(0));
  const content = explicit?.children.length === 1 ? octets(explicit.children[0]) : undefined;
  if (content === undefined) return malformed('eContent');
  if (!equal(content, Buffer.from(expectedData))) return refused({ reason: 'CONTENT_MISMATCH' });

  if (certificates.length > maxCertificates) return malformed('certificates');
  const opened = openCertificates(certificates.map(({ bytes }) => bytes));
  const signer = opened.find((each) => isOfSigner(signerInfo, each));
  if (signer === undefined) return refused({ reason: 'NO_SIGNER_CERTIFICATE' });
  if (!signatureFits(readAlgorithm(signerInfo.signatureAlgorithm), signer.publicKey))
    return refused({ reason: 'UNSUPPORTED_ALGORITHM' });
  const timeStamp = findTimeStamp(signerInfo, { anchors: timeAnchors, others: opened, at });
  const validAt = timeStamp ?? at;
  const failure = checkPath(signer, opened, anchors, validAt);
  if (failure !== undefined) return refused(failure);

  const contentType = onlyValue(signerInfo.attributes, id.contentType);
  const digest = octets(onlyValue(signerInfo.attributes, id.messageDigest));
  if (dotted(contentType) !== id.data || digest === undefined) return malformed('signedAttrs');
  if (!equal(digest, hash('sha256', content, 'buffer')))
    return refused({ reason: 'DIGEST_MISMATCH' });
  if (!isSignedBy(signerInfo, 'sha256', signer)) return refused({ reason: 'BAD_SIGNATURE' });
  const inside = lists.map(({ bytes }) => bytes);
  const material = revocation && { ...revocation, lists: [...(revocation.lists ?? []), ...inside] };
  const standing =
    material && findStanding(signer, [...anchors, ...opened], material, { at: validAt, now });
  if (revocation !== undefined && standing === undefined)
    return refused({ reason: 'REVOCATION_UNKNOWN' });
  const { revokedAt } = standing ?? {};
  if (revokedAt !== undefined && revokedAt <= validAt)
    return refused({ reason: 'CERTIFICATE_REVOKED', revokedAt });
  return verified(signer, {
    nonce: octets(onlyValue(signerInfo.attributes, id.randomNonce)),
    revocation: standing?.by ?? 'none',
    timeStamp,
  });
};
