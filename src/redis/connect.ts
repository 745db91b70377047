/**
 * Connections to Redis, by their purpose.
 *
 * A connection for commands serves callers that wait: commands are rejected within a second, so
 * that a caller gets an answer while Redis is away. A blocking connection belongs to a worker or an
 * event reader: it waits for Redis without a limit and goes on where it stopped.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import type { RedisClient } from '../../packages/engine/src/redis/client.ts';
import { createRedisClock, type RedisClock } from '../../packages/engine/src/redis/clock.ts';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import { certificateIn, privateKeyIn, UnnamedCurveError } from '../../packages/pki/src/pem.ts';
import { limitScripts, translateNotAfter } from './not-after.ts';
import { isSilence, prepareStream } from './silence.ts';
import { limitCommands } from './timeout.ts';

export type { RedisClient };

/** The one Redis, or each node of a cluster that takes writes. */
export const nodesOf = (redis: RedisClient): readonly Redis[] =>
  redis instanceof Cluster ? redis.nodes('master') : [redis];

interface RedisTarget {
  /**
   * `redis://host:port/db`, `rediss://…`, `unix:/path/to/socket`, or several `redis://` URLs
   * separated by commas for the nodes of a Redis Cluster. `rediss://…?ca=…&cert=…&key=…` names
   * files (PEM) of the trusted authority, our certificate and its key; the first node's count.
   */
  readonly url: string;
}

/** The timeout of a command. After it the command is rejected, and its caller gets a failure. */
const commandTimeoutMs = 800;
/**
 * Time for which Redis accepts a job. It is shorter, because its clock is known to some ms only.
 */
const acceptedMs = commandTimeoutMs - 50;

const reconnectDelayMs = (attempt: number): number => Math.min(50 * attempt, 500);

const sharedOptions = {
  connectTimeout: 2000,
  retryStrategy: reconnectDelayMs,
  /** Reconnects and sends the command again when, after a fail-over, the node is a replica. */
  reconnectOnError: (error: Error): 2 | false => (error.message.includes('READONLY') ? 2 : false),
};

const commandOptions = {
  ...sharedOptions,
  maxRetriesPerRequest: 1,
  // The callers of these commands may already have got a failure.
  autoResendUnfulfilledCommands: false,
} satisfies RedisOptions;

const blockingOptions = {
  ...sharedOptions,
  maxRetriesPerRequest: null,
  enableReadyCheck: true,
} satisfies RedisOptions;

const tlsFiles = ['ca', 'cert', 'key'] as const;

/** @throws When a file is not usable; the message names neither the file nor the address. */
const readTls = ({ protocol, searchParams }: URL): Pick<RedisOptions, 'tls'> => {
  const named = tlsFiles.filter((name) => searchParams.has(name));
  if (protocol !== 'rediss:') {
    if (named[0] !== undefined) throw new Error(`REDIS_URL: "${named[0]}" needs rediss://`);
    return {};
  }
  const read = named.map((name) => {
    let content: Buffer;
    try {
      content = readFileSync(searchParams.get(name) ?? '');
    } catch {
      throw new Error(`REDIS_URL: the file of "${name}" cannot be read`);
    }
    try {
      // With a file of another kind the library would stop to connect, or trust no certificate.
      if (name === 'key') privateKeyIn(content);
      else certificateIn(content);
    } catch (error) {
      if (error instanceof UnnamedCurveError)
        throw new Error(`REDIS_URL: the file of "${name}": ${error.message}`);
      const what = name === 'key' ? 'private key' : 'certificate';
      throw new Error(`REDIS_URL: the file of "${name}" holds no ${what} (PEM)`);
    }
    return [name, content];
  });
  return { tls: Object.fromEntries(read) };
};

/** BullMQ duplicates a blocking connection for commands that wait in Redis. */
const prepareForBlocking = (client: Redis): Redis => {
  const duplicate = client.duplicate.bind(client);
  client.duplicate = (...given) => prepareStream(duplicate(...given), 'waiting');
  return prepareStream(client, 'blocking');
};

const prepareCluster = (cluster: Cluster, prepare: (node: Redis) => void): Cluster => {
  cluster.on('+node', (node: Redis) => {
    prepare(node);
    // The cluster handles all other errors of a node.
    node.on('error', (error) => {
      if (isSilence(error) && cluster.listenerCount('error') > 0) cluster.emit('error', error);
    });
  });
  const duplicate = cluster.duplicate.bind(cluster);
  // Asking for slots costs a connection each time, and there are many duplicates. They ask when a
  // connection has ended, or when a node redirects them.
  cluster.duplicate = (nodes, options) =>
    prepareCluster(duplicate(nodes, { ...options, slotsRefreshInterval: 0 }), (node) =>
      prepareStream(node, 'waiting'),
    );
  return cluster;
};

