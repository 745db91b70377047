/** A service, its backup, and another Redis to restore it into. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ran, run } from '../../../test/cli/terminal.ts';
import {
  startTestProduct,
  type TestProduct,
  type TestProductOptions,
} from '../../../test/support/product.ts';
import type { TestRedis } from '../../../test/support/redis.ts';
import { type RunningRedis, startRedisServer } from '../../../test/support/redis-server.ts';

export const silent = (index: number): string => `+4179${String(index).padStart(7, '0')}`;

const configuration = (prefix: string, shards = 1) => ({
  sandbox: true,
  queue: { prefix, shards },
  subscribers: [
    {
      msisdn: silent(0).slice(1),
      through: silent(99_999).slice(1),
      sim: { device: { kind: 'simulated', sign: 'never-answers' } },
    },
  ],
});

export const startBackupStage = (shared: TestRedis) => {
  const masterKey = randomBytes(32);
  const prefix = shared.prefix.slice(-32);
  const folder = mkdtempSync(join(tmpdir(), 'paraph-backup-'));
  const servers: RunningRedis[] = [];
  const products: TestProduct[] = [];
  writeFileSync(join(folder, 'paraph.json'), JSON.stringify(configuration(prefix)));
  const env = (server: RunningRedis) => ({
    REDIS_URL: urlOf(server),
    PARAPH_CONFIG: join(folder, 'paraph.json'),
    PARAPH_DATA: folder,
    PARAPH_MASTER_KEY: masterKey.toString('base64url'),
  });
  return {
    masterKey,
    prefix,
    folder,
    file: (name: string): string => join(folder, `${name}.backup`),
    /** An empty Redis. */
    server: async (...more: string[]): Promise<RunningRedis> => {
      const server = await startRedisServer({ more });
      servers.push(server);
      return server;
    },
    start: async (server: RunningRedis, options: TestProductOptions = {}): Promise<TestProduct> => {
      const product = await startTestProduct(shared, {
        masterKey,
        serviceKey: 'random',
        redisUrl: urlOf(server),
        configuration: configuration(prefix),
        operations: true,
        ...options,
      });
      products.push(product);
      return product;
    },
    env,
    paraph: (
      server: RunningRedis,
      args: readonly string[],
      more: Record<string, string> = {},
    ): Promise<Ran> => run([...args, '--json'], { env: { ...env(server), ...more } }),
    end: async (): Promise<void> => {
      await Promise.all(products.map((product) => product.stop()));
      await Promise.all(servers.map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const urlOf = ({ port }: RunningRedis): string => `redis://127.0.0.1:${port}`;
