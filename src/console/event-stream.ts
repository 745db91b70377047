/**
 * Server-sent events about changes.
 *
 * A stream holds a connection, so each user may have a limited number. It ends when its reader
 * goes, when this process stops, and after ten minutes in any case: readers reconnect by
 * themselves. Each heartbeat checks that the session or token is still valid; the stream also ends
 * when that check fails.
 *
 * Source: HTML Living Standard, section 9.2.
 */
import { SSEStreamingApi } from 'hono/streaming';
import type { Operators } from '../operators/operators.ts';
import { refuse } from './answers.ts';
import type { ConsoleSession } from './deps.ts';

export interface EventStreams {
  /** @param begin Given how to send; what it returns is called at the end. */
  open(session: ConsoleSession, begin: (send: (event: string, data: object) => void) => () => void): Response;
  /** Ends all of them, and lets no new one begin. */
  close(): void;
}

const maxForOne = 16;
const heartbeatMs = 15_000;
const lifeMs = 10 * 60_000;
const retryMs = 2000;

export const createEventStreams = ({ isStillIn }: Pick<Operators, 'isStillIn'>): EventStreams => {
  const openFor = new Map<string, number>();
  const ends = new Set<() => void>();
  let stopping = false;

  return {
    open: (session, begin) => {
      const { name } = session.operator;
      if (stopping) return refuse(503, 'stopping', 'This process is stopping');
      const others = openFor.get(name) ?? 0;
      if (others >= maxForOne) return refuse(429, 'too-many', 'You have too many streams open');
      openFor.set(name, others + 1);
      const { readable, writable } = new TransformStream();
      const stream = new SSEStreamingApi(writable, readable);
      const end = (): void => {
        if (!ends.delete(end)) return;
        clearInterval(heartbeat);
        clearTimeout(life);
        const left = (openFor.get(name) ?? 1) - 1;
        if (left === 0) openFor.delete(name);
        else openFor.set(name, left);
        stop();
        void stream.close();
      };
      const beat = async (): Promise<void> => {
        if (await isStillIn(session)) void stream.write(':\n\n');
        else end();
      };
      const heartbeat = setInterval(() => void beat().catch(end), heartbeatMs);
      const life = setTimeout(end, lifeMs);
      ends.add(end);
      stream.onAbort(end);
      void stream.write(`retry: ${retryMs}\n\n`);
      const stop = begin((event, data) => void stream.writeSSE({ event, data: JSON.stringify(data) }));
      return new Response(stream.responseReadable, {
        headers: {
          'content-type': 'text/event-stream',
          'cache-control': 'no-store',
          // nginx would hold events back until it has a buffer full of them.
          'x-accel-buffering': 'no',
        },
      });
    },
    close: () => {
      stopping = true;
      for (const end of ends) end();
    },
  };
};
