/**
 * The object identifiers that certificates and signatures here are made of, and those that a
 * verifier accepts.
 *
 * Sources: RFC 5280 (names, extensions), RFC 5480 and 8017 (keys), RFC 5652 and 5754 (CMS), RFC
 * 2985 (randomNonce), RFC 9336 (documentSigning).
 */
export const objectIdentifiers = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  randomNonce: '1.2.840.113549.1.9.25.3',

  sha256: '2.16.840.1.101.3.4.2.1',
  sha384: '2.16.840.1.101.3.4.2.2',
  sha512: '2.16.840.1.101.3.4.2.3',
  rsaEncryption: '1.2.840.113549.1.1.1',
  rsassaPss: '1.2.840.113549.1.1.10',
  sha256WithRsa: '1.2.840.113549.1.1.11',
  sha384WithRsa: '1.2.840.113549.1.1.12',
  sha512WithRsa: '1.2.840.113549.1.1.13',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  ecdsaWithSha384: '1.2.840.10045.4.3.3',
  ecdsaWithSha512: '1.2.840.10045.4.3.4',

  commonName: '2.5.4.3',
  serialNumber: '2.5.4.5',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  documentSigning: '1.3.6.1.5.5.7.3.36',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  ocspSigning: '1.3.6.1.5.5.7.3.9',

  crlNumber: '2.5.29.20',
  reasonCode: '2.5.29.21',
  crlDistributionPoints: '2.5.29.31',
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1',
  ocsp: '1.3.6.1.5.5.7.48.1',
  basicOcspResponse: '1.3.6.1.5.5.7.48.1.1',
  caIssuers: '1.3.6.1.5.5.7.48.2',
  sha1: '1.3.14.3.2.26',

  timeStampInfo: '1.2.840.113549.1.9.16.1.4',
  timeStampToken: '1.2.840.113549.1.9.16.2.14',
  signingCertificate: '1.2.840.113549.1.9.16.2.12',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  anyPolicy: '2.5.29.32.0',
} as const;

/** Signature algorithms that others may use, each with Node's name of its hash. */
export const signatureHashes: Readonly<Record<string, string>> = {
  [objectIdentifiers.ecdsaWithSha256]: 'sha256',
  [objectIdentifiers.ecdsaWithSha384]: 'sha384',
  [objectIdentifiers.ecdsaWithSha512]: 'sha512',
  [objectIdentifiers.sha256WithRsa]: 'sha256',
  [objectIdentifiers.sha384WithRsa]: 'sha384',
  [objectIdentifiers.sha512WithRsa]: 'sha512',
};

/** Digest algorithms that time stamps may use, each with Node's name of the hash. */
export const digestHashes: Readonly<Record<string, 'sha256' | 'sha384' | 'sha512'>> = {
  [objectIdentifiers.sha256]: 'sha256',
  [objectIdentifiers.sha384]: 'sha384',
  [objectIdentifiers.sha512]: 'sha512',
};
