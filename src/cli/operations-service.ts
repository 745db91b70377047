/**
 * The rooms of a service that the commands of its operators use, over one connection to its Redis. Loaded when a command
 * runs: most of the program hangs on it.
 */
import type { Configuration } from '../configuration/schema.ts';
import { type OperatorsRooms, openOperatorsRooms } from '../product/operators-rooms.ts';
import { createProtocol } from '../protocol/parse.ts';
import type { RedisClient } from '../redis/connect.ts';
import { createPasswordVerifier } from '../registry/password-verifier.ts';
import { shardFor } from '../transactions/answers.ts';
import { closeShards, openShards } from '../transactions/shards.ts';

export interface OperationsService extends OperatorsRooms {
  readonly configuration: Configuration;
  readonly redis: RedisClient;
  /** The fields of a transaction's job, as they lie in Redis. Undefined where there is none. */
  readJob(msspTransId: string): Promise<Readonly<Record<string, string>> | undefined>;
  close(): Promise<void>;
}

export const openOperationsService = (options: {
  readonly configuration: Configuration;
  readonly redis: RedisClient;
  readonly now: () => number;
}): OperationsService => {
  const { configuration, redis, now } = options;
  const { queue } = configuration;
  // The next command on the connection tells of it.
  const onError = (): void => undefined;
  const shards = openShards({ redis, prefix: queue.prefix, shards: queue.shards, onError });
  const rooms = openOperatorsRooms({
    configuration,
    redis,
    shards,
    protocol: createProtocol(configuration.protocol),
    passwords: createPasswordVerifier(),
    // The log is the service's; what is done here stands in the audit log alone.
    log: { audit: () => undefined },
    now,
    onError,
  });
  return {
    ...rooms,
    configuration,
    redis,
    readJob: async (msspTransId) => {
      const key = shardFor(shards, msspTransId)?.signatures.queue.toKey(msspTransId);
      const fields = key === undefined ? {} : await redis.hgetall(key);
      return 'data' in fields ? fields : undefined;
    },
    close: async () => {
      await rooms.close();
      await closeShards(shards);
    },
  };
};
