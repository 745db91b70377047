/** The clients of a sandbox. */
import { describe, expect, it } from 'vitest';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';
import { verifyPassword } from '../../../src/registry/passwords.ts';
import { demoCallbackPath, demoClients, demoSecret } from '../clients.ts';
import { demo } from '../part.ts';

const publicUrl = 'http://127.0.0.1:8080';

describe('the demo clients', () => {
  it('are what the file could say as well', () => {
    const clients = demoClients(publicUrl);
    const oidc = { tenants: [{ id: 'default', name: 'Paraph', clients }] };
    const loaded = parseConfiguration(JSON.stringify({ oidc }));
    if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
    expect(loaded.value.oidc.tenants[0]?.clients).toEqual(demoClients(publicUrl));
  });

  it('have the secret that the documentation tells, but for the public one', async () => {
    const secrets = demoClients(publicUrl).map(async ({ id, secretHash }) => [
      id,
      secretHash !== undefined && (await verifyPassword(secretHash, demoSecret)),
    ]);
    expect(Object.fromEntries(await Promise.all(secrets))).toEqual({
      demo: true,
      'demo-public': false,
      'demo-201': true,
    });
  });

  it('come back to this server', () => {
    for (const { redirectUris } of demoClients(publicUrl)) {
      expect(redirectUris).toEqual([`${publicUrl}${demoCallbackPath}`]);
    }
  });

  it('are those of a sandbox alone', () => {
    const settings = {
      applicationProviders: [],
      subscribers: [],
      operations: {},
      protocol: { authorities: [] },
      receipt: { timeoutSeconds: 60 },
      queue: {},
      oidc: { tenants: [] },
    };
    expect(demo.oauthClients?.({ ...settings, sandbox: false }, publicUrl)).toEqual([]);
    expect(demo.oauthClients?.({ ...settings, sandbox: true }, publicUrl)).toEqual(
      demoClients(publicUrl),
    );
  });
});
