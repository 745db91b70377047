/**
 * Server-sent events for the waiting page: one event, when there is something new. A stream holds a
 * connection, so a login may have a few; further pages poll. When this process stops, its streams
 * end without an event and the browsers connect to another one.
 *
 * Source: HTML Living Standard, section 9.2.
 */
import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import { toError } from '../redis/to-error.ts';
import { pageHeaders } from './headers.ts';

const maxStreams = 4;
const heartbeatMs = 15_000;
const retryMs = 2000;

export const createEventStreams = ({
  stopping,
  onError,
}: {
  readonly stopping: AbortSignal;
  readonly onError: (error: Error) => void;
}) => {
  const openFor = new Map<string, number>();
  const count = (uid: string, change: 1 | -1): void => {
    const streams = (openFor.get(uid) ?? 0) + change;
    if (streams === 0) openFor.delete(uid);
    else openFor.set(uid, streams);
  };

  /**
   * @param changed Resolves with true to reload the page, with false when nobody waits any more.
   * @returns Undefined when the login has too many streams.
   */
  return (
    c: Context,
    uid: string,
    changed: (gone: AbortSignal) => Promise<boolean>,
  ): Response | undefined => {
    if (stopping.aborted || (openFor.get(uid) ?? 0) >= maxStreams) return undefined;
    count(uid, 1);
    const response = streamSSE(c, async (stream) => {
      const gone = new AbortController();
      const leave = (): void => gone.abort();
      stream.onAbort(leave);
      stopping.addEventListener('abort', leave, { once: true });
      const heartbeat = setInterval(() => void stream.write(':\n\n'), heartbeatMs);
      try {
        await stream.write(`retry: ${retryMs}\n\n`);
        if ((await changed(gone.signal)) && !gone.signal.aborted) {
          await stream.writeSSE({ event: 'changed', data: 'ended' });
        }
      } catch (error) {
        if (!gone.signal.aborted) onError(toError(error));
      } finally {
        clearInterval(heartbeat);
        stopping.removeEventListener('abort', leave);
        count(uid, -1);
      }
    });
    for (const [name, value] of Object.entries(pageHeaders)) response.headers.set(name, value);
    // Without this, nginx would buffer the events.
    response.headers.set('x-accel-buffering', 'no');
    return response;
  };
};

/**
 * Answers HEAD where GET would open an event stream: Hono runs GET for HEAD and drops the body,
 * which nothing would end. @returns Undefined for other methods.
 */
export const headOfStream = ({ req }: Context): Response | undefined =>
  req.method === 'HEAD'
    ? new Response(null, { headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' } })
    : undefined;
