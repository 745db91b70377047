/**
 * The ends of a queue's jobs as its event stream tells them, read while somebody wants to hear of one.
 *
 * Every job leaves some four events, of which one tells its end. A process that only accepts has no use for any of them, and
 * reading them would cost it more than the job does; so nothing is read while nobody listens. Who begins to listen hears
 * what happens from then on.
 *
 * The stream tells of every job of the queue. Beside a flood that is thousands of events, with the signatures in them, for each
 * that somebody waits for; to be sent and parsed, they would hold that one up. Then the jobs themselves are looked up, over and
 * over, until the stream is quiet again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Queue, QueueEvents } from 'bullmq';
import type { RedisClient } from '../../redis/connect.ts';
import { lastEntryId } from '../../redis/streams.ts';
import { settlesWithin } from '../../redis/timeout.ts';
import { toError } from '../../redis/to-error.ts';

export interface EndListener {
  /** The jobs of whose ends somebody still wants to hear. */
  wanted(): { readonly size: number };
  /** Looks them up. @returns How many were open, and how many had ended. */
  lookUp(): Promise<{ readonly open: number; readonly ended: number }>;
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

/** So many events at once are a crowd, or so many for each of those that are waited for. */
const crowdBeside = (ends: number): number => Math.max(32, 8 * ends);
/** When more are waited for, much of what is told is of use. */
const mostWanted = 250;
/** For so long the jobs are looked up before the stream is asked whether it is quiet. */
const lapMs = 100;
/** A round of looks takes a millisecond, and one more for each so many, so that it keeps nobody busy by itself. */
const looksPerMs = 50;

type Fields = readonly string[];
type Events = readonly (readonly [id: string, fields: Fields])[];

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
  readonly at: { readonly queue: Queue };
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
    if (listener.wanted().size > 0) wantedAt = time;
    return time - wantedAt < lingerMs;
  };

  const tell = (fields: Fields): void => {
    const event = fieldOf(fields, 'event');
    const jobId = fieldOf(fields, 'jobId');
    if (event === 'completed') listener.completed(jobId, fieldOf(fields, 'returnvalue'));
    else if (event === 'failed') listener.failed(jobId, fieldOf(fields, 'failedReason'));
    else if (event === 'removed') listener.removed(jobId);
  };

  /** @returns Undefined for none within the time. */
  const readAll = async (position: string): Promise<Events | undefined> => {
    const [stream] = (await backend.readEvents(position, blockMs)) ?? [];
    return stream?.[1];
  };

  const read = async (): Promise<void> => {
    const stream = queue.toKey('events');
    let position: string | undefined;
    /** Beside a crowd. What the stream tells meanwhile is not read. */
    let lap: { readonly until: number; ended: number } | undefined;
    const newLap = () => ({ until: performance.now() + lapMs, ended: 0 });
    while (!closed && isWanted()) {
      try {
        // Asked on the connection of those who listen: what they ask after this comes after it.
        position ??= await lastEntryId(redis, stream);
        if (lap === undefined) {
          const { size } = listener.wanted();
          const events = (await readAll(position)) ?? [];
          position = events.at(-1)?.[0] ?? position;
          for (const [, fields] of events) tell(fields);
          if (size <= mostWanted && events.length >= crowdBeside(size)) lap = newLap();
        } else if (performance.now() < lap.until) {
          const beganAt = performance.now();
          const { open, ended } = await listener.lookUp();
          lap.ended += ended;
          const restMs = beganAt + 1 + open / looksPerMs - performance.now();
          if (restMs > 0) await delay(restMs);
        } else {
          const last = await lastEntryId(redis, stream);
          const most = crowdBeside(lap.ended);
          const told = await redis.xrange(stream, `(${position}`, '+', 'COUNT', most);
          const goesOn = told.length === most && listener.wanted().size <= mostWanted;
          // What came before is seen in the jobs. It is not told again: one of them may have been added anew since.
          if (!goesOn) await listener.lookUp();
          position = last;
          lap = goesOn ? newLap() : undefined;
        }
      } catch (error) {
        if (closed) return;
        onError(toError(error));
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
