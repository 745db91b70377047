/**
 * One private Redis for a test run.
 *
 * It runs in vitest's main process before any worker is forked, and the workers inherit its socket
 * in the environment as PARAPH_TEST_REDIS. Test files share it and keep apart by key prefix (see
 * redis.ts). Whoever sets PARAPH_TEST_REDIS (a socket path or a redis:// URL) has that Redis used
 * instead.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { provideRedis } from '../../scripts/redis-binary.mjs';
import { startEmbeddedRedis } from '../../src/redis/embedded/redis.ts';

export async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.PARAPH_TEST_REDIS) return undefined;
  const provided = await provideRedis(process.env, (line) => console.error(line));
  if ('problem' in provided)
    throw new Error(`${provided.problem} For tests alone, PARAPH_TEST_REDIS will do.`);

  const dataDir = mkdtempSync(join(tmpdir(), 'paraph-test-'));
  // Also when the run is interrupted: then the guard ends Redis and nobody calls the function
  // below.
  process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const redis = await startEmbeddedRedis({ command: provided.command, dataDir });
  process.env.PARAPH_TEST_REDIS = redis.socketPath;
  // For tests that start a Redis of their own.
  process.env.PARAPH_REDIS_SERVER = provided.command;
  return async () => {
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}
