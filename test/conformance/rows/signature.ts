/** The signature itself: CMS, certificates, keys. */
import type { Row } from '../row.ts';

export const signatureRows: readonly Row[] = [
  {
    id: 'wire-signature-1',
    source: 'wire facts: signature',
    rule: 'Base64Signature is a CMS SignedData that OpenSSL verifies as clients call it.',
    tests: [
      'test/http/signature.test.ts › the signature of the robot %s > verifies with openssl as clients call it, and gives back the bytes of DataToBeSigned',
      'packages/pki/test/cms.test.ts › a signature with an %s key > verifies with another CMS library, chain included',
    ],
  },
  {
    id: 'wire-signature-2',
    source: 'wire facts: signature',
    rule: 'Its content is id-data and embedded: the very bytes of DataToBeSigned.Data.',
    tests: [
      'test/http/signature.test.ts › the signature of the robot %s > verifies with openssl as clients call it, and gives back the bytes of DataToBeSigned',
      'packages/pki/test/cms.test.ts › a signature with an %s key > has one signer, by issuer and serial number, SHA-256 and three signed attributes in DER order',
    ],
  },
  {
    id: 'wire-signature-3',
    source: 'wire facts: signature',
    rule: 'Its certificates stand in the order user, issuing CA, root.',
    tests: [
      'test/http/signature.test.ts › the signature of the robot %s > holds the certificates in the order user, issuing CA, root',
      'packages/pki/test/cms.test.ts › attachCertificates > keeps the order user, issuing authority, root, whatever a sorted set would be',
    ],
  },
  {
    id: 'wire-signature-4',
    source: 'wire facts: signature',
    rule: 'It has one SignerInfo, by issuer and serial number.',
    tests: [
      'packages/pki/test/cms.test.ts › a signature with an %s key > has one signer, by issuer and serial number, SHA-256 and three signed attributes in DER order',
    ],
  },
  {
    id: 'wire-signature-5',
    source: 'wire facts: signature',
    rule: 'Its signed attributes are contentType, messageDigest and a nonce.',
    tests: [
      'packages/pki/test/cms.test.ts › a signature with an %s key > has one signer, by issuer and serial number, SHA-256 and three signed attributes in DER order',
      'packages/pki/test/cms.test.ts › signCms > draws a new nonce for each signature, or takes the given one',
    ],
  },
  {
    id: 'wire-signature-6',
    source: 'wire facts: signature',
    rule: 'Its digest is SHA-256.',
    tests: [
      'packages/pki/test/cms.test.ts › a signature with an %s key > has one signer, by issuer and serial number, SHA-256 and three signed attributes in DER order',
    ],
  },
  {
    id: 'wire-signature-7',
    source: 'wire facts: signature',
    rule: 'It is signed with ecdsa-with-SHA256 or RSA, as the key is.',
    tests: [
      'packages/pki/test/cms.test.ts › a signature with an %s key > has one signer, by issuer and serial number, SHA-256 and three signed attributes in DER order',
    ],
  },
  {
    id: 'wire-signature-8',
    source: 'wire facts: signature',
    rule: "The user's serialNumber is MIDCHE and ten of A to Z and 0 to 9.",
    tests: [
      'test/http/signature.test.ts › the signature of the robot %s > is made with a key of its kind, certified for three years',
      'packages/pki/test/life-cycle.test.ts › the key of a user > is renewed 30 days before its certificate ends, and lasts for three years again',
    ],
  },
  {
    id: 'wire-signature-9',
    source: 'wire facts: signature',
    rule: "The user's serialNumber is the same for the user's life, on every SSCD.",
    tests: [
      'test/http/sign.test.ts › in synch mode > a user has one serial number, whichever request, and another user another one',
      'packages/pki/test/life-cycle.test.ts › the key of a user > is renewed 30 days before its certificate ends, and lasts for three years again',
    ],
  },
  {
    id: 'wire-signature-10',
    source: 'wire facts: signature',
    rule: "The user's common name is the serialNumber followed by :PN.",
    tests: [
      'test/http/signature.test.ts › the signature of the robot %s > is made with a key of its kind, certified for three years',
    ],
  },
  {
    id: 'wire-signature-11',
    source: 'wire facts: signature',
    rule: "The key usage of a user's certificate is digitalSignature.",
    tests: [
      'packages/pki/test/certificate.test.ts › the certificates > let a user sign and authenticate as a client, and nothing else',
    ],
  },
  {
    id: 'wire-signature-12',
    source: 'wire facts: signature',
    rule: "The extended key usage of the user's certificate is clientAuth.",
    tests: [
      'packages/pki/test/certificate.test.ts › the certificates > let a user sign and authenticate as a client, and nothing else',
    ],
  },
  {
    id: 'wire-signature-13',
    source: 'wire facts: signature',
    rule: 'The extended key usage of the issuing certificate is clientAuth.',
    tests: [
      'packages/pki/test/certificate.test.ts › the certificates > let the issuing authority issue to users only, for client authentication',
    ],
  },
  {
    id: 'wire-signature-14',
    source: 'wire facts: signature',
    rule: 'The chain passes openssl cms -verify -purpose sslclient.',
    tests: [
      'test/http/signature.test.ts › the signature of the robot %s > verifies with openssl as clients call it, and gives back the bytes of DataToBeSigned',
    ],
  },
  {
    id: 'wire-signature-15',
    source: 'wire facts: signature',
    rule: "A user's certificate lasts three years.",
    tests: [
      'test/http/signature.test.ts › the signature of the robot %s > is made with a key of its kind, certified for three years',
      'packages/pki/test/certificate.test.ts › the certificates > last 20, 10 and 3 years',
    ],
  },
  {
    id: 'wire-signature-16',
    source: 'wire facts: signature',
    rule: 'A BER signature as the live service writes it is read as well.',
    tests: [
      'packages/pki/test/ber.test.ts › the BER reader > reads the signature of the live service, indefinite lengths and all, as another decoder does',
      'packages/pki/test/verify.test.ts › verifySignature > accepts the signature of the live service under its own root',
    ],
  },
  {
    id: 'wire-signature-17',
    source: 'wire facts: signature',
    rule: 'The signature is CMS: a request that names another format in MSS_Format is fault 101.',
    tests: [
      'packages/protocol/test/sign.test.ts › MSS_Format > may be %s',
      'packages/protocol/test/sign.test.ts › MSS_Format > other than CMS is a fault 101: %j',
      'test/http/hostile.test.ts › a value that is on no list > in a %s request, %s, is fault %3$i',
    ],
  },
];
