/** A command's access to the Redis of a service, and to its master key. */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import {
  type CliContext,
  environmentIn,
  type Report,
  UsageError,
} from '../command-line/context.ts';
import type { RedisClient } from '../redis/connect.ts';
import { socketPathFor } from '../redis/embedded/redis.ts';
import { ask } from '../redis/embedded/redis-socket.ts';

const connectTimeoutMs = 3000;

const unreachable = (problem: string): Report => ({
  outcome: 'unreachable',
  document: {},
  problem,
});

/** The messages of a connection that has given up on a command. */
export const isConnectionError = (error: unknown): boolean =>
  /Command timed out|Connection is closed|max retries/i.test(toError(error).message);

/** Address of the private Redis of a data directory, when its Paraph runs. */
export const embeddedRedisUrl = async (dataDirectory: string): Promise<string | undefined> => {
  try {
    const socketPath = socketPathFor(realpathSync(join(dataDirectory, 'redis')));
    return (await ask(socketPath, 'PING')) === '+PONG' ? `unix:${socketPath}` : undefined;
  } catch {
    return undefined;
  }
};

/** @param connection Its kind: of `commands` fail within a second, of `blocking` wait. */
export const withRedisAt = async (
  url: string,
  connection: 'commands' | 'blocking',
  work: (redis: RedisClient) => Promise<Report>,
): Promise<Report> => {
  // Loaded here because few commands need a Redis client.
  const { connectForBlocking, connectForCommands, whenReady } = await import('../redis/connect.ts');
  const redis =
    connection === 'commands' ? connectForCommands({ url }) : connectForBlocking({ url });
  // Without a listener ioredis prints. The report below says that Redis does not answer.
  redis.on('error', () => undefined);
  try {
    if (await settlesWithin(whenReady(redis), connectTimeoutMs)) return await work(redis);
  } catch (error) {
    if (!isConnectionError(error)) throw error;
  } finally {
    redis.disconnect();
  }
  return unreachable('Redis does not answer at the address in REDIS_URL.');
};

export const withServiceRedis = async (
  context: CliContext,
  work: (redis: RedisClient) => Promise<Report>,
): Promise<Report> => {
  const { redisUrl, dataDirectory } = environmentIn(context);
  const url = redisUrl ?? (await embeddedRedisUrl(dataDirectory));
  if (url !== undefined) return withRedisAt(url, 'commands', work);
  return unreachable(
    `No Paraph runs with the data directory ${dataDirectory}: start one, or set PARAPH_DATA or REDIS_URL as it has them.`,
  );
};

/**
 * Never makes a key: the service could not open a record under another key, and would take it for
 * tampering.
 *
 * @throws UsageError when there is none, or it is not usable.
 */
export const existingMasterKey = async (context: CliContext): Promise<Uint8Array> => {
  const { masterKey, dataDirectory } = environmentIn(context);
  const { masterKeyFileIn, masterKeyFrom } = await import('../../packages/pki/src/master-key.ts');
  const filePath = masterKeyFileIn(dataDirectory);
  if (masterKey === undefined && !existsSync(filePath)) {
    throw new UsageError(
      `There is no master key in ${dataDirectory}: set PARAPH_MASTER_KEY or PARAPH_DATA as the service has them.`,
    );
  }
  try {
    return await masterKeyFrom({ environmentValue: masterKey, filePath });
  } catch (error) {
    // Its message is written for the operator and holds no key.
    throw new UsageError(`${toError(error).message}.`);
  }
};
