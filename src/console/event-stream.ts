/**
 * Server-sent events: what has changed, as it changes.
 *
 * A stream holds a connection, so a person may have some at a time and no more. It ends when its reader goes, when this
 * process stops, and after a while in any case: readers come back by themselves. With each heartbeat is asked whether the session or
 * the token that opened it still is, and where that cannot be told it ends too.
 *
 * Source: HTML Living Standard, section 9.2.
 */
import type { Operators } from '../operators/operators.ts';
import type { ConsoleSession } from './deps.ts';
import { refuse } from './answers.ts';

export interface EventStreams {
  /**
   * @param begin Told to whom to send; what it returns is called at the end.
   */
  open(session: ConsoleSession, begin: (send: (event: string, data: object) => void) => () => void): Response;
  /** Ends all of them, and lets no new one begin. */
  close(): void;
}

const mostForOne = 16;
const heartbeatMs = 15_000;
const lifeMs = 10 * 60_000;
const retryMs = 2000;

export const createEventStreams = ({ isStillIn }: Pick<Operators, 'isStillIn'>): EventStreams => {
  const openFor = new Map<string, number>();
  const ends = new Set<() => void>();
  let stopping = false;

  const count = (name: string, change: 1 | -1): void => {
    const streams = (openFor.get(name) ?? 0) + change;
    if (streams === 0) openFor.delete(name);
    else openFor.set(name, streams);
  };

  return {
    open: (session, begin) => {
      const { name } = session.operator;
      if (stopping) return refuse(503, 'stopping', 'This process is stopping');
      if ((openFor.get(name) ?? 0) >= mostForOne) {
        return refuse(429, 'too-many', 'You have too many streams open');
      }
      count(name, 1);
      const encoder = new TextEncoder();
      let over = false;
      let stop: () => void = () => undefined;
      let leave: () => void = () => undefined;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          const write = (text: string): void => {
            if (!over) controller.enqueue(encoder.encode(text));
          };
          const beat = async (): Promise<void> => {
            if (await isStillIn(session)) write(':\n\n');
            else end();
          };
          const heartbeat = setInterval(() => void beat().catch(end), heartbeatMs);
          const end = (): void => {
            if (over) return;
            over = true;
            clearInterval(heartbeat);
            clearTimeout(life);
            ends.delete(end);
            count(name, -1);
            stop();
            // Its reader may have gone already.
            try {
              controller.close();
            } catch {}
          };
          const life = setTimeout(end, lifeMs);
          ends.add(end);
          write(`retry: ${retryMs}\n\n`);
          stop = begin((event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
          leave = end;
        },
        cancel: () => leave(),
      });
      return new Response(body, {
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
