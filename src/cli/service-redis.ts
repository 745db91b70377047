/** A command's connection to the Redis of a service, for as long as the command needs it. */
import type { RedisClient } from '../redis/connect.ts';
import { type CliContext, environmentOf, type Report } from './context.ts';
import { embeddedRedisUrl } from './embedded-redis.ts';

const connectPatienceMs = 3000;

const unreachable = (problem: string): Report => ({ outcome: 'unreachable', document: {}, problem });

export const silent = unreachable('Redis does not answer at the address in REDIS_URL.');

const noServiceIn = (dataDirectory: string): Report =>
  unreachable(
    `No Paraph runs with the data directory ${dataDirectory}: start one, or set PARAPH_DATA or REDIS_URL as it has them.`,
  );

/** @returns What the work comes to, or that there is no such Redis. */
export const withServiceRedis = async (
  context: CliContext,
  work: (redis: RedisClient) => Promise<Report>,
): Promise<Report> => {
  const { redisUrl, dataDirectory } = environmentOf(context);
  const url = redisUrl ?? (await embeddedRedisUrl(dataDirectory));
  if (url === undefined) return noServiceIn(dataDirectory);
  // Loaded here because few commands need a Redis client.
  const [{ connectForCommands, whenReady }, { settlesWithin }] = await Promise.all([
    import('../redis/connect.ts'),
    import('../redis/patience.ts'),
  ]);
  const redis = connectForCommands({ url });
  // Without a listener ioredis prints; that it is not ready is told below.
  redis.on('error', () => undefined);
  try {
    if (!(await settlesWithin(whenReady(redis), connectPatienceMs))) return silent;
    return await work(redis);
  } finally {
    redis.disconnect();
  }
};
