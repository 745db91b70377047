import { once } from 'node:events';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { createRedisClock } from '../../packages/engine/src/redis/clock.ts';
import { limitCommands } from '../../src/redis/timeout.ts';
import { testRedis } from '../support/redis.ts';

const redis = testRedis();

describe('The clock of Redis', () => {
  it('is known whatever the clock of the process says, and so is the difference', async () => {
    const client = redis.client();
    await client.ping();
    const aheadMs = 300_000;
    // They stand still while this asks: then nothing of the difference is due to the time that it
    // takes.
    const [standing, host] = [performance.now(), Date.now()];
    const begun = performance.now();
    const clock = createRedisClock(client, {
      wall: () => host + aheadMs,
      monotonic: () => standing,
    });
    expect(clock.offsetMs()).toBeUndefined();
    await clock.asked;
    const tookMs = performance.now() - begun;
    const behindMs = clock.now() - host;
    expect(behindMs).toBeGreaterThan(-2);
    expect(behindMs).toBeLessThan(tookMs + 2);
    expect(clock.offsetMs()).toBeCloseTo(aheadMs - behindMs, 3);
    expect(clock.nowAt(client)).toBe(clock.now());
  });

  it('is that of the process until Redis has told it, also when Redis refuses to', async () => {
    const client = redis.client();
    await client.call('ACL', 'SETUSER', redis.prefix, 'on', 'nopass', '~*', '+@all', '-time');
    const refused = client.duplicate({ username: redis.prefix, password: 'any' });
    try {
      const clock = createRedisClock(refused, { wall: () => 4711 });
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
      const clock = createRedisClock(client, { monotonic: () => 0 });
      await clock.asked;
      expect(clock.now()).toBe(1_000_000);
      seconds = 2000;
      await clock.refresh();
      await clock.refresh();
      expect(clock.now()).toBe(2_000_000);
    } finally {
      client.disconnect();
      fake.close();
    }
  });

  it('is asked again soon when the first answer does not come in time', async () => {
    let tooLate: (() => void) | undefined;
    let count = 0;
    const fake = await fakeRedis((answer) => {
      count += 1;
      if (count === 1) {
        tooLate = () => answer(1000);
        return;
      }
      // Redis answers in the order in which it was asked.
      tooLate?.();
      tooLate = undefined;
      answer(2000);
    });
    const client = limitCommands(new Redis({ path: fake.path }), 50, () => undefined);
    client.on('error', () => undefined);
    try {
      const clock = createRedisClock(client, { monotonic: () => 0, retryAfterMs: 10 });
      await clock.asked;
      expect(clock.now()).toBe(2_000_000);
      expect(count).toBeGreaterThan(1);
    } finally {
      client.disconnect();
      fake.close();
    }
  });

  it('stays as it is known when a slower reading does not contradict it', async () => {
    let time = 0;
    // Of the first readings the delay is on the way there, of the last one on the way back: half of
    // each is the error.
    let [thereMs, backMs] = [15, 0];
    const fake = await fakeRedis((answer) => {
      time += thereMs;
      answer((1_000_000 + time) / 1000);
      time += backMs;
    });
    const client = new Redis({ path: fake.path });
    try {
      const clock = createRedisClock(client, { monotonic: () => time });
      await clock.asked;
      await clock.refresh();
      const known = clock.now() - time;
      expect(known).toBe(1_000_007.5);
      [thereMs, backMs] = [0, 400];
      await clock.refresh();
      expect(clock.now() - time).toBe(known);
    } finally {
      client.disconnect();
      fake.close();
    }
  });
});
