/**
 * Verifies the signatures of a PDF with nothing but the file and the roots that are trusted.
 *
 * Every reason is a sentence for people. A signature is valid when the bytes that it covers are
 * unchanged, when its certificate leads to a root, and when what came after it is allowed.
 */
import { createHash } from 'node:crypto';
import { openCertificates } from '../../../packages/pki/src/certificate-path.ts';
import { type DetachedFailure, readDetached } from '../../../packages/pki/src/detached.ts';
import { checkTimeStamp } from '../../../packages/pki/src/time-stamp-check.ts';
import { compareRevisions } from './compare.ts';
import { openPdf, type PdfDocument } from './document.ts';
import { type Field, signedFieldsOf } from './fields.ts';
import { certificationLevelOf } from './permissions.ts';
import { readMaterial } from './security-store.ts';
import { readSignedRevision, type SignedRevision } from './signed-revision.ts';
import { type Judging, judgeTrust, type PadesLevel, personOf } from './trust.ts';
import { dateOf, PdfError, textOf } from './values.ts';

export interface PdfSignatureReport {
  readonly field: string;
  /** `time-stamp`: one of the whole document, by an authority. */
  readonly kind: 'signature' | 'time-stamp';
  /** Intact, trusted, and only followed by what is allowed. */
  readonly valid: boolean;
  /** The signed bytes are unchanged, and the key of the certificate has signed them. */
  readonly intact: boolean;
  /** The certificate leads to a root, and was not revoked. */
  readonly trusted: boolean;
  /** Undefined for a signature that is not of PAdES. */
  readonly level?: PadesLevel;
  readonly signer?: { readonly name?: string; readonly serialNumber?: string };
  /** Of the signer, DER. */
  readonly certificate?: Uint8Array;
  /** What the signature says about itself; it proves nothing. */
  readonly claimedAt?: Date;
  readonly reason?: string;
  /** What a time stamp proves. */
  readonly timeStamp?: Date;
  /** Nothing follows what it covers. */
  readonly coversWholeFile: boolean;
  /** What followed it and is allowed. */
  readonly later: readonly string[];
  /** What followed it and is not. */
  readonly changes: readonly string[];
  /** Why it is not valid; empty for a valid one. */
  readonly reasons: readonly string[];
}

export interface PdfReport {
  /** There are signatures, and all of them are valid. */
  readonly ok: boolean;
  readonly signatures: readonly PdfSignatureReport[];
  /** What is wrong with the file as a whole. */
  readonly reasons: readonly string[];
}

const failures: Readonly<Record<DetachedFailure, string>> = {
  MALFORMED: 'Its CMS cannot be read, or is not of the form that PDFs have.',
  NOT_ONE_SIGNER: 'Its CMS has not exactly one signer.',
  UNSUPPORTED_ALGORITHM: 'Its algorithms are not supported.',
  NO_SIGNER_CERTIFICATE: 'The certificate of its signer is missing.',
  DIGEST_MISMATCH: 'The bytes that it covers were changed.',
  BAD_SIGNATURE: 'The key of its certificate has not signed it.',
};

const detachedFilters: ReadonlySet<string> = new Set([
  'ETSI.CAdES.detached',
  'adbe.pkcs7.detached',
]);

/** What is found about the cryptography of a signature. */
type Judged = Pick<
  PdfSignatureReport,
  'kind' | 'intact' | 'trusted' | 'level' | 'signer' | 'certificate' | 'timeStamp' | 'reasons'
>;

const judgeDocumentStamp = (
  { cms, parts }: SignedRevision,
  { anchors, at }: Judging,
  others: ReturnType<typeof openCertificates>,
): Judged => {
  const timeStamp = checkTimeStamp(cms, Buffer.concat(parts), { anchors, others, at });
  const isGood = timeStamp !== undefined && timeStamp <= at;
  return {
    kind: 'time-stamp',
    intact: isGood,
    trusted: isGood,
    reasons: isGood ? [] : ['The time stamp does not verify, or its authority is not trusted.'],
    ...(isGood ? { timeStamp } : {}),
  };
};

