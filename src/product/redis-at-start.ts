/** The Redis of a start: the one that REDIS_URL names, or a private one in the data directory. */
import type { Logger } from 'pino';
import { acquireInstanceLock } from '../embedded/instance-lock.ts';
import { RedisServerError, startEmbeddedRedis } from '../embedded/redis.ts';
import type { Environment } from '../environment.ts';
import { settlesWithin } from '../redis/timeout.ts';
import type { Core } from './core.ts';
import { reasonOf, StartError } from './start-error.ts';

/** @throws StartError where the file system refuses, or the program of Redis; any other error as it is. */
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

/** @param onExit The private Redis has ended by itself. */
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

/** After so long a silence of Redis the log says so. */
const noticeMs = 2000;
/** A supervisor starts the process again; a person corrects the address. */
const patienceMs = 10_000;
/** Between two errors of a connection that cannot be made. */
const longestPauseMs = 8000;
const lookEveryMs = 1000;

/**
 * Resolves when Redis can be used. A Redis that loads its file is waited for however long it takes:
 * it accepts the connection, so there are no errors.
 *
 * @throws StartError when no connection could be made for ten seconds.
 */
export const waitForRedis = async (
  { ready, commands, blocking }: Pick<Core, 'ready' | 'commands' | 'blocking'>,
  logger: Logger,
): Promise<void> => {
  const began = performance.now();
  let latest: { readonly message: string; readonly at: number } | undefined;
  const note = ({ message }: Error): void => {
    latest = { message, at: performance.now() };
  };
  for (const client of [commands, blocking]) client.on('error', note);
  const whenReady = ready();
  let isReady = await settlesWithin(whenReady, noticeMs);
  if (!isReady) logger.warn('waiting for Redis to answer');
  while (!isReady) {
    isReady = await settlesWithin(whenReady, lookEveryMs);
    const now = performance.now();
    if (isReady || latest === undefined || now - began < patienceMs || now - latest.at > longestPauseMs) {
      continue;
    }
    const problem = `REDIS_URL: no Redis can be used at that address (${latest.message}).`;
    throw new StartError('unreachable', problem);
  }
  for (const client of [commands, blocking]) client.off('error', note);
  await whenReady;
};
