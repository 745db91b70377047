import { hash, type KeyObject, X509Certificate } from 'node:crypto';
import { createBoundedCache } from './bounded-cache.ts';
import { type CertificateFields, readCertificate } from './certificate-fields.ts';
import { objectIdentifiers } from './object-identifiers.ts';

/**
 * Builds and checks the path from a signer's certificate up to one that is trusted.
 *
 * The danger is two parsers that see two certificates in the same bytes: OpenSSL, which checks
 * signatures, accepts BER, and PEM anywhere in the input. So a certificate counts only if OpenSSL
 * gives back exactly the bytes that our reader has read.
 *
 * A trusted certificate is an anchor by its bytes, and by its name and key: what it has signed is
 * trusted, whatever root a signature contains. Anchors must be valid, too, as with `openssl
 * verify`.
 *
 * Not here: revocation (revocation-check.ts), policies, name constraints. A certificate with an
 * unknown critical extension is refused.
 *
 * Source: RFC 5280 section 6, with purposes as `openssl cms -verify -purpose sslclient` checks
 * them.
 */
export interface Certificate {
  readonly der: Uint8Array;
  readonly fields: CertificateFields;
  readonly publicKey: KeyObject;
  readonly x509: X509Certificate;
  /** Issuers whose signature on this certificate was verified. */
  readonly issuedBy: WeakSet<Certificate>;
}

export type PathFailure =
  | { readonly reason: 'UNTRUSTED_CHAIN' }
  | { readonly reason: 'CERTIFICATE_EXPIRED'; readonly notAfter: Date }
  | { readonly reason: 'CERTIFICATE_NOT_YET_VALID'; readonly notBefore: Date }
  | { readonly reason: 'WRONG_PURPOSE' };

const curves: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/**
 * NIST curves, by their names, and RSA of 2048 to 8192 bits; a larger key could cost seconds. That
 * the name of the curve is there is read from the certificate: see `namesItsCurve` (pem.ts), which
 * asks OpenSSL to write the key, for as long as a signature takes.
 */
const isSoundKey = (key: KeyObject, fields: CertificateFields): boolean => {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  return key.asymmetricKeyType === 'ec'
    ? curves.has(namedCurve) && fields.namesItsCurve
    : key.asymmetricKeyType === 'rsa' && modulusLength >= 2048 && modulusLength <= 8192;
};

const open = (der: Uint8Array): Certificate | undefined => {
  const fields = readCertificate(der);
  if (fields === undefined) return undefined;
  try {
    const x509 = new X509Certificate(der);
    const { publicKey } = x509;
    return Buffer.compare(x509.raw, der) === 0 && isSoundKey(publicKey, fields)
      ? { der, fields, publicKey, x509, issuedBy: new WeakSet() }
      : undefined;
  } catch {
    return undefined;
  }
};

// Opening a certificate costs OpenSSL more than checking a signature, and the same authorities come
// with every signature. What is remembered follows from the bytes, so it is never stale.
const opened = createBoundedCache<Certificate | undefined>(500);

/** @returns Undefined when the bytes are not a certificate, or its key is of an unaccepted kind. */
export const openCertificate = (der: Uint8Array): Certificate | undefined =>
  // A copy: the caller's bytes are a view into a message, and could change.
  opened.get(hash('sha256', der, 'base64'), () => open(Buffer.from(der)));

/** The certificates that can be opened; others are left out. */
export const openCertificates = (all: readonly Uint8Array[]): readonly Certificate[] =>
  all.flatMap((der) => openCertificate(der) ?? []);

const id = objectIdentifiers;
const soundHashes: ReadonlySet<string | undefined> = new Set([id.sha256, id.sha384, id.sha512]);
const soundAlgorithms: ReadonlySet<string> = new Set([
  id.sha256WithRsa,
  id.sha384WithRsa,
  id.sha512WithRsa,
  id.ecdsaWithSha256,
  id.ecdsaWithSha384,
  id.ecdsaWithSha512,
]);

const isSoundSignature = ({ signatureAlgorithm, signatureHash }: CertificateFields): boolean =>
  signatureAlgorithm === id.rsassaPss
    ? soundHashes.has(signatureHash)
    : soundAlgorithms.has(signatureAlgorithm);

type Budget = { verifications: number };

export const hasIssued = (
  issuer: Certificate,
  certificate: Certificate,
  budget: Budget,
): boolean => {
  const { fields, x509, issuedBy } = certificate;
  if (issuedBy.has(issuer)) return true;
  if (Buffer.compare(issuer.fields.subject.bytes, fields.issuer.bytes) !== 0) return false;
  if (!isSoundSignature(fields) || budget.verifications === 0) return false;
  budget.verifications -= 1;
  try {
    const isGood = x509.verify(issuer.publicKey);
    if (isGood) issuedBy.add(issuer);
    return isGood;
  } catch {
    return false;
  }
};

