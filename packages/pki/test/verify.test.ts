import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createMemoryCustodyStore } from '../../../test/support/memory-custody-store.ts';
import { attachCertificates, signCms } from '../src/cms.ts';
import { createKeyCustody } from '../src/custody.ts';
import { encode, nullValue, objectIdentifier, octetString, sequence } from '../src/der.ts';
import { objectIdentifiers as id } from '../src/object-identifiers.ts';
import type { UserKey } from '../src/ports.ts';
import { type Verification, verifySignature } from '../src/verify.ts';
import {
  duringRealSignature,
  keyObjectOf,
  newCustody,
  now,
  owner,
  realCertificates,
  realSignature,
  serviceKey,
  signComplete,
  utf8,
} from './fixtures.ts';
import { attribute, contentTypeAttribute, digestAttribute, forgeCms } from './forge.ts';

const at = new Date(now);
const custody = newCustody();
let key: UserKey;
let trust: readonly Uint8Array[];
beforeAll(async () => {
  key = await custody.userKey(owner());
  trust = await custody.trust();
});

const check = (cms: Uint8Array, text = 'Grüezi'): Verification =>
  verifySignature(cms, text, { trust, at });
const reasonOf = (verification: Verification): string =>
  verification.ok ? 'OK' : verification.reason;

describe('verifySignature', () => {
  it('accepts the signature of the live service under its own root', () => {
    const [user, , root = Buffer.of()] = realCertificates;
    expect(
      verifySignature(realSignature, 'Test: Sign in from Postman?', {
        trust: [root],
        at: duringRealSignature,
      }),
    ).toEqual({
      ok: true,
      signer: {
        serialNumber: 'MIDCHEO16P1O6E92',
        commonName: 'MIDCHEO16P1O6E92:PN',
        certificate: Uint8Array.from(user ?? []),
      },
      nonce: expect.any(Uint8Array),
      timeStamp: undefined,
      revocation: 'none',
    });
  });

  it('refuses it under another root, for other data, and when its certificate is over', () => {
    const options = { trust: realCertificates.slice(2), at: duringRealSignature };
    const data = 'Test: Sign in from Postman?';
    expect(reasonOf(verifySignature(realSignature, data, { ...options, trust }))).toBe(
      'UNTRUSTED_CHAIN',
    );
    expect(reasonOf(verifySignature(realSignature, `${data} `, options))).toBe('CONTENT_MISMATCH');
    expect(
      verifySignature(realSignature, data, { ...options, at: new Date('2026-01-22T09:50:03Z') }),
    ).toEqual({
      ok: false,
      reason: 'CERTIFICATE_EXPIRED',
      notAfter: new Date('2026-01-22T09:50:02Z'),
    });
    expect(
      verifySignature(realSignature, data, { ...options, at: new Date('2023-01-23T09:50:02Z') }),
    ).toEqual({
      ok: false,
      reason: 'CERTIFICATE_NOT_YET_VALID',
      notBefore: new Date('2023-01-23T09:50:03Z'),
    });
  });

  it.each(['EC', 'RSA'] as const)(
    'accepts signatures of our %s keys over any text, and for no other text',
    async (algorithm) => {
      const signingKey = await custody.userKey(owner({ algorithm }));
      await fc.assert(
        fc.asyncProperty(
          fc.string({ unit: 'binary' }),
          fc.string({ unit: 'binary' }),
          async (text, other) => {
            const cms = await signComplete(signingKey, text);
            expect(check(cms, text)).toMatchObject({
              ok: true,
              signer: { serialNumber: signingKey.serialNumber },
            });
            expect(verifySignature(cms, utf8(text), { trust, at }).ok).toBe(true);
            expect(check(cms, other).ok).toBe(Buffer.from(text).equals(Buffer.from(other)));
          },
        ),
        { numRuns: algorithm === 'EC' ? 100 : 20 },
      );
    },
  );

  it('looks at the clock when no time is given', async () => {
    const store = createMemoryCustodyStore();
    const present = createKeyCustody({ store, serviceKey, now: Date.now });
    const options = { trust: await present.trust() };
    const verifyAs = async (expired: boolean): Promise<Verification> =>
      verifySignature(
        await signComplete(await present.userKey(owner({ expired })), 'x'),
        'x',
        options,
      );
    expect(reasonOf(await verifyAs(false))).toBe('OK');
    expect(reasonOf(await verifyAs(true))).toBe('CERTIFICATE_EXPIRED');
  });

  it('takes the issuing authority, or the user, for a trust anchor too', async () => {
    const cms = await signComplete(key, 'Grüezi');
    for (const anchor of key.chain.certificates)
      expect(verifySignature(cms, 'Grüezi', { trust: [anchor], at }).ok).toBe(true);
    expect(reasonOf(verifySignature(cms, 'Grüezi', { trust: [], at }))).toBe('UNTRUSTED_CHAIN');
  });

  it('finds its way without the root, in any order, and among certificates that do not belong there', async () => {
    const [user, issuing, root] = key.chain.certificates;
    const bare = await signCms({ content: utf8('Grüezi'), key });
    const sets = [
      [user, issuing],
      [root, issuing, user],
      [...realCertificates, issuing, user],
    ];
    for (const set of sets) expect(check(attachCertificates(bare, set)).ok).toBe(true);
  });

  it('refuses a certificate that is over', async () => {
    const expired = await custody.userKey(owner({ expired: true }));
    expect(reasonOf(check(await signComplete(expired, 'Grüezi')))).toBe('CERTIFICATE_EXPIRED');
  });

  it('refuses every time when the time is invalid', async () => {
    const cms = await signComplete(key, 'Grüezi');
    expect(verifySignature(cms, 'Grüezi', { trust, at: new Date(Number.NaN) }).ok).toBe(false);
  });

  it('throws only for a trust that is unreadable', () => {
    expect(() => verifySignature(Buffer.of(), '', { trust: [Buffer.from('nonsense')] })).toThrow(
      TypeError,
    );
  });
});

