/** A command's connection to the Redis of a service, and the service's master key. */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { socketPathFor } from '../embedded/redis.ts';
import { ask } from '../embedded/redis-socket.ts';
import type { RedisClient } from '../redis/connect.ts';
import { type CliContext, environmentOf, type Report, UsageProblem } from './context.ts';

const connectTimeoutMs = 3000;

const unreachable = (problem: string): Report => ({ outcome: 'unreachable', document: {}, problem });

/** The connection gives up on a command that is not answered in time, with these words. */
const isOfConnection = (error: unknown): boolean =>
  error instanceof Error && /Command timed out|Connection is closed|max retries/i.test(error.message);

/** Address of the private Redis of a data directory, when its Paraph runs. */
const embeddedRedisUrl = async (dataDirectory: string): Promise<string | undefined> => {
  try {
    const socketPath = socketPathFor(realpathSync(join(dataDirectory, 'redis')));
    return (await ask(socketPath, 'PING')) === '+PONG' ? `unix:${socketPath}` : undefined;
  } catch {
    return undefined;
  }
};

/** @returns What the work comes to, or that there is no such Redis. */
export const withServiceRedis = async (
  context: CliContext,
  work: (redis: RedisClient) => Promise<Report>,
): Promise<Report> => {
  const { redisUrl, dataDirectory } = environmentOf(context);
  const url = redisUrl ?? (await embeddedRedisUrl(dataDirectory));
  if (url === undefined) {
    return unreachable(
      `No Paraph runs with the data directory ${dataDirectory}: start one, or set PARAPH_DATA or REDIS_URL as it has them.`,
    );
  }
  // Loaded here because few commands need a Redis client.
  const [{ connectForCommands, whenReady }, { settlesWithin }] = await Promise.all([
    import('../redis/connect.ts'),
    import('../redis/timeout.ts'),
  ]);
  const redis = connectForCommands({ url });
  // Without a listener ioredis prints; that it is not ready is told below.
  redis.on('error', () => undefined);
  try {
    if (await settlesWithin(whenReady(redis), connectTimeoutMs)) return await work(redis);
  } catch (error) {
    if (!isOfConnection(error)) throw error;
  } finally {
    redis.disconnect();
  }
  return unreachable('Redis does not answer at the address in REDIS_URL.');
};

/**
 * None is ever made here: a record under another key would be of no use to the service, and would look
 * to it like tampering.
 *
 * @throws UsageProblem When there is none, or it is not usable.
 */
export const existingMasterKey = async (context: CliContext): Promise<Uint8Array> => {
  const { masterKey, dataDirectory } = environmentOf(context);
  const { masterKeyFileIn, masterKeyFrom } = await import('../pki/master-key.ts');
  const filePath = masterKeyFileIn(dataDirectory);
  if (masterKey === undefined && !existsSync(filePath)) {
    throw new UsageProblem(
      `There is no master key in ${dataDirectory}: set PARAPH_MASTER_KEY or PARAPH_DATA as the service has them.`,
    );
  }
  try {
    return await masterKeyFrom({ environmentValue: masterKey, filePath });
  } catch (error) {
    // Its sentences are written for the operator and hold no key.
    throw new UsageProblem(`${error instanceof Error ? error.message : 'the master key is not usable'}.`);
  }
};
