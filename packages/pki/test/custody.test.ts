import { generateKeyPairSync } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { createMemoryCustodyStore } from '../../../test/support/memory-custody-store.ts';
import { LostAuthorityError } from '../src/authorities.ts';
import { createKeyCustody } from '../src/custody.ts';
import type { KeyCustody } from '../src/ports.ts';
import { describeCustody } from './custody-contract.ts';
import { keyObjectOf, newCustody, now, owner, serviceKey } from './fixtures.ts';

describeCustody('the key custody', (options) =>
  createKeyCustody({ serviceKey, now: () => now, ...options }),
);

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
      const jwk = keyObjectOf(privateKey).export({ format: 'jwk' });
      for (const secret of [jwk.d, jwk.p, jwk.q, jwk.dp, jwk.dq, jwk.qi].filter(
        (part) => part !== undefined,
      )) {
        expect(stored).not.toContain(secret);
        expect(stored).not.toContain(
          Buffer.from(secret, 'base64url').toString('base64').slice(0, 40),
        );
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
    const stranger = createKeyCustody({ store, serviceKey: Buffer.alloc(32, 8), now: () => now });
    await expect(stranger.userKey(owner())).rejects.toThrow(
      'The master key does not open the stored ca:',
    );
    await expect(stranger.trust()).rejects.toThrow(
      'The master key does not open the stored ca:root record',
    );
    expect(() => createKeyCustody({ store, serviceKey: Buffer.alloc(16), now: () => now })).toThrow(
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
    await expect(newCustody(store).userKey(owner())).rejects.toThrow(
      'the stored user record is damaged',
    );
  });

  it('are refused when a chain leads to other certificates than its id says', async () => {
    const store = createMemoryCustodyStore();
    const custody = newCustody(store);
    const { chain } = await custody.userKey(owner());
    await custody.userKey(owner({ msisdn: '41700092502' }));
    store.records.set(`chain:${chain.id}`, 'user:41700092502:sim:EC');
    await expect(newCustody(store).chain(chain.id)).rejects.toThrow(
      'the stored chain record is damaged',
    );
  });

  it('are refused when they are not what the custody writes', async () => {
    for (const text of ['', 'null', '{"certificate":"AAAA"}', '{"certificate":"*","key":"x"}']) {
      const store = createMemoryCustodyStore();
      store.records.set('ca:root', text);
      await expect(newCustody(store).trust()).rejects.toThrow(
        'the stored ca:root record is damaged',
      );
    }
  });
});

describe('a custody whose store was emptied or exchanged', () => {
  const signs = async (custody: KeyCustody): Promise<readonly string[]> => {
    const tried = await Promise.allSettled([
      custody.userKey(owner()),
      custody.userKey(owner({ msisdn: '41700092502' })),
      custody.certify(
        owner({ sscdId: 'app-1' }),
        generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey,
      ),
      custody.evidenceKey(),
      custody.timeStampKey(),
      custody.authorities(),
      custody.rollOver('root'),
      custody.reassignNumber('41700092501'),
    ]);
    return tried.map((each) => (each.status === 'fulfilled' ? 'signs' : each.reason.name));
  };
  const none = Array(8).fill('LostAuthorityError');

  const exchanged = async () => {
    const clock = { now };
    const store = createMemoryCustodyStore();
    const custody = createKeyCustody({ store, serviceKey, now: () => clock.now });
    await custody.userKey(owner());
    const [kept, hashes] = [new Map(store.records), new Map(store.hashes)];
    store.records.clear();
    store.hashes.clear();
    clock.now += 1000;
    return { clock, store, custody, kept, hashes };
  };

  it('signs nothing under the authority that is gone, and puts nothing into the new store', async () => {
    const { store, custody } = await exchanged();
    expect(await signs(custody)).toEqual(none);
    expect([...store.records.keys()]).toEqual([]);
    const other = newCustody(store);
    await other.trust();
    const names = [...store.records.keys()];
    expect(await signs(custody)).toEqual(none);
    expect([...store.records.keys()]).toEqual(names);
    await expect(custody.refresh()).rejects.toThrow(
      'Redis no longer has the certificate authority that this process signs under',
    );
  });

  it('goes on when its authority is back', async () => {
    const { clock, store, custody, kept, hashes } = await exchanged();
    await expect(custody.userKey(owner())).rejects.toThrow(LostAuthorityError);
    for (const [name, text] of kept) store.records.set(name, text);
    for (const [name, fields] of hashes) store.hashes.set(name, fields);
    clock.now += 1000;
    expect((await custody.userKey(owner())).serialNumber).toMatch(/^MIDCHE/);
  });
});
