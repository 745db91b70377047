import { createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openCertificate } from '../src/certificate-path.ts';
import { nullValue, octetString } from '../src/der.ts';
import { objectIdentifiers as id } from '../src/object-identifiers.ts';
import { certificatesIn, usableRoots } from '../src/roots.ts';
import { verifySignature } from '../src/verify.ts';
import { realCertificates, utf8 } from './fixtures.ts';
import {
  commonName,
  constraints,
  extension,
  forgeCertificate,
  forgeCms,
  purposes,
  serialAndName,
  serverAuth,
  writtenOut,
} from './forge.ts';
import { pem } from './openssl.ts';

const at = new Date('2026-06-01T00:00:00Z');
const over = {
  notBefore: new Date('2020-01-01T00:00:00Z'),
  notAfter: new Date('2026-05-31T23:59:59Z'),
};
const future = { notBefore: new Date('2026-06-01T00:00:01Z') };

const newKeys = (): { privateKey: KeyObject; publicKey: KeyObject } =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keys = {
  root: newKeys(),
  issuing: newKeys(),
  sub: newKeys(),
  user: newKeys(),
  stranger: newKeys(),
};
const names = {
  root: commonName('Root'),
  issuing: commonName('Issuing'),
  sub: commonName('Sub'),
  user: serialAndName('MIDCHE0000000000', 'MIDCHE0000000000:PN'),
};
/** The same curve and key, so that OpenSSL finds nothing wrong. */
const writtenOutOf = (name: keyof typeof keys) => ({ publicKey: writtenOut(keys[name].publicKey) });

type Change = Partial<Parameters<typeof forgeCertificate>[0]>;

const authority = [constraints(true)];
const certificates = {
  root: (change: Change = {}) =>
    forgeCertificate({
      subject: names.root,
      issuer: names.root,
      publicKey: keys.root.publicKey,
      signingKey: keys.root.privateKey,
      extensions: authority,
      ...change,
    }),
  issuing: (change: Change = {}) =>
    forgeCertificate({
      subject: names.issuing,
      issuer: names.root,
      publicKey: keys.issuing.publicKey,
      signingKey: keys.root.privateKey,
      extensions: [...authority, purposes(id.clientAuth)],
      ...change,
    }),
  user: (change: Change = {}) =>
    forgeCertificate({
      subject: names.user,
      issuer: names.issuing,
      publicKey: keys.user.publicKey,
      signingKey: keys.issuing.privateKey,
      extensions: [purposes(id.clientAuth)],
      ...change,
    }),
};

/** A signature by the user's key, in order but for the certificates. */
const reason = ({
  user = certificates.user(),
  issuing = certificates.issuing(),
  root = certificates.root(),
  more = [],
}: {
  readonly user?: Uint8Array;
  readonly issuing?: Uint8Array;
  readonly root?: Uint8Array;
  readonly more?: readonly Uint8Array[];
} = {}): string => {
  const cms = forgeCms({
    content: utf8('x'),
    privateKey: keys.user.privateKey,
    certificates: [user, issuing, ...more],
  });
  const result = verifySignature(cms, 'x', { trust: [root], at });
  return result.ok ? 'OK' : result.reason;
};

