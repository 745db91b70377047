/** Lists callbacks for operators, replays the dead ones, and tries those that wait. */
import { randomUUID } from 'node:crypto';
import type { Job } from 'bullmq';
import type { z } from 'zod';
import { createEngine } from '../../packages/engine/src/engine.ts';
import { createInstanceStore } from '../../packages/engine/src/redis/instance-store.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import type { Shard } from '../../src/transactions/shards.ts';
import { callbackMachine, type trySchema } from './callback.machine.ts';
import { defineCallbacks } from './callback.workflow.ts';
import type { CallbackCounts, CallbackFilter, CallbackPage, CallbackRow } from './callback-row.ts';
import {
  cursorText,
  diedBefore,
  type Place,
  readCursor,
  type WalkedSet,
  walkSet,
} from './places.ts';
import { callbacksOf } from './queue.ts';
import { readCallbacks, shardsOfCallback, shownMessageSchema } from './rows.ts';
import { callbackId, unrecordedId } from './transaction-events.ts';

/** Only dead callbacks are replayed; others have been delivered, or will be. */
export type CallbackReplayResult = 'replayed' | 'not-dead' | 'unknown';
/** `not-waiting`: it was delivered, is dead, or a try runs. `busy`: the order can be given again. */
export type CallbackTryResult = 'tried' | 'not-waiting' | 'unknown' | 'busy';

export interface PageOf {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

const maxAttempts = 100;
/** Callbacks that are read for one page at most, with those that do not match the filter. */
const lookAtMost = 2000;
const readAtOnce = 250;

/** Whether another replay came first: the job is no longer failed (-3), or is gone (-1). */
const wasReplayed = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === -3 || error.code === -1);

const workflow = defineCallbacks(callbackMachine);

