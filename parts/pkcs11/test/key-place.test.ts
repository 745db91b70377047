/** What needs no token: the configuration, and what is said where a token cannot be used. */
import { describe, expect, it } from 'vitest';
import { ownVault } from '../../../packages/pki/src/key-vault.ts';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';
import { openKeyPlace } from '../../../src/app/key-place.ts';
import { settingsOf } from '../../../src/app/part-rooms.ts';
import { SettingFileError } from '../../../src/environment/setting-file.ts';
import { PartSetupError } from '../../../src/part/opened.ts';
import type { KeyPlaceRooms } from '../../../src/part/rooms.ts';
import { createPkcs11 } from '../part.ts';

const threadFile = new URL('../../../dist/parts/pkcs11/token-thread.js', import.meta.url);
const token = { kind: 'pkcs11', module: '/usr/lib/no-such-library.so', tokenLabel: 'paraph' };

const problemsOf = (custody: object): readonly string[] => {
  const loaded = parseConfiguration(JSON.stringify({ custody }));
  return loaded.ok ? [] : loaded.problems;
};

const placeOf = (custody: object, variables: KeyPlaceRooms['variables'] = {}) => {
  const loaded = parseConfiguration(JSON.stringify({ custody }));
  if (!loaded.ok) throw new Error(loaded.problems.join());
  return openKeyPlace([createPkcs11(threadFile)], {
    settings: settingsOf(loaded.value),
    prefix: 'place',
    variables,
    log: { info: () => undefined },
    onError: () => undefined,
  });
};

describe('custody in the configuration', () => {
  it.each<[string, object, readonly string[]]>([
    ['a token by its label', token, []],
    ['a token by its slot', { kind: 'pkcs11', module: 'a.so', slot: 0 }, []],
    ['the store', { kind: 'store' }, []],
    [
      'no token',
      { kind: 'pkcs11', module: 'a.so' },
      ['custody.tokenLabel: must be set, or slot instead'],
    ],
    ['a token twice', { ...token, slot: 1 }, ['custody.tokenLabel: must be set, or slot instead']],
    ['a PIN', { ...token, pin: '1234' }, ['custody.pin: unknown key']],
  ])('may name %s, or says what is wrong', (_, custody, problems) => {
    expect(problemsOf(custody)).toEqual(problems);
  });
});

describe('the place of private keys', () => {
  it('is this process where the configuration names no token', async () => {
    const place = await placeOf({ kind: 'store' });
    expect(place.vault()).toBe(ownVault);
    expect(place.checks).toEqual([]);
  });

  it('names the settings of the PIN when there is none', async () => {
    const place = await placeOf(token);
    await expect(place.open()).rejects.toThrow(
      new PartSetupError(
        'custody.pinFile, or the variable PARAPH_TOKEN_PIN, must give the PIN of the token',
      ),
    );
    await place.close();
  });

  it('refuses a file of the PIN that cannot be read, before anything asks the token', async () => {
    const place = await placeOf({ ...token, pinFile: '/no/such/pin' });
    await expect(place.open()).rejects.toThrow(
      new SettingFileError('custody.pinFile', 'the file cannot be read (ENOENT)'),
    );
    await place.close();
  });

  it('names the package to install when a token is configured and it is missing', async () => {
    const place = await placeOf(token, { PARAPH_TOKEN_PIN: '73914' });
    const opening = place.open();
    await expect(opening).rejects.toBeInstanceOf(PartSetupError);
    await expect(opening).rejects.toThrow('the package pkcs11js is not installed');
    const [check] = place.checks;
    expect(check?.name).toBe('token');
    expect(await check?.look()).toEqual({
      ok: true,
      reason: 'The token is away: what needs its keys waits',
    });
    await place.close();
  });
});

it('a key of a token is refused in a sentence where the configuration names none', () => {
  const kept = { token: '00'.repeat(16), publicKey: { kty: 'EC' } };
  expect(() => ownVault.open(kept)).toThrow('the private key is in another place, such as a token');
});
