/**
 * The connections of a producer: one for commands, and one whose likeness waits for events.
 *
 * Of a URL both are made and ended here, and a command is given up when Redis does not answer within a second: somebody
 * waits. A connection that the caller has keeps the caller's patience and stays open.
 */
import type { Redis } from 'ioredis';
import {
  clockOf,
  connectForBlocking,
  connectForCommands,
  disconnect,
  likenessForEvents,
  type RedisClient,
  whenReady,
} from '../redis/connect.ts';
import { settlesWithin } from '../redis/patience.ts';

export type ConnectionOptions =
  | {
      /** `redis://…`, `rediss://…`, `unix:/path/to/socket`, or cluster nodes with commas. */
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
  /**
   * Awaited before commands of a call. A connection to a cluster refuses commands until it knows the nodes, so the first
   * call waits for that, and at most as long as Redis may take for a command; then the command says what is wrong. So it waits
   * for the time of Redis.
   */
  connected(): Promise<void>;
  /**
   * Milliseconds since the epoch: by the clock of Redis, like those of the workers, or by the process's own for a connection that
   * the caller has.
   */
  now(): number;
  close(): Promise<void>;
}

const patienceMs = 1000;

export const openConnections = (
  { redisUrl, connection }: ConnectionOptions,
  onError: (error: Error) => void,
): Connections => {
  const commands = connection ?? connectForCommands({ url: redisUrl });
  const blocking =
    connection === undefined ? connectForBlocking({ url: redisUrl }) : likenessForEvents(connection);
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
    connected: async () => {
      if (asked && (!commands.isCluster || commands.status === 'ready')) return;
      // One for all callers: each would leave a listener.
      connecting ??= firstTime().finally(() => {
        connecting = undefined;
      });
      await settlesWithin(connecting, patienceMs);
    },
    now: () => (clock === undefined ? Date.now() : Math.floor(clock.now())),
    close: async () => {
      await Promise.all(own.map(disconnect));
    },
  };
};
