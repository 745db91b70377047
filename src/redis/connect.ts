/**
 * Connections to Redis, by what they are for.
 *
 * A command connection serves people who wait for an answer: it gives up within a second, so that a caller is told
 * instead of left hanging while Redis is away. A blocking connection belongs to a worker or an event reader: it waits
 * for Redis for as long as it takes and goes on where it stopped.
 *
 * Either is given up and made anew when Redis has been asked something and says nothing at all for a while: a host that is
 * gone, a firewall or a stopped process closes nothing, and the system would wait for minutes.
 */
import { readFileSync } from 'node:fs';
import {
  Cluster,
  type ClusterNode,
  type ClusterOptions,
  type Command,
  Redis,
  type RedisOptions,
} from 'ioredis';
import { createRedisClock, type RedisClock } from './clock.ts';
import { limitScripts, translateNotAfter } from './not-after.ts';
import { settlesWithin } from './timeout.ts';

export type RedisClient = Redis | Cluster;

export interface RedisTarget {
  /**
   * `redis://host:port/db`, `rediss://…`, `unix:/path/to/socket`, or several `redis://` URLs separated by commas for
   * the nodes of a Redis Cluster. `rediss://…?ca=…&cert=…&key=…` names the files (PEM) of the authority that is trusted
   * and of the certificate that is shown; the first node's are for all.
   */
  readonly url: string;
}

/** How long a command may take before its caller is answered with a failure. */
const commandTimeoutMs = 800;

/** How long Redis takes in what is to be added: a little less, because its clock is known to some milliseconds. */
const takenInMs = commandTimeoutMs - 50;

const reconnectDelayMs = (attempt: number): number => Math.min(50 * attempt, 500);

/** After a fail-over the node we talk to may have become a replica: connect anew, and send the command again. */
const reconnectOnError = (error: Error): 2 | false => (error.message.includes('READONLY') ? 2 : false);

const commandOptions = {
  connectTimeout: 2000,
  maxRetriesPerRequest: 1,
  retryStrategy: reconnectDelayMs,
  reconnectOnError,
  // Whoever issued them may have been told that they failed.
  autoResendUnfulfilledCommands: false,
} satisfies RedisOptions;

const blockingOptions = {
  connectTimeout: 2000,
  maxRetriesPerRequest: null,
  enableReadyCheck: true,
  retryStrategy: reconnectDelayMs,
  reconnectOnError,
} satisfies RedisOptions;

/**
 * How long Redis may say nothing on a connection that has asked. A waiting connection is one on which it may take ten
 * seconds to answer, because a command says so (BullMQ's longest are BZPOPMIN and XREAD for ten seconds).
 */
const silentMs = { commands: 2000, blocking: 5000, waiting: 12_000 } as const;

type Purpose = keyof typeof silentMs;

const isSilence = ({ name }: Error): boolean => name === 'SilentRedis';

/** When one host falls silent all connections to it do, within seconds: it is said once. */
const quietMs = 15_000;
let saidAt = Number.NEGATIVE_INFINITY;

const silence = (): Error | undefined => {
  const time = performance.now();
  if (time - saidAt < quietMs) return undefined;
  saidAt = time;
  const error = new Error('Redis has been silent for seconds: connections to it are given up and made anew');
  error.name = 'SilentRedis';
  return error;
};

/** A timer that is later than this says that the process was busy, or stopped. It then waits once more, for so long. */
const busyMs = 500;
const graceMs = 1000;

/**
 * Destroys the stream when nothing has come for so long since it was asked something. Before that, what has come while
 * this process was short of CPU, or stopped, is read.
 *
 * @returns What to call when something has gone out.
 */
const giveUpSilent = (client: Redis, afterMs: number): (() => void) => {
  const { stream } = client;
  let askedAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let dueAt = 0;
  let graced = false;
  const look = (): void => {
    timer = undefined;
    if (askedAt === undefined || stream.destroyed) return;
    const time = performance.now();
    const leftMs = askedAt + afterMs - time;
    if (leftMs > 0) watch(leftMs);
    else if (time - dueAt > busyMs && !graced) {
      graced = true;
      watch(graceMs);
    } else stream.destroy(silence());
  };
  const watch = (ms: number): void => {
    dueAt = performance.now() + ms;
    timer = setTimeout(setImmediate, ms, look).unref();
  };
  // The library has heard of it before, so what has been answered has left the queue.
  stream.on('data', () => {
    askedAt = client.commandQueue.length === 0 ? undefined : performance.now();
    graced = false;
  });
  return () => {
    askedAt ??= performance.now();
    if (timer === undefined) watch(afterMs);
  };
};

/**
 * Sends what is written within one turn of the event loop as one packet: what all the sockets that were ready had to
 * ask. A system call for each command costs more than the command does, here and in Redis.
 */
