/**
 * Reads what a certificate says, without trusting it.
 *
 * node:crypto checks signatures and opens keys, but shows extensions only in part (no path length,
 * no bits of the key usage, nothing about critical ones), so the fields are read from the encoding.
 * Names stay encoded: a chain compares them byte by byte, which is stricter than RFC 5280 7.1.
 *
 * Source: RFC 5280 section 4.
 */
import { dotted, type Element, instant, member, octets, readElement, smallNumber } from './ber.ts';
import { tags } from './der.ts';
import { objectIdentifiers } from './object-identifiers.ts';

interface Extension {
  readonly critical: boolean;
  readonly value: Element;
}

/** Undefined when one is malformed or there twice (RFC 5280 4.2). */
const readExtensions = (list: Element | undefined): ReadonlyMap<string, Extension> | undefined => {
  const extensions = new Map<string, Extension>();
  for (const element of list?.children ?? []) {
    const type = dotted(element.children[0]);
    const flag = member(element, 1, tags.boolean);
    const inner = octets(element.children[flag === undefined ? 1 : 2]);
    const value = inner && readElement(inner);
    // DER true is 0xff; any other octet but zero counts as true, too: critical is safe.
    const critical = flag !== undefined && flag.content[0] !== 0;
    if (type === undefined || value === undefined || extensions.has(type)) return undefined;
    extensions.set(type, { critical, value });
  }
  return extensions;
};

const known: ReadonlySet<string> = new Set([
  objectIdentifiers.basicConstraints,
  objectIdentifiers.keyUsage,
  objectIdentifiers.extendedKeyUsage,
]);

const readPathLength = (constraints: Element | undefined): number | undefined | 'malformed' => {
  const length = member(constraints, 1, tags.integer);
  return length === undefined ? undefined : (smallNumber(length) ?? 'malformed');
};

/** RSASSA-PSS-params [0] hashAlgorithm; absent means SHA-1 (RFC 8017 A.2.3), never accepted. */
const pssHash = (algorithm: Element | undefined): string =>
  dotted(
    member(member(member(algorithm, 1, tags.sequence), 0, tags.context(0)), 0, tags.sequence)
      ?.children[0],
  ) ?? 'sha1';

/** @returns Undefined when the bytes are not one certificate of version 3. */
export const readCertificate = (der: Uint8Array) => {
  const certificate = readElement(der);
  const body = member(certificate, 0, tags.sequence);
  if (certificate?.tag !== tags.sequence || certificate.children.length !== 3 || body === undefined)
    return undefined;
  // Version 3 has its [0] in front and its [3] at the end; the two unique identifiers of version 2
  // are refused.
  const [
    version,
    serialNumber,
    algorithm,
    issuer,
    validity,
    subject,
    keyInfo,
    extensionsField,
    ...more
  ] = body.children;
  if (version?.tag !== tags.context(0) || smallNumber(version.children[0]) !== 2 || more.length > 0)
    return undefined;
  if (extensionsField !== undefined && extensionsField.tag !== tags.context(3)) return undefined;

  const signatureAlgorithm = dotted(member(algorithm, 0, tags.objectIdentifier));
  const key = member(keyInfo, 1, tags.bitString)?.content;
  const notBefore = instant(validity?.children[0]);
  const notAfter = instant(validity?.children[1]);
  const extensions = readExtensions(member(extensionsField, 0, tags.sequence));
  if (
    serialNumber?.tag !== tags.integer ||
    issuer?.tag !== tags.sequence ||
    subject?.tag !== tags.sequence ||
    signatureAlgorithm === undefined ||
    key === undefined ||
    notBefore === undefined ||
    notAfter === undefined ||
    extensions === undefined
  )
    return undefined;

  const constraints = extensions.get(objectIdentifiers.basicConstraints)?.value;
  const pathLength = readPathLength(constraints);
  const usage = extensions.get(objectIdentifiers.keyUsage)?.value;
  const purposes = extensions.get(objectIdentifiers.extendedKeyUsage)?.value.children.map(dotted);
  if (pathLength === 'malformed' || (usage !== undefined && usage.tag !== tags.bitString))
    return undefined;
  return {
    serialNumber,
    /** E.g. ecdsa-with-SHA256; for RSASSA-PSS see `signatureHash`. */
    signatureAlgorithm,
    /** The hash of an RSASSA-PSS signature; undefined for all others, whose number names it. */
    signatureHash:
      signatureAlgorithm === objectIdentifiers.rsassaPss ? pssHash(algorithm) : undefined,
    issuer,
    subject,
    /** The BIT STRING of the key without its count of unused bits: what OCSP hashes. */
    publicKey: key.subarray(1),
    /**
     * The parameters of the key's algorithm are a name; they may also be a curve that is written
     * out.
     */
    namesItsCurve: member(keyInfo, 0, tags.sequence)?.children[1]?.tag === tags.objectIdentifier,
    notBefore,
    notAfter,
    isAuthority: member(constraints, 0, tags.boolean)?.content[0] === 0xff,
    /** The most authorities between this one and the user; undefined is any number. */
    pathLength,
    /** First octet of the bits (digitalSignature is 0x80); undefined without the extension. */
    keyUsage: usage === undefined ? undefined : (usage.content[1] ?? 0),
    extendedKeyUsage: purposes?.filter((purpose) => purpose !== undefined),
    subjectKeyIdentifier: octets(extensions.get(objectIdentifiers.subjectKeyIdentifier)?.value),
    /** Has a critical extension that is not read here, so it must not be relied on. */
    hasUnknownCritical: [...extensions].some(
      ([type, { critical }]) => critical && !known.has(type),
    ),
  };
};

export type CertificateFields = NonNullable<ReturnType<typeof readCertificate>>;

/** The serial number in lower-case hex. */
export const serialOf = ({ serialNumber }: CertificateFields): string =>
  Buffer.from(serialNumber.content).toString('hex');

const strings: ReadonlySet<number> = new Set([tags.utf8String, tags.printableString, 0x14, 0x16]);

/** The text of a directory string or IA5String; undefined for other types and invalid UTF-8. */
const text = (value: Element | undefined): string | undefined => {
  if (value === undefined || !strings.has(value.tag)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value.content);
  } catch {
    return undefined;
  }
};

/** The value of an attribute that a name has once, as printable text; otherwise undefined. */
export const onlyAttribute = (name: Element, type: string): string | undefined => {
  const found = name.children
    .flatMap((relative) => relative.children)
    .filter((pair) => dotted(pair.children[0]) === type);
  const value = found.length === 1 ? text(found[0]?.children[1]) : undefined;
  return value !== undefined && /^[^\p{C}]+$/u.test(value) ? value : undefined;
};
