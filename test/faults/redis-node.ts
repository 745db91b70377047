/**
 * A Redis that can be killed, filled and made to change places with its replica.
 *
 * `always` writes every command to disk before it is answered; the run promises that nothing is
 * lost, and that is the setting it is promised for.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort } from '../support/free-ports.ts';
import { type Managed, manage } from './processes.ts';

export interface RedisNode extends Managed {
  readonly port: number;
  /** Where the append-only file lies. */
  readonly directory: string;
  /**
   * The port of the primary that it follows from its next start on; undefined when it is one
   * itself.
   */
  follow(primary: number | undefined): void;
  /** One command on a connection of its own. @throws When it is not answered. */
  command(...words: readonly [string, ...string[]]): Promise<unknown>;
}

export const createRedisNode = async (options: {
  readonly name: string;
  readonly directory: string;
  readonly appendfsync: 'always' | 'everysec';
  readonly replicaOf?: number | undefined;
}): Promise<RedisNode> => {
  const { name, appendfsync } = options;
  let following = options.replicaOf;
  const directory = join(options.directory, name);
  mkdirSync(directory, { recursive: true });
  const port = await freePort();

  const command: RedisNode['command'] = async (...[first, ...rest]) => {
    const client = new Redis({
      port,
      host: '127.0.0.1',
      connectTimeout: 1000,
      commandTimeout: 5000,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
      enableReadyCheck: false,
    });
    client.on('error', () => undefined);
    try {
      return await client.call(first, ...rest);
    } finally {
      client.disconnect();
    }
  };

  const settings = () => ({
    port: String(port),
    bind: '127.0.0.1',
    dir: directory,
    appendonly: 'yes',
    appendfsync,
    save: '',
    'maxmemory-policy': 'noeviction',
    'repl-diskless-sync-delay': '0',
    'aof-load-truncated': 'yes',
    ...(following !== undefined && { replicaof: `127.0.0.1 ${following}` }),
  });
  const node = manage({
    name,
    command: () => [
      process.env.PARAPH_REDIS_SERVER ?? 'redis-server',
      ...Object.entries(settings()).flatMap(([key, value]) => [
        `--${key}`,
        ...(key === 'replicaof' ? value.split(' ') : [value]),
      ]),
    ],
    env: { LC_ALL: 'C' },
    logFile: join(options.directory, `${name}.log`),
    ready: async () => {
      while ((await command('PING').catch(() => undefined)) !== 'PONG') await delay(20);
    },
  });
  return {
    ...node,
    port,
    directory,
    command,
    follow: (primary) => {
      following = primary;
    },
  };
};

/** Redis answers NOREPLICAS while it has fewer replicas than these. */
export const refuseWrites = (redis: RedisNode, isRefusing: boolean): Promise<unknown> =>
  redis.command('CONFIG', 'SET', 'min-replicas-to-write', isRefusing ? '9' : '0');

const inStepPatienceMs = 15_000;

/**
 * Resolves when a replica is connected and nearly up to its primary.
 *
 * @throws When that takes too long.
 */
export const whenInStep = async (primary: RedisNode, replica: RedisNode): Promise<void> => {
  for (const from = Date.now(); Date.now() - from < inStepPatienceMs; ) {
    const there = String(await replica.command('INFO', 'replication').catch(() => ''));
    if (/master_link_status:up/.test(there)) {
      const here = String(await primary.command('INFO', 'replication'));
      const offset = (text: string, name: string) =>
        Number(new RegExp(`${name}:(\\d+)`).exec(text)?.[1]);
      if (offset(there, 'slave_repl_offset') >= offset(here, 'master_repl_offset') - 1000) return;
    }
    await delay(50);
  }
  throw new Error('The replica did not catch up');
};
