/**
 * The connections of a producer: one for commands, and one whose likeness waits for events.
 *
 * Of a URL both are made and ended here, and a command is given up when Redis does not answer within a second: somebody
 * waits. A connection that the caller has keeps the caller's patience and stays open.
 */
import type { Redis } from 'ioredis';
import {
  connectForBlocking,
  connectForCommands,
  disconnect,
  likenessForEvents,
  type RedisClient,
} from '../redis/connect.ts';

export type ConnectionOptions =
  | {
      /** `redis://…`, `rediss://…`, `unix:/path/to/socket`, or the nodes of a cluster, separated by commas. */
      readonly redisUrl: string;
      readonly connection?: never;
    }
  | {
      /** Of ioredis, without a `keyPrefix`. It is used and not ended. */
      readonly connection: Redis;
      readonly redisUrl?: never;
    };

export interface Connections {
  readonly commands: RedisClient;
  readonly blocking: RedisClient;
  close(): Promise<void>;
}

export const openConnections = (
  { redisUrl, connection }: ConnectionOptions,
  onError: (error: Error) => void,
): Connections => {
  const commands = connection ?? connectForCommands({ url: redisUrl });
  const blocking =
    connection === undefined ? connectForBlocking({ url: redisUrl }) : likenessForEvents(connection);
  const own = connection === undefined ? [commands, blocking] : [blocking];
  for (const client of own) client.on('error', onError);
  return {
    commands,
    blocking,
    close: async () => {
      await Promise.all(own.map(disconnect));
    },
  };
};
