/**
 * A stream with the ends of the jobs that a process waits for.
 *
 * BullMQ's event stream has some four events of every job of the queue, so a process would parse
 * thousands of events for each end that it waits for. Here a process marks its jobs (job-store.ts),
 * and the script that ends a marked job adds the end to this stream, in the same step.
 */
import type { Queue } from 'bullmq';
import { Cluster } from 'ioredis';
import {
  moveToFinished,
  promoteInSteps,
} from '../../../packages/engine/src/redis/bullmq-script.ts';
import { parse } from '../../../packages/engine/src/redis/inbox.ts';
import { settlesWithin } from '../../../packages/engine/src/settles-within.ts';
import type { RedisClient } from '../../redis/connect.ts';
import { followStream, lastEntryId } from '../../redis/streams.ts';
import type { StoredEnd } from './job-store.ts';

/** The name of the stream. It is not a key of a job, because ids of jobs have no colon. */
const endsKey = 'ends:told';
/** The field in the hash of a job that marks it. */
export const awaitedField = 'awaited';
/** Ends in the stream, some 3 kB each. A reader that falls behind looks the jobs up. */
const maxEnds = 1000;

/**
 * KEYS 4: BullMQ's event stream, 12: the job. ARGV 1: its id, 4: what it ends with, 5: `completed`
 * or `failed`.
 */
const script = `
local function finish()
${moveToFinished.content}
end
local answer = finish()
if type(answer) == 'number' and answer < 0 then return answer end
if redis.call('HEXISTS', KEYS[12], '${awaitedField}') == 1 then
  local stream = string.sub(KEYS[4], 1, -#'events' - 1) .. '${endsKey}'
  -- The job has ended, whatever becomes of this.
  redis.pcall('XADD', stream, 'MAXLEN', '~', ${maxEnds}, '*', 'id', ARGV[1], ARGV[5], ARGV[4])
end
return answer`;

/**
 * Makes workers on this client add the ends of marked jobs to the stream: replaces the script of
 * BullMQ.
 */
export const tellEnds = (redis: RedisClient): void => {
  // Called first, because the last definition counts.
  promoteInSteps(redis);
  redis.defineCommand(moveToFinished.commandName, {
    numberOfKeys: moveToFinished.keys,
    lua: script,
  });
};

/** Time for which reading goes on after the last caller, because the next one often comes soon. */
const lingerMs = 1000;
const closeTimeoutMs = 1000;

export const createEndStream = (options: {
  /** The connection on which jobs are marked. */
  readonly redis: RedisClient;
  /** The stream is read on a duplicate of this connection. */
  readonly blocking: RedisClient;
  readonly queue: Queue;
  /** Whether a caller waits. */
  readonly isWanted: () => boolean;
  readonly onEnd: (id: string, end: StoredEnd) => void;
  readonly onError: (error: Error) => void;
}) => {
  const { redis, blocking, queue, onEnd, onError } = options;
  const stream = queue.toKey(endsKey);
  // The name shows in CLIENT LIST. Connections of a cluster have no names.
  const connectionName = `${queue.qualifiedName}:ends`;
  const connection: RedisClient =
    blocking instanceof Cluster ? blocking.duplicate() : blocking.duplicate({ connectionName });
  connection.on('error', onError);
  let closed = false;
  let reading = false;
  let wantedAt = 0;

  const isWanted = (): boolean => {
    const time = performance.now();
    if (options.isWanted()) wantedAt = time;
    return time - wantedAt < lingerMs;
  };

  const tell = (time: string, [, id = '', kind, value = '']: readonly string[]): void => {
    const finishedOn = Number.parseInt(time, 10);
    if (kind === 'completed')
      onEnd(id, { finishedOn, returnValue: parse(value), failedReason: undefined });
    if (kind === 'failed') onEnd(id, { finishedOn, returnValue: undefined, failedReason: value });
  };

  const read = (): Promise<void> =>
    followStream({
      connection,
      key: stream,
      onError,
      onEntry: tell,
      from: () => lastEntryId(redis, stream),
      // In the same step: a caller that comes right after the end starts the next reader.
      goesOn: () => {
        reading = !closed && isWanted();
        return reading;
      },
    });

  return {
    /**
     * Starts to give all ends of jobs that are marked after this call on the same connection.
     * Reading stops a second after the last caller.
     */
    listen: (): void => {
      if (reading || closed) return;
      reading = true;
      void read();
    },
    isConnected: (): boolean => !closed && connection.status === 'ready',
    close: async (): Promise<void> => {
      closed = true;
      // A blocked read would delay the quit.
      if (!reading) await settlesWithin(connection.quit(), closeTimeoutMs);
      connection.disconnect();
    },
  };
};
