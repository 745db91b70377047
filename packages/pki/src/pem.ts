/**
 * Reads the certificates and private keys of files, and refuses what no key of anybody should be.
 */
import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';

/** The message goes on where another one has named the file. */
export class UnnamedCurveError extends Error {
  constructor() {
    super(
      'the curve of its key is written out and must be named (openssl: -pkeyopt ec_param_enc:named_curve)',
    );
  }
}

/** OBJECT IDENTIFIER id-ecPublicKey, DER. What follows it says which curve. */
const ecPublicKey = Buffer.from('06072a8648ce3d0201', 'hex');
const objectIdentifier = 0x06;

/**
 * False for a key that brings the parameters of its curve along. They can differ from those of a
 * known curve in a way that makes its signatures forgeable (CVE-2020-0601), and OpenSSL says the
 * name of the known curve. RFC 5480 2.1.1 forbids them.
 */
export const namesItsCurve = (key: KeyObject): boolean => {
  if (key.asymmetricKeyType !== 'ec') return true;
  const spki = (key.type === 'private' ? createPublicKey(key) : key).export({
    format: 'der',
    type: 'spki',
  });
  return spki[spki.indexOf(ecPublicKey) + ecPublicKey.length] === objectIdentifier;
};

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** @throws UnnamedCurveError, or another error when the content is not a certificate. */
const openCertificate = (content: Buffer | string): X509Certificate => {
  const certificate = new X509Certificate(content);
  if (!namesItsCurve(certificate.publicKey)) throw new UnnamedCurveError();
  return certificate;
};

/**
 * All certificates of a PEM text.
 * @throws UnnamedCurveError, or another error when one of them is not a certificate.
 */
export const certificatesIn = (pem: string): readonly X509Certificate[] =>
  (pem.match(pemBlock) ?? []).map(openCertificate);

/**
 * The first certificate of a PEM text.
 *
 * @throws UnnamedCurveError for any of them, or unless it is PEM: X509Certificate reads DER as
 *   well, which TLS refuses or passes over.
 */
export const certificateIn = (content: Buffer | string): X509Certificate => {
  if (!content.includes('-----BEGIN ')) throw new TypeError('not PEM');
  certificatesIn(content.toString('latin1'));
  return openCertificate(content);
};

/**
 * @throws UnnamedCurveError, or another error when the content is not a PEM private key without a
 *   passphrase.
 */
export const privateKeyIn = (content: Buffer): KeyObject => {
  const key = createPrivateKey(content);
  if (!namesItsCurve(key)) throw new UnnamedCurveError();
  return key;
};
