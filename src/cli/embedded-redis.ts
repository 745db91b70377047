import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { socketPathFor } from '../embedded/redis.ts';
import { ask } from '../embedded/redis-socket.ts';

/** Address of the private Redis of a data directory, when its Paraph runs. */
export const embeddedRedisUrl = async (dataDirectory: string): Promise<string | undefined> => {
  let socketPath: string;
  try {
    socketPath = socketPathFor(realpathSync(join(dataDirectory, 'redis')));
  } catch {
    return undefined;
  }
  return (await ask(socketPath, 'PING')) === '+PONG' ? `unix:${socketPath}` : undefined;
};
