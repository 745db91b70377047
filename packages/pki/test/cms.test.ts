import { hash, verify } from 'node:crypto';
import fc from 'fast-check';
import * as pkijs from 'pkijs';
import { beforeAll, describe, expect, it } from 'vitest';
import { readElement } from '../src/ber.ts';
import { attachCertificates, signCms } from '../src/cms.ts';
import { context, encode, objectIdentifier, sequence, smallInteger } from '../src/der.ts';
import { objectIdentifiers as id } from '../src/object-identifiers.ts';
import type { UserKey } from '../src/ports.ts';
import { newCustody, now, owner, realSignature, signComplete, utf8 } from './fixtures.ts';
import { opensslSubjects, opensslVerify } from './openssl.ts';

const texts = [
  'Test: Sign in?',
  'Überweisung für Zoë: 5 € an Änni, Straße 7',
  '£$¥èéùìòÇØøÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ¡ÄÖÑܧ¿äöñüà',
  'Vier Bytes: 🔏 𝔓',
  'Zeile 1\nZeile 2\r\nZeile 3',
  '',
];

const custody = newCustody();
let keys: Readonly<Record<'EC' | 'RSA', UserKey>>;
let root: Uint8Array;
beforeAll(async () => {
  keys = {
    EC: await custody.userKey(owner()),
    RSA: await custody.userKey(owner({ algorithm: 'RSA' })),
  };
  root = keys.EC.chain.certificates[2];
});

const signedDataOf = (cms: Uint8Array): pkijs.SignedData => {
  const { content } = pkijs.ContentInfo.fromBER(cms);
  return new pkijs.SignedData({ schema: content });
};

describe.each(['EC', 'RSA'] as const)('a signature with an %s key', (algorithm) => {
  it.each(texts)(
    'verifies with openssl as clients call it and gives back the text: %j',
    async (text) => {
      const cms = await signComplete(keys[algorithm], text);
      expect((await opensslVerify(cms, root, new Date(now))).toString('utf8')).toBe(text);
    },
  );

  it('verifies with another CMS library, chain included', async () => {
    const signedData = signedDataOf(await signComplete(keys[algorithm], 'Grüezi'));
    const result = await signedData.verify({
      signer: 0,
      checkChain: true,
      checkDate: new Date(now),
      trustedCerts: [pkijs.Certificate.fromBER(root)],
      extendedMode: true,
    });
    expect(result.signatureVerified).toBe(true);
    expect(result.signerCertificateVerified).toBe(true);
  });

  it('has one signer, by issuer and serial number, SHA-256 and three signed attributes in DER order', async () => {
    const key = keys[algorithm];
    const cms = await signCms({ content: utf8('Grüezi'), key });
    const { signerInfos, version, encapContentInfo, digestAlgorithms } = signedDataOf(cms);
    expect([version, signerInfos.length, encapContentInfo.eContentType]).toEqual([1, 1, id.data]);
    expect(digestAlgorithms.map(({ algorithmId }) => algorithmId)).toEqual([id.sha256]);
    const [signer] = signerInfos;
    expect(signer?.version).toBe(1);
    expect(signer?.sid).toBeInstanceOf(pkijs.IssuerAndSerialNumber);
    expect(signer?.digestAlgorithm.algorithmId).toBe(id.sha256);
    expect(signer?.signatureAlgorithm.algorithmId).toBe(
      algorithm === 'EC' ? id.ecdsaWithSha256 : id.rsaEncryption,
    );
    expect(signer?.signedAttrs?.attributes.map(({ type }) => type)).toEqual([
      id.contentType,
      id.randomNonce,
      id.messageDigest,
    ]);
  });
});

