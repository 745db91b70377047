import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from '../../../test/cli/terminal.ts';

/** A configuration file, and a client's key set beside it. */
const startFiles = () => {
  const folder = mkdtempSync(join(tmpdir(), 'paraph-ciba-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const config = join(folder, 'configuration.json');
  const jwks = join(folder, 'keys.json');
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(config, '{}');
  writeFileSync(
    jwks,
    JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }] }),
  );
  const add = (...options: readonly string[]) =>
    run(['clients', 'add', '--id', 'till', '--name', 'Till', '--config', config, ...options]);
  return {
    keyed: ['--auth', 'private_key_jwt', '--jwks', jwks],
    add,
    written: () => readFileSync(config, 'utf8'),
  };
};

const unusable = 'Nothing was written, because the configuration would not be usable:\n';

describe('paraph clients add', () => {
  it.each([
    [['--ciba', 'poll'], { kind: 'poll' }],
    [
      ['--ciba', 'ping', '--notification-endpoint', 'https://shop.example/ping'],
      { kind: 'ping', notificationEndpoint: 'https://shop.example/ping' },
    ],
  ])('writes %j into the entry of the client', async (options, backchannel) => {
    const { keyed, add, written } = startFiles();
    expect(await add(...keyed, ...options)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(written()).oidc.tenants[0].clients).toMatchObject([
      { id: 'till', backchannel },
    ]);
  });

  it('leaves the entry without it alone', async () => {
    const { keyed, add, written } = startFiles();
    expect(await add(...keyed)).toMatchObject({ exitCode: 0 });
    expect(written()).not.toContain('backchannel');
  });

  it.each([
    [['--ciba', 'hunter2'], '--ciba must be poll or ping.'],
    [['--ciba', 'ping'], '--ciba ping and --notification-endpoint need each other.'],
    [
      ['--notification-endpoint', 'https://hunter2.example/'],
      '--ciba ping and --notification-endpoint need each other.',
    ],
    [
      ['--ciba', 'poll', '--auth', 'client_secret'],
      `${unusable}  oidc.tenants[0].clients[0].backchannel: may be there only for`,
    ],
  ])('refuses %j, and writes nothing', async (options, sentence) => {
    const { keyed, add, written } = startFiles();
    const { exitCode, stdout, stderr } = await add(
      ...(options.includes('--auth') ? [] : keyed),
      ...options,
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr.startsWith(`paraph: ${sentence}`)).toBe(true);
    expect(stderr).not.toContain('hunter2');
    expect(written()).toBe('{}');
  });
});
