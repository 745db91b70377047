/** The engine for charts of one's own, with connections as the service makes them. */
import { openWorkflows as openEngine, type Workflows } from '../../../packages/engine/src/index.ts';
import {
  clockOf,
  connectForBlocking,
  connectForCommands,
  disconnect,
  type RedisClient,
} from '../../../src/redis/connect.ts';

type EngineOptions = Parameters<typeof openEngine>[0];

/**
 * @param options.redisUrl `redis://…`, `rediss://…`, `unix:/path/to/socket`, or the nodes of a
 *   cluster, separated by commas.
 * @param options.connection Of ioredis, with `maxRetriesPerRequest: null`. It is used and not
 *   ended.
 * @param options.prefix Of all keys. Default `workflows`.
 * @param options.shards Number of queues; on a cluster each has a slot of its own. Default 1. It
 *   must not change while instances are open.
 * @param options.onError Gets errors after which the engine tries again: a lost connection, an
 *   effect that threw, a bug of a chart.
 */
export const openWorkflows = (
  options: Pick<EngineOptions, 'prefix' | 'shards' | 'onError'> & {
    readonly redisUrl?: string;
    readonly connection?: RedisClient;
  },
): Workflows => {
  const { redisUrl, connection, ...others } = options;
  if (connection !== undefined && redisUrl === undefined)
    return openEngine({ ...others, connection });
  if (redisUrl === undefined || connection !== undefined)
    throw new TypeError('redisUrl or connection: one of them');
  // Commands fail when Redis does not answer. Workers wait until it comes back.
  const commands = connectForCommands({ url: redisUrl });
  let blocking: RedisClient | undefined;
  const workerConnection = (): RedisClient => {
    if (blocking === undefined) {
      blocking = connectForBlocking({ url: redisUrl });
      blocking.on('error', options.onError);
    }
    return blocking;
  };
  const { now } = clockOf(commands);
  const engine = openEngine({ ...others, connection: commands, workerConnection, now });
  return {
    ...engine,
    close: async () => {
      await engine.close();
      await disconnect(commands);
      if (blocking !== undefined) await disconnect(blocking);
    },
  };
};
