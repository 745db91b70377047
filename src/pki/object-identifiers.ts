/**
 * The object identifiers that certificates and signatures here are made of, and those that a verifier accepts.
 *
 * Sources: RFC 5280 (names, extensions), RFC 5480 and 8017 (keys), RFC 5652 and 5754 (CMS), RFC 2985 (randomNonce).
 */
export const objectIdentifiers = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
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
} as const;

/** Short names of RFC 4514 section 3 and of the live service's texts; any other type is written as its number. */
export const attributeShortNames: ReadonlyMap<string, string> = new Map([
  ['2.5.4.3', 'cn'],
  ['2.5.4.4', 'sn'],
  ['2.5.4.5', 'serialnumber'],
  ['2.5.4.6', 'c'],
  ['2.5.4.7', 'l'],
  ['2.5.4.8', 'st'],
  ['2.5.4.9', 'street'],
  ['2.5.4.10', 'o'],
  ['2.5.4.11', 'ou'],
  ['2.5.4.12', 'title'],
  ['2.5.4.42', 'givenname'],
  ['2.5.4.97', 'organizationidentifier'],
  ['0.9.2342.19200300.100.1.1', 'uid'],
  ['0.9.2342.19200300.100.1.25', 'dc'],
]);
