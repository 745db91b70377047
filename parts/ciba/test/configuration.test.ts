import { describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';
import { publicJwkOf, secretHash } from '../../../test/app/configuration/oidc-full.ts';

const keyed = { authentication: 'private_key_jwt', keys: [publicJwkOf('EC')] };

/** A configuration whose second client of its second tenant has these members. */
const load = (members: object) =>
  parseConfiguration(
    JSON.stringify({
      oidc: {
        tenants: [
          { id: 'main', name: 'Main' },
          {
            id: 'other',
            name: 'Other',
            clients: [
              { id: 'site', name: 'Site', secretHash },
              { id: 'till', name: 'Till', ...members },
            ],
          },
        ],
      },
    }),
  );

const place = 'oidc.tenants[1].clients[1].backchannel';

describe('the configuration of a client without a browser', () => {
  it.each([
    [{ kind: 'poll' }],
    [{ kind: 'ping', notificationEndpoint: 'https://shop.example/ping' }],
    [{ kind: 'ping', notificationEndpoint: 'http://127.0.0.1:3000/ping' }],
  ])('takes %j', (backchannel) => {
    const loaded = load({ ...keyed, backchannel });
    if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
    const [site, till] = loaded.value.oidc.tenants[1]?.clients ?? [];
    expect(till).toMatchObject({ id: 'till', backchannel });
    expect(site).not.toHaveProperty('backchannel');
  });

  it.each([
    [
      'a client with a secret',
      { secretHash, backchannel: { kind: 'poll' } },
      `${place}: may be there only for private_key_jwt`,
    ],
    [
      'a ping over plain HTTP',
      { ...keyed, backchannel: { kind: 'ping', notificationEndpoint: 'http://a.example/' } },
      `${place}.notificationEndpoint: must be an https address, or an http one to this machine`,
    ],
    [
      'a ping to nowhere',
      { ...keyed, backchannel: { kind: 'ping' } },
      `${place}.notificationEndpoint: missing`,
    ],
    [
      'an address for a client that only polls',
      { ...keyed, backchannel: { kind: 'poll', notificationEndpoint: 'https://a.example/' } },
      `${place}.notificationEndpoint: unknown key`,
    ],
    [
      'a client whose logins the phone begins',
      { ...keyed, backchannel: { kind: 'poll' }, phoneStart: 'required' },
      `${place}: must not be there when phoneStart is required: it begins logins by number`,
    ],
  ])('refuses %s', (_case, members, problem) => {
    const loaded = load(members);
    expect(loaded.ok ? [] : loaded.problems).toEqual([problem]);
  });
});
