/** Streams of Redis, read as they grow. */
import { setTimeout as delay } from 'node:timers/promises';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { settlesWithin } from '../../packages/engine/src/settles-within.ts';
import type { RedisClient } from './connect.ts';

const blockMs = 10_000;
/** Silence of Redis is noticed after two seconds (silence.ts), so nothing is later. */
const lateMs = 5000;
const againMs = 500;
const maxAtOnce = 250;

/** The id of a stream's last entry, to read on from; `0-0` when it is empty or absent. */
export const lastEntryId = async (redis: RedisClient, key: string): Promise<string> => {
  const [last] = await redis.xrevrange(key, '+', '-', 'COUNT', 1);
  return last?.[0] ?? '0-0';
};

/**
 * Gives the entries of a stream as they come, each at most once, also after Redis was away. What
 * was trimmed meanwhile is lost.
 *
 * @param options.connection A connection of its own: a read blocks it for up to ten seconds.
 * @param options.from The id of the entry before the first. Asked until it is known.
 * @param options.goesOn Asked before each read. Errors after it has become false are not reported.
 */
export const followStream = async (options: {
  readonly connection: RedisClient;
  readonly key: string;
  readonly from: () => Promise<string>;
  readonly goesOn: () => boolean;
  readonly onEntry: (id: string, fields: readonly string[]) => Promise<void> | void;
  readonly onError: (error: Error) => void;
}): Promise<void> => {
  const { connection, key, from, goesOn, onEntry, onError } = options;
  let position: string | undefined;
  while (goesOn()) {
    try {
      position ??= await from();
      const reply = connection.xread(
        'COUNT',
        maxAtOnce,
        'BLOCK',
        blockMs,
        'STREAMS',
        key,
        position,
      );
      // A command that was lost with an earlier connection would block for ever.
      let isLost = false;
      while (!isLost && !(await settlesWithin(reply, blockMs + lateMs)))
        isLost = connection.status === 'ready';
      if (isLost) {
        connection.disconnect(true);
        continue;
      }
      for (const [id, fields] of (await reply)?.[0]?.[1] ?? []) {
        position = id;
        await onEntry(id, fields);
      }
    } catch (error) {
      if (!goesOn()) return;
      onError(toError(error));
      await delay(againMs, undefined, { ref: false });
    }
  }
};
