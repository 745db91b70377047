/**
 * The CertID of OCSP. It names a certificate by hashes of its issuer's name and key, and its serial
 * number.
 *
 * Source: RFC 6960 section 4.1.1.
 */
import { hash } from 'node:crypto';
import { dotted, type Element, octets } from './ber.ts';
import { readCertificate } from './certificate-fields.ts';
import { tags } from './der.ts';
import { objectIdentifiers as id } from './object-identifiers.ts';

/** A certificate that is asked about. */
export interface CertificateId {
  /** The CertID as it was sent: the response repeats it. */
  readonly bytes: Uint8Array;
  readonly hash: 'sha1' | 'sha256';
  readonly issuerNameHash: Uint8Array;
  readonly issuerKeyHash: Uint8Array;
  /** Lower-case hex. */
  readonly serial: string;
}

const hashes: Readonly<Record<string, CertificateId['hash']>> = {
  [id.sha1]: 'sha1',
  [id.sha256]: 'sha256',
};

/** @returns Undefined for an unknown hash. */
export const readCertificateId = (element: Element | undefined): CertificateId | undefined => {
  const [algorithm, name, key, serial, ...more] = element?.children ?? [];
  const hashName = hashes[dotted(algorithm?.children[0]) ?? ''];
  const issuerNameHash = octets(name);
  const issuerKeyHash = octets(key);
  if (!element || !hashName || !issuerNameHash || !issuerKeyHash || serial?.tag !== tags.integer)
    return undefined;
  if (more.length > 0 || serial.content.length > 21) return undefined;
  return {
    bytes: element.bytes,
    hash: hashName,
    issuerNameHash,
    issuerKeyHash,
    serial: Buffer.from(serial.content).toString('hex'),
  };
};

/** Whether an authority has issued the certificate, by the hashes of its name and key. */
export const isIssuer = (certificate: Uint8Array, asked: CertificateId): boolean => {
  const fields = readCertificate(certificate);
  if (fields === undefined) return false;
  const equals = (bytes: Uint8Array, expected: Uint8Array): boolean =>
    Buffer.compare(hash(asked.hash, bytes, 'buffer'), expected) === 0;
  return (
    equals(fields.subject.bytes, asked.issuerNameHash) &&
    equals(fields.publicKey, asked.issuerKeyHash)
  );
};
