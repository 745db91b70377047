import { createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import * as pkijs from 'pkijs';
import { describe, expect, it } from 'vitest';
import {
  createIssuingCertificate,
  createRootCertificate,
  createUserCertificate,
  subjectDn,
} from '../src/certificate.ts';
import { objectIdentifier, sequence, setOf, utf8String } from '../src/der.ts';
import { ownKey } from '../src/key-vault.ts';
import { objectIdentifiers as id } from '../src/object-identifiers.ts';
import { newCustody, owner, realCertificates, realSubjectNames } from './fixtures.ts';
import { commonName, forgeCertificate } from './forge.ts';

const notBefore = new Date('2026-03-01T12:00:00Z');
const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

const rootKey = newKey();
const root = {
  privateKey: ownKey(rootKey),
  certificate: await createRootCertificate(ownKey(rootKey), notBefore),
};
const issuingKey = ownKey(newKey());
const issuing = {
  privateKey: issuingKey,
  certificate: await createIssuingCertificate(issuingKey.publicKey, root, { notBefore }),
};
const user = await createUserCertificate(
  { serialNumber: 'MIDCHEO16P1O6E92', publicKey: newKey() },
  issuing,
  {
    notBefore,
  },
);
const read = (der: Uint8Array): pkijs.Certificate => pkijs.Certificate.fromBER(der);
const extensionOf = (der: Uint8Array, type: string): pkijs.Extension | undefined =>
  read(der).extensions?.find(({ extnID }) => extnID === type);
const purposesOf = (der: Uint8Array): readonly string[] | undefined =>
  extensionOf(der, id.extendedKeyUsage)?.parsedValue.keyPurposes;
const usageOf = (der: Uint8Array): string =>
  Buffer.from(extensionOf(der, id.keyUsage)?.parsedValue.valueBlock.valueHexView).toString('hex');
const hex = (bytes: ArrayBuffer): string => Buffer.from(bytes).toString('hex');

describe('the certificates', () => {
  it('form a chain of signatures', () => {
    const open = (der: Uint8Array): X509Certificate => new X509Certificate(der);
    expect(open(user).verify(open(issuing.certificate).publicKey)).toBe(true);
    expect(open(issuing.certificate).verify(open(root.certificate).publicKey)).toBe(true);
    expect(open(root.certificate).verify(open(root.certificate).publicKey)).toBe(true);
    expect(open(user).checkIssued(open(issuing.certificate))).toBe(true);
    expect(open(issuing.certificate).checkIssued(open(root.certificate))).toBe(true);
  });

  it('last 20, 10 and 3 years', () => {
    const lastDay = (der: Uint8Array): string => read(der).notAfter.value.toISOString();
    expect([root.certificate, issuing.certificate, user].map(lastDay)).toEqual([
      '2046-03-01T12:00:00.000Z',
      '2036-03-01T12:00:00.000Z',
      '2029-03-01T12:00:00.000Z',
    ]);
    expect(read(user).notBefore.value).toEqual(notBefore);
  });

  it('are readable beyond 2049', async () => {
    const late = await createRootCertificate(ownKey(rootKey), new Date('2040-01-01T00:00:00Z'));
    expect(new X509Certificate(late).validTo).toBe('Jan  1 00:00:00 2060 GMT');
  });

  it('let a user sign and authenticate as a client, and nothing else', () => {
    expect(usageOf(user)).toBe('80');
    expect(extensionOf(user, id.keyUsage)?.critical).toBe(true);
    expect(purposesOf(user)).toEqual([id.clientAuth]);
    expect(extensionOf(user, id.basicConstraints)).toBeUndefined();
  });

  it('let the issuing authority issue to users only, for client authentication', () => {
    const constraints = extensionOf(issuing.certificate, id.basicConstraints);
    expect(constraints?.critical).toBe(true);
    expect(constraints?.parsedValue).toMatchObject({ cA: true, pathLenConstraint: 0 });
    expect(usageOf(issuing.certificate)).toBe('06');
    expect(purposesOf(issuing.certificate)).toEqual([id.clientAuth]);
  });

  it('name the key of their issuer', () => {
    const own = (der: Uint8Array): string =>
      hex(extensionOf(der, id.subjectKeyIdentifier)?.parsedValue.valueBlock.valueHex);
    const above = (der: Uint8Array): string =>
      hex(
        extensionOf(der, id.authorityKeyIdentifier)?.parsedValue.keyIdentifier.valueBlock.valueHex,
      );
    expect(above(user)).toBe(own(issuing.certificate));
    expect(above(issuing.certificate)).toBe(own(root.certificate));
    expect(above(root.certificate)).toBe(own(root.certificate));
  });

  it('have random positive numbers of 128 bits', () => {
    const numbers = [user, issuing.certificate, root.certificate].map((each) =>
      hex(read(each).serialNumber.valueBlock.valueHexView.slice().buffer),
    );
    for (const number of numbers) expect(number).toMatch(/^[4-7][0-9a-f]{31}$/);
    expect(new Set(numbers).size).toBe(3);
  });
});

describe('subjectDn', () => {
  it('writes the names of the live certificates as the live profile answer does', () => {
    expect(realCertificates.map(subjectDn)).toEqual(realSubjectNames);
  });

  it('writes our names in the same manner', async () => {
    const { chain, serialNumber } = await newCustody().userKey(owner());
    const serial = serialNumber.toLowerCase();
    expect(chain.certificates.map(subjectDn)).toEqual([
      `cn=${serial}:pn,serialnumber=${serial}`,
      'cn=paraph issuing ca',
      'cn=paraph root ca',
    ]);
  });

  it('escapes what would read as syntax', () => {
    const subject = sequence(
      setOf(sequence(objectIdentifier('2.5.4.10'), utf8String('Sign, Seal + Co. #1 '))),
      setOf(sequence(objectIdentifier(id.commonName), utf8String('Zoë'))),
    );
    const issuer = commonName('any');
    const publicKey = createPublicKey(rootKey);
    const certificate = forgeCertificate({ subject, issuer, publicKey, signingKey: rootKey });
    expect(subjectDn(certificate)).toBe('cn=zoë,o=sign\\, seal \\+ co. #1\\ ');
  });
});
