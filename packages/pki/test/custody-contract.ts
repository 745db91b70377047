/** What every custody must do, wherever its keys are. */
import { generateKeyPairSync, verify, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createMemoryCustodyStore } from '../../../test/support/memory-custody-store.ts';
import type { createKeyCustody } from '../src/custody.ts';
import type { CustodyStore, KeyCustody, UserKey } from '../src/ports.ts';
import { now, owner, signComplete } from './fixtures.ts';
import { opensslVerify } from './openssl.ts';

type CustodyOptions = Pick<Parameters<typeof createKeyCustody>[0], 'store' | 'userKeysCached'>;

const publicPart = ({ privateKey }: UserKey): string =>
  privateKey.publicKey.export({ format: 'pem', type: 'spki' }).toString();

export const describeCustody = (
  name: string,
  create: (options: CustodyOptions) => KeyCustody,
): void => {
  const newCustody = (store: CustodyStore = createMemoryCustodyStore()): KeyCustody =>
    create({ store });

  describe(name, () => {
    it('creates a key at its first use and keeps it', async () => {
      const store = createMemoryCustodyStore();
      const key = await newCustody(store).userKey(owner());
      const again = await newCustody(store).userKey(owner());
      expect(key.serialNumber).toMatch(/^MIDCHE[A-Z0-9]{10}$/);
      expect(again.chain).toEqual(key.chain);
      expect(again.serialNumber).toBe(key.serialNumber);
      expect(publicPart(again)).toBe(publicPart(key));
    });

    it('certifies the very key that signs', async () => {
      const custody = newCustody();
      for (const algorithm of ['EC', 'RSA'] as const) {
        const key = await custody.userKey(owner({ algorithm }));
        const { publicKey } = new X509Certificate(key.chain.certificates[0]);
        expect(publicKey.equals(key.privateKey.publicKey)).toBe(true);
        const cms = await signComplete(key, 'Grüezi');
        expect(
          (
            await opensslVerify(cms, (await custody.trust())[0] ?? Buffer.of(), new Date(now))
          ).toString(),
        ).toBe('Grüezi');
        expect(publicKey.asymmetricKeyDetails).toMatchObject(
          algorithm === 'EC' ? { namedCurve: 'prime256v1' } : { modulusLength: 2048 },
        );
      }
    });

    it('gives processes that start at once the same authority and the same keys', async () => {
      const store = createMemoryCustodyStore();
      const keys = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          newCustody(store).userKey(owner({ algorithm: index % 2 === 0 ? 'EC' : 'RSA' })),
        ),
      );
      expect(new Set(keys.map(({ chain }) => chain.id)).size).toBe(2);
      expect(new Set(keys.map(publicPart)).size).toBe(2);
      expect(new Set(keys.map(({ serialNumber }) => serialNumber)).size).toBe(1);
      expect(await newCustody(store).trust()).toEqual([keys[0]?.chain.certificates[2]]);
    });

    it('gives a user one serialNumber for all SSCDs, and every SSCD its own key', async () => {
      const custody = newCustody();
      const keys = await Promise.all([
        custody.userKey(owner()),
        custody.userKey(owner({ sscdId: 'app-0' })),
        custody.userKey(owner({ expired: true })),
      ]);
      const other = await custody.userKey(owner({ msisdn: '41700092502' }));
      expect(new Set(keys.map(({ serialNumber }) => serialNumber)).size).toBe(1);
      expect(new Set([...keys, other].map(publicPart)).size).toBe(4);
      expect(other.serialNumber).not.toBe(keys[0].serialNumber);
    });

    it('never gives two users one serialNumber, even if one is drawn that another user has', async () => {
      const store = createMemoryCustodyStore();
      let taken: string | undefined;
      const unlucky: CustodyStore = {
        ...store,
        setIfAbsent: (key, value) => {
          if (taken === undefined && key.startsWith('holder:')) {
            taken = key.slice('holder:'.length);
            store.records.set(key, '41700000000');
          }
          return store.setIfAbsent(key, value);
        },
      };
      const { serialNumber } = await create({ store: unlucky }).userKey(owner());
      expect(taken).toMatch(/^MIDCHE/);
      expect(serialNumber).not.toBe(taken);
    });

    it('makes certificates valid now, or over when asked to', async () => {
      const custody = newCustody();
      const validity = async (expired: boolean): Promise<readonly number[]> => {
        const { chain } = await custody.userKey(owner({ expired }));
        const { validFrom, validTo } = new X509Certificate(chain.certificates[0]);
        return [Date.parse(validFrom), Date.parse(validTo)];
      };
      const [from = 0, to = 0] = await validity(false);
      expect(from < now && now < to).toBe(true);
      const [overFrom = 0, overTo = 0] = await validity(true);
      expect(overFrom < overTo && overTo < now).toBe(true);
      expect(overTo - overFrom).toBeGreaterThan(3 * 364 * 86_400_000);
    });

    it('finds a chain by its id, in any process, and nothing for other ids', async () => {
      const store = createMemoryCustodyStore();
      const { chain } = await newCustody(store).userKey(owner());
      expect(chain.id).toMatch(/^[A-Za-z0-9_-]{16}$/);
      expect(await newCustody(store).chain(chain.id)).toEqual(chain);
      expect(await newCustody(store).chain('AAAAAAAAAAAAAAAA')).toBeUndefined();
    });

    it('completes the records of a process that died between two of them', async () => {
      const store = createMemoryCustodyStore();
      const { chain } = await newCustody(store).userKey(owner());
      store.records.delete(`chain:${chain.id}`);
      const custody = newCustody(store);
      await custody.userKey(owner());
      expect(await newCustody(store).chain(chain.id)).toEqual(chain);
    });

    it('asks the store once for a key in use, and again for one that others have displaced', async () => {
      const store = createMemoryCustodyStore();
      const asked: string[] = [];
      const watched: CustodyStore = {
        ...store,
        get: (key) => {
          asked.push(key);
          return store.get(key);
        },
      };
      const custody = create({ store: watched, userKeysCached: 1 });
      const one = owner({ msisdn: '41700000001' });
      const two = owner({ msisdn: '41700000002' });
      await Promise.all([custody.userKey(one), custody.userKey(one)]);
      await custody.userKey(one);
      expect(asked.filter((key) => key === 'user:41700000001:sim:EC')).toHaveLength(1);
      await custody.userKey(two);
      await custody.userKey(one);
      expect(asked.filter((key) => key === 'user:41700000001:sim:EC')).toHaveLength(2);
    });

    it('tries again after the store was unreachable', async () => {
      const store = createMemoryCustodyStore();
      let isAway = true;
      const flaky: CustodyStore = {
        ...store,
        get: async (key) => (isAway ? Promise.reject(new Error('store is away')) : store.get(key)),
      };
      const custody = create({ store: flaky });
      await expect(custody.userKey(owner())).rejects.toThrow('store is away');
      isAway = false;
      expect((await custody.userKey(owner())).algorithm).toBe('EC');
    });

    it('finds the key that belongs to certificates, also when another has followed', async () => {
      const store = createMemoryCustodyStore();
      const custody = newCustody(store);
      const first = await custody.userKey(owner());
      const { serial = '' } = (await custody.certificatesOf(owner()))[0] ?? {};
      expect(await custody.revokeCertificate({ serial }, 'superseded')).toHaveLength(1);
      const next = await custody.userKey(owner());
      expect(next.chain.id).not.toBe(first.chain.id);
      const other = newCustody(store);
      const data = Buffer.from('attributes');
      for (const [key, revocation] of [
        [first, { reason: 'superseded', at: expect.any(Number) }],
        [next, undefined],
      ] as const) {
        const found = await other.keyOf(key.chain.id);
        expect(found).toMatchObject({ chain: key.chain, serialNumber: key.serialNumber });
        expect(found?.revocation).toEqual(revocation);
        const signature = await found?.privateKey.sign(data, 'ECDSA');
        const { publicKey } = new X509Certificate(key.chain.certificates[0]);
        expect(verify('sha256', data, publicKey, signature ?? Buffer.of())).toBe(true);
      }
      expect(await other.keyOf('AAAAAAAAAAAAAAAA')).toBeUndefined();
      const phone = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const certified = await custody.certify(
        { msisdn: '41700092600', sscdId: 'phone' },
        phone.publicKey,
      );
      expect(await other.keyOf(certified.id)).toBeUndefined();
    });

    it('signs for the service with keys of their own, also in another process', async () => {
      const store = createMemoryCustodyStore();
      const data = Buffer.from('a record');
      for (const kind of ['evidenceKey', 'sealKey', 'timeStampKey'] as const) {
        const key = await newCustody(store)[kind]();
        const again = await newCustody(store)[kind]();
        const { publicKey } = new X509Certificate(key.certificates[0]);
        expect(again.certificates).toEqual(key.certificates);
        expect(verify('sha256', data, publicKey, await again.privateKey.sign(data, 'ECDSA'))).toBe(
          true,
        );
        const raw = await key.privateKey.sign(data, 'ES256');
        expect(verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, raw)).toBe(
          true,
        );
      }
    });

    it('issues under the authorities of after a roll-over, and completes what was signed before', async () => {
      const store = createMemoryCustodyStore();
      const custody = newCustody(store);
      const before = await custody.userKey(owner());
      expect(await custody.rollOver('issuing')).toBe('issuing-2');
      expect(await custody.rollOver('root')).toBe('root-2');
      expect(await custody.rollOver('issuing')).toBe('issuing-3');
      const evidence = await custody.evidenceKey();
      expect(await custody.rollOver('evidence')).toBe('evidence-2');
      expect(
        (await custody.evidenceKey()).privateKey.publicKey.equals(evidence.privateKey.publicKey),
      ).toBe(false);
      const other = newCustody(store);
      const after = await other.userKey(owner({ msisdn: '41700092502' }));
      expect(after.chain.certificates).toHaveLength(4);
      const [first = Buffer.of()] = await other.trust();
      for (const key of [await other.userKey(owner()), after]) {
        const cms = await signComplete(key, 'Grüezi');
        expect((await opensslVerify(cms, first, new Date(now))).toString()).toBe('Grüezi');
      }
      expect(await other.chain(before.chain.id)).toEqual(before.chain);
      for (const authority of await other.authorities()) {
        const data = Buffer.from(authority.id);
        const { publicKey } = new X509Certificate(authority.certificate);
        const signature = await authority.privateKey.sign(data, 'ECDSA');
        expect(verify('sha256', data, publicKey, signature)).toBe(true);
      }
    });
  });
};
