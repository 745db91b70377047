/**
 * Connections to Redis, by what they are for.
 *
 * A command connection serves people who wait for an answer: it gives up within a second, so that a caller is told
 * instead of left hanging while Redis is away. A blocking connection belongs to a worker or an event reader: it waits
 * for Redis for as long as it takes and goes on where it stopped.
 */
import { Cluster, type ClusterNode, type Command, Redis, type RedisOptions } from 'ioredis';
import { settlesWithin } from './patience.ts';

export type RedisClient = Redis | Cluster;

export interface RedisTarget {
  /**
   * `redis://host:port/db`, `rediss://…`, `unix:/path/to/socket`, or several `redis://` URLs separated by commas for
   * the nodes of a Redis Cluster.
   */
  readonly url: string;
}

/** How long a command may take before its caller is answered with a failure. */
const commandTimeoutMs = 800;

const reconnectDelayMs = (attempt: number): number => Math.min(50 * attempt, 500);

/** After a fail-over the node we talk to may have become a replica: connect anew, and send the command again. */
const reconnectOnError = (error: Error): 2 | false => (error.message.includes('READONLY') ? 2 : false);

const commandOptions = {
  connectTimeout: 2000,
  maxRetriesPerRequest: 1,
  retryStrategy: reconnectDelayMs,
  reconnectOnError,
} satisfies RedisOptions;

const blockingOptions = {
  connectTimeout: 2000,
  maxRetriesPerRequest: null,
  enableReadyCheck: true,
  retryStrategy: reconnectDelayMs,
  reconnectOnError,
} satisfies RedisOptions;

/**
 * Sends what is written within one turn of the event loop as one packet: what all the sockets that were ready had to
 * ask. A system call for each command costs more than the command does, here and in Redis.
 */
const inOnePacket = (client: Redis): Redis => {
  client.on('connect', () => {
    const { stream } = client;
    const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
    let corked = false;
    const corkedWrite = (...given: unknown[]): boolean => {
      if (!corked) {
        corked = true;
        stream.cork();
        setImmediate(() => {
          corked = false;
          stream.uncork();
        });
      }
      return write(...given);
    };
    stream.write = corkedWrite as typeof stream.write;
  });
  return client;
};

/** Commands that went out together, and when they are given up. */
interface Turn {
  readonly unanswered: Set<Command>;
  timer?: NodeJS.Timeout;
}

/**
 * Gives up on commands that are not answered in time. It runs from when they go out, at the end of the turn that issued
 * them, and before they are given up what Redis has sent is read. The library's own timeout counts all of the time, also
 * that in which this process, short of CPU, neither sends nor reads.
 */
const inTime = (client: Redis): Redis => {
  const send = client.sendCommand.bind(client);
  const timed = new WeakSet<Command>();
  let turn: Turn | undefined;
  const beginTurn = (): Turn => {
    const begun: Turn = { unanswered: new Set() };
    const giveUp = (): void => {
      for (const command of begun.unanswered) command.reject(new Error('Command timed out'));
    };
    setImmediate(() => {
      turn = undefined;
      if (begun.unanswered.size > 0) begun.timer = setTimeout(() => setImmediate(giveUp), commandTimeoutMs);
    });
    return begun;
  };
  client.sendCommand = (command, ...stream) => {
    const sent = send(command, ...stream);
    // After a reconnection the library sends a command again; its time goes on.
    if (timed.has(command)) return sent;
    timed.add(command);
    turn ??= beginTurn();
    const mine = turn;
    mine.unanswered.add(command);
    const answered = (): void => {
      mine.unanswered.delete(command);
      if (mine.unanswered.size === 0) clearTimeout(mine.timer);
    };
    command.promise.then(answered, answered);
    return sent;
  };
  return client;
};

type Purpose = 'commands' | 'blocking';

const open = ({ url }: RedisTarget, purpose: Purpose): RedisClient => {
  const options = purpose === 'commands' ? commandOptions : blockingOptions;
  const prepare = (node: Redis): Redis => inOnePacket(purpose === 'commands' ? inTime(node) : node);
  if (url.startsWith('unix:')) return prepare(new Redis({ ...options, path: url.slice('unix:'.length) }));
  const urls = url.split(',').map((text) => new URL(text.trim()));
  const [first] = urls;
  if (urls.length === 1 || first === undefined) return prepare(new Redis(url, options));
  const nodes: ClusterNode[] = urls.map((node) => ({ host: node.hostname, port: Number(node.port || 6379) }));
  const cluster = new Cluster(nodes, {
    redisOptions: {
      ...options,
      ...(first.username !== '' && { username: decodeURIComponent(first.username) }),
      ...(first.password !== '' && { password: decodeURIComponent(first.password) }),
      ...(first.protocol === 'rediss:' && { tls: {} }),
    },
    clusterRetryStrategy: reconnectDelayMs,
    // A cluster client keeps commands in a queue that no timeout watches: somebody who waits is told at once instead.
    enableOfflineQueue: purpose === 'blocking',
  });
  cluster.on('+node', prepare);
  return cluster;
};

/**
 * A connection for requests that somebody waits for. Commands reject after {@link commandTimeoutMs} when Redis does
 * not answer; the connection itself keeps trying.
 */
export const connectForCommands = (target: RedisTarget): RedisClient => open(target, 'commands');

/** A connection for workers and event readers, which outlast any absence of Redis. */
export const connectForBlocking = (target: RedisTarget): RedisClient => open(target, 'blocking');

/** Resolves when the connection can be used. Only needed before the first command. */
export const whenReady = async (client: RedisClient): Promise<void> => {
  if (client.status !== 'ready') await new Promise<void>((resolve) => client.once('ready', resolve));
};

const farewellMs = 1000;

/** Ends a connection whether or not Redis is there to hear it. */
export const disconnect = async (client: RedisClient): Promise<void> => {
  await settlesWithin(client.quit(), farewellMs);
  client.disconnect();
};
