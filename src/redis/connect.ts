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

/** Commands that went out together. */
interface Turn {
  readonly commands: Command[];
  /** Those before this one have been answered. */
  first: number;
  /** When they went out, in milliseconds of the process's own clock. */
  sentAt: number;
}

/** Commands are answered in the order in which they went out, so as a rule this looks at one. */
const isAnswered = (turn: Turn): boolean => {
  while (turn.commands[turn.first]?.isSettled) turn.first += 1;
  return turn.first === turn.commands.length;
};

/**
 * Gives up on commands that are not answered in time. It runs from when they go out, at the end of the turn that issued
 * them, and before they are given up what Redis has sent is read. The library's own timeout counts all of the time, also
 * that in which this process, short of CPU, neither sends nor reads.
 *
 * After a reconnection the library sends a command again, and it stands in two turns; its time is that of the first.
 */
const inTime = (client: Redis): Redis => {
  const send = client.sendCommand.bind(client);
  let turn: Turn | undefined;
  /** The oldest first. */
  const turns: Turn[] = [];
  let timer: NodeJS.Timeout | undefined;

  const forgetAnswered = (): void => {
    while (turns[0] !== undefined && isAnswered(turns[0])) turns.shift();
  };
  const watch = (): void => {
    forgetAnswered();
    timer = undefined;
    const [oldest] = turns;
    if (oldest === undefined) return;
    const leftMs = oldest.sentAt + commandTimeoutMs - performance.now();
    // The connection keeps the process, not the clock.
    timer = setTimeout(setImmediate, leftMs, giveUp).unref();
  };
  const giveUp = (): void => {
    const sentBefore = performance.now() - commandTimeoutMs;
    for (const late of turns) {
      if (late.sentAt > sentBefore) break;
      for (const command of late.commands)
        if (!command.isSettled) command.reject(new Error('Command timed out'));
    }
    watch();
  };
  const endTurn = (ended: Turn): void => {
    turn = undefined;
    forgetAnswered();
    ended.sentAt = performance.now();
    turns.push(ended);
    if (timer === undefined) watch();
  };

  client.sendCommand = (command, ...stream) => {
    const sent = send(command, ...stream);
    if (turn === undefined) {
      turn = { commands: [], first: 0, sentAt: 0 };
      setImmediate(endTurn, turn);
    }
    turn.commands.push(command);
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
    // The library asks whether the cluster is whole, and while it is not, its `connect()` neither resolves nor rejects, also
    // not once it is whole again. BullMQ's workers wait for that. Without the question a command says what is wrong.
    enableReadyCheck: false,
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
