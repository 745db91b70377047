/**
 * A command's access to the Redis of a service, to the service's rooms over it, and to its master
 * key.
 *
 * The commands of operators go through the admin API, which runs on these rooms when there is no
 * token. The operator is then an admin: `os:` and the user's name in the operating system, which no
 * user of the service can have. The audit log adds `via: cli`.
 */
import { existsSync, realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { Configuration } from '../configuration/schema.ts';
import { socketPathFor } from '../embedded/redis.ts';
import { ask } from '../embedded/redis-socket.ts';
import type { Operator } from '../operators/operator.ts';
import type { OperatorsRooms } from '../product/operators-rooms.ts';
import type { Protocol } from '../protocol/parse.ts';
import type { RedisClient } from '../redis/connect.ts';
import { toError } from '../redis/to-error.ts';
import { settlesWithin } from '../settles-within.ts';
import type { Shard } from '../transactions/shards.ts';
import { usableConfiguration } from './configuration-file.ts';
import { type CliContext, environmentIn, type Report, UsageError } from './context.ts';

const connectTimeoutMs = 3000;

const unreachable = (problem: string): Report => ({ outcome: 'unreachable', document: {}, problem });

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
  const redis = connection === 'commands' ? connectForCommands({ url }) : connectForBlocking({ url });
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
  const { masterKeyFileIn, masterKeyFrom } = await import('../pki/master-key.ts');
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

export interface OperationsSession extends OperatorsRooms {
  readonly configuration: Configuration;
  readonly redis: RedisClient;
  readonly shards: readonly Shard[];
  readonly protocol: Protocol;
  readonly operator: Operator;
}

/** In a container the user often has no name, only a number. */
const systemUser = (): string => {
  try {
    return userInfo().username.slice(0, 60);
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
};

export const needsIndex = ({ indexed }: Pick<OperationsSession, 'indexed'>): void => {
  if (indexed) return;
  throw new UsageError('This configuration keeps no search index (operations.index), so nothing is listed.');
};

/** Opens the service's rooms for one command. */
export const withOperations = async (
  context: CliContext,
  work: (session: OperationsSession) => Promise<Report>,
): Promise<Report> => {
  const configuration = await usableConfiguration(context);
  return withServiceRedis(context, async (redis) => {
    // Loaded here because they load most of the program.
    const [
      { openOperatorsRooms },
      { createProtocol },
      { createPasswordVerifier },
      { closeShards, openShards },
    ] = await Promise.all([
      import('../product/operators-rooms.ts'),
      import('../protocol/parse.ts'),
      import('../registry/password-verifier.ts'),
      import('../transactions/shards.ts'),
    ]);
    // The next command on the connection fails with the same error.
    const onError = (): void => undefined;
    const shards = openShards({ redis, ...configuration.queue, onError });
    const protocol = createProtocol(configuration.protocol);
    const rooms = openOperatorsRooms({
      configuration,
      redis,
      shards,
      protocol,
      passwords: createPasswordVerifier(),
      // The log belongs to the service. The audit log has what is done here.
      log: { audit: () => undefined },
      now: context.now,
      onError,
    });
    const operator = { name: `os:${systemUser()}`, role: 'admin', via: 'cli' } as const;
    try {
      return await work({ ...rooms, configuration, redis, shards, protocol, operator });
    } finally {
      await rooms.close();
      await closeShards(shards);
    }
  });
};