const judgeCms = (
  { cms, parts, subFilter }: SignedRevision,
  judging: Judging,
  certificates: readonly Uint8Array[],
): Judged => {
  const read = readDetached(
    cms,
    (hashName) => parts.reduce((hash, part) => hash.update(part), createHash(hashName)).digest(),
    certificates,
  );
  if (!read.ok)
    return { kind: 'signature', intact: false, trusted: false, reasons: [failures[read.reason]] };
  const { found } = read;
  const trust = judgeTrust(found, judging);
  const isPades =
    subFilter === 'ETSI.CAdES.detached' && found.namesCertificate && !found.claimsTime;
  const level: PadesLevel = trust.timeStamp === undefined ? 'B-B' : trust.isProven ? 'B-LT' : 'B-T';
  const { name, serialNumber } = personOf(found.certificate);
  const reasons =
    found.namesCertificate || subFilter !== 'ETSI.CAdES.detached'
      ? trust.reasons
      : [...trust.reasons, 'It does not name its certificate.'];
  return {
    kind: 'signature',
    intact: true,
    trusted: trust.trusted,
    reasons,
    certificate: Uint8Array.from(found.certificate.der),
    signer: {
      ...(name === undefined ? {} : { name }),
      ...(serialNumber === undefined ? {} : { serialNumber }),
    },
    ...(isPades ? { level } : {}),
    ...(trust.timeStamp === undefined ? {} : { timeStamp: trust.timeStamp }),
  };
};

const unread = (field: string, why: string): PdfSignatureReport => ({
  field,
  kind: 'signature',
  valid: false,
  intact: false,
  trusted: false,
  coversWholeFile: false,
  later: [],
  changes: [],
  reasons: [why],
});

const judge = (
  document: PdfDocument,
  field: Field,
  judging: Judging,
  certificates: readonly Uint8Array[],
): PdfSignatureReport => {
  const revision = readSignedRevision(document, field);
  const { subFilter, dict } = revision;
  if (subFilter !== 'ETSI.RFC3161' && !detachedFilters.has(subFilter))
    throw new PdfError('Its form (SubFilter) is not supported.');
  const judged =
    subFilter === 'ETSI.RFC3161'
      ? judgeDocumentStamp(revision, judging, openCertificates(certificates))
      : judgeCms(revision, judging, certificates);
  const { allowed, changes } = compareRevisions(revision.document, document);
  const isAgainstAuthor =
    certificationLevelOf(revision.document, dict) === 1 &&
    allowed.some((each) => each.startsWith('The signature field'));
  const reasons = [
    ...judged.reasons,
    ...(changes.length > 0 ? ['The document was changed after this signature.'] : []),
    ...(isAgainstAuthor ? ['It allows no changes, and a signature was added.'] : []),
  ];
  const claimedAt = dateOf(document.resolve(dict.get('M')));
  const why = textOf(document.resolve(dict.get('Reason')));
  return {
    ...judged,
    field: field.name,
    valid: judged.intact && judged.trusted && reasons.length === 0,
    coversWholeFile: revision.end === document.bytes.length,
    later: allowed,
    changes,
    reasons,
    ...(claimedAt === undefined ? {} : { claimedAt }),
    ...(why === undefined ? {} : { reason: why }),
  };
};

const verify = (bytes: Uint8Array, roots: readonly Uint8Array[], at: Date): PdfReport => {
  const document = openPdf(bytes);
  const fields = signedFieldsOf(document);
  const names = fields.map(({ name }) => name);
  const reasons =
    new Set(names).size < names.length ? ['Two of its signatures have the same field name.'] : [];
  if (fields.length === 0) reasons.push('The file has no signature.');
  const { certificates, ocsps, crls } = readMaterial(document);
  const judging: Judging = {
    anchors: openCertificates(roots),
    at,
    material: { ocsp: ocsps.map((each) => each.bytes), lists: crls.map((each) => each.bytes) },
  };
  const others = certificates.map((each) => each.bytes);
  const signatures = fields.map((field) => {
    try {
      return judge(document, field, judging, others);
    } catch (error) {
      if (error instanceof PdfError) return unread(field.name, error.message);
      throw error;
    }
  });
  const ok = reasons.length === 0 && signatures.every(({ valid }) => valid);
  return { ok, signatures, reasons };
};

/**
 * Verifies all signatures of a file. Asks nobody.
 *
 * @param roots Certificates (DER) that end a chain, of signers and of time stamps.
 * @param at    The present; certificates of signatures without a time stamp must be valid then.
 * @returns What is known of each signature. Never throws for anything in the bytes.
 */
export const verifyPdf = async (
  bytes: Uint8Array,
  { roots, at = new Date() }: { readonly roots: readonly Uint8Array[]; readonly at?: Date },
): Promise<PdfReport> => {
  try {
    return verify(bytes, roots, at);
  } catch (error) {
    if (error instanceof PdfError) return { ok: false, signatures: [], reasons: [error.message] };
    throw error;
  }
};
