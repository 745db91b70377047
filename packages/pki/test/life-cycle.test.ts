/**
 * Keys and certificates over the years: the custody's clock is set, everything else is as in
 * production.
 */
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  createMemoryCustodyStore,
  type MemoryCustodyStore,
} from '../../../test/support/memory-custody-store.ts';
import { readCertificate } from '../src/certificate-fields.ts';
import { attachCertificates, signCms } from '../src/cms.ts';
import { createKeyCustody } from '../src/custody.ts';
import type { CertificateChain, KeyCustody } from '../src/ports.ts';
import { verifySignature } from '../src/verify.ts';
import { now, owner, serviceKey, signComplete, utf8 } from './fixtures.ts';
import { opensslVerify } from './openssl.ts';

const day = 86_400_000;
const year = 365.25 * day;

/** A service whose clock can be set; several on one store are several processes. */
const service = (store: MemoryCustodyStore = createMemoryCustodyStore(), start = now) => {
  const clock = { now: start };
  const process = (): KeyCustody => createKeyCustody({ store, serviceKey, now: () => clock.now });
  return { store, clock, process, custody: process() };
};

const endOf = (der: Uint8Array | undefined): number =>
  readCertificate(der ?? Buffer.of())?.notAfter.getTime() ?? 0;
const nameOf = (der: Uint8Array | undefined): string =>
  new X509Certificate(der ?? Buffer.of()).subject;

const verifyAt = (cms: Uint8Array, text: string, trust: readonly Uint8Array[], at: number) =>
  verifySignature(cms, text, { trust, at: new Date(at) });

describe('the key of a user', () => {
  it('is renewed 30 days before its certificate ends, and lasts for three years again', async () => {
    const { clock, custody } = service();
    const first = await custody.userKey(owner());
    const end = endOf(first.chain.certificates[0]);
    clock.now = end - 31 * day;
    expect((await custody.userKey(owner())).chain.id).toBe(first.chain.id);
    clock.now = end - 29 * day;
    const second = await custody.userKey(owner());
    expect(second.chain.id).not.toBe(first.chain.id);
    expect(second.privateKey.publicKey.equals(first.privateKey.publicKey)).toBe(false);
    expect(second.serialNumber).toBe(first.serialNumber);
    expect(endOf(second.chain.certificates[0])).toBeGreaterThan(clock.now + 2.9 * year);
  });

  it('signs after years in which it was not used', async () => {
    const { clock, custody, store, process } = service();
    await custody.userKey(owner({ algorithm: 'RSA' }));
    clock.now = now + 5 * year;
    for (const each of [custody, process()]) {
      const key = await each.userKey(owner({ algorithm: 'RSA' }));
      const cms = await signComplete(key, 'After years');
      expect(verifyAt(cms, 'After years', await each.trust(), clock.now).ok).toBe(true);
    }
    expect([...store.records.keys()].filter((name) => name.startsWith('user:'))).toEqual([
      'user:41700092501:sim:RSA',
      'user:41700092501:sim:RSA:v2',
    ]);
  });

  it('is the same in processes that renew it at once', async () => {
    const { clock, process, custody } = service();
    await custody.userKey(owner());
    clock.now = now + 4 * year;
    const keys = await Promise.all(
      Array.from({ length: 6 }, async (_, index) =>
        (index < 3 ? process() : custody).userKey(owner()),
      ),
    );
    expect(new Set(keys.map(({ chain }) => chain.id)).size).toBe(1);
  });

  it('that is configured as expired stays expired', async () => {
    const { clock, custody, process } = service();
    const first = await custody.userKey(owner({ expired: true }));
    clock.now = now + 4 * year;
    expect((await process().userKey(owner({ expired: true }))).chain.id).toBe(first.chain.id);
  });
});

describe('the key of a phone', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const phone = { msisdn: '41700092501', sscdId: 'phone-1' };

  it('has one certificate until the last month, and then the next one', async () => {
    const { clock, custody, process } = service();
    const first = await custody.certify(phone, publicKey);
    expect(await process().certify(phone, publicKey)).toEqual(first);
    clock.now = endOf(first.certificates[0]) - 29 * day;
    const second = await process().renew(phone, first.certificates[0]);
    if (second === undefined) throw new Error('It was not renewed');
    expect(second.id).not.toBe(first.id);
    expect(await custody.renew(phone, first.certificates[0])).toEqual(second);
    expect(new X509Certificate(second.certificates[0]).publicKey.equals(publicKey)).toBe(true);
    expect(nameOf(second.certificates[0])).toBe(nameOf(first.certificates[0]));
    expect(await custody.chain(first.id)).toEqual(first);
  });

  it('gets a new certificate after a revocation and for a new owner, and another key has its own', async () => {
    const { clock, custody } = service();
    const first = await custody.certify(phone, publicKey);
    await custody.revokeCertificate({ msisdn: phone.msisdn }, 'cessationOfOperation');
    const second = await custody.certify(phone, publicKey);
    expect(second.id).not.toBe(first.id);
    clock.now += day;
    await custody.reassignNumber(phone.msisdn);
    const third = await custody.certify(phone, publicKey);
    expect(nameOf(third.certificates[0])).not.toBe(nameOf(second.certificates[0]));
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
    const fourth = await custody.certify(phone, other);
    expect(new X509Certificate(fourth.certificates[0]).publicKey.equals(other)).toBe(true);
  });
});

