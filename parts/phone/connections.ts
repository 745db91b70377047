/**
 * The phones that are connected to this process, by server-sent events.
 *
 * All of them share one reader of the stream of changes and one timer, because there are thousands.
 * A connection that Redis was away from misses nothing: the reader goes on where it stopped. A
 * phone that connects asks for its state itself, so it also learns of earlier changes.
 *
 * Source: HTML Living Standard, section 9.2.
 */

import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import { streamHeaders } from '../../src/http/pages/event-stream.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import { followStream, lastEntryId } from '../../src/redis/streams.ts';
import { readTold, type Told, toldKey } from './prompts.ts';

export interface Connection {
  readonly msisdn: string;
  readonly phone: string;
  send(event: string, data: object): void;
  close(): void;
}

const heartbeatMs = 15_000;
const retryMs = 2000;
/** The most connections of one phone: a browser may have an old one that has not yet ended. */
const maxForOne = 4;
const closeTimeoutMs = 1000;

const encoder = new TextEncoder();
const heartbeat = encoder.encode(':\n\n');
const greeting = encoder.encode(`retry: ${retryMs}\n\n`);

export type Connections = ReturnType<typeof createConnections>;

export const createConnections = (options: {
  /** The connection on which the end of the stream is read once. */
  readonly redis: RedisClient;
  /** The stream is read on a duplicate of this connection. */
  readonly blocking: RedisClient;
  readonly prefix: string;
  /** Called for what concerns a connected number, in order. */
  readonly onTold: (told: Told, connected: readonly Connection[]) => Promise<void>;
  readonly onError: (error: Error) => void;
}) => {
  const { redis, blocking, prefix, onTold, onError } = options;
  const key = toldKey(prefix);
  const byNumber = new Map<string, Set<Connection & { beat(): void }>>();
  let closed = false;
  let reader: RedisClient | undefined;

  const tell = async (fields: readonly string[]): Promise<void> => {
    const told = readTold(fields);
    const connected = told && byNumber.get(told.msisdn);
    if (told === undefined || connected === undefined) return;
    await onTold(told, [...connected]).catch((error: unknown) => onError(toError(error)));
  };

  let starting: Promise<void> | undefined;
  /** Resolves when the reader follows the stream: every later entry is read. */
  const startReading = (): Promise<void> => {
    starting ??= (async () => {
      const from = await lastEntryId(redis, key);
      if (closed) return;
      const client = (blocking as unknown as { duplicate(): RedisClient }).duplicate();
      client.on('error', onError);
      reader = client;
      void followStream({
        connection: client,
        key,
        onError,
        from: async () => from,
        goesOn: () => !closed,
        onEntry: (_id, fields) => tell(fields),
      });
    })().catch((error: unknown) => {
      starting = undefined;
      throw error;
    });
    return starting;
  };

  const timer = setInterval(() => {
    for (const connected of byNumber.values()) for (const each of connected) each.beat();
  }, heartbeatMs);
  timer.unref();

  return {
    /** @returns Undefined when this process stops. @throws When Redis is unreachable. */
    open: async (msisdn: string, phone: string): Promise<Response | undefined> => {
      await startReading();
      if (closed) return undefined;
      const connected = byNumber.get(msisdn) ?? new Set();
      const others = [...connected].filter((each) => each.phone === phone);
      if (others.length >= maxForOne) others[0]?.close();
      const leave = (): void => {
        connected.delete(connection);
        if (connected.size === 0 && byNumber.get(msisdn) === connected) byNumber.delete(msisdn);
      };
      let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          stream = controller;
        },
        cancel: leave,
      });
      const write = (bytes: Uint8Array): void => {
        try {
          stream?.enqueue(bytes);
        } catch {
          // The browser has gone.
          leave();
        }
      };
      const connection = {
        msisdn,
        phone,
        beat: () => write(heartbeat),
        send: (event: string, data: object) =>
          write(encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)),
        close: () => {
          leave();
          try {
            stream?.close();
          } catch {
            // It is closed already.
          }
        },
      };
      byNumber.set(msisdn, connected.add(connection));
      write(greeting);
      return new Response(body, { headers: streamHeaders });
    },
    /** Ends all of them, and lets no new one begin. Browsers connect to another process. */
    close: async (): Promise<void> => {
      closed = true;
      clearInterval(timer);
      for (const connected of [...byNumber.values()])
        for (const each of [...connected]) each.close();
      // A blocked read would delay the quit.
      reader?.disconnect();
      await settlesWithin(starting ?? Promise.resolve(), closeTimeoutMs);
      reader?.disconnect();
    },
  };
};
