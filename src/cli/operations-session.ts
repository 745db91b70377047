/**
 * The service's rooms over one connection to its Redis. Users, secrets and the index are worked on
 * here; everything else goes through the admin API, which runs on these rooms where there is no token.
 *
 * The operator is an admin called `os:` and their name in the operating system. No user of the service
 * can have such a name. The audit log has it with `via: cli`.
 */
import { userInfo } from 'node:os';
import type { Configuration } from '../configuration/schema.ts';
import type { Operator } from '../operators/operator.ts';
import type { OperatorsRooms } from '../product/operators-rooms.ts';
import type { Protocol } from '../protocol/parse.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Shard } from '../transactions/shards.ts';
import { usableConfiguration } from './configuration-file.ts';
import { type CliContext, environmentOf, type Report, UsageProblem } from './context.ts';
import { withServiceRedis } from './service-redis.ts';

/** For one command. */
export interface OperationsSession extends OperatorsRooms {
  readonly configuration: Configuration;
  readonly redis: RedisClient;
  readonly shards: readonly Shard[];
  readonly protocol: Protocol;
  readonly operator: Operator;
}

/** A user without an entry in the system's list of users, as containers have them, has only a number. */
const systemUser = (): string => {
  try {
    return userInfo().username.slice(0, 60);
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
};

export const needsIndex = ({ configuration }: Pick<OperationsSession, 'configuration'>): void => {
  if (configuration.operations.index) return;
  throw new UsageProblem(
    'This configuration keeps no search index (operations.index), so nothing is listed.',
  );
};

export const withOperations = async (
  context: CliContext,
  work: (session: OperationsSession) => Promise<Report>,
): Promise<Report> => {
  const configuration = await usableConfiguration(environmentOf(context).configurationPath);
  return withServiceRedis(context, async (redis) => {
    // Loaded here because most of the program hangs on them.
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
    // The next command on the connection tells of it.
    const onError = (): void => undefined;
    const shards = openShards({ redis, ...configuration.queue, onError });
    const protocol = createProtocol(configuration.protocol);
    const rooms = openOperatorsRooms({
      configuration,
      redis,
      shards,
      protocol,
      passwords: createPasswordVerifier(),
      // The log is the service's; what is done here stands in the audit log alone.
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
