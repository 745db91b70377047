import { createPublicKey, hash, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { readCertificate } from './certificate-fields.ts';
import {
  bitString,
  boolean,
  context,
  encode,
  integer,
  namedBits,
  objectIdentifier,
  octetString,
  printableString,
  sequence,
  setOf,
  smallInteger,
  tags,
  time,
  utf8String,
} from './der.ts';
import { objectIdentifiers } from './object-identifiers.ts';

/**
 * Writes the kinds of certificate that a signature is checked against: root, issuing authority,
 * user, and that of the service's evidence records.
 *
 * Clients run `openssl cms -verify -purpose sslclient`, which refuses a chain when the certificate
 * of the user **or of the issuing authority** lacks clientAuth among its extended key usages; so
 * both have it.
 *
 * Authorities have P-256 keys, the live service's RSA-4096: its chain is 4 kB in every signature
 * and every profile answer, ours 1.3 kB, and issuing a user's certificate does not delay the first
 * request.
 *
 * Source: RFC 5280 section 4, RFC 5480, RFC 5758 3.2.
 */
export interface Authority {
  readonly certificate: Uint8Array;
  readonly privateKey: KeyObject;
}

/** The same day so many years later; 29 February becomes 1 March. */
export const yearsAfter = (instant: Date, years: number): Date => {
  const later = new Date(instant);
  later.setUTCFullYear(instant.getUTCFullYear() + years);
  return later;
};

const spki = (key: KeyObject): Buffer =>
  (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'der', type: 'spki' });

/** 160 bits of SHA-256; RFC 5280 4.2.1.2 allows any unique number, its own methods need SHA-1. */
const keyIdentifier = (publicKeyInfo: Uint8Array): Buffer =>
  hash('sha256', publicKeyInfo, 'buffer').subarray(0, 20);

const extension = (type: string, value: Uint8Array, critical: 'critical' | 'optional' = 'optional'): Buffer =>
  sequence(objectIdentifier(type), ...(critical === 'critical' ? [boolean(true)] : []), octetString(value));

const keyUsageBits = { digitalSignature: 0, keyCertSign: 5, crlSign: 6 } as const;

const keyUsage = (...uses: readonly (keyof typeof keyUsageBits)[]): Buffer =>
  extension(objectIdentifiers.keyUsage, namedBits(...uses.map((use) => keyUsageBits[use])), 'critical');

const authorityConstraints = (pathLength?: number): Buffer =>
  extension(
    objectIdentifiers.basicConstraints,
    sequence(boolean(true), ...(pathLength === undefined ? [] : [smallInteger(pathLength)])),
    'critical',
  );

const extendedKeyUsage = (purpose: 'clientAuth' | 'documentSigning'): Buffer =>
  extension(objectIdentifiers.extendedKeyUsage, sequence(objectIdentifier(objectIdentifiers[purpose])));

/** 128 bits, positive, never shorter: the first bit is 0 and the second 1. */
const randomSerial = (): Buffer => {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return integer(bytes);
};

const attribute = (type: string, value: Uint8Array): Buffer => setOf(sequence(objectIdentifier(type), value));

/** `CN=<commonName>` alone: our authorities, and the service. */
const ownName = (commonName: string): Buffer =>
  sequence(attribute(objectIdentifiers.commonName, utf8String(commonName)));

/** `serialNumber=<serialNumber>`, `CN=<serialNumber>:PN`; PN marks a pseudonym. */
const userName = (serialNumber: string): Buffer =>
  sequence(
    attribute(objectIdentifiers.serialNumber, printableString(serialNumber)),
    attribute(objectIdentifiers.commonName, utf8String(`${serialNumber}:PN`)),
  );

interface Request {
  readonly subject: Uint8Array;
  readonly publicKey: KeyObject;
  readonly issuer: {
    readonly name: Uint8Array;
    readonly keyIdentifier: Uint8Array;
    readonly privateKey: KeyObject;
  };
  readonly notBefore: Date;
  readonly years: number;
  readonly extensions: readonly Uint8Array[];
}

const ecdsaWithSha256 = sequence(objectIdentifier(objectIdentifiers.ecdsaWithSha256));

