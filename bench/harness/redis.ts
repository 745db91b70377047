/**
 * A private Redis for one side of a comparison.
 *
 * It is the product's own embedded Redis, guard and all, in a folder that goes when it stops. One
 * thing is different: the append-only file is never rewritten, because a rewrite takes a core for
 * seconds and would hit one round and spare the next.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { provideRedis } from '../../scripts/redis-binary.mjs';
import { startEmbeddedRedis } from '../../src/redis/embedded/redis.ts';

export interface BenchRedisOptions {
  /** When a write reaches the disk; `off` keeps no append-only file at all. Default `everysec`. */
  readonly appendfsync?: 'everysec' | 'always' | 'off';
}

export interface BenchRedisInfo {
  readonly usedMemoryBytes: number;
  /** Everything that INFO says, by its own names. */
  readonly all: Readonly<Record<string, string>>;
}

export interface BenchRedis {
  /** `unix:/…`, as the product takes it. */
  readonly url: string;
  /** Of redis-server itself. */
  readonly pid: number;
  /** For ioredis and BullMQ's `connection`. */
  readonly connection: { readonly path: string; readonly maxRetriesPerRequest: null };
  /** A client for questions in between; closed by `stop`. */
  readonly client: Redis;
  info(): Promise<BenchRedisInfo>;
  /** Deletes the keys that match, so that no round inherits from the one before. */
  deleteKeys(pattern: string): Promise<void>;
  stop(): Promise<void>;
}

/** @throws When no Redis is found, or it does not start. */
export const startBenchRedis = async ({
  appendfsync = 'everysec',
}: BenchRedisOptions = {}): Promise<BenchRedis> => {
  const provided = await provideRedis(process.env, (line) => process.stderr.write(`${line}\n`));
  if ('problem' in provided) throw new Error(provided.problem);
  const dataDir = mkdtempSync(join(tmpdir(), 'paraph-bench-redis-'));
  const remove = (): void => rmSync(dataDir, { recursive: true, force: true });
  // When the benchmark ends before its time; Redis itself is ended by its guard.
  process.on('exit', remove);
  const redis = await startEmbeddedRedis({
    command: provided.command,
    dataDir,
    appendfsync: appendfsync === 'always' ? 'always' : 'everysec',
  });
  const connection = { path: redis.socketPath, maxRetriesPerRequest: null } as const;
  const client = new Redis(connection);
  await client.config('SET', 'auto-aof-rewrite-percentage', '0');
  if (appendfsync === 'off') await client.config('SET', 'appendonly', 'no');
  return {
    url: redis.url,
    pid: redis.pid,
    connection,
    client,
    info: async () => {
      const lines = (await client.info()).split('\r\n').map((line) => line.split(/:(.*)/s));
      const all = Object.fromEntries(lines.map(([name, value]) => [name ?? '', value ?? '']));
      return { usedMemoryBytes: Number(all.used_memory), all };
    },
    deleteKeys: async (pattern) => {
      for await (const keys of client.scanStream({ match: pattern, count: 2000 })) {
        if (keys.length > 0) await client.unlink(...keys);
      }
    },
    stop: async () => {
      client.disconnect();
      await redis.stop();
      process.off('exit', remove);
      remove();
    },
  };
};
