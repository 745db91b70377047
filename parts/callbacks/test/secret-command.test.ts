/** The secret with which an application verifies its callbacks. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openServiceKey } from '../../../packages/pki/src/service-key.ts';
import { parseConfiguration } from '../../../src/app/configuration/load.ts';
import { createKeySlots } from '../../../src/app/key-slots.ts';
import { me } from '../../../test/cli/operations-stage.ts';
import { run } from '../../../test/cli/terminal.ts';
import { testRedis } from '../../../test/support/redis.ts';
import { callbackSecret } from '../secret.ts';

const folder = mkdtempSync(join(tmpdir(), 'paraph-secret-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'paraph.json');
const masterKey = randomBytes(32);
const redis = testRedis();
const environment = {
  REDIS_URL: redis.url,
  PARAPH_CONFIG: file,
  PARAPH_DATA: folder,
  PARAPH_MASTER_KEY: masterKey.toString('base64url'),
};
const queue = { prefix: redis.prefix.slice(-32) };
/** Before the first start, the first command makes it. */
const serviceKey = async (): Promise<Uint8Array> =>
  (await openServiceKey(createKeySlots(redis.client(), queue.prefix), masterKey)) ?? masterKey;
const provider = (url: string) => ({
  id: 'http://shop.example',
  callback: { url, secretVersion: 3 },
});

describe('paraph aps secret', () => {
  it('prints what the service signs with, and is in the audit log', async () => {
    const applicationProviders = [provider('https://shop.example/ends')];
    writeFileSync(file, JSON.stringify({ applicationProviders, queue }));
    const { exitCode, stdout } = await run(['aps', 'secret', 'http://shop.example', '--json'], {
      env: environment,
    });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      apId: 'http://shop.example',
      secretVersion: 3,
      secret: callbackSecret(await serviceKey(), 'http://shop.example', 3),
    });
    const audited = await run(['audit', '--json'], { env: environment });
    expect(audited.json().entries).toMatchObject([
      { who: me, via: 'cli', action: 'callback-secret', target: 'http://shop.example' },
    ]);
  });

  it('prints nothing that cannot be recorded', async () => {
    const env = { ...environment, REDIS_URL: 'unix:/nowhere/at/all.sock' };
    const { exitCode, stdout } = await run(['aps', 'secret', 'http://shop.example'], { env });
    expect([exitCode, stdout]).toEqual([5, '']);
  });

  it('prints the first one of an application without a callback, which processes and charts may tell', async () => {
    writeFileSync(
      file,
      JSON.stringify({ applicationProviders: [{ id: 'http://other.example' }], queue }),
    );
    const { stdout } = await run(['aps', 'secret', 'http://other.example', '--json'], {
      env: environment,
    });
    const secret = callbackSecret(await serviceKey(), 'http://other.example', 1);
    expect(JSON.parse(stdout)).toMatchObject({ secretVersion: 1, secret });
  });

  it('prints none of an application that is not registered', async () => {
    const { exitCode, stdout } = await run(['aps', 'secret', 'http://nobody.example'], {
      env: environment,
    });
    expect(exitCode).toBe(8);
    expect(stdout).not.toContain('whsec_');
  });
});

describe('the address of a callback', () => {
  it.each([
    [true, true],
    [false, false],
  ])('may be http to this machine in a sandbox only (%s)', (sandbox, ok) => {
    const text = JSON.stringify({
      sandbox,
      applicationProviders: [provider('http://127.0.0.1:9/ends')],
    });
    expect(parseConfiguration(text).ok).toBe(ok);
  });
});
