import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfiguration } from '../../src/app/configuration/load.ts';
import { verifyPassword } from '../../src/registry/passwords.ts';
import { run } from './terminal.ts';

const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'paraph-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const fileWith = (configuration: unknown): string => {
  const path = join(temporaryFolder(), 'configuration.json');
  writeFileSync(
    path,
    typeof configuration === 'string' ? configuration : JSON.stringify(configuration),
  );
  return path;
};

const keyFile = (jwk: unknown): string => {
  const path = join(temporaryFolder(), 'keys.json');
  writeFileSync(path, typeof jwk === 'string' ? jwk : JSON.stringify(jwk));
  return path;
};

const shop = ['--id', 'shop', '--name', 'Shop', '--redirect-uri', 'https://shop.example/cb'];

const add = (file: string, ...more: readonly string[]) =>
  run(['clients', 'add', ...shop, '--config', file, ...more]);

const clientsIn = async (file: string, tenant = 0) => {
  const loaded = await loadConfiguration(file);
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  return loaded.value.oidc.tenants[tenant]?.clients ?? [];
};

const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const publicJwk = { ...keys.publicKey.export({ format: 'jwk' }), kid: 'one' };

describe('paraph clients add', () => {
  it('prints a new secret once and stores its hash only', async () => {
    const file = fileWith({ sandbox: true });
    const { exitCode, stdout, stderr } = await add(file);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const secret = /client_secret +(\S+)/.exec(stdout)?.[1] ?? '';
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    expect(stdout.split(secret)).toHaveLength(2);
    expect(readFileSync(file, 'utf8')).not.toContain(secret);
    const [client] = await clientsIn(file);
    expect(client).toMatchObject({ id: 'shop', name: 'Shop', authentication: 'client_secret' });
    expect(await verifyPassword(client?.secretHash ?? '', secret)).toBe(true);
  });

  it('tells a script the same', async () => {
    const file = fileWith({});
    const { json } = await add(file, '--json', '--auth', 'client_secret_post');
    expect(json()).toEqual({
      outcome: 'ok',
      file,
      tenant: 'default',
      client: { id: 'shop', name: 'Shop', authentication: 'client_secret_post' },
      secret: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it('writes every option down', async () => {
    const file = fileWith({});
    const ran = await add(
      file,
      ...['--redirect-uri', 'http://127.0.0.1:3000/cb', '--sector', 'shop.example'],
      ...['--post-logout-redirect-uri', 'https://shop.example/'],
      ...['--auth', 'private_key_jwt', '--jwks', keyFile({ keys: [publicJwk] })],
      ...['--scope', 'phone profile', '--scope', 'mid_cms', '--refresh-tokens', '--login-hint'],
      ...['--par-status', '201'],
    );
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(ran.stdout).not.toContain('client_secret');
    const clients = await clientsIn(file);
    expect(clients[0]).not.toHaveProperty('secretHash');
    expect(clients).toMatchObject([
      {
        redirectUris: ['https://shop.example/cb', 'http://127.0.0.1:3000/cb'],
        postLogoutRedirectUris: ['https://shop.example/'],
        authentication: 'private_key_jwt',
        keys: [publicJwk],
        scopes: ['openid', 'offline_access', 'profile', 'phone', 'mid_cms'],
        refreshTokens: true,
        loginHintAllowed: true,
        parSuccessStatus: 201,
        sector: 'shop.example',
      },
    ]);
  });

  it('makes no secret for a public client', async () => {
    const file = fileWith({});
    const { json } = await add(file, '--public', '--json');
    expect(json()).toMatchObject({ outcome: 'ok', client: { authentication: 'none' } });
    expect(json()).not.toHaveProperty('secret');
  });

  it('takes a single key as well as a key set', async () => {
    const file = fileWith({});
    const ran = await add(file, '--auth', 'private_key_jwt', '--jwks', keyFile(publicJwk));
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(await clientsIn(file)).toMatchObject([{ keys: [publicJwk] }]);
  });

  it('adds to the tenant that is named and leaves all else as it was', async () => {
    const before = {
      appScheme: 'paraph',
      oidc: {
        codeSeconds: 30,
        tenants: [
          { id: 'a', name: 'A' },
          {
            id: 'b',
            name: 'B',
            clients: [
              { id: 'app', name: 'App', authentication: 'private_key_jwt', keys: [publicJwk] },
            ],
          },
        ],
      },
    };
    const file = fileWith(before);
    expect(await add(file, '--public', '--tenant', 'b')).toMatchObject({ exitCode: 0 });
    const text = readFileSync(file, 'utf8');
    const after = JSON.parse(text);
    expect(text).toBe(`${JSON.stringify(after, null, 2)}\n`);
    expect(after.oidc.tenants[1].clients.pop()).toEqual({
      id: 'shop',
      name: 'Shop',
      authentication: 'none',
      redirectUris: ['https://shop.example/cb'],
    });
    expect(after).toEqual(before);
  });

  it('keeps the mode of the file, and a link to it', async () => {
    const file = fileWith({});
    chmodSync(file, 0o640);
    const link = join(temporaryFolder(), 'link.json');
    symlinkSync(file, link);
    expect(await add(link, '--public')).toMatchObject({ exitCode: 0 });
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(await clientsIn(file)).toHaveLength(1);
  });

  it('takes the file from PARAPH_CONFIG', async () => {
    const file = fileWith({});
    await run(['clients', 'add', ...shop, '--public'], { env: { PARAPH_CONFIG: file } });
    expect(await clientsIn(file)).toHaveLength(1);
    const { exitCode, stderr } = await run(['clients', 'add', ...shop]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('Name it with --config or PARAPH_CONFIG');
  });

  it('begins a file only with --create, for its owner alone', async () => {
    const file = join(temporaryFolder(), 'new.json');
    const refused = await add(file, '--public');
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: 'paraph: There is no configuration file at that path; --create begins one.\n',
    });
    expect(existsSync(file)).toBe(false);
    expect(await add(file, '--public', '--create')).toMatchObject({ exitCode: 0 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await clientsIn(file)).toHaveLength(1);
  });

  it('loses none of several that are added at the same time', async () => {
    const file = fileWith({});
    const ran = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        run([
          'clients',
          'add',
          '--public',
          '--id',
          `c${index}`,
          ...shop.slice(2),
          '--config',
          file,
        ]),
      ),
    );
    const added = ran.filter(({ exitCode }) => exitCode === 0);
    expect(added.length).toBeGreaterThan(0);
    expect(await clientsIn(file)).toHaveLength(added.length);
    for (const { exitCode, stderr } of ran) {
      if (exitCode !== 0) expect(stderr).toContain('Another command changes this configuration.');
    }
  });

  const privateJwk = keys.privateKey.export({ format: 'jwk' });
  const unusable = 'paraph: Nothing was written, because the configuration would not be usable:\n';

  it.each([
    [
      ['--redirect-uri', 'http://hunter2.example/'],
      `${unusable}  oidc.tenants[0].clients[0].redirectUris[1]: `,
    ],
    [
      ['--auth', 'private_key_jwt'],
      `${unusable}  oidc.tenants[0].clients[0].keys: must not be empty`,
    ],
    [
      ['--auth', 'private_key_jwt', '--jwks', () => keyFile({ keys: [privateJwk] })],
      `${unusable}  oidc.tenants[0].clients[0].keys[0].d: must not be here`,
    ],
    [['--scope', 'hunter2'], `${unusable}  oidc.tenants[0].clients[0].scopes[1]: `],
    [
      ['--auth', 'hunter2'],
      'paraph: --auth must be one of client_secret, client_secret_basic, client_secret_post',
    ],
    [
      ['--auth', 'client_secret_post', '--public'],
      'paraph: --public and --auth exclude each other.',
    ],
    [['--par-status', 'hunter2'], 'paraph: --par-status must be 200 or 201.'],
    [['--tenant', 'hunter2'], 'paraph: The configuration has no tenant of the id in --tenant.'],
    [['--jwks', '/nonexistent/keys.json'], 'paraph: The file that --jwks names cannot be read.'],
    [
      ['--jwks', () => keyFile('hunter2')],
      'paraph: The file that --jwks names must be a JSON Web Key Set, or one key of it.',
    ],
  ])('with %j is refused, and nothing is written or told', async (more, sentence) => {
    const file = fileWith({ sandbox: true });
    const before = readFileSync(file, 'utf8');
    const { exitCode, stdout, stderr } = await add(
      file,
      ...more.map((each) => (typeof each === 'string' ? each : each())),
    );
    expect(stderr.slice(0, sentence.length)).toBe(sentence);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).not.toContain('hunter2');
    expect(stderr).not.toContain(String(privateJwk.d));
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(readdirSync(join(file, '..'))).toEqual(['configuration.json']);
  });

  it('refuses an id that the tenant has', async () => {
    const file = fileWith({});
    await add(file, '--public');
    expect(await add(file, '--public')).toMatchObject({
      exitCode: 2,
      stderr: 'paraph: The tenant has a client of this id already.\n',
    });
    expect(await clientsIn(file)).toHaveLength(1);
  });

  it.each([['{"sandbox":hunter2'], ['{"surprise":"hunter2"}']])(
    'touches no file that is not usable as it stands (%j)',
    async (text) => {
      const file = fileWith(text);
      const { exitCode, stderr } = await add(file, '--public');
      expect(exitCode).toBe(2);
      expect(stderr).toContain('not usable as it stands');
      expect(stderr).not.toContain('hunter2');
      expect(readFileSync(file, 'utf8')).toBe(text);
    },
  );
});

describe('paraph clients list', () => {
  it('shows ids, names and methods, and no hashes', async () => {
    const file = fileWith({});
    await add(file);
    await run(['clients', 'add', '--public', '--id', 'app', ...shop.slice(2), '--config', file]);
    const { exitCode, stdout } = await run(['clients', 'list', '--config', file]);
    expect(exitCode).toBe(0);
    expect(stdout).toBe(
      ['  shop  default  client_secret  Shop', '  app   default  none           Shop', ''].join(
        '\n',
      ),
    );
    const { json } = await run(['clients', 'list', '--json'], { env: { PARAPH_CONFIG: file } });
    expect(json().clients[0]).toEqual({
      tenant: 'default',
      id: 'shop',
      name: 'Shop',
      authentication: 'client_secret',
      demo: false,
    });
  });

  it('has the demo clients of a sandbox', async () => {
    const { stdout } = await run(['clients', 'list']);
    expect(stdout).toMatch(
      /^ {2}demo +default {2}client_secret {2}Demo \(sandbox\)\n {2}demo-public /,
    );
    expect((await run(['clients', 'list', '--config', fileWith({})])).stdout).toBe(
      'There are no clients.\n',
    );
  });
});
