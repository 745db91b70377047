/**
 * Logging in to the console at a Keycloak from Maven Central, the OpenID provider that many
 * organisations run: `npm run interop`. Where Maven or its registry is missing, it is left out and
 * the output says so.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createBrowser } from '../oauth/browser-client.ts';
import { freePorts } from '../support/free-ports.ts';
import { startTestProduct, type TestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { installIn } from './install.ts';

const version = '26.7.3';
const clientSecret = 'a-secret-of-the-house';
const redis = testRedis();
const folder = mkdtempSync(join(tmpdir(), 'paraph-keycloak-'));

const install = installIn(folder);
const hasKeycloak = install('keycloak (Maven Central)', [
  ...(['mvn', '--batch-mode', '--quiet', 'dependency:unpack'] as const),
  `-Dartifact=org.keycloak:keycloak-quarkus-dist:${version}:zip`,
  `-DoutputDirectory=${folder}`,
]);

let keycloak: ChildProcess | undefined;
let output = '';
let product: TestProduct;
let issuer: string;

const user = (username: string, realmRoles: readonly string[]) => ({
  username,
  realmRoles,
  enabled: true,
  emailVerified: true,
  email: `${username}@house.example`,
  firstName: username,
  lastName: 'Example',
  credentials: [{ type: 'password', value: `password of ${username}`, temporary: false }],
});

const realmFor = (publicUrl: string) => ({
  realm: 'house',
  enabled: true,
  roles: { realm: [{ name: 'sign-operators' }, { name: 'sign-admins' }] },
  users: [user('olga', ['sign-operators', 'sign-admins']), user('nora', [])],
  clients: [
    {
      clientId: 'paraph',
      secret: clientSecret,
      redirectUris: [`${publicUrl}/admin/login/provider/callback`],
      attributes: { 'pkce.code.challenge.method': 'S256' },
      protocolMappers: [
        {
          name: 'roles in the ID token',
          protocol: 'openid-connect',
          protocolMapper: 'oidc-usermodel-realm-role-mapper',
          config: {
            'claim.name': 'realm_access.roles',
            'jsonType.label': 'String',
            multivalued: 'true',
            'id.token.claim': 'true',
          },
        },
      ],
    },
  ],
});

const startKeycloak = async (port: number, publicUrl: string): Promise<void> => {
  const home = join(folder, readdirSync(folder).find((name) => name.startsWith('keycloak-')) ?? '');
  mkdirSync(join(home, 'data/import'), { recursive: true });
  writeFileSync(join(home, 'data/import/house-realm.json'), JSON.stringify(realmFor(publicUrl)));
  const words = ['start-dev', '--import-realm', '--http-host=127.0.0.1', `--http-port=${port}`];
  // A group of its own: its script starts Java.
  keycloak = spawn('sh', [join(home, 'bin/kc.sh'), ...words], { detached: true });
  for (const stream of [keycloak.stdout, keycloak.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  }
  await vi.waitFor(
    async () =>
      expect((await fetch(`${issuer}/.well-known/openid-configuration`)).status).toBe(200),
    { timeout: 240_000, interval: 500 },
  );
};

const stopKeycloak = async (): Promise<void> => {
  const { pid, exitCode } = keycloak ?? {};
  if (keycloak === undefined || pid === undefined || exitCode !== null) return;
  const ended = new Promise((resolve) => keycloak?.once('exit', resolve));
  process.kill(-pid, 'SIGKILL');
  await ended;
  keycloak = undefined;
};

beforeAll(async () => {
  if (!hasKeycloak) return;
  const [port = 0] = await freePorts(1);
  issuer = `http://127.0.0.1:${port}/realms/house`;
  const clientSecretFile = join(folder, 'client-secret');
  writeFileSync(clientSecretFile, clientSecret);
  product = await startTestProduct(redis, {
    listen: true,
    workers: false,
    configuration: {
      operations: {
        openidProvider: {
          name: 'the house',
          issuer,
          clientId: 'paraph',
          clientSecretFile,
          roleClaim: 'realm_access.roles',
          roles: { 'sign-operators': 'operator', 'sign-admins': 'admin' },
        },
      },
    },
  });
  await startKeycloak(port, product.url).catch((error: unknown) => {
    throw new Error(`Keycloak did not start: ${output.slice(-2000)}`, { cause: error });
  });
}, 300_000);
afterAll(async () => {
  await stopKeycloak();
  await product?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** Types name and password at Keycloak's own page. @returns The address that it leads back to. */
const typeAtKeycloak = async (address: string, name: string): Promise<string> => {
  const page = await fetch(address, { redirect: 'manual' });
  const html = await page.text();
  const action = /<form[^>]*action="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
  if (action === undefined)
    throw new Error(`Keycloak shows no form: ${page.status} ${html.slice(0, 500)}`);
  const cookie = page.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ');
  const body = new URLSearchParams({ username: name, password: `password of ${name}` });
  const sent = await fetch(action, {
    method: 'POST',
    headers: { cookie },
    body,
    redirect: 'manual',
  });
  return sent.headers.get('location') ?? '';
};

describe.skipIf(!hasKeycloak)('a login to the console at Keycloak', () => {
  const begin = async (name: string) => {
    const browser = createBrowser({ origin: product.url });
    const { headers } = await browser.request('/admin/login/provider?next=%2Fadmin%2Faudit');
    return { browser, callback: await typeAtKeycloak(headers.get('location') ?? '', name) };
  };

  it('gives a session with the name and the highest role of the account', async () => {
    const { browser, callback } = await begin('olga');
    expect(callback).toMatch(`${product.url}/admin/login/provider/callback?`);
    const back = await browser.request(callback);
    expect(await back.text()).toContain('You are in, provider:olga');
    expect(back.headers.get('refresh')).toBe('0;url=/admin/audit');
    const session = await (await browser.request('/admin/api/session')).json();
    expect(session).toMatchObject({ name: 'provider:olga', role: 'admin', via: 'provider' });
    const { entries } = (await (await browser.request('/admin/api/audit')).json()) as {
      readonly entries: readonly object[];
    };
    expect(entries).toContainEqual(
      expect.objectContaining({ who: 'provider:olga', via: 'provider', action: 'login' }),
    );
  });

  it('is refused to an account without a role, with what to ask for', async () => {
    const { browser, callback } = await begin('nora');
    const back = await browser.request(callback);
    expect(back.status).toBe(403);
    const page = await back.text();
    expect(page).toContain('<strong>nora</strong>');
    expect(page).toContain('<code>sign-operators</code> for the role operator');
  });

  it('that ends before the code is redeemed leads back to the login page, where a link works', async () => {
    const { browser, callback } = await begin('olga');
    await stopKeycloak();
    const back = await browser.request(callback);
    expect(back.headers.get('location')).toBe('/admin/login?provider=away&next=%2Fadmin%2Faudit');
    const [, token = ''] = (await product.api.consoleLink()).split('token=');
    const entered = await browser.request('/admin/login/link', {
      method: 'POST',
      body: new URLSearchParams({ token }),
    });
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/admin']);
  });
});
