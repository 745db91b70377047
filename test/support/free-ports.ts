import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Systems give outgoing connections and servers at port 0 ports from 32768 or 49152 on. From there
 * a port that is free now may be somebody's before it is used.
 */
const [least, most] = [10_000, 32_000];

const holdFreePort = async (): Promise<readonly [number, Server]> => {
  for (;;) {
    const port = randomInt(least, most);
    const server = createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
      return [port, server];
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    }
  }
};

/**
 * Ports that nobody listens at now. They are held until all are found, so that no two are the same.
 */
export const freePorts = async (count: number): Promise<readonly number[]> => {
  const held = await Promise.all(Array.from({ length: count }, holdFreePort));
  await Promise.all(held.map(([, server]) => new Promise((resolve) => server.close(resolve))));
  return held.map(([port]) => port);
};

export const freePort = async (): Promise<number> => (await freePorts(1))[0] ?? 0;
