/**
 * The ends of a queue's jobs as its event stream tells them, read while somebody wants to hear of one.
 *
 * Every job leaves some four events, of which one tells its end. A process that only accepts has no use for any of them, and
 * reading them would cost it more than the job does; so nothing is read while nobody listens. Who begins to listen hears
 * what happens from then on.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { QueueEvents } from 'bullmq';
import type { RedisClient } from '../redis/connect.ts';
import { settlesWithin } from '../redis/patience.ts';
import { lastEntryId } from '../redis/streams.ts';
import type { QueueAt } from './shards.ts';

export interface EndListener {
  /** Whether somebody still wants to hear. */
  wanted(): boolean;
  /** @param returnValue As JSON text. */
  completed(jobId: string, returnValue: string): void;
  failed(jobId: string, failedReason: string): void;
  removed(jobId: string): void;
}

export interface EndEvents {
  /**
   * Tells of all that happens after the commands that were issued before this call. Reading ends a moment after nobody wants
   * to hear any more. Does nothing when it is being read already.
   */
  listen(): void;
  isConnected(): boolean;
  close(): Promise<void>;
}

/** Callers come and go: it is read on for so long, which spares the next one to begin. */
const lingerMs = 1000;
const blockMs = 10_000;
const againMs = 500;
const closePatienceMs = 1000;

type Fields = readonly string[];

const fieldOf = (fields: Fields, name: string): string => {
  for (let index = 0; index < fields.length; index += 2) {
    if (fields[index] === name) return fields[index + 1] ?? '';
  }
  return '';
};

export const createEndEvents = (options: {
  /** Those who listen add and look up on this connection. */
  readonly redis: RedisClient;
  /** The connection whose likeness reads the stream. */
  readonly blocking: RedisClient;
  readonly at: QueueAt;
  readonly prefix: string;
  readonly listener: EndListener;
  readonly onError: (error: Error) => void;
}): EndEvents => {
  const { redis, blocking, listener, onError } = options;
  const { queue } = options.at;
  const events = new QueueEvents(queue.name, {
    connection: blocking,
    prefix: options.prefix,
    autorun: false,
    // See shards.ts: asked once, and lost for ever when it fails.
    skipVersionCheck: true,
  });
  events.on('error', onError);
  const backend = events.getBackend();
  let connection: { readonly status: string } | undefined;
  backend.client.then(
    (client) => {
      connection = client;
    },
    () => undefined, // It has told `error`, or was closed before it was there.
  );
  backend.setName(backend.clientName(':qe')).catch(() => undefined); // It may be refused, and helps people only.
  let closed = false;
  let reading = false;
  let wantedAt = 0;

  const isWanted = (): boolean => {
    const time = performance.now();
    if (listener.wanted()) wantedAt = time;
    return time - wantedAt < lingerMs;
  };

  const tell = (fields: Fields): void => {
    const event = fieldOf(fields, 'event');
    const jobId = fieldOf(fields, 'jobId');
    if (event === 'completed') listener.completed(jobId, fieldOf(fields, 'returnvalue'));
    else if (event === 'failed') listener.failed(jobId, fieldOf(fields, 'failedReason'));
    else if (event === 'removed') listener.removed(jobId);
  };

  const read = async (): Promise<void> => {
    let position: string | undefined;
    while (!closed && isWanted()) {
      try {
        // Asked on the connection of those who listen: what they ask after this comes after it.
        position ??= await lastEntryId(redis, queue.toKey('events'));
        for (const [, entries] of (await backend.readEvents(position, blockMs)) ?? []) {
          for (const [id, fields] of entries) {
            position = id;
            tell(fields);
          }
        }
      } catch (error) {
        if (closed) return;
        onError(error instanceof Error ? error : new Error(String(error)));
        await delay(againMs, undefined, { ref: false });
      }
    }
    reading = false;
  };

  return {
    listen: () => {
      if (reading || closed) return;
      reading = true;
      void read();
    },
    isConnected: () => !closed && connection?.status === 'ready',
    close: async () => {
      closed = true;
      if (await settlesWithin(events.close(), closePatienceMs)) return;
      // Redis may never have been there; whoever closes does not wait for it.
      void backend.client.then(
        (client) => client.disconnect(),
        () => undefined,
      );
    },
  };
};