describe('a signature with one thing wrong', () => {
  const forge = (change: Partial<Parameters<typeof forgeCms>[0]> = {}): Verification =>
    check(
      forgeCms({
        content: utf8('Grüezi'),
        privateKey: keyObjectOf(key.privateKey),
        certificates: key.chain.certificates,
        ...change,
      }),
    );

  it('is accepted before anything is made wrong', () => {
    expect(reasonOf(forge())).toBe('OK');
    expect(reasonOf(forge({ digestAlgorithm: sequence(objectIdentifier(id.sha256)) }))).toBe('OK');
  });

  it('is refused without certificates', async () => {
    const cms = await signCms({ content: utf8('Grüezi'), key });
    expect(reasonOf(check(cms))).toBe('NO_SIGNER_CERTIFICATE');
    expect(reasonOf(check(attachCertificates(cms, key.chain.certificates.slice(1))))).toBe(
      'NO_SIGNER_CERTIFICATE',
    );
  });

  it('is refused without the issuing authority', async () => {
    const [user, , root] = key.chain.certificates;
    const cms = attachCertificates(await signCms({ content: utf8('Grüezi'), key }), [user, root]);
    expect(reasonOf(check(cms))).toBe('UNTRUSTED_CHAIN');
  });

  it("is refused when another user's certificate is named as the signer's", async () => {
    const other = await custody.userKey(owner({ msisdn: '41700092502' }));
    expect(reasonOf(forge({ certificates: other.chain.certificates }))).toBe('BAD_SIGNATURE');
  });

  it('is refused when it belongs to other signed attributes', async () => {
    const digest = digestAttribute(utf8('Grüezi'));
    const nonce = attribute(id.randomNonce, octetString(Buffer.alloc(16)));
    const signed = forgeCms({
      content: utf8('Grüezi'),
      privateKey: keyObjectOf(key.privateKey),
      certificates: key.chain.certificates,
      attributes: [contentTypeAttribute(), nonce, digest],
    });
    const swapped = Buffer.from(signed);
    swapped[swapped.indexOf(nonce) + nonce.length - 1] = 1;
    expect(reasonOf(check(swapped))).toBe('BAD_SIGNATURE');
  });

  it('is refused when the digest is of other content', () => {
    const attributes = [contentTypeAttribute(), digestAttribute(utf8('other'))];
    expect(reasonOf(forge({ attributes }))).toBe('DIGEST_MISMATCH');
  });

  it('is refused when content is exchanged after signing', () => {
    expect(reasonOf(forge({ embedded: octetString(utf8('Adieu!')) }))).toBe('CONTENT_MISMATCH');
    expect(
      reasonOf(forge({ content: utf8('Adieu!'), embedded: octetString(utf8('Grüezi')) })),
    ).toBe('DIGEST_MISMATCH');
  });

  it('is refused when the content is detached', () => {
    expect(reasonOf(forge({ embedded: undefined }))).toBe('NO_CONTENT');
    expect(
      reasonOf(
        check(
          forgeCms({
            content: utf8(''),
            privateKey: keyObjectOf(key.privateKey),
            certificates: key.chain.certificates,
            embedded: undefined,
          }),
          '',
        ),
      ),
    ).toBe('NO_CONTENT');
  });

  it('is refused with two signers, or none', () => {
    expect(reasonOf(forge({ signers: 2 }))).toBe('NOT_ONE_SIGNER');
    expect(reasonOf(forge({ signers: 0 }))).toBe('NOT_ONE_SIGNER');
  });

  it('is refused without signed attributes, so that attributes can never be passed off as content', () => {
    expect(forge({ attributes: [] })).toEqual({
      ok: false,
      reason: 'MALFORMED',
      part: 'SignerInfo',
    });
  });

  it.each([
    [
      'twice the digest',
      () => [contentTypeAttribute(), digestAttribute(utf8('Grüezi')), digestAttribute(utf8('x'))],
    ],
    ['no digest', () => [contentTypeAttribute()]],
    ['no content type', () => [digestAttribute(utf8('Grüezi'))]],
    [
      'another content type',
      () => [contentTypeAttribute(id.signedData), digestAttribute(utf8('Grüezi'))],
    ],
    [
      'two values of the digest',
      () => [
        contentTypeAttribute(),
        attribute(id.messageDigest, octetString(Buffer.alloc(32)), octetString(Buffer.alloc(32))),
      ],
    ],
  ])('is refused with %s among the signed attributes', (_, attributes) => {
    expect(forge({ attributes: attributes() })).toEqual({
      ok: false,
      reason: 'MALFORMED',
      part: 'signedAttrs',
    });
  });

  it('is refused for content of another type', () => {
    expect(forge({ contentType: id.signedData })).toEqual({
      ok: false,
      reason: 'MALFORMED',
      part: 'eContentType',
    });
  });

  it('is refused with algorithms that are weak or do not fit the key', () => {
    const sha1 = sequence(objectIdentifier('1.3.14.3.2.26'), nullValue());
    const rsa = sequence(objectIdentifier(id.rsaEncryption), nullValue());
    const pss = sequence(objectIdentifier(id.rsassaPss), sequence());
    expect(reasonOf(forge({ digestAlgorithm: sha1 }))).toBe('UNSUPPORTED_ALGORITHM');
    expect(reasonOf(forge({ signatureAlgorithm: rsa }))).toBe('UNSUPPORTED_ALGORITHM');
    expect(reasonOf(forge({ signatureAlgorithm: pss }))).toBe('UNSUPPORTED_ALGORITHM');
  });

  it('is refused with more than ten certificates', () => {
    const certificates = Array.from({ length: 4 }, () => key.chain.certificates).flat();
    expect(forge({ certificates })).toEqual({
      ok: false,
      reason: 'MALFORMED',
      part: 'certificates',
    });
  });

  it('is accepted with its content cut into parts, as BER allows', () => {
    const parts = encode(0x24, octetString(utf8('Grü')), octetString(utf8('ezi')));
    expect(reasonOf(forge({ embedded: parts }))).toBe('OK');
  });
});

