import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ensureServiceKey } from '../../packages/pki/src/service-key.ts';
import { createKeySlots } from '../../src/app/key-slots.ts';
import { createSigningKeys } from '../../src/oauth/signing-keys.ts';
import { usualSettings } from '../oauth/interoperability/stage.ts';
import { testRedis } from '../support/redis.ts';
import { run } from './terminal.ts';

const redis = testRedis();
const begun = Date.UTC(2030, 0, 1);
const settings = { publishSeconds: 600, keepSeconds: 7200 };

const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'paraph-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** A service with two tenants whose keys have been made, and the environment of its machine. */
const startService = async () => {
  const folder = temporaryFolder();
  const masterKey = randomBytes(32);
  const prefix = `${redis.prefix.slice(-20)}-${randomBytes(4).toString('hex')}`;
  const configuration = join(folder, 'configuration.json');
  const tenants = ['main', 'other'].map((id) => ({ id, name: 'T' }));
  writeFileSync(
    configuration,
    JSON.stringify({ queue: { prefix }, oidc: { idTokenSeconds: 3600, keys: settings, tenants } }),
  );
  const client = redis.client();
  onTestFinished(async () => {
    await client.del(
      `${prefix}:master-keys`,
      ...tenants.map(({ id }) => `${prefix}:oidc:${id}:keys`),
    );
  });
  const options = { first: masterKey, now: () => begun };
  await ensureServiceKey(createKeySlots(client, prefix), masterKey, options);
  const keysOf = (tenant: string, now = begun) =>
    createSigningKeys({
      redis: client,
      prefix,
      tenant,
      serviceKey: masterKey,
      settings: { ...usualSettings, keys: settings },
      now: () => now,
    });
  const env = {
    REDIS_URL: redis.url,
    PARAPH_CONFIG: configuration,
    PARAPH_MASTER_KEY: masterKey.toString('base64url'),
    PARAPH_DATA: folder,
  };
  return { env, keysOf, folder, client, prefix };
};

const withKeys = async () => {
  const service = await startService();
  await service.keysOf('main').current();
  await service.keysOf('other').current();
  return service;
};

const now = () => begun;

interface ShownKey {
  readonly kid: string;
  readonly kty: string;
  readonly state: string;
  readonly signsFrom: string | null;
  readonly withdrawnAt: string | null;
}

const of = (state: string, keys: readonly ShownKey[]): readonly ShownKey[] =>
  keys.filter((key) => key.state === state);

describe('paraph keys list', () => {
  it('shows what signs, of each tenant', async () => {
    const { env, keysOf } = await withKeys();
    const { exitCode, json } = await run(['keys', 'list', '--json'], { env, now });
    expect(exitCode).toBe(0);
    const [main, other] = json().tenants;
    expect([main.tenant, other.tenant]).toEqual(['main', 'other']);
    const kids = (await keysOf('main').list()).map(({ kid }) => kid);
    expect(main.keys.map(({ kid }: ShownKey) => kid).sort()).toEqual([...kids].sort());
    expect(main.keys[0]).toEqual({
      kid: expect.any(String),
      kty: expect.stringMatching(/^(RSA|EC|OKP)$/),
      state: 'signing',
      signsFrom: null,
      withdrawnAt: null,
    });
  });

  it('shows a table to people, with nothing private in it', async () => {
    const { env } = await withKeys();
    const { stdout } = await run(['keys', 'list', '--tenant', 'other'], { env, now });
    expect(stdout).toMatch(/^other\n( {2}(RSA|EC {1}|OKP) {2}signing {4}[\w-]{43}\n){3}$/);
  });

  it('says that there are none, and makes none', async () => {
    const { env, client, prefix } = await startService();
    for (const command of ['list', 'rotate']) {
      const { exitCode, stdout } = await run(['keys', command, '--tenant', 'main'], { env, now });
      expect(exitCode).toBe(0);
      expect(stdout).toBe('main\n  no keys yet: the service makes them when it needs them\n');
    }
    expect(await client.exists(`${prefix}:oidc:main:keys`)).toBe(0);
  });
});

