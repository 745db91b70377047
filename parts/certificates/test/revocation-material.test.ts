/** Lists and OCSP answers, as our verifier of signatures sees them. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readCertificate } from '../../../packages/pki/src/certificate-fields.ts';
import { namedBits, octetString } from '../../../packages/pki/src/der.ts';
import { ownKey } from '../../../packages/pki/src/key-vault.ts';
import { objectIdentifiers as id } from '../../../packages/pki/src/object-identifiers.ts';
import { verifySignature } from '../../../packages/pki/src/verify.ts';
import { keyObjectOf, owner, signComplete } from '../../../packages/pki/test/fixtures.ts';
import {
  commonName,
  extension,
  forgeCertificate,
  purposes,
} from '../../../packages/pki/test/forge.ts';
import { inFolder, openssl, pem } from '../../../packages/pki/test/openssl.ts';
import { createRevocationList } from '../crl.ts';
import { createOcspAnswer, readOcspRequest } from '../ocsp.ts';
import { service } from './stage.ts';

const hour = 3_600_000;

describe('the verification of a signature', () => {
  const stage = async () => {
    const made = service(Date.now());
    const { clock, custody, publisher } = made;
    const key = await custody.userKey(owner());
    const cms = await signComplete(key, 'Revoked later');
    const [user, issuing] = key.chain.certificates;
    const request = await inFolder(
      { 'ca.pem': pem(issuing), 'user.pem': pem(user) },
      async (folder, { read }) => {
        await openssl(folder, 'ocsp -issuer ca.pem -cert user.pem -reqout request.der');
        return read('request.der');
      },
    );
    const ocsp = (): Promise<Uint8Array> => publisher.ocspAnswer(request);
    const list = async (): Promise<Uint8Array> =>
      (await publisher.revocationList('issuing-1')) ?? Buffer.of();
    const trust = await custody.trust();
    const verify = (
      revocation?: Parameters<typeof verifySignature>[2]['revocation'],
      at = clock.now,
    ) =>
      verifySignature(cms, 'Revoked later', {
        trust,
        at: new Date(at),
        now: new Date(clock.now),
        revocation,
      });
    const authority = (await custody.authorities()).find((each) => each.id === 'issuing-1');
    const [asked] = readOcspRequest(request) ?? [];
    if (authority === undefined || asked === undefined) throw new Error('no authority');
    return { ...made, ocsp, list, verify, authority, asked };
  };

  it('says which of list and OCSP was used', async () => {
    const { ocsp, list, verify } = await stage();
    expect(verify()).toMatchObject({ ok: true, revocation: 'none' });
    expect(verify({ lists: [await list()] })).toMatchObject({ ok: true, revocation: 'crl' });
    expect(verify({ ocsp: [await ocsp()] })).toMatchObject({ ok: true, revocation: 'ocsp' });
    expect(verify({ ocsp: [await ocsp()], lists: [await list()] })).toMatchObject({
      revocation: 'ocsp',
    });
  });

  it('refuses a certificate from its revocation on, by either, and accepts what was signed before', async () => {
    const { clock, custody, ocsp, list, verify } = await stage();
    const good = await list();
    clock.now += hour;
    await custody.revokeCertificate({ msisdn: owner().msisdn }, 'keyCompromise');
    const revokedAt = new Date(Math.floor(clock.now / 1000) * 1000);
    for (const material of [{ lists: [await list()] }, { ocsp: [await ocsp()] }]) {
      expect(verify(material)).toEqual({ ok: false, reason: 'CERTIFICATE_REVOKED', revokedAt });
      expect(verify(material, clock.now - hour / 2)).toMatchObject({ ok: true });
    }
    // One that says revoked is believed before one that does not.
    expect(verify({ ocsp: [], lists: [good, await list()] })).toMatchObject({
      reason: 'CERTIFICATE_REVOKED',
    });
  });

  it('refuses when nothing that was given counts: old, of others, or changed', async () => {
    const { clock, ocsp, list, verify } = await stage();
    const [answer, whole] = [await ocsp(), await list()];
    const other = await stage();
    const changed = (bytes: Uint8Array): Uint8Array =>
      bytes.map((byte, index) => byte ^ (index === 60 ? 1 : 0));
    for (const material of [
      {},
      { lists: [Buffer.of(), Buffer.alloc(100, 0x30)] },
      { lists: [await other.list()], ocsp: [await other.ocsp()] },
      { lists: [changed(whole)], ocsp: [changed(answer)] },
      { lists: [answer], ocsp: [whole] },
    ]) {
      expect(verify(material)).toEqual({ ok: false, reason: 'REVOCATION_UNKNOWN' });
    }
    clock.now += 25 * hour;
    expect(verify({ lists: [whole], ocsp: [answer] })).toEqual({
      ok: false,
      reason: 'REVOCATION_UNKNOWN',
    });
  });

  it.each([
    ['an hour ahead', hour, 2 * hour, false],
    ['ahead by what clocks may differ', 60_000, hour, true],
    ['newer than its own end', 0, -hour / 2, false],
  ])('judges a list and an answer whose thisUpdate is %s', async (_, from, to, counts) => {
    const { clock, authority, asked, verify } = await stage();
    clock.now += hour;
    const times = { thisUpdate: new Date(clock.now + from), nextUpdate: new Date(clock.now + to) };
    const answer = await createOcspAnswer(authority, [{ id: asked, status: 'good' }], times);
    const list = await createRevocationList(authority, [], times);
    // Also for a signature of earlier, for which all that is newer counts.
    for (const at of [clock.now, clock.now - hour])
      for (const material of [{ ocsp: [answer] }, { lists: [list] }])
        expect(verify(material, at).ok).toBe(counts);
  });

  describe('by an answer of a responder that the authority has certified', () => {
    const subject = commonName('Responder');
    const digitalSignature = extension(id.keyUsage, namedBits(0), true);
    const keyCertSign = extension(id.keyUsage, namedBits(5), true);
    const identified = extension(id.subjectKeyIdentifier, octetString(Buffer.from('responder')));
    const ocspSigning = purposes(id.ocspSigning);
    const unknownCritical = extension('1.2.3.4', octetString(Buffer.of()), true);

    /** Ends and begins as many hours from now. */
    const answered = async ({
      from = -2,
      to = 24,
      extensions = [ocspSigning, digitalSignature],
    }: {
      readonly from?: number;
      readonly to?: number;
      readonly extensions?: readonly Uint8Array[];
    }) => {
      const made = await stage();
      const { clock, authority, asked, verify } = made;
      clock.now += 3 * hour;
      const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const issuer = readCertificate(authority.certificate)?.subject.bytes;
      if (issuer === undefined) throw new Error('the certificate of the authority is unreadable');
      const certificate = forgeCertificate({
        subject,
        issuer,
        publicKey: keys.publicKey,
        signingKey: keyObjectOf(authority.privateKey),
        notBefore: new Date(clock.now + from * hour),
        notAfter: new Date(clock.now + to * hour),
        extensions: [identified, ...extensions],
      });
      const answer = await createOcspAnswer(
        { certificate, privateKey: ownKey(keys.privateKey) },
        [{ id: asked, status: 'good' }],
        // Dated back into the life of the certificate, as whoever has the key of an ended one does.
        { thisUpdate: new Date(clock.now - hour), nextUpdate: new Date(clock.now + hour) },
      );
      const reasonAt = (hours: number) => {
        const verified = verify({ ocsp: [answer] }, clock.now + hours * hour);
        return verified.ok ? verified.revocation : verified.reason;
      };
      return { reasonAt };
    };

    it('believes it while the certificate of the responder is good', async () => {
      expect((await answered({})).reasonAt(0)).toBe('ocsp');
      expect((await answered({ extensions: [ocspSigning] })).reasonAt(0)).toBe('ocsp');
    });

    it('refuses it once that has ended, and believes it of the time before', async () => {
      const { reasonAt } = await answered({ to: -0.5 });
      expect(reasonAt(0)).toBe('REVOCATION_UNKNOWN');
      expect(reasonAt(-0.75)).toBe('ocsp');
      // Newer than the signature, and made while the certificate was good.
      expect(reasonAt(-2.5)).toBe('ocsp');
    });

    it.each([
      ['begins later', { from: 0.5 }],
      ['had ended when the answer was made', { from: -3, to: -1.5 }],
      ['is not for OCSP', { extensions: [purposes(id.clientAuth)] }],
      ['is for nothing in particular', { extensions: [digitalSignature] }],
      ['may not sign', { extensions: [ocspSigning, keyCertSign] }],
      [
        'has a critical extension that nobody knows',
        { extensions: [ocspSigning, unknownCritical] },
      ],
    ])('refuses it when the certificate %s', async (_, change) => {
      const { reasonAt } = await answered(change);
      for (const hours of [0, -2.5]) expect(reasonAt(hours)).toBe('REVOCATION_UNKNOWN');
    });
  });
});