const write = ({ subject, publicKey, issuer, notBefore, years, extensions }: Request): Buffer => {
  const publicKeyInfo = spki(publicKey);
  const body = sequence(
    context(0, smallInteger(2)),
    randomSerial(),
    ecdsaWithSha256,
    issuer.name,
    sequence(time(notBefore), time(yearsAfter(notBefore, years))),
    subject,
    publicKeyInfo,
    context(
      3,
      sequence(
        ...extensions,
        extension(objectIdentifiers.subjectKeyIdentifier, octetString(keyIdentifier(publicKeyInfo))),
        extension(
          objectIdentifiers.authorityKeyIdentifier,
          sequence(encode(tags.contextPrimitive(0), issuer.keyIdentifier)),
        ),
      ),
    ),
  );
  return sequence(body, ecdsaWithSha256, bitString(sign('sha256', body, issuer.privateKey)));
};

/** @throws When the authority's certificate is unreadable, by a bug or a damaged store. */
const issuedBy = ({ certificate, privateKey }: Authority): Request['issuer'] => {
  const fields = readCertificate(certificate);
  if (fields?.subjectKeyIdentifier === undefined)
    throw new Error('the certificate of the authority is unreadable');
  return { name: fields.subject.bytes, keyIdentifier: fields.subjectKeyIdentifier, privateKey };
};

/** The self-signed root, `CN=Paraph Root CA`, 20 years. @param privateKey EC P-256. */
export const createRootCertificate = (privateKey: KeyObject, notBefore: Date): Uint8Array => {
  const name = ownName('Paraph Root CA');
  return write({
    subject: name,
    publicKey: privateKey,
    issuer: { name, keyIdentifier: keyIdentifier(spki(privateKey)), privateKey },
    notBefore,
    years: 20,
    extensions: [authorityConstraints(), keyUsage('keyCertSign', 'crlSign')],
  });
};

/** `CN=Paraph Issuing CA`, 10 years, for users' certificates only. @param privateKey EC P-256. */
export const createIssuingCertificate = (
  privateKey: KeyObject,
  root: Authority,
  notBefore: Date,
): Uint8Array =>
  write({
    subject: ownName('Paraph Issuing CA'),
    publicKey: privateKey,
    issuer: issuedBy(root),
    notBefore,
    years: 10,
    extensions: [authorityConstraints(0), keyUsage('keyCertSign', 'crlSign'), extendedKeyUsage('clientAuth')],
  });

/**
 * The certificate of the key that signs evidence records: `CN=Paraph Evidence`, 10 years, for
 * document signing only (RFC 9336).
 *
 * The root issues it, because what the issuing authority issues is for clientAuth alone.
 *
 * @param publicKey EC P-256.
 */
export const createEvidenceCertificate = (
  publicKey: KeyObject,
  root: Authority,
  notBefore: Date,
): Uint8Array =>
  write({
    subject: ownName('Paraph Evidence'),
    publicKey,
    issuer: issuedBy(root),
    notBefore,
    years: 10,
    extensions: [keyUsage('digitalSignature'), extendedKeyUsage('documentSigning')],
  });

/**
 * A user's certificate, 3 years, subject `serialNumber=<serialNumber>, CN=<serialNumber>:PN`.
 *
 * @param serialNumber `MIDCHE` and ten of A-Z0-9.
 * @param notBefore    More than three years ago gives an expired certificate.
 */
export const createUserCertificate = (
  { serialNumber, publicKey }: { readonly serialNumber: string; readonly publicKey: KeyObject },
  issuing: Authority,
  notBefore: Date,
): Uint8Array =>
  write({
    subject: userName(serialNumber),
    publicKey,
    issuer: issuedBy(issuing),
    notBefore,
    years: 3,
    extensions: [keyUsage('digitalSignature'), extendedKeyUsage('clientAuth')],
  });

/**
 * The subject as the profile operation writes it: lower case, the last part of the name first, e.g.
 * `cn=midcheo16p1o6e92:pn,serialnumber=midcheo16p1o6e92`.
 *
 * @throws When the bytes are not a certificate; callers pass certificates that were issued here.
 *   Source: RFC 4514; recorded profile answers of the live service, which differ from the
 *   interface's "Base64 strings".
 */
export const subjectDn = (certificate: Uint8Array): string =>
  new X509Certificate(certificate).subject.split('\n').toReversed().join(',').toLowerCase();
