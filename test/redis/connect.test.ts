import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, type Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import {
  connectForBlocking,
  connectForCommands,
  disconnect,
  type RedisClient,
  whenReady,
} from '../../src/redis/connect.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();
const opened: RedisClient[] = [];
const servers: Server[] = [];
const open = (url: string): RedisClient => {
  const client = connectForCommands({ url });
  client.on('error', () => undefined);
  opened.push(client);
  return client;
};

afterEach(async () => {
  await Promise.all(opened.splice(0).map(disconnect));
  for (const server of servers.splice(0)) server.close();
});

/** Nothing else happens in this process meanwhile. */
const holdTheProcess = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

describe('A connection for commands', () => {
  it('has an answer that came in time, although the process was too busy to read it', async () => {
    const client = open(redis.url);
    await whenReady(client);
    const answer = client.set(`${redis.prefix}:late`, 'read late');
    // The turn in which the command is issued ends with sending it.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    holdTheProcess(900);
    await expect(answer).resolves.toBe('OK');
  });

  it('sends a script by its hash, and its text where Redis does not know it', async () => {
    const client = open(redis.url);
    await whenReady(client);
    const key = `${redis.prefix}:script`;
    // No other test has it.
    const script = `-- ${redis.prefix}\nreturn redis.call('INCRBY', KEYS[1], ARGV[1])`;
    const sent: string[] = [];
    const node = client as Redis;
    const send = node.sendCommand.bind(node);
    node.sendCommand = (command, ...given) => {
      if (command.args.includes(key)) sent.push(command.name);
      return send(command, ...given);
    };
    expect(await client.eval(script, 1, key, 2)).toBe(2);
    expect(await client.eval(script, 1, key, 3)).toBe(5);
    expect(sent).toEqual(['evalsha', 'eval', 'evalsha']);
    const wrong = `-- ${redis.prefix}\nreturn redis.error_reply('WRONG it is')`;
    for (let round = 0; round < 2; round += 1)
      await expect(client.eval(wrong, 1, key)).rejects.toThrow('WRONG it is');
    expect(sent).toHaveLength(6);
  });

  it('gives a command all its time, however long the turn lasts that issues it', async () => {
    const path = join(tmpdir(), `${redis.prefix}-slow.sock`);
    const slow = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        const commands = String(data).match(/^\*\d+/gm)?.length ?? 0;
        setTimeout(() => socket.write('+OK\r\n'.repeat(commands)), 5);
      });
    });
    servers.push(slow);
    await new Promise<void>((resolve) => slow.listen(path, resolve));
    const client = open(`unix:${path}`);
    await whenReady(client);
    let closed = false;
    client.on('close', () => {
      closed = true;
    });
    const answer = client.set('anything', 'late');
    // Longer than Redis may be silent, too.
    holdTheProcess(2300);
    await expect(answer).resolves.toBe('OK');
    expect(closed).toBe(false);
  });

  it('gives up on a command that is not answered', async () => {
    const path = join(tmpdir(), `${redis.prefix}.sock`);
    const silent = createServer((socket) => socket.on('error', () => undefined));
    servers.push(silent);
    await new Promise<void>((resolve) => silent.listen(path, resolve));
    await expect(open(`unix:${path}`).get('anything')).rejects.toThrow('Command timed out');
  });

  it('answers commands in the order in which they were sent, however many one turn sends', async () => {
    const client = open(redis.url);
    await whenReady(client);
    const key = `${redis.prefix}:count`;
    const counts = await Promise.all(Array.from({ length: 500 }, () => client.incr(key)));
    expect(counts).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
  });
});

describe('A connection for blocking commands', () => {
  it('of a cluster has duplicates that do not ask for the slots at intervals', () => {
    const client = connectForBlocking({ url: 'redis://127.0.0.1:1,redis://127.0.0.1:1' });
    client.on('error', () => undefined);
    if (!(client instanceof Cluster)) throw new Error('a cluster was expected');
    const duplicate = client.duplicate([], { lazyConnect: true });
    client.disconnect();
    duplicate.disconnect();
    expect(duplicate.options.slotsRefreshInterval).toBe(0);
    expect(duplicate.options.lazyConnect).toBe(true);
  });
});
