import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectForCommands, disconnect } from '../../src/redis/connect.ts';
import { startEmbeddedRedis } from '../../src/redis/embedded/redis.ts';
import { createOutbox } from '../../src/sscd/text-gateway.ts';
import { testRedis } from '../support/redis.ts';
import { useService } from './service.ts';
import { run } from './terminal.ts';

const redis = testRedis();
const service = useService(redis);

const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'paraph-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const configurationFile = (configuration: object): string => {
  const path = join(temporaryFolder(), 'configuration.json');
  writeFileSync(path, JSON.stringify(configuration));
  return path;
};

/** The environment of the machine that the service runs on. */
const atTheService = () => ({
  REDIS_URL: redis.url,
  PARAPH_CONFIG: configurationFile({
    sandbox: true,
    queue: { prefix: service().product.configuration.queue.prefix },
  }),
});

describe('paraph messages', () => {
  it('shows what paraph sign sent as a one-time password', async () => {
    const env = { PARAPH_URL: service().url };
    await run(['sign', '+41700092501', 'Code 4711', '--profile', 'otp-text'], { env });
    const plain = await run(['messages', '+41700092501'], { env: atTheService() });
    expect(plain).toMatchObject({ exitCode: 0, stdout: '  text  Code 4711\n', stderr: '' });
    const { json } = await run(['messages', '41700092501', '--json'], { env: atTheService() });
    expect(json()).toEqual({
      outcome: 'ok',
      msisdn: '41700092501',
      messages: [
        { id: expect.any(String), msisdn: '41700092501', text: 'Code 4711', flash: false },
      ],
    });
  });

  it('says that there is none', async () => {
    const { exitCode, stdout } = await run(['messages', '+41790000000'], { env: atTheService() });
    expect(exitCode).toBe(0);
    expect(stdout).toBe('No message to +41790000000 in the last ten minutes.\n');
  });

  it('finds the private Redis of a data directory', async () => {
    const dataDirectory = temporaryFolder();
    const embedded = await startEmbeddedRedis({
      command: process.env.PARAPH_REDIS_SERVER ?? 'redis-server',
      dataDir: dataDirectory,
    });
    onTestFinished(() => embedded.stop());
    const client = connectForCommands({ url: embedded.url });
    onTestFinished(() => disconnect(client));
    await createOutbox(client, 'paraph', Date.now).send({
      id: 'T-1',
      msisdn: '41790000001',
      text: 'Hi',
      flash: true,
    });
    const env = { PARAPH_DATA: dataDirectory };
    expect((await run(['messages', '+41790000001'], { env })).stdout).toBe('  flash  Hi\n');
  });

  it('ends with 2 when messages leave by a webhook', async () => {
    const gateway = { kind: 'webhook', url: 'https://sms.example/send?key=topsecret' };
    const env = { PARAPH_CONFIG: configurationFile({ otp: { gateway } }) };
    const { exitCode, stderr } = await run(['messages', '+41790000001'], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('by a webhook');
    expect(stderr).not.toContain('topsecret');
  });
});
