/**
 * Server-sent events for the waiting page: one event, when there is something new to see.
 *
 * A stream holds a connection, so a login may have a few at a time and no more; whoever gets none asks by polling. When this
 * process stops, its streams end without an event, and the browsers come back to another one.
 *
 * Source: HTML Living Standard, section 9.2.
 */
import { pageHeaders } from '../page-headers.ts';

export interface EventStreams {
  /**
   * @param changed Resolves with true when the page should be loaded again; with false when nobody need wait any more.
   * @returns Undefined when the login has too many streams already.
   */
  open(uid: string, changed: (gone: AbortSignal) => Promise<boolean>): Response | undefined;
}

const mostForOne = 4;
const heartbeatMs = 15_000;
const retryMs = 2000;

export const createEventStreams = ({
  stopping,
  onError,
}: {
  readonly stopping: AbortSignal;
  readonly onError: (error: Error) => void;
}): EventStreams => {
  const openFor = new Map<string, number>();
  const count = (uid: string, change: 1 | -1): void => {
    const streams = (openFor.get(uid) ?? 0) + change;
    if (streams === 0) openFor.delete(uid);
    else openFor.set(uid, streams);
  };

  return {
    open: (uid, changed) => {
      if (stopping.aborted || (openFor.get(uid) ?? 0) >= mostForOne) return undefined;
      count(uid, 1);
      const gone = new AbortController();
      const leave = (): void => gone.abort();
      stopping.addEventListener('abort', leave, { once: true });
      const encoder = new TextEncoder();

      const run = async (send: (text: string) => void): Promise<void> => {
        const heartbeat = setInterval(() => send(':\n\n'), heartbeatMs);
        try {
          send(`retry: ${retryMs}\n\n`);
          const news = await changed(gone.signal);
          if (news && !gone.signal.aborted) send('event: changed\ndata: ended\n\n');
        } catch (error) {
          if (!gone.signal.aborted) onError(error instanceof Error ? error : new Error(String(error)));
        } finally {
          clearInterval(heartbeat);
          stopping.removeEventListener('abort', leave);
          count(uid, -1);
        }
      };

      let closed = false;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          const send = (text: string): void => {
            if (!closed) controller.enqueue(encoder.encode(text));
          };
          void run(send).then(() => {
            if (!closed) controller.close();
            closed = true;
          });
        },
        cancel: () => {
          closed = true;
          leave();
        },
      });
      return new Response(body, {
        headers: {
          ...pageHeaders,
          'content-type': 'text/event-stream',
          // nginx would hold events back until it has a buffer full of them.
          'x-accel-buffering': 'no',
        },
      });
    },
  };
};
