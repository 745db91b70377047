import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { createRedisClock } from '../../src/redis/clock.ts';
import { clockOf, connectForCommands } from '../../src/redis/connect.ts';
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

  let fakes = 0;
  /** Answers TIME as it is told to, and everything else at once. */
  const fakeRedis = async (answerTime: (answer: (seconds: number) => void) => void) => {
    fakes += 1;
    const path = join(tmpdir(), `${redis.prefix}-${fakes}.sock`);
    const fake = createServer((socket) => {
      socket.on('error', () => undefined);
      const answer = (seconds: number): void => {
        const text = String(seconds);
        socket.write(`*2\r\n$${text.length}\r\n${text}\r\n$1\r\n0\r\n`);
      };
      socket.on('data', (data) => {
        for (const [, command] of String(data).matchAll(/^\*\d+\r\n\$\d+\r\n(\w+)/gm)) {
          if (command?.toLowerCase() === 'time') answerTime(answer);
          else socket.write('+OK\r\n');
        }
      });
    }).listen(path);
    await once(fake, 'listening');
    return { path, close: () => fake.close() };
  };

  it('is asked again on demand', async () => {
    let seconds = 1000;
    const fake = await fakeRedis((answer) => answer(seconds));
    const client = new Redis({ path: fake.path });
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

  it('is asked again soon when the first answer does not come in time', async () => {
    let count = 0;
    const fake = await fakeRedis((answer) => {
      count += 1;
      if (count === 1) setTimeout(answer, 1000, 1000);
      else answer(2000);
    });
    const client = connectForCommands({ url: `unix:${fake.path}` });
    client.on('error', () => undefined);
    try {
      const clock = clockOf(client);
      await clock.asked;
      expect(Math.abs(clock.now() - 2_000_000)).toBeLessThan(500);
    } finally {
      client.disconnect();
      fake.close();
    }
  });

  it('stays as it is known when a slower reading does not contradict it', async () => {
    const startedAt = performance.now();
    // Of the first readings the delay is on the way there, of the last one on the way back: half of each is the error.
    let [thereMs, backMs] = [15, 0];
    const fake = await fakeRedis((answer) => {
      setTimeout(() => {
        const exact = (1_000_000 + performance.now() - startedAt) / 1000;
        setTimeout(answer, backMs, exact);
      }, thereMs);
    });
    const client = new Redis({ path: fake.path });
    try {
      const clock = createRedisClock(client);
      await clock.asked;
      await clock.refresh();
      const known = clock.now() - performance.now();
      [thereMs, backMs] = [0, 400];
      await clock.refresh();
      expect(Math.abs(clock.now() - performance.now() - known)).toBeLessThan(50);
    } finally {
      client.disconnect();
      fake.close();
    }
  });
});