describe('a chain of certificates', () => {
  it('is accepted when all is in order', () => {
    expect(reason()).toBe('OK');
  });

  it('is accepted under another root certificate with the name and key of the trusted one', () => {
    expect(
      reason({ more: [certificates.root({ notAfter: new Date('2040-01-01T00:00:00Z') })] }),
    ).toBe('OK');
  });

  it.each([
    ['the user', () => ({ user: certificates.user(over) })],
    ['the issuing authority', () => ({ issuing: certificates.issuing(over) })],
    ['the root', () => ({ root: certificates.root(over) })],
  ])('is refused when the certificate of %s is over', (_, change) => {
    expect(reason(change())).toBe('CERTIFICATE_EXPIRED');
  });

  it.each([
    ['the user', () => ({ user: certificates.user(future) })],
    ['the issuing authority', () => ({ issuing: certificates.issuing(future) })],
    ['the root', () => ({ root: certificates.root(future) })],
  ])('is refused when the certificate of %s is not valid yet', (_, change) => {
    expect(reason(change())).toBe('CERTIFICATE_NOT_YET_VALID');
  });

  it.each([
    ['the user', 'NO_SIGNER_CERTIFICATE', { user: certificates.user(writtenOutOf('user')) }],
    [
      'the issuing authority',
      'UNTRUSTED_CHAIN',
      { issuing: certificates.issuing(writtenOutOf('issuing')) },
    ],
  ])(
    'is refused when the key of %s has a curve that is written out instead of named',
    (_, why, change) => {
      expect(reason(change)).toBe(why);
    },
  );

  it('has no root whose key has a curve that is written out instead of named', () => {
    const root = certificates.root(writtenOutOf('root'));
    expect(() => reason({ root })).toThrow('a trusted certificate is unreadable');
    expect(usableRoots([root])).toBeUndefined();
    expect(usableRoots(pem(root))).toBeUndefined();
    expect(() => certificatesIn(pem(certificates.root()) + pem(root))).toThrow(
      'the curve of its key',
    );
    expect(usableRoots(pem(certificates.root()))).toHaveLength(1);
  });

  it('needs clientAuth on the user, and on authorities that have purposes at all', () => {
    const keyUsage = (octet: number): Buffer =>
      extension(id.keyUsage, Buffer.from([0x03, 0x02, 0x00, octet]), true);
    expect(reason({ user: certificates.user({ extensions: [] }) })).toBe('WRONG_PURPOSE');
    expect(reason({ user: certificates.user({ extensions: [purposes(serverAuth)] }) })).toBe(
      'WRONG_PURPOSE',
    );
    const cannotSign = [purposes(id.clientAuth), keyUsage(0x20)];
    expect(reason({ user: certificates.user({ extensions: cannotSign }) })).toBe('WRONG_PURPOSE');
    const canSign = [purposes(id.clientAuth, serverAuth), keyUsage(0xc0)];
    expect(reason({ user: certificates.user({ extensions: canSign }) })).toBe('OK');
    expect(reason({ issuing: certificates.issuing({ extensions: authority }) })).toBe('OK');
    const forServers = [...authority, purposes(serverAuth)];
    expect(reason({ issuing: certificates.issuing({ extensions: forServers }) })).toBe(
      'WRONG_PURPOSE',
    );
    expect(reason({ root: certificates.root({ extensions: forServers }) })).toBe('WRONG_PURPOSE');
  });

  it('is refused when an issuer is no authority', () => {
    const digitalSignature = extension(id.keyUsage, Buffer.from([0x03, 0x02, 0x07, 0x80]), true);
    for (const extensions of [[], [constraints(false)], [constraints(true), digitalSignature]]) {
      expect(reason({ issuing: certificates.issuing({ extensions }) })).toBe('UNTRUSTED_CHAIN');
      expect(reason({ root: certificates.root({ extensions }) })).toBe('UNTRUSTED_CHAIN');
    }
  });

  it('is refused when a user issues certificates', () => {
    const user = certificates.user({
      issuer: names.user,
      subject: serialAndName('MIDCHE9999999999', 'x'),
      signingKey: keys.stranger.privateKey,
    });
    const above = certificates.user({ publicKey: keys.stranger.publicKey });
    expect(reason({ user, more: [above] })).toBe('UNTRUSTED_CHAIN');
  });

  it('is refused when more authorities are in it than one of them allows', () => {
    const withSub = (pathLength: number | undefined): string =>
      reason({
        user: certificates.user({ issuer: names.sub, signingKey: keys.sub.privateKey }),
        issuing: certificates.issuing({ extensions: [constraints(true, pathLength)] }),
        more: [
          certificates.issuing({
            subject: names.sub,
            issuer: names.issuing,
            publicKey: keys.sub.publicKey,
            signingKey: keys.issuing.privateKey,
          }),
        ],
      });
    expect([withSub(undefined), withSub(1), withSub(0)]).toEqual(['OK', 'OK', 'UNTRUSTED_CHAIN']);
    expect(reason({ root: certificates.root({ extensions: [constraints(true, 0)] }) })).toBe(
      'UNTRUSTED_CHAIN',
    );
  });

  it('is refused when a signature in it is by another key of the same name', () => {
    const stranger = { signingKey: keys.stranger.privateKey };
    expect(reason({ user: certificates.user(stranger) })).toBe('UNTRUSTED_CHAIN');
    expect(reason({ issuing: certificates.issuing(stranger) })).toBe('UNTRUSTED_CHAIN');
    const strange = certificates.root({ publicKey: keys.stranger.publicKey, ...stranger });
    expect(reason({ root: strange })).toBe('UNTRUSTED_CHAIN');
    expect(reason({ issuing: certificates.issuing(stranger), more: [strange] })).toBe(
      'UNTRUSTED_CHAIN',
    );
  });

  it('is refused with an unknown critical extension', () => {
    const nameConstraints = extension('2.5.29.30', nullValue(), true);
    const issuing = certificates.issuing({ extensions: [...authority, nameConstraints] });
    expect(reason({ issuing })).toBe('UNTRUSTED_CHAIN');
    const harmless = extension('2.5.29.30', nullValue());
    expect(
      reason({ issuing: certificates.issuing({ extensions: [...authority, harmless] }) }),
    ).toBe('OK');
  });

  it('is refused when an extension is there twice', () => {
    const extensions = [...authority, purposes(serverAuth), purposes(id.clientAuth)];
    expect(reason({ issuing: certificates.issuing({ extensions }) })).toBe('UNTRUSTED_CHAIN');
  });

  it('has to name the user, once', () => {
    const twice = serialAndName('MIDCHE0000000000', 'x');
    const double = Buffer.concat([
      Buffer.of(0x30, 2 * (twice.length - 2)),
      twice.subarray(2),
      twice.subarray(2),
    ]);
    expect(reason({ user: certificates.user({ subject: commonName('x') }) })).toBe(
      'NO_SERIAL_NUMBER',
    );
    expect(reason({ user: certificates.user({ subject: double }) })).toBe('NO_SERIAL_NUMBER');
    expect(reason({ user: certificates.user({ subject: serialAndName('MIDCHE', 'a\0b') }) })).toBe(
      'NO_COMMON_NAME',
    );
  });

  it('ends in time when ten authorities have all issued each other', () => {
    const ring = Array.from({ length: 8 }, () =>
      certificates.issuing({ issuer: names.issuing, signingKey: keys.issuing.privateKey }),
    );
    const issuing = certificates.issuing({
      issuer: names.issuing,
      signingKey: keys.issuing.privateKey,
    });
    expect(reason({ issuing, more: ring })).toBe('UNTRUSTED_CHAIN');
  });

  it('is refused with a user key on a curve that is not accepted', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
    expect(reason({ user: certificates.user({ publicKey }) })).toBe('NO_SIGNER_CERTIFICATE');
  });
});

