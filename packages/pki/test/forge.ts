import {
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { readElement } from '../src/ber.ts';
import { readCertificate } from '../src/certificate-fields.ts';
import * as der from '../src/der.ts';
import { objectIdentifiers as id } from '../src/object-identifiers.ts';

/**
 * Certificates and signatures that the product never writes: each part can be replaced by a wrong
 * one. What is not replaced is in order, so that a test shows which single fault a verifier has
 * found.
 */
export const commonName = (text: string): Buffer =>
  der.sequence(der.setOf(der.sequence(der.objectIdentifier(id.commonName), der.utf8String(text))));

export const serialAndName = (serialNumber: string, text: string): Buffer =>
  der.sequence(
    der.setOf(
      der.sequence(der.objectIdentifier(id.serialNumber), der.printableString(serialNumber)),
    ),
    der.setOf(der.sequence(der.objectIdentifier(id.commonName), der.utf8String(text))),
  );

export const extension = (type: string, value: Uint8Array, critical = false): Buffer =>
  der.sequence(
    der.objectIdentifier(type),
    ...(critical ? [der.boolean(true)] : []),
    der.octetString(value),
  );

export const purposes = (...types: readonly string[]): Buffer =>
  extension(id.extendedKeyUsage, der.sequence(...types.map(der.objectIdentifier)));
export const serverAuth = '1.3.6.1.5.5.7.3.1';

export const constraints = (isAuthority: boolean, pathLength?: number): Buffer =>
  extension(
    id.basicConstraints,
    der.sequence(
      ...(isAuthority ? [der.boolean(true)] : []),
      ...(pathLength === undefined ? [] : [der.smallInteger(pathLength)]),
    ),
    true,
  );

export const forgeCertificate = ({
  subject,
  issuer,
  publicKey,
  signingKey,
  extensions = [],
  notBefore = new Date('2026-01-01T00:00:00Z'),
  notAfter = new Date('2027-01-01T00:00:00Z'),
}: {
  readonly subject: Uint8Array;
  readonly issuer: Uint8Array;
  readonly publicKey: KeyObject;
  readonly signingKey: KeyObject;
  readonly extensions?: readonly Uint8Array[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}): Uint8Array => {
  const algorithm = der.sequence(der.objectIdentifier(id.ecdsaWithSha256));
  const body = der.sequence(
    der.context(0, der.smallInteger(2)),
    der.integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    issuer,
    der.sequence(der.time(notBefore), der.time(notAfter)),
    subject,
    publicKey.export({ format: 'der', type: 'spki' }),
    ...(extensions.length > 0 ? [der.context(3, der.sequence(...extensions))] : []),
  );
  return der.sequence(body, algorithm, der.bitString(sign('sha256', body, signingKey)));
};

/** The same key; its curve is written out instead of named. */
export const writtenOut = (publicKey: KeyObject): KeyObject => {
  const spki = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'spki' });
  const { publicKey: other } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    paramEncoding: 'explicit',
  });
  const [algorithm] = readElement(spki(other))?.children ?? [];
  const [, point] = readElement(spki(publicKey))?.children ?? [];
  if (algorithm === undefined || point === undefined) throw new Error('no key of P-256');
  const bytes = der.sequence(algorithm.bytes, point.bytes);
  return createPublicKey({ key: bytes, format: 'der', type: 'spki' });
};

const sha256 = der.sequence(der.objectIdentifier(id.sha256), der.nullValue());

export const attribute = (type: string, ...values: readonly Uint8Array[]): Buffer =>
  der.sequence(der.objectIdentifier(type), der.encode(der.tags.set, ...values));
export const contentTypeAttribute = (type: string = id.data): Buffer =>
  attribute(id.contentType, der.objectIdentifier(type));
export const digestAttribute = (content: Uint8Array): Buffer =>
  attribute(id.messageDigest, der.octetString(hash('sha256', content, 'buffer')));

interface ForgedSignature {
  readonly content: Uint8Array;
  readonly privateKey: KeyObject;
  /** The first is the signer's. */
  readonly certificates: readonly Uint8Array[];
  readonly contentType?: string;
  /** Instead of the content, embedded; undefined leaves it out. */
  readonly embedded?: Uint8Array | undefined;
  /** None leaves the field out and signs the content itself. */
  readonly attributes?: readonly Uint8Array[];
  readonly digestAlgorithm?: Uint8Array;
  readonly signatureAlgorithm?: Uint8Array;
  readonly signers?: number;
}

export const forgeCms = (forged: ForgedSignature): Uint8Array => {
  const {
    content,
    privateKey,
    certificates,
    contentType = id.data,
    digestAlgorithm = sha256,
  } = forged;
  const embedded = 'embedded' in forged ? forged.embedded : der.octetString(content);
  const attributes = forged.attributes ?? [contentTypeAttribute(), digestAttribute(content)];
  const fields = readCertificate(certificates[0] ?? Buffer.of());
  if (fields === undefined) throw new Error('the first certificate is unreadable');
  const set = der.encode(der.tags.set, ...attributes);
  const isBare = attributes.length === 0;
  const signature = sign('sha256', isBare ? content : set, privateKey);
  const signer = der.sequence(
    der.smallInteger(1),
    der.sequence(fields.issuer.bytes, fields.serialNumber.bytes),
    digestAlgorithm,
    ...(isBare ? [] : [der.context(0, ...attributes)]),
    forged.signatureAlgorithm ?? der.sequence(der.objectIdentifier(id.ecdsaWithSha256)),
    der.octetString(signature),
  );
  return der.sequence(
    der.objectIdentifier(id.signedData),
    der.context(
      0,
      der.sequence(
        der.smallInteger(1),
        der.setOf(digestAlgorithm),
        der.sequence(
          der.objectIdentifier(contentType),
          ...(embedded === undefined ? [] : [der.context(0, embedded)]),
        ),
        der.context(0, ...certificates),
        der.encode(der.tags.set, ...Array.from({ length: forged.signers ?? 1 }, () => signer)),
      ),
    ),
  );
};
