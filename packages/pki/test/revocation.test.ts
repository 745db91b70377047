/** Revocation, as it is ordered at the custody. */
import { describe, expect, it } from 'vitest';
import { signCms } from '../src/cms.ts';
import type { RevocationReason } from '../src/ports.ts';
import { now, owner, utf8 } from './fixtures.ts';
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
