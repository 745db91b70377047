/** The Redis of a start: the one that REDIS_URL names, or a private one in the data directory. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import type { KeyCustody } from '../../packages/pki/src/ports.ts';
import type { Environment } from '../environment/environment.ts';
import { acquireInstanceLock } from '../redis/embedded/instance-lock.ts';
import { RedisServerError, startEmbeddedRedis } from '../redis/embedded/redis.ts';
import { restoring, storeKeyOf } from '../redis/key-names.ts';
import { isSilence } from '../redis/silence.ts';
import { isTimeout } from '../redis/timeout.ts';
import type { RedisProbe } from '../telemetry/redis-probe.ts';
import { shardPrefix, signatureQueueName } from '../transactions/contract.ts';
import type { Core } from './core.ts';
import { reasonOf, StartError } from './start-error.ts';

/**
 * @throws StartError when the file system or the program of Redis refuses; other errors unchanged.
 */
export const inDataDirectory = async <T>(path: string, work: () => T | Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RedisServerError) throw new StartError('usage', error.message);
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new StartError(
      'usage',
      `PARAPH_DATA: ${path} cannot hold the data (${reasonOf(error)}): name a directory that this user may write.`,
    );
  }
};

/** @param onExit Called when the private Redis has ended by itself. */
export const openRedis = async (environment: Environment, onExit: (error: string) => void) => {
  const { redisUrl, dataDirectory: dataDir, redisServer: command } = environment;
  if (redisUrl !== undefined) {
    return { url: redisUrl, embedded: false, restored: false, stop: async () => undefined };
  }
  return inDataDirectory(dataDir, async () => {
    const lock = acquireInstanceLock(dataDir);
    if (!lock.held) throw new Error(lock.error);
    const { url, restored, stop } = await startEmbeddedRedis({ command, dataDir, onExit });
    return {
      url,
      embedded: true,
      restored,
      stop: async () => {
        await stop();
        lock.release();
      },
    };
  });
};

/** Time without an answer of Redis after which the log says so. */
const noticeMs = 2000;
/** Time to connect. After it the start fails, and a supervisor or a person takes over. */
const patienceMs = 10_000;
/** The longest pause between two errors of a connection that cannot be made. */
const longestPauseMs = 8000;
const lookEveryMs = 1000;

/** The log of a start that waits. */
interface Notice extends Pick<Logger, 'warn'> {
  /** Shows the log, which a start holds back as long as it may fail soon. */
  readonly show?: (() => void) | undefined;
}

/** Host and port of each node, or the path of a socket: what a log may have of REDIS_URL. */
const placeOf = (redisUrl: string): string =>
  redisUrl
    .split(',')
    .map((each) => {
      const { protocol, hostname, port, pathname } = new URL(each.trim());
      return protocol === 'unix:' ? pathname : `${hostname}:${port || 6379}`;
    })
    .join(', ');

/**
 * Resolves when Redis can be used. Once Redis has accepted the connection, there is no time limit:
 * it may load its file, be stopped, or be very busy.
 *
 * @throws StartError when no connection could be made for ten seconds.
 */
export const waitForRedis = async (
  {
    ready,
    commands,
    blocking,
    redisUrl,
  }: Pick<Core, 'ready' | 'commands' | 'blocking' | 'redisUrl'>,
  notice: Notice,
): Promise<void> => {
  const began = performance.now();
  let latest: { readonly message: string; readonly at: number } | undefined;
  const note = (error: Error): void => {
    if (isSilence(error) || isTimeout(error)) return;
    latest = { message: error.message, at: performance.now() };
  };
  for (const client of [commands, blocking]) client.on('error', note);
  const whenReady = ready();
  let isReady = await settlesWithin(whenReady, noticeMs);
  if (!isReady) notice.warn({ redis: placeOf(redisUrl) }, 'waiting for Redis to answer');
  while (!isReady) {
    isReady = await settlesWithin(whenReady, lookEveryMs);
    const now = performance.now();
    if (isReady || (latest !== undefined && now - began < patienceMs)) continue;
    if (latest === undefined || now - latest.at > longestPauseMs) {
      notice.show?.();
      continue;
    }
    const problem = `REDIS_URL: no Redis can be used at that address (${latest.message}).`;
    throw new StartError('unreachable', problem);
  }
  for (const client of [commands, blocking]) client.off('error', note);
  await whenReady;
};

/**
 * Checks that Redis takes writes. If it does not, for example because it is full, the start logs
 * this and goes on, and requests are refused meanwhile. Only the writes of the very first start are
 * waited for.
 */
export const waitForWrites = async (
  { look }: Pick<RedisProbe, 'look'>,
  notice: Notice,
  isPrepared: () => Promise<boolean>,
): Promise<void> => {
  const trouble = await look();
  // A missing right of the Redis user does not appear without a person.
  if (trouble?.kind === 'right') throw new Error(trouble.says);
  if (trouble === undefined) return;
  notice.warn(`${trouble.says}; nothing is accepted until it does`);
  notice.show?.();
  while (!(await isPrepared()) && (await look()) !== undefined) await delay(lookEveryMs);
};

/** Resolves when another process has made the certificate authority, however long that takes. */
export const waitForAuthority = async (
  { hasAuthority }: Pick<KeyCustody, 'hasAuthority'>,
  notice: Notice,
): Promise<void> => {
  if (await hasAuthority()) return;
  notice.warn(
    'waiting for the certificate authority: an API makes it at its first start, or paraph authority',
  );
  notice.show?.();
  while (!(await hasAuthority())) await delay(lookEveryMs);
};

/**
 * The version of the stored data. Raise it with a change that a release with this number could not
 * read. 1: release 0.2. 2: child charts lie in the record of their instance; before, each was a
 * job, and an open process of 0.2 would lose its signers.
 */
export const storeVersion = '2';
const earlier = new Map<string | null, string>([
  [null, 'a release before 0.2'],
  ['1', 'a release before 0.3'],
]);

/**
 * Marks a new store with its version, and refuses one that this release cannot read. Call it before
 * queues are opened and the authority is made. Stores before 0.2 have no mark. An earlier store
 * whose queues were deleted counts as new, because its other data has not changed.
 *
 * @throws StartError for a store of another version.
 */
export const claimStore = async ({
  blocking: redis,
  configuration: { queue },
  custodyOver,
}: Pick<Core, 'blocking' | 'configuration' | 'custodyOver'>): Promise<void> => {
  const key = storeKeyOf(queue.prefix);
  // Another program may open a queue before the first start; only a start makes an authority. The
  // mark is read last, because a process that starts at the same time writes it first.
  const meta = `${shardPrefix(queue.prefix, 0)}:${signatureQueueName}:meta`;
  const isUsed = (await custodyOver(redis).hasAuthority()) && (await redis.exists(meta)) === 1;
  let found = await redis.get(key);
  // Written only if needed: a full Redis refuses every write, also one that changes nothing.
  if (earlier.has(found) && !isUsed) {
    await redis.set(key, storeVersion);
    found = await redis.get(key);
  }
  if (found === storeVersion) return;
  if (found === restoring) {
    throw new StartError(
      'usage',
      'A restore of this store has not come to its end: run paraph restore again, with --replace.',
    );
  }
  const writer = earlier.get(found) ?? 'a later release';
  throw new StartError(
    'usage',
    `queue.prefix: what Redis holds under ${queue.prefix} was written by ${writer}, and this release does not read it; set another prefix, REDIS_URL or PARAPH_DATA.`,
  );
};