describe('the key of a phone that is revoked before it is renewed', () => {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const phone = { msisdn: '41700092501', sscdId: 'phone-1' };

  it.each([
    [
      'revoked',
      (other: KeyCustody) => other.revokeCertificate({ msisdn: phone.msisdn }, 'keyCompromise'),
    ],
    ['of a former owner', (other: KeyCustody) => other.reassignNumber(phone.msisdn)],
  ])('gets no next certificate when it is %s in another process', async (_what, revoke) => {
    const { clock, custody, process } = service();
    const [present] = (await custody.certify(phone, publicKey)).certificates;
    clock.now = endOf(present) - 29 * day;
    await revoke(process());
    expect(await custody.renew(phone, present)).toBeUndefined();
    expect(await process().certificatesOf({ msisdn: phone.msisdn })).toHaveLength(1);
  });

  it('gets none when the one that has followed is revoked', async () => {
    const { clock, custody, process } = service();
    const [first] = (await custody.certify(phone, publicKey)).certificates;
    clock.now = endOf(first) - 29 * day;
    const second = await custody.renew(phone, first);
    const [, { serial = '' } = {}] = await custody.certificatesOf({ msisdn: phone.msisdn });
    await process().revokeCertificate({ serial }, 'cessationOfOperation');
    expect(second).toBeDefined();
    expect(await custody.renew(phone, first)).toBeUndefined();
    expect(await process().certificatesOf({ msisdn: phone.msisdn })).toHaveLength(2);
  });

  it.each([
    ['by its number', () => ({ msisdn: phone.msisdn })],
    ['by its serial number', (serial: string) => ({ serial })],
  ])(
    'has its next certificate revoked, too, when it is renewed while it is revoked %s',
    async (_how, target) => {
      const store = createMemoryCustodyStore();
      const { clock, custody, process } = service(store);
      const [present] = (await custody.certify(phone, publicKey)).certificates;
      clock.now = endOf(present) - 29 * day;
      const { addField } = store;
      let isRenewed = false;
      store.addField = async (...given) => {
        // All of it, after the certificates that there were had been listed.
        if (!isRenewed) {
          isRenewed = true;
          expect(await process().renew(phone, present)).toBeDefined();
        }
        return addField(...given);
      };
      const [{ serial = '' } = {}] = await custody.certificatesOf({ msisdn: phone.msisdn });
      expect(await custody.revokeCertificate(target(serial), 'keyCompromise')).toHaveLength(2);
      const issued = await process().certificatesOf({ msisdn: phone.msisdn });
      expect(issued.map(({ revocation }) => revocation?.reason)).toEqual([
        'keyCompromise',
        'keyCompromise',
      ]);
    },
  );

  it('is known to be revoked, although its process was just about to read what is', async () => {
    const store = createMemoryCustodyStore();
    const { clock, custody, process } = service(store);
    const [present] = (await custody.certify(phone, publicKey)).certificates;
    clock.now = endOf(present) - 29 * day;
    const { countFields } = store;
    let go: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    store.countFields = async (...given) => {
      const count = await countFields(...given);
      await held;
      return count;
    };
    const reading = custody.refresh();
    store.countFields = countFields;
    await process().revokeCertificate({ msisdn: phone.msisdn }, 'keyCompromise');
    const renewing = custody.renew(phone, present);
    go();
    await reading;
    expect(await renewing).toBeUndefined();
    expect(await process().certificatesOf({ msisdn: phone.msisdn })).toHaveLength(1);
  });

  it('has its next certificate revoked, too, when both are done at once', async () => {
    for (let turns = 0; turns < 200; turns += 5) {
      const { clock, custody, process } = service();
      const [present] = (await custody.certify(phone, publicKey)).certificates;
      clock.now = endOf(present) - 29 * day;
      const other = process();
      await other.refresh();
      const renewing = custody.renew(phone, present);
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      await other.revokeCertificate({ msisdn: phone.msisdn }, 'keyCompromise');
      await renewing;
      const issued = await process().certificatesOf({ msisdn: phone.msisdn });
      expect(issued.filter(({ revocation }) => revocation === undefined)).toEqual([]);
    }
  });
});

describe('an old signature', () => {
  it('is completed for ever, in any process, whatever was renewed since', async () => {
    const { clock, custody, process } = service();
    const key = await custody.userKey(owner());
    const cms = await signCms({ content: utf8('Then'), key });
    for (const years of [4, 8, 12, 25]) {
      clock.now = now + years * year;
      await custody.userKey(owner());
      for (const each of [custody, process()]) {
        const chain = (await each.chain(key.chain.id)) as CertificateChain;
        expect(chain).toEqual(key.chain);
        const complete = attachCertificates(cms, chain.certificates);
        expect(verifyAt(complete, 'Then', await each.trust(), now + day).ok).toBe(true);
      }
    }
  });
});