describe('openCertificate', () => {
  it('opens the certificates of the live service', () => {
    expect(realCertificates.map(openCertificate).filter((each) => each !== undefined)).toHaveLength(
      3,
    );
  });

  it('does not take a certificate for another one that it carries as PEM text', () => {
    const victim = certificates.root();
    const pem = `\n-----BEGIN CERTIFICATE-----\n${Buffer.from(victim).toString('base64')}\n-----END CERTIFICATE-----\n`;
    const carrier = certificates.user({
      extensions: [extension('1.2.3.4', octetString(Buffer.from(pem)))],
    });
    // The trap is real: node:crypto looks for PEM first.
    expect(new X509Certificate(carrier).raw.equals(victim)).toBe(true);
    expect(openCertificate(carrier)).toBeUndefined();
    expect(openCertificate(Buffer.from(pem))).toBeUndefined();
  });

  it('refuses a certificate with anything after it', () => {
    expect(openCertificate(Buffer.concat([certificates.user(), Buffer.of(0)]))).toBeUndefined();
  });

  it('gives the same answer again, and keeps its own copy of the bytes', () => {
    const bytes = Buffer.from(certificates.user());
    const opened = openCertificate(bytes);
    const before = Buffer.from(bytes);
    bytes.fill(0);
    expect(opened?.der).toEqual(before);
    expect(openCertificate(before)).toBe(opened);
    expect(openCertificate(bytes)).toBeUndefined();
    expect(opened?.publicKey.equals(createPublicKey(keys.user.privateKey))).toBe(true);
  });
});
