/**
 * A Redis that talks to those alone whose certificate its own authority has issued; on one node and
 * as a cluster.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSelfSigned, newKey } from '../../packages/pki/test/openssl.ts';
import { connectForCommands, disconnect } from '../../src/redis/connect.ts';
import { startTestProduct } from '../support/product.ts';
import { testRedis } from '../support/redis.ts';
import { type RunningRedis, startRedisServer } from '../support/redis-server.ts';
import { signRequest } from '../support/requests.ts';

const redis = testRedis();
const directory = mkdtempSync(join(tmpdir(), 'paraph-redis-tls-'));
const file = (name: string): string => join(directory, name);
const servers: RunningRedis[] = [];

const openssl = (...given: string[]): void =>
  void execFileSync('openssl', given, { stdio: 'ignore' });

beforeAll(() => {
  createSelfSigned(directory, 'ca');
  for (const name of ['server', 'client']) {
    const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
    openssl(
      'req',
      ...newKey,
      ...subject,
      '-keyout',
      file(`${name}.key`),
      '-out',
      file(`${name}.csr`),
    );
    const signed = [
      '-in',
      file(`${name}.csr`),
      '-copy_extensions',
      'copy',
      '-out',
      file(`${name}.crt`),
    ];
    openssl(
      'x509',
      '-req',
      ...signed,
      '-CA',
      file('ca.crt'),
      '-CAkey',
      file('ca.key'),
      '-CAcreateserial',
    );
  }
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(directory, { recursive: true, force: true });
});

const start = async (...more: string[]): Promise<RunningRedis> => {
  const server = await startRedisServer({
    tls: { ca: file('ca.crt'), cert: file('server.crt'), key: file('server.key') },
    more,
  });
  servers.push(server);
  return server;
};

const trust = `ca=${encodeURIComponent(file('ca.crt'))}`;
const certified = `${trust}&cert=${encodeURIComponent(file('client.crt'))}&key=${encodeURIComponent(file('client.key'))}`;

const isAnswered = async (url: string): Promise<boolean> => {
  const client = connectForCommands({ url });
  client.on('error', () => undefined);
  try {
    return (await client.ping()) === 'PONG';
  } catch {
    return false;
  } finally {
    await disconnect(client);
  }
};

describe('A Redis that asks for certificates', () => {
  it('answers with one, and neither without it nor when its own authority is not named', async () => {
    const { port } = await start();
    expect(await isAnswered(`rediss://127.0.0.1:${port}?${certified}`)).toBe(true);
    expect(await isAnswered(`rediss://127.0.0.1:${port}?${trust}`)).toBe(false);
    expect(await isAnswered(`rediss://127.0.0.1:${port}`)).toBe(false);
  });

  it.each([
    ['single', []],
    [
      'cluster',
      ['--cluster-enabled', 'yes', '--tls-cluster', 'yes', '--cluster-announce-ip', '127.0.0.1'],
    ],
  ])('signs: %s', async (kind, more) => {
    const { port } = await start(...more);
    // The same node twice makes it a cluster.
    const node = `rediss://127.0.0.1:${port}?${certified}`;
    const redisUrl = kind === 'cluster' ? `${node},rediss://127.0.0.1:${port}` : node;
    const product = await startTestProduct(redis, { redisUrl, operations: true });
    try {
      const answer = await product.post('/rest/service/sign', signRequest());
      expect(answer.body.MSS_SignatureResp?.Status.StatusCode.Value).toBe('500');
      await vi.waitFor(
        async () => {
          const response = await product.api.fetch(new Request('http://test/readyz'));
          expect(response.status).toBe(200);
        },
        { timeout: 20_000 },
      );
    } finally {
      await product.stop();
    }
  });

  it.each(['ca', 'cert', 'key'])(
    'refuses a file of "%s" whose key has a curve that is written out',
    (name) => {
      createSelfSigned(directory, 'explicit', '-pkeyopt', 'ec_param_enc:explicit');
      const path = file(name === 'key' ? 'explicit.key' : 'explicit.crt');
      const url = `rediss://127.0.0.1:1?${name}=${encodeURIComponent(path)}`;
      expect(() => connectForCommands({ url })).toThrow(
        `REDIS_URL: the file of "${name}": the curve of its key is written out and must be named`,
      );
    },
  );

  it('names the part of the address whose file cannot be read, and not the file', () => {
    const url = `rediss://127.0.0.1:1?${trust}&key=${encodeURIComponent(file('absent.key'))}`;
    expect(() => connectForCommands({ url })).toThrow(
      'REDIS_URL: the file of "key" cannot be read',
    );
    expect(() => connectForCommands({ url: `redis://127.0.0.1:1?${trust}` })).toThrow(
      'REDIS_URL: "ca" needs rediss://',
    );
  });
});
