/** Revocation, as it is ordered at the custody, and as our verifier sees it. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readCertificate } from '../../src/pki/certificate-fields.ts';
import { signCms } from '../../src/pki/cms.ts';
import { createRevocationList } from '../../src/pki/crl.ts';
import { namedBits, octetString } from '../../src/pki/der.ts';
import { ownKey } from '../../src/pki/key-vault.ts';
import { objectIdentifiers as id } from '../../src/pki/object-identifiers.ts';
import { createOcspAnswer, readOcspRequest } from '../../src/pki/ocsp.ts';
import type { RevocationReason } from '../../src/pki/ports.ts';
import { verifySignature } from '../../src/pki/verify.ts';
import { keyObjectOf, now, owner, signComplete, utf8 } from './fixtures.ts';
import { commonName, extension, forgeCertificate, purposes } from './forge.ts';
import { inFolder, openssl, pem } from './openssl.ts';
import { serialOf, service } from './revocation-stage.ts';

const hour = 3_600_000;

describe('a certificate', () => {
  it('is revoked by its serial number, in all processes within a second, and never again', async () => {
    const { clock, custody, process } = service();
    const other = process();
    const key = await custody.userKey(owner());
    await other.userKey(owner());
    const serial = serialOf(key);
    expect(
      await custody.revokeCertificate({ serial: serial.toUpperCase() }, 'keyCompromise'),
    ).toMatchObject([
      {
        serial,
        msisdn: '41700092501',
        sscdId: 'sim',
        algorithm: 'EC',
        version: 1,
        revocation: { at: now },
      },
    ]);
    clock.now += 1000;
    const seen = await other.userKey(owner());
    expect(seen.revocation).toEqual({ reason: 'keyCompromise', at: now });
    expect(other.isRevoked(owner())).toBe(true);
    expect(await other.revokeCertificate({ serial }, 'superseded')).toEqual([]);
    expect(await other.revocationOf(serial)).toEqual({ reason: 'keyCompromise', at: now });
    expect(await custody.revokeCertificate({ serial: 'abcd' }, 'unspecified')).toEqual([]);
  });

  it('is revoked once when processes race', async () => {
    const { custody, process } = service();
    const serial = serialOf(await custody.userKey(owner()));
    const results = await Promise.all(
      Array.from({ length: 5 }, () => process().revokeCertificate({ serial }, 'keyCompromise')),
    );
    expect(results.flat()).toHaveLength(1);
  });

  it('that is revoked signs nothing', async () => {
    const { custody } = service();
    await custody.userKey(owner());
    await custody.revokeCertificate({ msisdn: owner().msisdn }, 'cessationOfOperation');
    const key = await custody.userKey(owner());
    await expect(signCms({ content: utf8('No'), key })).rejects.toThrow('revoked');
  });

  it.each<[RevocationReason, boolean]>([
    ['superseded', true],
    ['affiliationChanged', true],
    ['keyCompromise', false],
    ['privilegeWithdrawn', false],
  ])('that is revoked as %s is followed at the next use: %s', async (reason, isFollowed) => {
    const { clock, custody, process } = service();
    const former = await custody.userKey(owner());
    await custody.revokeCertificate({ msisdn: owner().msisdn }, reason);
    for (const each of [custody, process()]) {
      const key = await each.userKey(owner());
      expect(key.revocation === undefined).toBe(isFollowed);
      expect(key.chain.id === former.chain.id).toBe(!isFollowed);
      expect(each.isRevoked(owner())).toBe(!isFollowed);
    }
    // Renewal in time is for certificates that are good.
    clock.now += 3 * 366 * 24 * hour;
    expect((await process().userKey(owner())).revocation === undefined).toBe(isFollowed);
  });

  it('is followed when the operator allows a new key', async () => {
    const { clock, custody, process } = service();
    const other = process();
    const former = await other.userKey(owner());
    await custody.userKey(owner({ sscdId: 'app-0' }));
    await custody.revokeCertificate({ msisdn: owner().msisdn }, 'keyCompromise');
    expect(await custody.renewCertificates(owner().msisdn)).toBe(2);
    expect(await custody.renewCertificates(owner().msisdn)).toBe(0);
    clock.now += 1000;
    const key = await other.userKey(owner());
    expect(key.revocation).toBeUndefined();
    expect(key.chain.id).not.toBe(former.chain.id);
    expect(key.serialNumber).toBe(former.serialNumber);
    expect(other.isRevoked(owner())).toBe(false);
  });

  it('is listed with all others of its number, and with no others', async () => {
    const { custody } = service();
    for (const msisdn of ['41700092501', '417000925011', '4170009250']) {
      await custody.userKey(owner({ msisdn }));
    }
    await custody.userKey(owner({ sscdId: 'app-0', algorithm: 'RSA' }));
    const found = await custody.certificatesOf({ msisdn: '41700092501' });
    expect(found.map(({ msisdn, sscdId }) => `${msisdn} ${sscdId}`).toSorted()).toEqual([
      '41700092501 app-0',
      '41700092501 sim',
    ]);
    await expect(custody.certificatesOf({ msisdn: '*' })).rejects.toThrow('must be digits');
  });
});

describe('a number with a new owner', () => {
  it('gets a new serialNumber and new keys, and the former ones are revoked', async () => {
    const { clock, custody, process } = service();
    const other = process();
    const former = await other.userKey(owner());
    expect(await other.serialNumberOf(owner().msisdn)).toBe(former.serialNumber);
    clock.now += hour;
    expect(await custody.reassignNumber(owner().msisdn)).toMatchObject([
      { serialNumber: former.serialNumber, revocation: { reason: 'affiliationChanged' } },
    ]);
    clock.now += 1000;
    for (const each of [custody, other, process()]) {
      const key = await each.userKey(owner());
      expect(key.serialNumber).not.toBe(former.serialNumber);
      expect(key.chain.id).not.toBe(former.chain.id);
      expect(await each.serialNumberOf(owner().msisdn)).toBe(key.serialNumber);
      // What was signed before belongs to the former owner.
      expect(await each.serialNumberOf(owner().msisdn, now)).toBe(former.serialNumber);
      expect(await each.chain(former.chain.id)).toEqual(former.chain);
    }
  });

  it('never gets the serialNumber of any owner before', async () => {
    const { clock, custody } = service();
    const seen = new Set([(await custody.userKey(owner())).serialNumber]);
    for (let owners = 2; owners <= 5; owners += 1) {
      clock.now += hour;
      await custody.reassignNumber(owner().msisdn);
      seen.add((await custody.userKey(owner())).serialNumber);
      expect(seen.size).toBe(owners);
    }
  });

  it('gets no key of the former owner that another process makes meanwhile', async () => {
    const { custody, process } = service();
    const other = process();
    await other.serialNumberOf(owner().msisdn);
    await custody.reassignNumber(owner().msisdn);
    // Within the second in which the other process does not know.
    const made = await other.userKey(owner());
    expect(made.serialNumber).toBe(await process().serialNumberOf(owner().msisdn));
  });
});

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
