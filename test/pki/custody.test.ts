import { createPublicKey, X509Certificate } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { createKeyCustody } from '../../src/pki/custody.ts';
import type { CustodyStore, UserKey } from '../../src/pki/ports.ts';
import { createMemoryCustodyStore } from '../support/memory-custody-store.ts';
import { masterKey, newCustody, now, owner } from './fixtures.ts';

const publicPart = ({ privateKey }: UserKey): string =>
  createPublicKey(privateKey).export({ format: 'pem', type: 'spki' }).toString();

describe('the key custody', () => {
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
    for (const algorithm of ['EC', 'RSA'] as const) {
      const key = await newCustody().userKey(owner({ algorithm }));
      expect(new X509Certificate(key.chain.certificates[0]).checkPrivateKey(key.privateKey)).toBe(true);
      expect(key.privateKey.asymmetricKeyDetails).toMatchObject(
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
    const { serialNumber } = await createKeyCustody({ store: unlucky, masterKey, now: () => now }).userKey(
      owner(),
    );
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
    const custody = createKeyCustody({ store: watched, masterKey, now: () => now, userKeysCached: 1 });
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
    const custody = createKeyCustody({ store: flaky, masterKey, now: () => now });
    await expect(custody.userKey(owner())).rejects.toThrow('store is away');
    isAway = false;
    expect((await custody.userKey(owner())).algorithm).toBe('EC');
  });
});

describe('the records of the custody', () => {
  it('show no private key', async () => {
    const store = createMemoryCustodyStore();
    const custody = newCustody(store);
    const keys = [
      await custody.userKey(owner()),
      await custody.userKey(owner({ algorithm: 'RSA', sscdId: 'app-0' })),
    ];
    const stored = [...store.records.values()].join('\n');
    for (const { privateKey } of keys) {
      const jwk = privateKey.export({ format: 'jwk' });
      for (const secret of [jwk.d, jwk.p, jwk.q, jwk.dp, jwk.dq, jwk.qi].filter(
        (part) => part !== undefined,
      )) {
        expect(stored).not.toContain(secret);
        expect(stored).not.toContain(Buffer.from(secret, 'base64url').toString('base64').slice(0, 40));
        expect(stored).not.toContain(Buffer.from(secret, 'base64url').toString('hex'));
      }
    }
    expect(stored).not.toContain('PRIVATE KEY');
    expect(stored).not.toContain('"d"');
    expect([...store.records.keys()].map((name) => name.replace(/:.*/, '')).toSorted()).toEqual([
      'ca',
      'ca',
      'chain',
      'chain',
      'holder',
      'identity',
      'serial',
      'serial',
      'user',
      'user',
    ]);
  });

  it('are compact JWEs that name their record', async () => {
    const store = createMemoryCustodyStore();
    await newCustody(store).userKey(owner());
    for (const name of ['ca:root', 'ca:issuing', 'user:41700092501:sim:EC']) {
      const { key } = JSON.parse(store.records.get(name) ?? '');
      expect(decodeProtectedHeader(key)).toMatchObject({ alg: 'dir', enc: 'A256GCM', kid: name });
    }
  });

  it('do not open under another master key, and the error says so', async () => {
    const store = createMemoryCustodyStore();
    await newCustody(store).userKey(owner());
    const stranger = createKeyCustody({ store, masterKey: Buffer.alloc(32, 8), now: () => now });
    await expect(stranger.userKey(owner())).rejects.toThrow('the master key does not open the stored ca:');
    await expect(stranger.trust()).rejects.toThrow('the master key does not open the stored ca:root record');
    expect(() => createKeyCustody({ store, masterKey: Buffer.alloc(16), now: () => now })).toThrow(
      '32 bytes',
    );
  });

  it('do not serve another owner, and the error does not name him', async () => {
    for (const kind of ['user', 'identity'] as const) {
      const store = createMemoryCustodyStore();
      await newCustody(store).userKey(owner({ msisdn: '41700000001' }));
      const nameOf = (msisdn: string): string =>
        kind === 'user' ? `user:${msisdn}:sim:EC` : `identity:${msisdn}`;
      store.records.set(nameOf('41700000002'), store.records.get(nameOf('41700000001')) ?? '');
      const theft = newCustody(store).userKey(owner({ msisdn: '41700000002' }));
      await expect(theft).rejects.toThrow(`a stored ${kind} record belongs to another owner`);
      await expect(theft).rejects.not.toThrow('4170');
    }
  });

  it('are refused when the certificate beside a key is exchanged', async () => {
    const store = createMemoryCustodyStore();
    const custody = newCustody(store);
    const name = 'user:41700092501:sim:EC';
    await custody.userKey(owner());
    const { chain } = await custody.userKey(owner({ msisdn: '41700092502' }));
    const record = JSON.parse(store.records.get(name) ?? '');
    const certificate = Buffer.from(chain.certificates[0]).toString('base64');
    store.records.set(name, JSON.stringify({ ...record, certificate }));
    await expect(newCustody(store).userKey(owner())).rejects.toThrow('the stored user record is damaged');
  });

  it('are refused when a chain leads to other certificates than its id says', async () => {
    const store = createMemoryCustodyStore();
    const custody = newCustody(store);
    const { chain } = await custody.userKey(owner());
    await custody.userKey(owner({ msisdn: '41700092502' }));
    store.records.set(`chain:${chain.id}`, 'user:41700092502:sim:EC');
    await expect(newCustody(store).chain(chain.id)).rejects.toThrow('the stored chain record is damaged');
  });

  it('are refused when they are not what the custody writes', async () => {
    for (const text of ['', 'null', '{"certificate":"AAAA"}', '{"certificate":"*","key":"x"}']) {
      const store = createMemoryCustodyStore();
      store.records.set('ca:root', text);
      await expect(newCustody(store).trust()).rejects.toThrow('the stored ca:root record is damaged');
    }
  });
});
