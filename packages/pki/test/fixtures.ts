import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createMemoryCustodyStore } from '../../../test/support/memory-custody-store.ts';
import { readElement } from '../src/ber.ts';
import { attachCertificates, signCms } from '../src/cms.ts';
import { createKeyCustody } from '../src/custody.ts';
import { ownVault } from '../src/key-vault.ts';
import type { KeyCustody, KeyOwner, KeyVault, PrivateKey, UserKey } from '../src/ports.ts';

/**
 * What the tests of this room share: a custody at a fixed time, and a signature that the live
 * service made.
 */
export const now = Date.parse('2026-03-01T12:00:00Z');
export const serviceKey = Buffer.alloc(32, 7);

const keyObjects = new WeakMap<PrivateKey, KeyObject>();

const noting = (privateKey: PrivateKey, kept: unknown): PrivateKey => {
  keyObjects.set(privateKey, createPrivateKey({ key: kept as JsonWebKey, format: 'jwk' }));
  return privateKey;
};

/** The vault of the service, whose keys a test can have. */
export const openVault: KeyVault = {
  ...ownVault,
  make: async (...given) => {
    const made = await ownVault.make(...given);
    return { ...made, privateKey: noting(made.privateKey, made.kept) };
  },
  open: (kept) => noting(ownVault.open(kept), kept),
};

/** The key itself, of a custody with {@link openVault}: to forge with it. */
export const keyObjectOf = (privateKey: PrivateKey): KeyObject => {
  const found = keyObjects.get(privateKey);
  if (found === undefined) throw new Error('the key is of another custody');
  return found;
};

export const newCustody = (store = createMemoryCustodyStore()): KeyCustody =>
  createKeyCustody({ store, serviceKey, now: () => now, vault: openVault });

export const owner = (change: Partial<KeyOwner> = {}): KeyOwner => ({
  msisdn: '41700092501',
  sscdId: 'sim',
  algorithm: 'EC',
  expired: false,
  ...change,
});

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The signature as it is handed out: with the user's chain. */
export const signComplete = async (key: UserKey, text: string): Promise<Uint8Array> =>
  attachCertificates(await signCms({ content: utf8(text), key }), key.chain.certificates);

const fixture = (name: string): Buffer =>
  readFileSync(new URL(`./fixtures/${name}`, import.meta.url));

/** BER, over `Test: Sign in from Postman?`, by an EC key under RSASSA-PSS authorities. */
export const realSignature: Uint8Array = fixture('real-signature.cms.der');
export const realSubjectNames: readonly string[] = JSON.parse(
  fixture('real-subject-names.json').toString(),
);
/** User, issuing authority, root. */
export const realCertificates: readonly Uint8Array[] = (
  readElement(realSignature)?.children[1]?.children[0]?.children[3]?.children ?? []
).map(({ bytes }) => bytes);
export const duringRealSignature = new Date('2024-07-02T12:00:00Z');