describe('hostile input', () => {
  it('is refused wherever it is cut off', async () => {
    const cms = await signComplete(key, 'Grüezi');
    const results = Array.from(cms, (_, length) => check(cms.subarray(0, length)));
    expect(new Set(results.map(reasonOf))).toEqual(new Set(['MALFORMED']));
  });

  it('never throws and never verifies when bytes of the signature or of its chain are changed', async () => {
    const [user, issuing] = key.chain.certificates;
    // The root that comes along counts for nothing, so it is left out: every byte here matters.
    const cms = attachCertificates(await signCms({ content: utf8('Grüezi'), key }), [
      user,
      issuing,
    ]);
    const change = fc.tuple(fc.nat(cms.length - 1), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(
        fc.uniqueArray(change, { minLength: 1, maxLength: 3, selector: ([index]) => index }),
        (changes) => {
          const changed = Buffer.from(cms);
          for (const [index, mask] of changes) changed[index] = (changed[index] ?? 0) ^ mask;
          expect(check(changed).ok).toBe(false);
        },
      ),
      { numRuns: 1500 },
    );
  });

  it('never verifies as anything else when bytes of the live signature are changed', () => {
    const [user = Buffer.of(), , root = Buffer.of()] = realCertificates;
    const data = 'Test: Sign in from Postman?';
    fc.assert(
      fc.property(
        fc.nat(realSignature.length - 1),
        fc.integer({ min: 1, max: 255 }),
        (index, mask) => {
          const changed = Buffer.from(realSignature);
          changed[index] = (changed[index] ?? 0) ^ mask;
          const result = verifySignature(changed, data, { trust: [root], at: duringRealSignature });
          if (result.ok) expect(Buffer.from(result.signer.certificate).equals(user)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('never throws when bytes are inserted, removed or random', async () => {
    const [user, issuing] = key.chain.certificates;
    // Without the root, which counts for nothing when it comes along.
    const cms = Buffer.from(
      attachCertificates(await signCms({ content: utf8('Grüezi'), key }), [user, issuing]),
    );
    const spot = fc.nat(cms.length);
    fc.assert(
      fc.property(spot, spot, fc.uint8Array({ maxLength: 40 }), (start, end, bytes) => {
        const changed = Buffer.concat([cms.subarray(0, start), bytes, cms.subarray(end)]);
        expect(check(changed).ok).toBe(changed.equals(cms));
        expect(check(bytes).ok).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
