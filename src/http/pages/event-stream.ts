/**
 * Server-sent events: how this service opens a stream. Phones have connections of their own
 * (parts/phone/connections.ts), because there are thousands in a process.
 *
 * A stream holds a connection, so there is a limited number of them. It ends with what it tells,
 * when its reader goes, when this process stops, and after ten minutes in any case: readers connect
 * again by themselves, perhaps to another process.
 *
 * Source: HTML Living Standard, section 9.2.
 */
import type { Context } from 'hono';
import { SSEStreamingApi } from 'hono/streaming';

const heartbeatMs = 15_000;
const lifeMs = 10 * 60_000;
const retryMs = 2000;

export interface OpenStream {
  /** Resolves when the reader has it, or the stream is over. */
  send(event: string, data: string): Promise<void>;
  /** Aborts when the stream is over. */
  readonly signal: AbortSignal;
}

/** A group of readers, and how many streams they may have together. */
export interface StreamBound {
  readonly of: string;
  readonly max: number;
}

export const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // nginx would hold events back until it has a buffer full of them.
  'x-accel-buffering': 'no',
};

export const createEventStreams = ({
  stopping,
  maxOfOne,
  maxInAll = Number.POSITIVE_INFINITY,
  onError,
}: {
  /** Ends all of them, and lets no new one begin. */
  readonly stopping: AbortSignal;
  /** The most streams that one reader may have open. */
  readonly maxOfOne: number;
  readonly maxInAll?: number;
  readonly onError: (error: Error) => void;
}) => {
  const openFor = new Map<string, number>();
  /** One listener for all streams: Node takes many on one signal for a leak. */
  const ends = new Set<() => void>();
  const endAll = (): void => {
    for (const end of ends) end();
  };
  stopping.addEventListener('abort', endAll, { once: true });
  let open = 0;
  const count = (bounds: readonly StreamBound[], change: 1 | -1): void => {
    open += change;
    for (const { of } of bounds) {
      const streams = (openFor.get(of) ?? 0) + change;
      if (streams === 0) openFor.delete(of);
      else openFor.set(of, streams);
    }
  };

  /**
   * Answers HEAD without a stream: Hono runs GET for it and drops the body, which nothing would
   * end.
   *
   * @param run Tells what there is to tell, until its signal aborts.
   * @param options.within Further groups that the reader belongs to.
   * @param options.isStillIn Whether the reader may read on; asked with each heartbeat.
   */
  return (
    { req }: Pick<Context, 'req'>,
    reader: string,
    run: (stream: OpenStream) => Promise<void>,
    options: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly within?: readonly StreamBound[];
      readonly isStillIn?: () => Promise<boolean>;
    } = {},
  ): Response | 'stopping' | 'too-many' => {
    if (stopping.aborted) return 'stopping';
    const headers = { ...options.headers, ...streamHeaders };
    if (req.method === 'HEAD') return new Response(null, { headers });
    const bounds = [{ of: `one ${reader}`, max: maxOfOne }, ...(options.within ?? [])];
    const isFull = ({ of, max }: StreamBound): boolean => (openFor.get(of) ?? 0) >= max;
    if (bounds.some(isFull) || open >= maxInAll) return 'too-many';
    count(bounds, 1);
    const { readable, writable } = new TransformStream();
    const stream = new SSEStreamingApi(writable, readable);
    const over = new AbortController();
    const { signal } = over;
    const end = (): void => over.abort();
    const ended = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const beat = async (): Promise<void> => {
      if ((await options.isStillIn?.()) === false) end();
      else void stream.write(':\n\n');
    };
    const heartbeat = setInterval(() => void beat().catch(end), heartbeatMs);
    const life = setTimeout(end, lifeMs);
    ends.add(end);
    stream.onAbort(end);
    void stream.write(`retry: ${retryMs}\n\n`);
    // A reader that does not read holds up what is sent, but not the end.
    const send: OpenStream['send'] = (event, data) =>
      Promise.race([stream.writeSSE({ event, data }), ended]);
    const tell = async (): Promise<void> => {
      try {
        await run({ send, signal });
      } catch (error) {
        if (!signal.aborted) onError(error instanceof Error ? error : new Error(String(error)));
      }
      clearInterval(heartbeat);
      clearTimeout(life);
      ends.delete(end);
      count(bounds, -1);
      await stream.close();
    };
    void tell();
    return new Response(stream.responseReadable, { headers });
  };
};
