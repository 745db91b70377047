/**
 * Reads lists of revoked certificates and OCSP answers, and what they say about a certificate.
 *
 * Material counts when the issuer of the certificate has signed it, or for OCSP a responder that
 * the issuer has certified for that. It must still be good at the time in question, or be later,
 * but not dated into the future. The certificate of a responder must be good at that time, or when
 * the answer was made if that is later: whoever has the key of one that has ended can date answers
 * back. What does not count is passed over.
 *
 * Not here: lists in parts, lists of other issuers, and delta lists; they have critical extensions.
 *
 * Sources: RFC 5280 section 6.3, RFC 6960 section 3.2.
 */
import { type KeyObject, verify } from 'node:crypto';
import {
  dotted,
  type Element,
  instant,
  member,
  octets,
  onlyMember,
  readElement,
  smallNumber,
} from './ber.ts';
import { serialOf } from './certificate-fields.ts';
import { isIssuer, readCertificateId } from './certificate-id.ts';
import { type Certificate, checkSigner, hasIssued, openCertificate } from './certificate-path.ts';
import { tags } from './der.ts';
import { objectIdentifiers as id, signatureHashes } from './object-identifiers.ts';

export interface RevocationMaterial {
  /** CRLs, DER. */
  readonly lists?: readonly Uint8Array[];
  /** OCSP answers, DER. */
  readonly ocsp?: readonly Uint8Array[];
}

export interface Standing {
  readonly by: 'ocsp' | 'crl';
  /** Undefined when it is not revoked. */
  readonly revokedAt: Date | undefined;
}

/** @param signed Body, algorithm, signature: of a list, or of an OCSP answer. */
const isSignedBy = (signed: Element, key: KeyObject): boolean => {
  const [body, algorithm, signature] = signed.children;
  const hash = signatureHashes[dotted(algorithm?.children[0]) ?? ''];
  if (body === undefined || hash === undefined || signature?.tag !== tags.bitString) return false;
  try {
    return verify(hash, body.bytes, key, signature.content.subarray(1));
  } catch {
    return false;
  }
};

const same = (one: Element | undefined, other: Element): boolean =>
  one !== undefined && Buffer.compare(one.bytes, other.bytes) === 0;

/** The clock of the issuer may be as much ahead: what `openssl ocsp` allows by default. */
const maxAheadMs = 300_000;

/** When the certificate is judged, and the present. */
interface Moments {
  readonly at: Date;
  readonly now: Date;
}

/** @returns When the material was made; undefined when it does not count at these moments. */
const countsFrom = (
  thisUpdate: Element | undefined,
  nextUpdate: Element | undefined,
  { at, now }: Moments,
): Date | undefined => {
  const from = instant(thisUpdate);
  const until = instant(nextUpdate);
  if (from === undefined || until === undefined || until < at || until < from) return undefined;
  // Who asks about a time to come has the present there.
  return from.getTime() <= Math.max(at.getTime(), now.getTime()) + maxAheadMs ? from : undefined;
};

const inList = (
  der: Uint8Array,
  { fields }: Certificate,
  issuer: Certificate,
  moments: Moments,
): Standing | undefined => {
  const list = readElement(der);
  const [version, , name, thisUpdate, nextUpdate, ...rest] =
    member(list, 0, tags.sequence)?.children ?? [];
  if (list === undefined || smallNumber(version) !== 1) return undefined;
  if (countsFrom(thisUpdate, nextUpdate, moments) === undefined) return undefined;
  if (!same(name, issuer.fields.subject) || !isSignedBy(list, issuer.publicKey)) return undefined;
  const entries = rest.find(({ tag }) => tag === tags.sequence)?.children ?? [];
  const extensions = onlyMember(
    rest.find(({ tag }) => tag === tags.context(0)),
    tags.sequence,
  );
  const all = [
    ...(extensions?.children ?? []),
    ...entries.flatMap((each) => each.children[2]?.children ?? []),
  ];
  if (all.some((each) => each.children[1]?.tag === tags.boolean)) return undefined;
  const entry = entries.find((each) => same(each.children[0], fields.serialNumber));
  if (entry === undefined) return { by: 'crl', revokedAt: undefined };
  return { by: 'crl', revokedAt: instant(entry.children[1]) ?? new Date(0) };
};

/**
 * Whether the answer comes from the issuer or from its responder.
 *
 * @param at When the certificate of a responder must be good.
 */
const isOfIssuer = (basic: Element, issuer: Certificate, at: Date): boolean => {
  if (isSignedBy(basic, issuer.publicKey)) return true;
  const others = onlyMember(member(basic, 3, tags.context(0)), tags.sequence)?.children ?? [];
  return others.slice(0, 3).some(({ bytes }) => {
    const responder = openCertificate(bytes);
    return (
      responder !== undefined &&
      checkSigner(responder, at, 'ocspSigning') === undefined &&
      hasIssued(issuer, responder, { verifications: 1 }) &&
      isSignedBy(basic, responder.publicKey)
    );
  });
};

const inAnswer = (
  der: Uint8Array,
  { fields }: Certificate,
  issuer: Certificate,
  moments: Moments,
): Standing | undefined => {
  const response = readElement(der);
  const [type, wrapped] =
    onlyMember(member(response, 1, tags.context(0)), tags.sequence)?.children ?? [];
  if (dotted(type) !== id.basicOcspResponse) return undefined;
  const basic = readElement(octets(wrapped) ?? new Uint8Array());
  const body = member(basic, 0, tags.sequence);
  const singles = body?.children.find(({ tag }) => tag === tags.sequence)?.children ?? [];
  for (const single of singles) {
    const [idElement, status, thisUpdate, nextUpdate] = single.children;
    const about = readCertificateId(idElement);
    const from = countsFrom(thisUpdate, onlyMember(nextUpdate, tags.generalizedTime), moments);
    if (about?.serial !== serialOf(fields) || !isIssuer(issuer.der, about)) continue;
    if (basic === undefined || from === undefined) continue;
    if (!isOfIssuer(basic, issuer, new Date(Math.max(Number(from), Number(moments.at))))) continue;
    if (status?.tag === tags.contextPrimitive(0)) return { by: 'ocsp', revokedAt: undefined };
    if (status?.tag === tags.context(1))
      return { by: 'ocsp', revokedAt: instant(status.children[0]) ?? new Date(0) };
  }
  return undefined;
};

/**
 * What the material says; OCSP before lists. One that says revoked is believed before one that
 * does not.
 *
 * @returns Undefined when none of it counts.
 */
export const findStanding = (
  certificate: Certificate,
  issuers: readonly Certificate[],
  { ocsp = [], lists = [] }: RevocationMaterial,
  moments: Moments,
): Standing | undefined => {
  const issuer = issuers.find((each) => hasIssued(each, certificate, { verifications: 1 }));
  if (issuer === undefined) return undefined;
  const found = [
    ...ocsp.map((der) => inAnswer(der, certificate, issuer, moments)),
    ...lists.map((der) => inList(der, certificate, issuer, moments)),
  ].filter((each) => each !== undefined);
  return found.find(({ revokedAt }) => revokedAt !== undefined) ?? found[0];
};
