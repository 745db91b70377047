import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { createRedisClock } from '../../src/redis/clock.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();

describe('The clock of Redis', () => {
  it('is known whatever the clock of the process says, and so is the difference', async () => {
    const client = redis.client();
    await client.ping();
    const aheadMs = 300_000;
    const clock = createRedisClock(client, () => Date.now() + aheadMs);
    expect(clock.offsetMs()).toBeUndefined();
    await clock.asked;
    expect(Math.abs((clock.offsetMs() ?? 0) - aheadMs)).toBeLessThan(500);
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(500);
    expect(clock.nowAt(client)).toBeCloseTo(clock.now(), -2);
  });

  it('is that of the process until Redis has told it, also when Redis refuses to', async () => {
    const client = redis.client();
    await client.call('ACL', 'SETUSER', redis.prefix, 'on', 'nopass', '~*', '+@all', '-time');
    const refused = client.duplicate({ username: redis.prefix, password: 'any' });
    try {
      const clock = createRedisClock(refused, () => 4711);
      await clock.asked;
      expect(clock.now()).toBe(4711);
      expect(clock.nowAt(refused)).toBeUndefined();
      expect(clock.offsetMs()).toBeUndefined();
    } finally {
      refused.disconnect();
      await client.call('ACL', 'DELUSER', redis.prefix);
    }
  });

  it('is asked again when somebody has a reason to doubt', async () => {
    let seconds = 1000;
    const path = join(tmpdir(), `${redis.prefix}.sock`);
    const fake = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        for (const [, command] of String(data).matchAll(/^\*\d+\r\n\$\d+\r\n(\w+)/gm)) {
          const text = String(seconds);
          const time = `*2\r\n$${text.length}\r\n${text}\r\n$1\r\n0\r\n`;
          socket.write(command?.toLowerCase() === 'time' ? time : '+OK\r\n');
        }
      });
    }).listen(path);
    await once(fake, 'listening');
    const client = new Redis({ path });
    try {
      const clock = createRedisClock(client);
      await clock.asked;
      expect(Math.abs(clock.now() - 1_000_000)).toBeLessThan(500);
      seconds = 2000;
      await clock.refresh();
      await clock.refresh();
      expect(Math.abs(clock.now() - 2_000_000)).toBeLessThan(500);
    } finally {
      client.disconnect();
      fake.close();
    }
  });
});
