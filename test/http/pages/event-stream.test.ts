import type { Context } from 'hono';
import { afterEach, expect, it } from 'vitest';
import { createEventStreams } from '../../../src/http/pages/event-stream.ts';

const warnings: Error[] = [];
const note = (warning: Error): void => void warnings.push(warning);
process.on('warning', note);
afterEach(() => process.off('warning', note));

it('of many readers all end when the process stops, and none is taken for a leak', async () => {
  const stopping = new AbortController();
  const open = createEventStreams({
    stopping: stopping.signal,
    maxOfOne: 1,
    onError: (error) => expect.unreachable(error.message),
  });
  const c = { req: { method: 'GET' } } as Pick<Context, 'req'>;
  let ended = 0;
  const streams = Array.from({ length: 30 }, (_, index) =>
    open(
      c,
      `reader ${index}`,
      ({ signal }) =>
        new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            ended += 1;
            resolve();
          });
        }),
    ),
  );
  stopping.abort();
  for (const stream of streams) await (stream as Response).text();
  expect(ended).toBe(30);
  // Node tells of a leak in the next turn.
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});