describe('signCms', () => {
  it('writes no certificates', async () => {
    expect(
      signedDataOf(await signCms({ content: utf8('x'), key: keys.EC })).certificates,
    ).toBeUndefined();
  });

  it('signs the attributes under the tag of a SET OF', async () => {
    const cms = await signCms({ content: utf8('x'), key: keys.RSA });
    const signer = readElement(cms)?.children[1]?.children[0]?.children[3]?.children[0];
    const attributes = Buffer.from(signer?.children[3]?.bytes ?? []);
    expect(attributes[0]).toBe(0xa0);
    attributes[0] = 0x31;
    const signature = signer?.children[5]?.content ?? Buffer.of();
    expect(verify('sha256', attributes, keys.RSA.privateKey.publicKey, signature)).toBe(true);
    expect(attributes.includes(hash('sha256', 'x', 'buffer'))).toBe(true);
  });

  it('draws a new nonce for each signature, or takes the given one', async () => {
    const content = utf8('x');
    const sign = (nonce?: Uint8Array): Promise<Uint8Array> =>
      signCms({ content, key: keys.RSA, ...(nonce === undefined ? {} : { nonce }) });
    expect(await sign()).not.toEqual(await sign());
    expect(await sign(Buffer.alloc(12, 5))).toEqual(await sign(Buffer.alloc(12, 5)));
    expect(
      Buffer.from(await sign(Buffer.from('a nonce of mine'))).includes('a nonce of mine'),
    ).toBe(true);
  });

  it('keeps the attributes in DER order for every nonce it accepts', async () => {
    for (const length of [8, 9, 16, 29, 30]) {
      const cms = await signCms({ content: utf8('x'), key: keys.EC, nonce: Buffer.alloc(length) });
      const attributes =
        readElement(cms)?.children[1]?.children[0]?.children[3]?.children[0]?.children[3]?.children;
      const written = (attributes ?? []).map(({ bytes }) => Buffer.from(bytes).toString('hex'));
      expect(written).toEqual(written.toSorted());
    }
    for (const length of [0, 7, 31])
      await expect(
        signCms({ content: utf8('x'), key: keys.EC, nonce: Buffer.alloc(length) }),
      ).rejects.toThrow(RangeError);
  });
});

describe('attachCertificates', () => {
  it('keeps the order user, issuing authority, root, whatever a sorted set would be', async () => {
    for (const certificates of [keys.EC.chain.certificates, keys.RSA.chain.certificates]) {
      const cms = attachCertificates(
        await signCms({ content: utf8('x'), key: keys.EC }),
        certificates,
      );
      expect(await opensslSubjects(cms)).toEqual([
        `serialNumber = ${keys.EC.serialNumber}, CN = ${keys.EC.serialNumber}:PN`,
        'CN = Paraph Issuing CA',
        'CN = Paraph Root CA',
      ]);
    }
  });

  it('changes nothing but the certificates, for content of any length', async () => {
    const contents = fc.constantFrom(0, 1, 100, 127, 128, 255, 256, 1000, 65_535, 70_000);
    await fc.assert(
      fc.asyncProperty(contents, async (length) => {
        const content = new Uint8Array(length).fill(0x61);
        const bare = await signCms({ content, key: keys.EC });
        const { certificates } = keys.EC.chain;
        const before = readElement(bare)?.children[1]?.children[0]?.children ?? [];
        const after =
          readElement(attachCertificates(bare, certificates))?.children[1]?.children[0]?.children ??
          [];
        const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
        expect(after.map(({ bytes }) => hex(bytes))).toEqual([
          ...before.slice(0, 3).map(({ bytes }) => hex(bytes)),
          hex(context(0, ...certificates)),
          ...before.slice(3).map(({ bytes }) => hex(bytes)),
        ]);
      }),
      { numRuns: 20 },
    );
  });

  it('puts certificates before revocation lists', () => {
    const bare = sequence(
      objectIdentifier(id.signedData),
      context(0, sequence(smallInteger(1), encode(0x31), sequence(), context(1), encode(0x31))),
    );
    const complete = readElement(attachCertificates(bare, [sequence()]));
    expect(complete?.children[1]?.children[0]?.children.map(({ tag }) => tag)).toEqual([
      2, 0x31, 0x30, 0xa0, 0xa1, 0x31,
    ]);
  });

  it('refuses signatures that have certificates, and anything else', async () => {
    const { certificates } = keys.EC.chain;
    const bare = await signCms({ content: utf8('x'), key: keys.EC });
    const refusal = 'certificates fit only into';
    for (const unfit of [
      attachCertificates(bare, certificates),
      realSignature,
      bare.subarray(0, -1),
      Buffer.of(),
    ])
      expect(() => attachCertificates(unfit, certificates)).toThrow(refusal);
    expect(() => attachCertificates(Buffer.concat([bare, Buffer.of(0)]), certificates)).toThrow(
      refusal,
    );
  });
});
