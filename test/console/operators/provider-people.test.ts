/** Whom the claims of an ID token of the organisation's provider make of a person. */
import { describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';
import {
  type OpenidProviderSettings,
  readProviderPerson,
} from '../../../src/console/operators/provider-people.ts';

const given = {
  issuer: 'https://login.example/realms/house',
  clientId: 'paraph',
  clientSecretFile: '/run/secrets/paraph',
  roleClaim: 'realm_access.roles',
  roles: { ops: 'operator', boss: 'admin' },
};

const problemsOf = (changes: object): readonly string[] => {
  const openidProvider = { ...given, ...changes };
  const loaded = parseConfiguration(JSON.stringify({ operations: { openidProvider } }));
  return loaded.ok ? [] : loaded.problems;
};

const settings: OpenidProviderSettings = {
  ...given,
  name: 'Example',
  scopes: ['openid'],
  nameClaim: 'preferred_username',
  roles: { ops: 'operator', boss: 'admin' },
};

const read = (claims: object, changes: Partial<OpenidProviderSettings> = {}) =>
  readProviderPerson(
    { ...settings, ...changes },
    { sub: 's', preferred_username: 'olga', ...claims },
  );

describe('a person of the provider', () => {
  it('is found by a claim in an object, and by one whose name has dots', () => {
    const person = { kind: 'person', name: 'provider:olga', role: 'operator', subject: 's' };
    expect(read({ realm_access: { roles: ['ops'] } })).toEqual(person);
    const roleClaim = 'https://example.com/roles';
    expect(read({ [roleClaim]: ['ops'] }, { roleClaim })).toEqual(person);
  });

  it.each([
    ['another kind of object', { realm_access: ['ops'] }],
    ['an object without it', { realm_access: {} }],
    ['no list of texts', { realm_access: { roles: [['ops'], { ops: true }, 1] } }],
  ])('has no role with %s', (_, claims) => {
    expect(read(claims)).toEqual({ kind: 'no-role', name: 'provider:olga', subject: 's' });
  });

  it.each(['olga', 'Olga Müller', 'olga@example.com', "Ólafur O'Hara", '大川', '7'])(
    'may have the name %s',
    (name) => {
      const person = read({ preferred_username: name, realm_access: { roles: ['boss'] } });
      expect(person).toMatchObject({ kind: 'person', name: `provider:${name}`, role: 'admin' });
    },
  );

  it('has one name in whichever form its letters come', () => {
    const name = 'Zoë'.normalize('NFD');
    expect(read({ preferred_username: name })).toMatchObject({
      name: `provider:${'Zoë'.normalize('NFC')}`,
    });
  });
});

describe('operations.openidProvider', () => {
  it('has defaults for what may be left out', () => {
    const loaded = parseConfiguration(JSON.stringify({ operations: { openidProvider: given } }));
    expect(loaded.ok && loaded.value.operations.openidProvider).toEqual({
      ...given,
      name: 'your organisation',
      scopes: ['openid', 'profile'],
      nameClaim: 'preferred_username',
    });
  });

  it.each([
    [{ issuer: 'http://login.example' }, 'issuer: must be an https URL'],
    [{ issuer: 'https://login.example?topsecret' }, 'issuer: must be an https URL'],
    [{ clientSecret: 'topsecret' }, 'clientSecret: unknown key'],
    [{ clientSecretFile: undefined }, 'clientSecretFile: missing'],
    [{ scopes: ['profile'] }, 'scopes: must have openid'],
    [{ scopes: ['openid', 'a topsecret'] }, 'scopes[1]: must be a scope'],
    [{ roles: {} }, 'roles: must name a value at least'],
    [{ roles: { ops: 'topsecret' } }, 'roles.ops: '],
    [{ roleClaim: undefined }, 'roleClaim: missing'],
  ])('says what is wrong and never the value: %j', (changes, problem) => {
    const found = problemsOf(changes);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`operations.openidProvider.${problem}`);
    expect(found[0]).not.toContain('topsecret');
  });
});