export const createCallbacks = ({
  redis,
  shards,
  now,
}: {
  readonly redis: RedisClient;
  readonly shards: readonly Shard[];
  readonly now: () => number;
}) => {
  const engineOf = (shard: Shard) => {
    const { queue } = callbacksOf(shard);
    const location = { queue, store: createInstanceStore(queue, redis, now) };
    return createEngine(() => location, now);
  };
  /**
   * Whether a row belongs to the list of that set: it may have been tried or replayed meanwhile.
   */
  const belongs: Readonly<Record<WalkedSet, (row: CallbackRow) => boolean>> = {
    failed: ({ state }) => state === 'dead',
    // Without a try, an operator's replay waits for its time.
    delayed: ({ state, tries }) => state === 'waiting' && tries > 0,
  };

  async function* rowsFrom(set: WalkedSet, from: Place | undefined) {
    for await (const places of walkSet(redis, shards, set, from)) {
      for (let first = 0; first < places.length; first += readAtOnce) {
        const some = places.slice(first, first + readAtOnce);
        const ids = some.map(({ id }) => id);
        const rows = await readCallbacks(redis, shards, ids);
        for (const [index, place] of some.entries()) {
          const row = rows[index];
          yield { place, row: row !== undefined && belongs[set](row) ? row : undefined };
        }
      }
    }
  }

  /** Reads a page. It may have fewer rows than its limit, even none, and yet a cursor. */
  const pageOf = async (
    set: WalkedSet,
    from: Place | undefined,
    { limit, apId }: { readonly limit: number; readonly apId: string | undefined },
  ): Promise<CallbackPage> => {
    const rows: CallbackRow[] = [];
    let last: Place | undefined;
    let looked = 0;
    for await (const { place, row } of rowsFrom(set, from)) {
      const fits = row !== undefined && (apId === undefined || row.apId === apId);
      // Stops one row after the limit, so that a cursor means more rows, or after enough reads.
      if (last !== undefined && ((fits && rows.length === limit) || looked === lookAtMost)) {
        return { rows, cursor: cursorText(last) };
      }
      if (fits) rows.push(row);
      last = place;
      looked += 1;
    }
    return { rows };
  };

  return {
    /** The dead ones, or those that are tried again. @returns At most {@link lookAtMost}. */
    newest: async (
      set: 'dead' | 'retried',
    ): Promise<{ readonly rows: readonly CallbackRow[]; readonly isWhole: boolean }> => {
      const walked = set === 'dead' ? 'failed' : 'delayed';
      const page = await pageOf(walked, undefined, { limit: lookAtMost, apId: undefined });
      return { rows: page.rows, isWhole: page.cursor === undefined };
    },

    /**
     * Begins with the first try again, of one that waits for its next try.
     *
     * @param notBefore As for `replay`.
     */
    tryNow: async (id: string, notBefore = 0): Promise<CallbackTryResult> => {
      const pauseMs = Math.max(0, Math.round(notBefore - now()));
      const event: z.infer<typeof trySchema> = { type: 'TRY', pauseMs };
      const key = randomUUID();
      const sent = await Promise.all(
        shardsOfCallback(shards, id).map((shard) =>
          engineOf(shard).send(workflow, id, key, event, { judged: true, sentOnce: true }),
        ),
      );
      const result = sent.find((each) => each !== 'unknown');
      if (result === undefined) return 'unknown';
      if (result === 'taken') return 'tried';
      return result === 'busy' ? 'busy' : 'not-waiting';
    },

    /** The callbacks of a transaction. @param attempts The number of its attempts so far. */
    of: async (msspTransId: string, attempts: number): Promise<readonly CallbackRow[]> => {
      const ids = Array.from(
        { length: Math.min(attempts, maxAttempts) },
        (_, index) => index + 1,
      ).flatMap((attempt) => [
        callbackId(msspTransId, attempt, 'failed'),
        unrecordedId(msspTransId, attempt),
        callbackId(msspTransId, attempt, 'signed'),
        callbackId(msspTransId, attempt, 'receipted'),
      ]);
      return (await readCallbacks(redis, shards, ids)).filter((row) => row !== undefined);
    },

    find: async (id: string): Promise<CallbackRow | undefined> =>
      (await readCallbacks(redis, shards, [id]))[0],

    /** The dead callbacks, newest first. @returns Undefined for an invalid cursor. */
    dead: async (
      { apId, to }: CallbackFilter,
      { limit, cursor }: PageOf,
    ): Promise<CallbackPage | undefined> => {
      const newest = to === undefined ? undefined : diedBefore(to);
      const from = cursor === undefined ? newest : readCursor(cursor);
      return cursor !== undefined && from === undefined
        ? undefined
        : pageOf('failed', from, { limit, apId });
    },

    /**
     * The callbacks that have failed and are tried again; the one with the latest next try first.
     *
     * @returns Undefined for an invalid cursor.
     */
    retried: async (
      apId: string | undefined,
      { limit, cursor }: PageOf,
    ): Promise<CallbackPage | undefined> => {
      const from = cursor === undefined ? undefined : readCursor(cursor);
      return cursor !== undefined && from === undefined
        ? undefined
        : pageOf('delayed', from, { limit, apId });
    },

    /** The numbers of callbacks that wait for another try, and that are dead. */
    counts: async (): Promise<CallbackCounts> => {
      const sizeOf = async (set: WalkedSet): Promise<number> => {
        const sizes = shards.map((shard) => redis.zcard(callbacksOf(shard).queue.toKey(set)));
        return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      };
      const [retried, dead] = await Promise.all([sizeOf('delayed'), sizeOf('failed')]);
      return { retried, dead };
    },

    /**
     * Restarts all tries.
     *
     * @param notBefore Earliest time, milliseconds since the epoch; default: at once.
     */
    replay: async (id: string, notBefore?: number): Promise<CallbackReplayResult> => {
      const found = shardsOfCallback(shards, id).map((shard) =>
        callbacksOf(shard).queue.getJob(id),
      );
      const job: Job | undefined = (await Promise.all(found)).find((each) => each !== undefined);
      const data = shownMessageSchema.safeParse(job?.data).data;
      if (job === undefined || data === undefined) return 'unknown';
      if (!(await job.isFailed())) return 'not-dead';
      try {
        if (notBefore !== data.notBefore) await job.updateData({ ...data, notBefore });
        await job.retry('failed', { resetAttemptsMade: true });
      } catch (error) {
        if (wasReplayed(error)) return 'not-dead';
        throw error;
      }
      return 'replayed';
    },
  };
};

export type Callbacks = ReturnType<typeof createCallbacks>;
