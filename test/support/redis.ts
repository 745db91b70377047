/**
 * The Redis of this test run, as one test file sees it.
 *
 * Files run at the same time against one Redis, so each keeps to keys that begin with its own
 * prefix, and nobody may flush.
 */
import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, expect } from 'vitest';

export interface TestRedis {
  /** `unix:<socket>` or `redis://…`, as `RedisTarget` wants it. */
  readonly url: string;
  /** For ioredis or BullMQ's `connection`; blocking commands may wait as long as they like. */
  readonly connection: { readonly maxRetriesPerRequest: null } & (
    | { readonly path: string }
    | { readonly host: string; readonly port: number; readonly db: number }
  );
  /** Letters, digits and dashes; begins with the file's name and is different in every run. */
  readonly prefix: string;
  /** A client that is closed when the file's tests have ended. */
  readonly client: () => Redis;
}

/**
 * Call at the top of a test file, or inside a `describe`: when the tests of that scope have ended,
 * its clients are closed and every key that holds the prefix is deleted.
 *
 * @throws When the run has no Redis, that is, when vitest was started with another configuration.
 */
export function testRedis(): TestRedis {
  const server = process.env.PARAPH_TEST_REDIS;
  if (!server)
    throw new Error(
      'PARAPH_TEST_REDIS is not set: run the tests with this project’s vitest.config.ts',
    );
  const connection = { ...addressOf(server), maxRetriesPerRequest: null };
  const file = basename(expect.getState().testPath ?? 'test', '.test.ts').replaceAll(
    /[^A-Za-z0-9-]/g,
    '-',
  );
  const prefix = `${file}-${randomBytes(5).toString('hex')}`;
  const clients: Redis[] = [];
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await deleteKeys(connection, prefix);
  });
  return {
    url: server.startsWith('/') ? `unix:${server}` : server,
    connection,
    prefix,
    client() {
      const client = new Redis(connection);
      clients.push(client);
      return client;
    },
  };
}

function addressOf(server: string) {
  if (server.startsWith('/')) return { path: server };
  if (server.startsWith('unix:')) return { path: server.slice('unix:'.length) };
  const url = new URL(server);
  return {
    host: url.hostname,
    port: Number(url.port || 6379),
    db: Number(url.pathname.slice(1) || 0),
  };
}

/**
 * The prefix may stand inside a hash tag (`{prefix-0}:…`), so it is looked for anywhere in the key.
 */
async function deleteKeys(connection: TestRedis['connection'], prefix: string): Promise<void> {
  const client = new Redis(connection);
  for await (const keys of client.scanStream({ match: `*${prefix}*`, count: 1000 })) {
    if (keys.length > 0) await client.unlink(...keys);
  }
  await client.quit();
}
