/** A master key is replaced while the service runs, in several processes and under load. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createKeyCustody } from '../../packages/pki/src/custody.ts';
import { masterKeyFrom } from '../../packages/pki/src/master-key.ts';
import { parts } from '../../parts/parts.ts';
import { parseConfiguration } from '../../src/app/configuration/load.ts';
import { createCustodyStore } from '../../src/app/custody-store.ts';
import { startProduct } from '../../src/app/launch.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { type Ran, run } from '../cli/terminal.ts';
import type { Json } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { signRequest } from '../support/requests.ts';

const redis = testRedis();
const folder = mkdtempSync(join(tmpdir(), 'paraph-master-key-'));
const prefix = redis.prefix.slice(-32);
const configuration = { sandbox: true, queue: { prefix } };
const path = join(folder, 'paraph.json');
writeFileSync(path, JSON.stringify(configuration));

type Process = Awaited<ReturnType<typeof startProduct>>;
const running = new Set<Process>();
const children = new Set<ChildProcess>();

afterAll(async () => {
  await Promise.all([...running].map((process) => process.stop()));
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const newKey = (): Buffer => randomBytes(32);

const start = async (masterKey: Uint8Array): Promise<Process> => {
  const loaded = parseConfiguration(JSON.stringify(configuration));
  if (!loaded.ok) throw new Error(loaded.problems.join());
  const started = await startProduct(
    {
      configuration: loaded.value,
      parts,
      redisUrl: redis.url,
      masterKey,
      now: Date.now,
      logger: createLogger('silent', { write: () => undefined }),
      onError: () => undefined,
    },
    { api: { host: '127.0.0.1', port: 0 }, workers: true },
  );
  running.add(started);
  return started;
};

const stop = async (process: Process): Promise<void> => {
  running.delete(process);
  await process.stop();
};

const environment = (masterKey: Buffer | undefined, more: Record<string, string> = {}) => ({
  REDIS_URL: redis.url,
  PARAPH_CONFIG: path,
  PARAPH_DATA: folder,
  ...(masterKey && { PARAPH_MASTER_KEY: masterKey.toString('base64url') }),
  ...more,
});

const paraph = (
  masterKey: Buffer | undefined,
  args: readonly string[],
  more?: Record<string, string>,
): Promise<Ran> => run([...args, '--json'], { env: environment(masterKey, more) });

const idsOf = (ran: Ran): readonly string[] => ran.json().keys.map(({ id }: Json) => id);

const sign = async (url: string): Promise<Json> => {
  const response = await fetch(`${url}/rest/service/sign`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(signRequest()),
  });
  return response.json();
};

const signerIn = (answer: Json): string => {
  const cms = Buffer.from(
    answer.MSS_SignatureResp.MSS_Signature.Base64Signature,
    'base64',
  ).toString('latin1');
  return /MIDCHE[A-Z0-9]{10}/.exec(cms)?.[0] ?? '';
};

/** What must stay as it is, as others see it. */
const standingOf = async (url: string, token: string) => {
  const text = async (address: string) => (await fetch(`${url}${address}`)).text();
  const admin = await fetch(`${url}/admin/api/transactions`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return {
    root: await text('/pki/root.pem'),
    signingKeys: await text('/oidc/jwks.json'),
    token: admin.status,
    signer: signerIn(await sign(url)),
  };
};

describe('a master key', () => {
  const [old, next] = [newKey(), newKey()];
  let first: Process[] = [];
  let token = '';
  let before: Awaited<ReturnType<typeof standingOf>>;

  beforeAll(async () => {
    first = await Promise.all([start(old), start(old)]);
    const user = ['users', 'add', 'anna', '--role', 'admin', '--msisdn', '+41700092501'];
    expect(await paraph(old, user)).toMatchObject({ exitCode: 0 });
    token = (await paraph(old, ['users', 'token', 'anna', '--label', 'x'])).json().token;
    before = await standingOf(first[0]?.url ?? '', token);
    expect(before).toMatchObject({ token: 200, signer: expect.stringMatching(/^MIDCHE/) });
  });

  it('is replaced in two processes under load: no request fails, and nothing that it sealed or derived changes', async () => {
    const live = first.map(({ url }) => url ?? '');
    const failed: unknown[] = [];
    let done = 0;
    let isOver = false;
    const lane = async (number: number): Promise<void> => {
      for (let count = number; !isOver; count += 1) {
        try {
          const answer = await sign(live[count % live.length] ?? '');
          if (answer.Fault !== undefined) failed.push(answer.Fault);
        } catch (error) {
          failed.push(error);
        }
        done += 1;
      }
    };
    const lanes = Promise.all([0, 1, 2, 3].map(lane));
    const more = async (): Promise<void> => {
      const from = done;
      await vi.waitFor(() => expect(done).toBeGreaterThan(from + 20), { timeout: 20_000 });
    };
    await more();
    const added = await paraph(old, ['master-key', 'add'], {
      PARAPH_NEW_MASTER_KEY: next.toString('base64url'),
    });
    expect(idsOf(added)).toHaveLength(2);
    await more();
    for (const [index, each] of first.entries()) {
      const successor = await start(next);
      live[index] = successor.url ?? '';
      await more();
      await stop(each);
      await more();
    }
    const removed = await paraph(next, ['master-key', 'remove-others']);
    expect(removed.json().keys).toMatchObject([{ isThis: true }]);
    await more();
    isOver = true;
    await lanes;
    expect(failed).toEqual([]);
    expect(await standingOf(live[0] ?? '', token)).toEqual(before);
  }, 120_000);

  it('that was replaced opens nothing any more, for a process and for a command', async () => {
    await expect(start(old)).rejects.toThrow(
      'The master key does not open the stored service-key record',
    );
    for (const args of [
      ['master-key', 'list'],
      ['users', 'ls'],
      ['backup', join(folder, 'x.backup')],
    ]) {
      const ran = await paraph(old, args);
      expect([args[0], ran.exitCode]).toEqual([args[0], 2]);
      expect(ran.stderr).toMatch(/master key does not open/);
    }
    expect(await paraph(next, ['users', 'ls'])).toMatchObject({ exitCode: 0 });
  });

  it('is never the last to be removed, and what was done is in the audit log', async () => {
    expect(idsOf(await paraph(next, ['master-key', 'remove-others']))).toHaveLength(1);
    expect((await paraph(old, ['master-key', 'remove-others'])).exitCode).toBe(2);
    expect(idsOf(await paraph(next, ['master-key', 'list']))).toHaveLength(1);
    const { entries } = (await paraph(next, ['audit', '--action', 'master-key'])).json();
    expect(entries.map(({ details }: Json) => details.order)).toEqual([
      'remove-others',
      'remove-others',
      'add',
    ]);
  });

  it('is in Redis neither as it is nor as the service key', async () => {
    const slots = await redis.client().hgetall(`${prefix}:master-keys`);
    const text = JSON.stringify(slots);
    for (const key of [old, next]) expect(text).not.toContain(key.toString('base64url'));
    expect(text.match(/"sealed/g) ?? text.match(/sealed/g)).toHaveLength(1);
  });
});

describe('the master key in the data directory', () => {
  const data = join(folder, 'data');
  const filePath = join(data, 'master.key');
  const filePrefix = `${redis.prefix.slice(-28)}-f`;
  const env = { PARAPH_DATA: data, PARAPH_CONFIG: join(folder, 'file.json') };
  const rotate = () => paraph(undefined, ['master-key', 'rotate'], env);

  beforeAll(async () => {
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(
      env.PARAPH_CONFIG,
      JSON.stringify({ sandbox: true, queue: { prefix: filePrefix } }),
    );
    Object.assign(configuration, { queue: { prefix: filePrefix } });
    await stop(await start(await masterKeyFrom({ filePath })));
  });

  it('is replaced by one command, and the file with it', async () => {
    const before = readFileSync(filePath, 'utf8');
    const ran = await rotate();
    expect(ran).toMatchObject({ exitCode: 0 });
    expect(ran.json().keys).toMatchObject([{ isThis: true }]);
    expect(readFileSync(filePath, 'utf8')).not.toBe(before);
    // Redis says that it has written what it may lose in a power cut a moment later.
    expect(readFileSync(`${filePath}.before`, 'utf8')).toBe(before);
    expect(statSync(`${filePath}.before`).mode & 0o777).toBe(0o600);
    expect(ran.json()).not.toHaveProperty('warning');
    await stop(await start(await masterKeyFrom({ filePath })));
    const replaced = Buffer.from(before.trim(), 'base64url');
    await expect(start(replaced)).rejects.toThrow('The master key does not open');
  }, 60_000);

  it('opens the service after a kill -9 of that command at any moment, and the next one ends it', async () => {
    const { REDIS_URL: _, ...inherited } = process.env;
    for (let kill = 0; kill < 3; kill += 1) {
      const files = readdirSync(data).length;
      const child = spawn(process.execPath, ['dist/src/cli/paraph.js', 'master-key', 'rotate'], {
        env: { ...inherited, ...environment(undefined, env) },
        stdio: 'ignore',
      });
      children.add(child);
      // Its work begins when it has loaded: each time it is killed a little later.
      const ended = once(child, 'exit');
      const connected = vi.waitFor(
        () =>
          expect(
            child.exitCode === null && readdirSync(data).length === files ? 'waits' : 'works',
          ).toBe('works'),
        { timeout: 100_000, interval: 1 },
      );
      await Promise.race([connected, ended]);
      await delay(2 * kill);
      child.kill('SIGKILL');
      await ended;
      children.delete(child);
      expect(await paraph(undefined, ['master-key', 'list'], env)).toMatchObject({ exitCode: 0 });
    }
    await stop(await start(await masterKeyFrom({ filePath })));
    expect(idsOf(await rotate())).toHaveLength(1);
  }, 120_000);

  it('is replaced by one command at a time', async () => {
    const ran = await Promise.all([rotate(), rotate(), rotate()]);
    expect(ran.map(({ exitCode }) => exitCode)).toContain(0);
    expect((await paraph(undefined, ['master-key', 'list'], env)).json().keys).toMatchObject([
      { isThis: true },
    ]);
  });

  it('is left as it is where the service has its key from the environment', async () => {
    const ran = await paraph(
      (await masterKeyFrom({ filePath })) as Buffer,
      ['master-key', 'rotate'],
      env,
    );
    expect(ran).toMatchObject({ exitCode: 2 });
    expect(ran.stderr).toMatch(/paraph master-key add/);
  });
});

describe('a service that has never been started', () => {
  const masterKey = newKey();
  const unstarted = join(folder, 'unstarted.json');

  it('finds at its first start what commands have made before', async () => {
    const queue = { prefix: `${redis.prefix.slice(-28)}-u` };
    const oidc = { tenants: [{ id: 'main', name: 'Main' }] };
    const applicationProviders = [
      {
        id: 'http://shop.example',
        callback: { url: 'https://shop.example/ends', secretVersion: 1 },
      },
    ];
    Object.assign(configuration, { queue, oidc, applicationProviders });
    writeFileSync(unstarted, JSON.stringify(configuration));
    const env = { PARAPH_CONFIG: unstarted };
    const user = ['users', 'add', 'anna', '--role', 'admin', '--msisdn', '+41700092501'];
    // Two at the same time make one service key.
    const secretOf = async () =>
      (await paraph(masterKey, ['aps', 'secret', 'http://shop.example'], env)).json();
    const [added, before] = await Promise.all([paraph(masterKey, user, env), secretOf()]);
    expect(added).toMatchObject({ exitCode: 0 });
    const { token } = (
      await paraph(masterKey, ['users', 'token', 'anna', '--label', 'x'], env)
    ).json();
    expect(await paraph(masterKey, ['keys', 'rotate'], env)).toMatchObject({ exitCode: 0 });
    await expect(start(newKey())).rejects.toThrow('The master key does not open');
    const { url } = await start(masterKey);
    const got = await fetch(`${url}/admin/api/users`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(got.status).toBe(200);
    expect((await fetch(`${url}/oidc/jwks.json`)).status).toBe(200);
    expect(await secretOf()).toEqual(before);
  }, 60_000);
});

describe('a store that an earlier release has begun', () => {
  const masterKey = newKey();

  it('is left as it is by a start with another key, and goes on with its own, which can be replaced', async () => {
    const earlier = `${redis.prefix.slice(-28)}-e`;
    Object.assign(configuration, { queue: { prefix: earlier } });
    writeFileSync(path, JSON.stringify(configuration));
    const client = redis.client();
    const store = createCustodyStore(client, earlier);
    const [root] = await createKeyCustody({ store, serviceKey: masterKey, now: Date.now }).trust();
    await client.set(`${earlier}:store`, '1');
    for (const part of [
      () => start(newKey()),
      async () =>
        expect(await paraph(newKey(), ['master-key', 'list'])).toMatchObject({ exitCode: 0 }),
    ])
      await expect(part()).rejects.toThrow();
    expect(await client.exists(`${earlier}:master-keys`)).toBe(0);
    const process = await start(masterKey);
    const pem = await (await fetch(`${process.url}/pki/root.pem`)).text();
    expect(pem.replaceAll('\n', '')).toContain(Buffer.from(root ?? []).toString('base64'));
    const next = newKey();
    const more = { PARAPH_NEW_MASTER_KEY: next.toString('base64url') };
    const added = await paraph(masterKey, ['master-key', 'add'], more);
    expect(added.json().warning).toMatch(/first master key is its service key/);
    expect(idsOf(await paraph(next, ['master-key', 'remove-others']))).toHaveLength(1);
    const successor = await start(next);
    expect(await (await fetch(`${successor.url}/pki/root.pem`)).text()).toBe(pem);
  }, 60_000);
});