describe('the authorities', () => {
  it('never issue beyond their own lives, in forty years', async () => {
    const { clock, custody } = service();
    for (let years = 0; years <= 40; years += 0.5) {
      clock.now = now + years * year;
      const [user, issuing, ...above] = (await custody.userKey(owner())).chain.certificates;
      const { certificates: service } = await custody.evidenceKey();
      const root = above.at(-1);
      expect(endOf(user)).toBeLessThanOrEqual(endOf(issuing));
      expect(endOf(issuing)).toBeLessThanOrEqual(endOf(root));
      expect(endOf(service[0])).toBeLessThanOrEqual(endOf(service.at(-1)));
      // Nobody gets a certificate that is cut short.
      const { notBefore, notAfter } = readCertificate(user) ?? {};
      expect(Number(notAfter) - Number(notBefore)).toBeGreaterThan(2.99 * year);
      const cms = await signComplete(await custody.userKey(owner()), 'Now');
      expect(verifyAt(cms, 'Now', await custody.trust(), clock.now).ok).toBe(true);
    }
    expect((await custody.authorities()).map(({ certificate }) => nameOf(certificate))).toEqual([
      ...['', ' 2', ' 3', ' 4', ' 5'].map((which) => `CN=Paraph Root CA${which}`),
      ...['', ' 2', ' 3', ' 4', ' 5'].map((which) => `CN=Paraph Issuing CA${which}`),
    ]);
  });

  it('let a relying party that trusts the former root alone verify until that one ends', async () => {
    const { clock, custody } = service();
    const [former] = (await custody.trust()) as [Uint8Array];
    clock.now = now + 15 * year;
    const cms = await signComplete(await custody.userKey(owner()), 'Across');
    const roots = await custody.trust();
    expect(roots).toHaveLength(2);
    const at = new Date(clock.now);
    for (const root of roots) {
      expect(verifyAt(cms, 'Across', [root], clock.now).ok).toBe(true);
      expect((await opensslVerify(cms, root, at)).toString()).toBe('Across');
    }
    expect(verifyAt(cms, 'Across', [former], endOf(former) + day)).toMatchObject({ ok: false });
  });

  it('can be rolled over by an order, which other processes learn of', async () => {
    const { clock, custody, process } = service();
    const other = process();
    const before = await other.userKey(owner());
    expect(await custody.rollOver('root')).toBe('root-2');
    expect(await custody.rollOver('issuing')).toBe('issuing-2');
    clock.now += 1001;
    await other.refresh();
    const key = await other.userKey(owner({ msisdn: '41700092502' }));
    expect(key.chain.certificates.map(nameOf)).toEqual([
      expect.stringContaining('serialNumber='),
      'CN=Paraph Issuing CA 2',
      'CN=Paraph Root CA 2',
      'CN=Paraph Root CA 2',
    ]);
    // A certificate that is good is not replaced.
    expect((await other.userKey(owner())).chain.id).toBe(before.chain.id);
    expect(await process().chain(key.chain.id)).toEqual(key.chain);
    const cms = await signComplete(key, 'New');
    for (const root of await process().trust()) {
      expect((await opensslVerify(cms, root, new Date(clock.now))).toString()).toBe('New');
    }
  });

  it('are the same in processes that roll over at once', async () => {
    const { clock, process, custody } = service();
    await custody.userKey(owner());
    clock.now = now + 15 * year;
    const keys = await Promise.all(Array.from({ length: 4 }, () => process().userKey(owner())));
    expect(new Set(keys.map(({ chain }) => chain.id)).size).toBe(1);
  });
});

describe('a store of release 0.2', () => {
  const stored: Readonly<Record<string, string>> = JSON.parse(
    readFileSync(new URL('./fixtures/store-0.2.json', import.meta.url), 'utf8'),
  );
  const madeAt = Date.parse('2026-03-01T12:00:00Z');
  const chainId = Object.keys(stored)
    .find((name) => name.startsWith('chain:'))
    ?.slice('chain:'.length);

  const old = () => {
    const store = createMemoryCustodyStore();
    for (const [name, value] of Object.entries(stored)) store.records.set(name, value);
    return service(store, madeAt);
  };

  it('goes on: same authority, same key, same person', async () => {
    const { store, custody } = old();
    const key = await custody.userKey(owner());
    expect(key.chain.id).toBe(chainId);
    expect(stored[`holder:${key.serialNumber}`]).toBe('41700092501');
    const added = [...store.records.keys()].filter((name) => !(name in stored));
    expect(added).toEqual([expect.stringMatching(/^serial:[0-9a-f]{32}$/)]);
  });

  it('has its keys renewed, and its signatures completed', async () => {
    const { clock, custody, process } = old();
    clock.now = madeAt + 4 * year;
    const key = await custody.userKey(owner());
    expect(key.chain.id).not.toBe(chainId);
    expect(await process().chain(chainId ?? '')).toMatchObject({ id: chainId });
    const cms = await signComplete(key, 'Renewed');
    expect(verifyAt(cms, 'Renewed', await process().trust(), clock.now).ok).toBe(true);
  });
});
