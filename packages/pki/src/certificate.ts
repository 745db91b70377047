import { type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import { readCertificate } from './certificate-fields.ts';
import {
  bitString,
  context,
  integer,
  objectIdentifier,
  printableString,
  sequence,
  setOf,
  smallInteger,
  time,
  utf8String,
} from './der.ts';
import {
  authorityConstraints,
  authorityKeyIdentifier,
  extendedKeyUsage,
  keyIdentifier,
  keyUsage,
  type Pointers,
  pointerExtensions,
  spki,
  subjectKeyIdentifier,
} from './extensions.ts';
import { objectIdentifiers } from './object-identifiers.ts';
import type { PrivateKey } from './ports.ts';

/**
 * Writes the kinds of certificate that a signature is checked against: root, issuing authority,
 * user, and those of the service's evidence records and time stamps.
 *
 * Clients run `openssl cms -verify -purpose sslclient`, which refuses a chain when the certificate
 * of the user **or of the issuing authority** lacks clientAuth among its extended key usages; so
 * both have it.
 *
 * Authorities have P-256 keys, the live service's RSA-4096: its chain is 4 kB in every signature
 * and every profile answer, ours 1.3 kB, and issuing a user's certificate does not delay the first
 * request. Nothing ends later than the authority that issued it.
 *
 * Source: RFC 5280 section 4, RFC 5480, RFC 5758 3.2.
 */
export interface Authority {
  readonly certificate: Uint8Array;
  readonly privateKey: PrivateKey;
}

/** When a certificate begins, and the pointers to what its issuer says about it later. */
export interface Issue {
  readonly notBefore: Date;
  readonly pointers?: Pointers | undefined;
}

/** The instant so many years later, on the same day; 29 February becomes 1 March. */
export const yearsAfter = (instant: Date, years: number): Date => {
  const later = new Date(instant);
  later.setUTCFullYear(instant.getUTCFullYear() + years);
  return later;
};

/** The validity of certificates, in years. */
export const lifetimes = { root: 20, issuing: 10, service: 10, user: 3 } as const;

/** 128 bits, positive, never shorter: the first bit is 0 and the second 1. */
const randomSerial = (): Buffer => {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return integer(bytes);
};

const attribute = (type: string, value: Uint8Array): Buffer =>
  setOf(sequence(objectIdentifier(type), value));

/** `CN=<commonName>` alone: our authorities, and the service. */
const ownName = (commonName: string): Buffer =>
  sequence(attribute(objectIdentifiers.commonName, utf8String(commonName)));

/** Names of authorities differ, so that no verifier takes one for another: `Paraph Root CA 2`. */
const authorityName = (kind: 'Root' | 'Issuing', version: number): Buffer =>
  ownName(`Paraph ${kind} CA${version === 1 ? '' : ` ${version}`}`);

/** `serialNumber=<serialNumber>`, `CN=<serialNumber>:PN`; PN marks a pseudonym. */
const userName = (serialNumber: string): Buffer =>
  sequence(
    attribute(objectIdentifiers.serialNumber, printableString(serialNumber)),
    attribute(objectIdentifiers.commonName, utf8String(`${serialNumber}:PN`)),
  );

interface Request extends Issue {
  readonly subject: Uint8Array;
  readonly publicKey: KeyObject;
  readonly issuer: {
    readonly name: Uint8Array;
    readonly keyIdentifier: Uint8Array;
    readonly privateKey: PrivateKey;
    /** Undefined for a root, which issues its own. */
    readonly notAfter: Date | undefined;
  };
  readonly years: number;
  readonly extensions: readonly Uint8Array[];
}

export const ecdsaWithSha256 = sequence(objectIdentifier(objectIdentifiers.ecdsaWithSha256));

/** Signs the body of a certificate, a list of revoked certificates or an OCSP answer. */
export const signBody = async (
  body: Uint8Array,
  privateKey: PrivateKey,
): Promise<readonly Buffer[]> => [ecdsaWithSha256, bitString(await privateKey.sign(body, 'ECDSA'))];

const write = async ({
  subject,
  publicKey,
  issuer,
  notBefore,
  years,
  extensions,
  pointers,
}: Request): Promise<Uint8Array> => {
  const publicKeyInfo = spki(publicKey);
  const ends = [yearsAfter(notBefore, years), issuer.notAfter].filter((end) => end !== undefined);
  const notAfter = new Date(Math.min(...ends.map((end) => end.getTime())));
  const body = sequence(
    context(0, smallInteger(2)),
    randomSerial(),
    ecdsaWithSha256,
    issuer.name,
    sequence(time(notBefore), time(notAfter)),
    subject,
    publicKeyInfo,
    context(
      3,
      sequence(
        ...extensions,
        subjectKeyIdentifier(publicKeyInfo),
        authorityKeyIdentifier(issuer.keyIdentifier),
        ...pointerExtensions(pointers),
      ),
    ),
  );
  return sequence(body, ...(await signBody(body, issuer.privateKey)));
};

/** @throws When the authority's certificate is unreadable, by a bug or a damaged store. */
export const issuerOf = ({ certificate, privateKey }: Authority) => {
  const fields = readCertificate(certificate);
  if (fields?.subjectKeyIdentifier === undefined)
    throw new Error('the certificate of the authority is unreadable');
  const { subject, subjectKeyIdentifier: identifier, notAfter } = fields;
  return { name: subject.bytes, keyIdentifier: identifier, privateKey, notAfter };
};

const rootExtensions = [authorityConstraints(), keyUsage('keyCertSign', 'crlSign')];

/** The self-signed root, `CN=Paraph Root CA`, 20 years. @param privateKey EC P-256. */
export const createRootCertificate = (
  privateKey: PrivateKey,
  notBefore: Date,
  version = 1,
): Promise<Uint8Array> => {
  const name = authorityName('Root', version);
  return write({
    subject: name,
    publicKey: privateKey.publicKey,
    issuer: {
      name,
      keyIdentifier: keyIdentifier(spki(privateKey.publicKey)),
      privateKey,
      notAfter: undefined,
    },
    notBefore,
    years: lifetimes.root,
    extensions: rootExtensions,
  });
};

/**
 * The cross-certificate of a root: its name and key, certified by the root before it, until that
 * one ends. A verifier that trusts only the former root can verify certificates under the new one.
 */
export const createCrossCertificate = (
  root: Authority,
  former: Authority,
  issue: Issue,
): Promise<Uint8Array> =>
  write({
    ...issue,
    subject: issuerOf(root).name,
    publicKey: root.privateKey.publicKey,
    issuer: issuerOf(former),
    years: lifetimes.root,
    extensions: rootExtensions,
  });

/** `CN=Paraph Issuing CA`, 10 years, for users' certificates only. @param publicKey EC P-256. */
export const createIssuingCertificate = (
  publicKey: KeyObject,
  root: Authority,
  { version = 1, ...issue }: Issue & { readonly version?: number },
): Promise<Uint8Array> =>
  write({
    ...issue,
    subject: authorityName('Issuing', version),
    publicKey,
    issuer: issuerOf(root),
    years: lifetimes.issuing,
    extensions: [
      authorityConstraints(0),
      keyUsage('keyCertSign', 'crlSign'),
      extendedKeyUsage('clientAuth'),
    ],
  });

const services = {
  evidence: { name: 'Paraph Evidence', purpose: 'documentSigning' },
  seals: { name: 'Paraph Seals', purpose: 'documentSigning' },
  'time-stamps': { name: 'Paraph Time Stamps', purpose: 'timeStamping' },
} as const;

/**
 * The certificate of a key of the service, 10 years: `CN=Paraph Evidence` and `CN=Paraph Seals`, for
 * document signing only (RFC 9336), or `CN=Paraph Time Stamps`, for time stamps only (RFC 3161 2.3).
 *
 * The root issues it, because what the issuing authority issues is for clientAuth alone.
 *
 * @param publicKey EC P-256.
 */
export const createServiceCertificate = (
  service: keyof typeof services,
  publicKey: KeyObject,
  root: Authority,
  issue: Issue,
): Promise<Uint8Array> =>
  write({
    ...issue,
    subject: ownName(services[service].name),
    publicKey,
    issuer: issuerOf(root),
    years: lifetimes.service,
    extensions: [keyUsage('digitalSignature'), extendedKeyUsage(services[service].purpose)],
  });

/**
 * A user's certificate, 3 years, subject `serialNumber=<serialNumber>, CN=<serialNumber>:PN`.
 *
 * @param serialNumber `MIDCHE` and ten of A-Z0-9.
 * @param issue        A beginning more than three years ago gives an expired certificate.
 */
export const createUserCertificate = (
  { serialNumber, publicKey }: { readonly serialNumber: string; readonly publicKey: KeyObject },
  issuing: Authority,
  issue: Issue,
): Promise<Uint8Array> =>
  write({
    ...issue,
    subject: userName(serialNumber),
    publicKey,
    issuer: issuerOf(issuing),
    years: lifetimes.user,
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
