/** The Redis of the service in the process of a command, beside a service that runs or does not. */
import {
  type CliContext,
  environmentIn,
  UsageError,
  type WithStore,
} from '../command-line/context.ts';
import type { Environment } from '../environment/environment.ts';
import { usableConfiguration } from './configuration-file.ts';
import { embeddedRedisUrl, existingMasterKey, withRedisAt } from './service-redis.ts';

const openServiceRedis = async (environment: Environment) => {
  const { redisUrl, dataDirectory } = environment;
  const running = redisUrl === undefined ? await embeddedRedisUrl(dataDirectory) : undefined;
  if (running !== undefined) return { url: running, runs: true, stop: async () => undefined };
  const { openRedis } = await import('../app/redis-at-start.ts');
  // A private Redis that ends by itself ends the connection as well.
  return { runs: false, ...(await openRedis(environment, () => undefined)) };
};

/** Sentences for operators; whatever else is thrown is unexpected. */
const toEnd = async (error: unknown): Promise<unknown> => {
  const { StartError } = await import('../app/start-error.ts');
  return error instanceof StartError ? new UsageError(error.message) : error;
};

export const withStore: WithStore = async (context: CliContext, check, work) => {
  const configuration = await usableConfiguration(context);
  const environment = environmentIn(context);
  const masterKey = await existingMasterKey(context);
  try {
    check(environment);
    const server = await openServiceRedis(environment);
    try {
      const { storeVersion } = await import('../app/redis-at-start.ts');
      return await withRedisAt(server.url, 'blocking', (redis) =>
        work({
          redis,
          masterKey,
          queue: configuration.queue,
          version: storeVersion,
          embeddedRuns: server.runs,
          openCustody: async () =>
            (await import('./local-api.ts')).openCustody(
              context,
              { redis, configuration },
              masterKey,
            ),
        }),
      );
    } finally {
      await server.stop();
    }
  } catch (error) {
    throw await toEnd(error);
  }
};
