import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createRedisClock } from '../../src/redis/clock.ts';
import { connectForCommands, disconnect, type RedisClient, whenReady } from '../../src/redis/connect.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const clients: RedisClient[] = [];
const servers: Server[] = [];

const open = (url: string, hostNow: () => number = Date.now) => {
  const client = connectForCommands({ url });
  client.on('error', () => undefined);
  clients.push(client);
  return { client, clock: createRedisClock(client, hostNow) };
};

afterEach(async () => {
  await Promise.all(clients.splice(0).map(disconnect));
  for (const server of servers.splice(0)) server.close();
});

describe('The clock of Redis', () => {
  it('is known without asking, whatever the clock of the process is set to', async () => {
    let wrongBy = 300_000;
    const { client, clock } = open(redis.url, () => Date.now() + wrongBy);
    await whenReady(client);
    await clock.asked;
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(200);
    expect(clock.offsetMs()).toBeGreaterThan(299_800);
    wrongBy = -300_000;
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(200);
    expect(clock.offsetMs()).toBeLessThan(-299_800);
  });

  it('is that of the process while Redis has not answered yet, and asking fails for nobody', async () => {
    const { clock } = open(`unix:${join(tmpdir(), `${redis.prefix}-nobody.sock`)}`, () => 1234);
    await clock.refresh();
    expect([clock.now(), clock.offsetMs()]).toEqual([1234, undefined]);
  });

  it('is taken from the answer that came soonest', async () => {
    const path = join(tmpdir(), `${redis.prefix}-slow.sock`);
    let asked = 0;
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        const text = String(data);
        if (!/^TIME\r$/im.test(text))
          return socket.write('+OK\r\n'.repeat(text.match(/^\*\d+/gm)?.length ?? 0));
        asked += 1;
        const seconds = String(Math.floor(Date.now() / 1000));
        const micros = String((Date.now() % 1000) * 1000);
        const answer = `*2\r\n$${seconds.length}\r\n${seconds}\r\n$${micros.length}\r\n${micros}\r\n`;
        return setTimeout(() => socket.write(answer), asked === 2 ? 0 : 500);
      });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const { client, clock } = open(`unix:${path}`);
    await whenReady(client);
    await clock.refresh();
    expect(Math.abs(clock.offsetMs() ?? 1000)).toBeLessThan(150);
  });
});
