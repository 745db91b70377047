/**
 * The connections of a producer: one for commands and one for events.
 *
 * With a URL both are opened and closed here, and commands time out after a second, because a
 * caller waits. A connection of the caller keeps its own timeouts and stays open.
 */
import type { Redis } from 'ioredis';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import {
  clockOf,
  connectForBlocking,
  connectForCommands,
  disconnect,
  likenessForEvents,
  type RedisClient,
  whenReady,
} from '../redis/connect.ts';

export type ConnectionOptions =
  | {
      /** `redis://…`, `rediss://…`, `unix:/path/to/socket`, or cluster nodes with commas. */
      readonly redisUrl: string;
      readonly connection?: never;
    }
  | {
      /** A connection of ioredis, without a `keyPrefix`. It is used and not closed. */
      readonly connection: Redis;
      readonly redisUrl?: never;
    };

const timeoutMs = 1000;

export const openConnections = (
  { redisUrl, connection }: ConnectionOptions,
  onError: (error: Error) => void,
) => {
  const commands: RedisClient = connection ?? connectForCommands({ url: redisUrl });
  const blocking: RedisClient =
    connection === undefined
      ? connectForBlocking({ url: redisUrl })
      : likenessForEvents(connection);
  const own = connection === undefined ? [commands, blocking] : [blocking];
  for (const client of own) client.on('error', onError);
  let connecting: Promise<unknown> | undefined;
  const clock = connection === undefined ? clockOf(commands) : undefined;
  let asked = clock === undefined;
  void clock?.asked.then(() => {
    asked = true;
  });
  const firstTime = async (): Promise<void> => {
    if (commands.isCluster && commands.status !== 'ready') await whenReady(commands);
    await clock?.asked;
  };
  return {
    commands,
    blocking,
    /**
     * Awaited before the commands of a call: for the nodes of a cluster, without which commands are
     * refused, and for the time of Redis. Takes at most a second; then the command itself fails.
     */
    connected: async (): Promise<void> => {
      if (asked && (!commands.isCluster || commands.status === 'ready')) return;
      // One for all callers, so that there is one listener.
      connecting ??= firstTime().finally(() => {
        connecting = undefined;
      });
      await settlesWithin(connecting, timeoutMs);
    },
    /** Milliseconds since the epoch: of Redis; of the process with a connection of the caller. */
    now: (): number => (clock === undefined ? Date.now() : Math.floor(clock.now())),
    close: async (): Promise<void> => {
      await Promise.all(own.map(disconnect));
    },
  };
};
