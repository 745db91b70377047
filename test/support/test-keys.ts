/**
 * RSA keys of the products of tests. To make one takes a core 0.15 s, and each OpenID tenant needs
 * one. Within a file all keys differ, as they do in a service; the next file that a process of
 * vitest takes gets the same ones. The tests of OpenID, phones and certificates take 56 s of CPU
 * in place of 59.
 */
import { expect } from 'vitest';
import { ownVault } from '../../packages/pki/src/key-vault.ts';
import type { KeyVault, MadeKey } from '../../packages/pki/src/ports.ts';
import { definePart } from '../../src/part/part.ts';

const rsaKeys: Promise<MadeKey>[] = [];
let file: string | undefined;
let used = 0;

const nextRsaKey = (): Promise<MadeKey> => {
  const { testPath } = expect.getState();
  if (testPath !== file) used = 0;
  file = testPath;
  const key = rsaKeys[used] ?? ownVault.make('', 'RSA');
  rsaKeys[used] = key;
  used += 1;
  return key;
};

/** Keys of this process; see above. */
export const testVault: KeyVault = {
  ...ownVault,
  make: (name, type) => (type === 'RSA' ? nextRsaKey() : ownVault.make(name, type)),
};

/** Has a product make its keys with {@link testVault}, unless another part has a place for them. */
export const testKeys = definePart({
  name: 'test-keys',
  openKeyPlace: async () => ({
    vault: () => testVault,
    open: async () => undefined,
    checks: [],
    close: async () => undefined,
  }),
});
