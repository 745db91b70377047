/** Clients that parts bring, beside those of the configuration file. */
import { expect, it } from 'vitest';
import { parseConfiguration } from '../../src/app/configuration/load.ts';
import { configuredTenants } from '../../src/app/configured-tenants.ts';
import { definePart } from '../../src/part/part.ts';
import { plainClient } from '../../src/registry/oauth-client.ts';

const clientOf = (id: string, name: string) => ({ ...plainClient, id, name, sector: id });

const part = definePart({
  name: 'stand',
  oauthClients: ({ sandbox }, publicUrl) => [
    clientOf('one', publicUrl),
    clientOf('two', sandbox ? 'in a sandbox' : 'outside'),
  ],
});

it('are clients of the first tenant, where none of their id is', () => {
  const own = {
    id: 'one',
    name: 'Own',
    authentication: 'none',
    redirectUris: ['https://own.example/'],
  };
  const tenants = [
    { id: 'a', name: 'A', clients: [own] },
    { id: 'b', name: 'B', clients: [] },
  ];
  const loaded = parseConfiguration(JSON.stringify({ oidc: { tenants } }));
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const configuration = loaded.value;
  const found = configuredTenants({ configuration, parts: [part] }, 'https://sign.example');
  expect(found.map(({ id, clients }) => [id, clients.map(({ name }) => name)])).toEqual([
    ['a', ['Own', 'outside']],
    ['b', []],
  ]);
  expect(found[0]?.clients[0]).toBe(configuration.oidc.tenants[0]?.clients[0]);
  expect(configuredTenants({ configuration, parts: [] })).toEqual(configuration.oidc.tenants);
});