const prepareStream = (client: Redis, purpose: Purpose): Redis => {
  client.on('connect', () => {
    const { stream } = client;
    const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
    const asked = giveUpSilent(client, silentMs[purpose]);
    // The library has greeted Redis already.
    asked();
    let corked = false;
    const corkedWrite = (...given: unknown[]): boolean => {
      if (!corked) {
        corked = true;
        stream.cork();
        setImmediate(() => {
          corked = false;
          stream.uncork();
          asked();
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
 * What has been given up never goes out. A command that waited for a connection, or that a cluster redirects, comes here
 * once more and stands in two turns; its time is that of the first.
 */
const inTime = (client: Redis, clock: () => RedisClock): Redis => {
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
    if (command.isSettled) return command.promise;
    translateNotAfter(command, client, clock());
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

const tlsFiles = ['ca', 'cert', 'key'] as const;

/** What an address says about TLS. @throws When a file cannot be read; the message names neither it nor the address. */
const tlsOf = ({ protocol, searchParams }: URL): Pick<RedisOptions, 'tls'> => {
  const files = tlsFiles.flatMap((name) => {
    const path = searchParams.get(name);
    return path === null ? [] : [{ name, path }];
  });
  if (protocol !== 'rediss:') {
    if (files[0] !== undefined) throw new Error(`REDIS_URL: "${files[0].name}" needs rediss://`);
    return {};
  }
  const read = files.map(({ name, path }) => {
    try {
      return [name, readFileSync(path)];
    } catch {
      throw new Error(`REDIS_URL: the file of "${name}" cannot be read`);
    }
  });
  return { tls: Object.fromEntries(read) };
};

/** What is made in the likeness of a connection for blocking commands waits in them (BullMQ makes its own so). */
const duplicatesWait = (client: Redis): Redis => {
  const duplicate = client.duplicate.bind(client);
  client.duplicate = (...given) => prepareStream(duplicate(...given), 'waiting');
  return client;
};

const prepareCluster = (cluster: Cluster, prepare: (node: Redis) => void): Cluster => {
  cluster.on('+node', (node: Redis) => {
    prepare(node);
    // Whatever else befalls a node the cluster deals with.
    node.on('error', (error) => {
      if (isSilence(error) && cluster.listenerCount('error') > 0) cluster.emit('error', error);
    });
  });
  const duplicate = cluster.duplicate.bind(cluster);
  // Each time that slots are asked for costs a connection, and there are many duplicates. They ask when a connection has
  // ended, or a node says that it is no longer the one.
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
  if (url.startsWith('unix:')) return prepare(new Redis({ ...options, path: url.slice('unix:'.length) }));
  const urls = url.split(',').map((text) => new URL(text.trim()));
  const [first] = urls;
  if (first === undefined) throw new Error('REDIS_URL names no Redis');
  const tls = tlsOf(first);
  if (urls.length === 1) {
    for (const name of tlsFiles) first.searchParams.delete(name);
    return prepare(new Redis(first.href, { ...options, ...tls }));
  }
  const nodes: ClusterNode[] = urls.map((node) => ({ host: node.hostname, port: Number(node.port || 6379) }));
  const cluster = new Cluster(nodes, {
    redisOptions: {
      ...options,
      ...(first.username !== '' && { username: decodeURIComponent(first.username) }),
      ...(first.password !== '' && { password: decodeURIComponent(first.password) }),
      ...tls,
    },
    clusterRetryStrategy: reconnectDelayMs,
    // The library asks whether the cluster is whole, and while it is not, its `connect()` neither resolves nor rejects, also
    // not once it is whole again. BullMQ's workers wait for that. Without the question a command says what is wrong.
    enableReadyCheck: false,
    ...clusterOptions,
  });
  return prepareCluster(cluster, prepare);
};

const clocks = new WeakMap<RedisClient, RedisClock>();

/** The clock of Redis, as a connection for commands knows it. @throws For any other connection. */
export const clockOf = (client: RedisClient): RedisClock => {
  const clock = clocks.get(client);
  if (clock === undefined) throw new TypeError('Not a connection for commands');
  return clock;
};

/**
 * A connection for requests that somebody waits for. Commands reject after {@link commandTimeoutMs} when Redis does
 * not answer; the connection itself keeps trying. Jobs that are added through it are not taken in later than that.
 *
 * @param wall The process's own clock, milliseconds since the epoch.
 */
export const connectForCommands = (target: RedisTarget, wall: () => number = Date.now): RedisClient => {
  const prepare = (node: Redis): Redis =>
    prepareStream(
      inTime(node, () => clock),
      'commands',
    );
  const client = open(target, commandOptions, prepare, {
    // A cluster client keeps commands in a queue that no timeout watches: somebody who waits is told at once instead.
    enableOfflineQueue: false,
    slotsRefreshInterval: 2000,
  });
  const clock = createRedisClock(client, wall);
  clocks.set(client, clock);
  limitScripts(client, clock, takenInMs);
  return client;
};

const prepareForBlocking = (node: Redis): Redis => duplicatesWait(prepareStream(node, 'blocking'));

/** A connection for workers and event readers, which outlast any absence of Redis. */
export const connectForBlocking = (target: RedisTarget): RedisClient =>
  open(target, blockingOptions, prepareForBlocking, { slotsRefreshInterval: 30_000 });

/**
 * A connection like one that a program has made itself, and with its options, for events: it waits for Redis, and is given
 * up when that falls silent.
 */
export const likenessForEvents = (connection: Redis): Redis =>
  prepareForBlocking(connection.duplicate({ maxRetriesPerRequest: null }));

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