const open = (
  { url }: RedisTarget,
  options: typeof commandOptions | typeof blockingOptions,
  prepare: (node: Redis) => Redis,
  clusterOptions: Pick<ClusterOptions, 'enableOfflineQueue' | 'slotsRefreshInterval'>,
): RedisClient => {
  if (url.startsWith('unix:'))
    return prepare(new Redis({ ...options, path: url.slice('unix:'.length) }));
  const urls = url.split(',').map((text) => new URL(text.trim()));
  const [first] = urls;
  if (first === undefined) throw new Error('REDIS_URL names no Redis');
  const tls = readTls(first);
  if (urls.length === 1) {
    for (const name of tlsFiles) first.searchParams.delete(name);
    return prepare(new Redis(first.href, { ...options, ...tls }));
  }
  const { username, password } = first;
  const nodes = urls.map(({ hostname, port }) => ({ host: hostname, port: Number(port || 6379) }));
  const cluster = new Cluster(nodes, {
    redisOptions: {
      ...options,
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      ...tls,
    },
    clusterRetryStrategy: reconnectDelayMs,
    // While a cluster is not whole, the library's check lets `connect()` neither resolve nor
    // reject, even when it is whole again, and BullMQ's workers wait for that. Without the check, a
    // command says what is wrong.
    enableReadyCheck: false,
    ...clusterOptions,
  });
  return prepareCluster(cluster, prepare);
};

/**
 * Makes `eval` send the hash of a script, and its text only when Redis does not know it: after a
 * restart of Redis such a command may take twice its time.
 */
const evalByHash = (client: RedisClient): RedisClient => {
  const hashes = new Map<string, string>();
  const evalText = client.eval.bind(client);
  const run = async (
    script: string,
    ...given: [number, ...(string | number | Buffer)[]]
  ): Promise<unknown> => {
    const sha = hashes.get(script) ?? hash('sha1', script);
    hashes.set(script, sha);
    try {
      return await client.evalsha(sha, ...given);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('NOSCRIPT '))
        return evalText(script, ...given);
      throw error;
    }
  };
  Reflect.set(client, 'eval', run);
  return client;
};

const clocks = new WeakMap<RedisClient, RedisClock>();

/** The clock of Redis, from a connection for commands. @throws TypeError for other connections. */
export const clockOf = (client: RedisClient): RedisClock => {
  const clock = clocks.get(client);
  if (clock === undefined) throw new TypeError('Not a connection for commands');
  return clock;
};

/**
 * Opens a connection for requests whose callers wait. Commands reject after {@link
 * commandTimeoutMs} when Redis does not answer; the connection keeps trying. Redis refuses jobs
 * that arrive later.
 *
 * @param wall The process's own clock, milliseconds since the epoch.
 */
export const connectForCommands = (
  target: RedisTarget,
  wall: () => number = Date.now,
): RedisClient => {
  const prepare = (node: Redis): Redis =>
    prepareStream(
      limitCommands(node, commandTimeoutMs, (command) => translateNotAfter(command, node, clock)),
      'commands',
    );
  const client = open(target, commandOptions, prepare, {
    // No timeout watches the queue of a cluster client, so commands are refused at once instead.
    enableOfflineQueue: false,
    slotsRefreshInterval: 2000,
  });
  const clock = createRedisClock(client, { wall });
  clocks.set(client, clock);
  limitScripts(client, clock, acceptedMs);
  return evalByHash(client);
};

/** Opens a connection for workers and event readers, which reconnects without end. */
export const connectForBlocking = (target: RedisTarget): RedisClient =>
  evalByHash(open(target, blockingOptions, prepareForBlocking, { slotsRefreshInterval: 30_000 }));

/** Opens a blocking connection for events, with the options of an existing connection. */
export const likenessForEvents = (connection: Redis): Redis =>
  prepareForBlocking(
    connection.duplicate({ maxRetriesPerRequest: null, enableOfflineQueue: true }),
  );

/** Resolves when the connection can be used. Only needed before the first command. */
export const whenReady = async (client: RedisClient): Promise<void> => {
  if (client.status !== 'ready')
    await new Promise<void>((resolve) => client.once('ready', resolve));
};

const quitTimeoutMs = 1000;

/** Ends a connection, whether or not Redis answers. */
export const disconnect = async (client: RedisClient): Promise<void> => {
  await settlesWithin(client.quit(), quitTimeoutMs);
  client.disconnect();
};