const sameBytes = (one: Certificate, other: Certificate): boolean =>
  Buffer.compare(one.der, other.der) === 0;

/** Signer, authorities, anchor. More than two levels of authorities do not occur. */
const maxPathLength = 5;
/** Ten authorities of one name and key that have issued each other give thousands of paths. */
const maxVerifications = 32;

/** All paths that end in an anchor, as far as the budget goes. */
function* pathsFrom(
  path: readonly [Certificate, ...Certificate[]],
  others: readonly Certificate[],
  anchors: readonly Certificate[],
  budget: Budget,
): Generator<readonly Certificate[]> {
  const last = path.at(-1) ?? path[0];
  if (anchors.some((anchor) => sameBytes(anchor, last))) {
    yield path;
    return;
  }
  if (path.length === maxPathLength) return;
  for (const anchor of anchors) if (hasIssued(anchor, last, budget)) yield [...path, anchor];
  for (const other of others)
    if (!path.some((step) => sameBytes(step, other)) && hasIssued(other, last, budget))
      yield* pathsFrom([...path, other], others, anchors, budget);
}

const usageBits = { digitalSignature: 0x80, anySignature: 0xc0, keyCertSign: 0x04 } as const;
const allows = ({ keyUsage }: CertificateFields, use: keyof typeof usageBits): boolean =>
  keyUsage === undefined || (keyUsage & usageBits[use]) !== 0;

/** `anySignature`: documents, which people sign with certificates for many purposes. */
export type Purpose =
  | 'clientAuth'
  | 'documentSigning'
  | 'timeStamping'
  | 'ocspSigning'
  | 'anySignature';

const usageOf = (purpose: Purpose): keyof typeof usageBits =>
  purpose === 'timeStamping' || purpose === 'anySignature' ? 'anySignature' : 'digitalSignature';

const isFor = ({ extendedKeyUsage }: CertificateFields, purpose: Purpose): boolean =>
  purpose === 'anySignature' || extendedKeyUsage?.includes(id[purpose]) === true;

/** Whether a certificate is fit for its place: 0 is the signer, 1 the authority that issued it. */
const checkStep = (
  { fields }: Certificate,
  place: number,
  at: Date,
  purpose: Purpose,
): PathFailure | undefined => {
  const { notBefore, notAfter, extendedKeyUsage } = fields;
  // Refuses an invalid date, too, which compares false with everything.
  if (!(at >= notBefore)) return { reason: 'CERTIFICATE_NOT_YET_VALID', notBefore };
  if (!(at <= notAfter)) return { reason: 'CERTIFICATE_EXPIRED', notAfter };
  if (fields.hasUnknownCritical) return { reason: 'UNTRUSTED_CHAIN' };
  if (place === 0)
    return allows(fields, usageOf(purpose)) && isFor(fields, purpose)
      ? undefined
      : { reason: 'WRONG_PURPOSE' };
  if (!fields.isAuthority || !allows(fields, 'keyCertSign')) return { reason: 'UNTRUSTED_CHAIN' };
  if (fields.pathLength !== undefined && fields.pathLength < place - 1)
    return { reason: 'UNTRUSTED_CHAIN' };
  if (extendedKeyUsage !== undefined && !isFor(fields, purpose)) return { reason: 'WRONG_PURPOSE' };
  return undefined;
};

/** Whether a certificate may sign for a purpose at that time. Says nothing about its issuer. */
export const checkSigner = (
  signer: Certificate,
  at: Date,
  purpose: Purpose,
): PathFailure | undefined => checkStep(signer, 0, at, purpose);

/**
 * Looks for a valid path.
 *
 * @param others  Certificates that came with the signature, in any order.
 * @param purpose What all certificates of the path must allow, as far as they restrict it.
 * @returns Undefined when there is one, else the error of the first path that ends in an anchor.
 */
export const checkPath = (
  signer: Certificate,
  others: readonly Certificate[],
  anchors: readonly Certificate[],
  at: Date,
  purpose: Purpose = 'clientAuth',
): PathFailure | undefined => {
  let first: PathFailure | undefined;
  for (const path of pathsFrom([signer], others, anchors, { verifications: maxVerifications })) {
    const failure = path
      .map((step, place) => checkStep(step, place, at, purpose))
      .find((found) => found !== undefined);
    if (failure === undefined) return undefined;
    first ??= failure;
  }
  return first ?? { reason: 'UNTRUSTED_CHAIN' };
};