describe('paraph keys rotate', () => {
  it('publishes new keys that sign later, and says when the old ones go', async () => {
    const { env, keysOf } = await withKeys();
    const { exitCode, json } = await run(['keys', 'rotate', '--tenant', 'main', '--json'], {
      env,
      now,
    });
    expect(exitCode).toBe(0);
    const { keys } = json().tenants[0];
    expect(of('published', keys)).toHaveLength(3);
    for (const key of of('published', keys)) {
      expect(key).toMatchObject({ signsFrom: '2030-01-01T00:10:00.000Z', withdrawnAt: null });
    }
    for (const key of of('signing', keys)) expect(key.withdrawnAt).toBe('2030-01-01T02:10:00.000Z');
    // The service, which goes by the same clock, sees the same.
    const later = await keysOf('main', begun + 600_000).list();
    const signing = later.filter(({ state }) => state === 'signing').map(({ kid }) => kid);
    expect([...signing].sort()).toEqual(
      of('published', keys)
        .map(({ kid }) => kid)
        .sort(),
    );
    expect(await keysOf('other').list()).toHaveLength(3);
  });

  it('rotates every tenant unless one is named', async () => {
    const { env, keysOf } = await withKeys();
    expect(await run(['keys', 'rotate', '--tenant', 'absent'], { env, now })).toMatchObject({
      exitCode: 8,
      stderr: 'paraph: There is no tenant of this id.\n',
    });
    const { stdout } = await run(['keys', 'rotate'], { env, now });
    expect(stdout).toContain('       signs from 2030-01-01T00:10:00.000Z on\n');
    for (const tenant of ['main', 'other']) expect(await keysOf(tenant).list()).toHaveLength(6);
  });

  it('has the new keys sign at once in an emergency', async () => {
    const { env } = await withKeys();
    const args = ['keys', 'rotate', '--publish-seconds', '0', '--json'];
    const [main] = (await run(args, { env, now })).json().tenants;
    expect(of('published', main.keys)).toEqual([]);
    expect(of('signing', main.keys)).toHaveLength(3);
    for (const key of of('retiring', main.keys))
      expect(key.withdrawnAt).toBe('2030-01-01T02:00:00.000Z');
  });

  it('writes nothing under a master key that is not the one of the service', async () => {
    const { env, keysOf } = await withKeys();
    const before = await keysOf('main').list();
    const wrong = { ...env, PARAPH_MASTER_KEY: randomBytes(32).toString('base64url') };
    const { exitCode, stderr } = await run(['keys', 'rotate'], { env: wrong, now });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('The master key does not open');
    expect(stderr).not.toContain(wrong.PARAPH_MASTER_KEY);
    expect(await keysOf('main').list()).toEqual(before);
  });

  it('makes no master key', async () => {
    const { env, folder } = await withKeys();
    const { PARAPH_MASTER_KEY: _key, ...without } = env;
    const { exitCode, stderr } = await run(['keys', 'rotate'], { env: without, now });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`There is no master key in ${folder}`);
    expect(readdirSync(folder)).toEqual(['configuration.json']);
  });

  it.each([
    [
      ['--publish-seconds', 'soon'],
      '--publish-seconds must be a number of seconds from 0 to 2592000.',
    ],
    [
      ['--publish-seconds', '2592001'],
      '--publish-seconds must be a number of seconds from 0 to 2592000.',
    ],
    [['--publish-seconds=-1'], '--publish-seconds must be a number of seconds from 0 to 2592000.'],
  ])('with %j ends with 2', async (more, sentence) => {
    const { env } = await startService();
    const ran = await run(['keys', 'rotate', ...more], { env, now });
    expect(ran).toMatchObject({ exitCode: 2, stdout: '', stderr: `paraph: ${sentence}\n` });
  });
});
