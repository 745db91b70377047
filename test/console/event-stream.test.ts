/** Streams of events, and how long somebody may read one. */
import type { Context } from 'hono';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConsoleSession } from '../../src/console/deps.ts';
import { createConsoleStreams } from '../../src/console/event-stream.ts';
import { usualView } from '../../src/console/operators/views.ts';

const session: ConsoleSession = {
  operator: { name: 'olga', role: 'operator', via: 'oidc' },
  csrf: 'token',
  id: 'id',
  view: usualView,
  frame: { sections: [], notices: {}, actions: {} },
  at: 0,
};
const heartbeatMs = 15_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a stream of events', () => {
  it.each([
    ['has ended', async () => false],
    ['cannot be asked for', async () => Promise.reject(new Error('Redis is away'))],
  ])('ends with the next heartbeat when its session %s', async (_, over) => {
    let isStillIn: () => Promise<boolean> = async () => true;
    const asked: unknown[] = [];
    const streams = createConsoleStreams({
      operators: {
        isStillIn: async (asker) => {
          asked.push(asker);
          return isStillIn();
        },
      },
      onError: (error) => expect.unreachable(error.message),
    });
    const c = { req: { method: 'GET' } } as Pick<Context, 'req'>;
    let stopped = 0;
    const { body } = streams.open(c, session, (send) => {
      const timer = setInterval(() => send('state', { is: 'news' }), heartbeatMs - 1);
      return () => {
        clearInterval(timer);
        stopped += 1;
      };
    });
    const read = body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await read?.read())?.value).toMatch(/^retry: /);
    await vi.advanceTimersByTimeAsync(heartbeatMs);
    expect((await read?.read())?.value).toContain('event: state');
    expect((await read?.read())?.value).toBe(':\n\n');
    isStillIn = over;
    await vi.advanceTimersByTimeAsync(2 * heartbeatMs);
    expect((await read?.read())?.value).toContain('event: state');
    expect(await read?.read()).toEqual({ done: true, value: undefined });
    expect(stopped).toBe(1);
    expect(asked).toEqual([session, session]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
