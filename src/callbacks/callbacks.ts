/** What people see of callbacks, and the one thing that they do with them. */
import type { Job } from 'bullmq';
import { callbackSchema } from '../../machines/callback.machine.ts';
import type { CallbackFilter, CallbackPage, CallbackRow } from '../history/callback-row.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Shard } from '../transactions/shards.ts';
import { cursorText, type DeadPlace, diedBefore, readCursor, walkDead } from './dead.ts';
import { callbackId, unrecordedId } from './ends.ts';
import { readCallbacks, shardOfCallback } from './rows.ts';

/** Dead callbacks alone are replayed; the others have been delivered, or will be. */
export type CallbackReplayResult = 'replayed' | 'not-dead' | 'unknown';

export interface Callbacks {
  /** @param attempts How many the transaction has had. */
  of(msspTransId: string, attempts: number): Promise<readonly CallbackRow[]>;
  find(id: string): Promise<CallbackRow | undefined>;
  /**
   * Dead ones, newest first. A page may have fewer rows than its limit, even none, and yet a cursor.
   *
   * @returns Undefined when the cursor is none.
   */
  dead(
    filter: CallbackFilter,
    page: { readonly limit: number; readonly cursor?: string | undefined },
  ): Promise<CallbackPage | undefined>;
  /**
   * Begins with the first of all tries again.
   *
   * @param notBefore When to, milliseconds since the epoch; without it at once.
   */
  replay(id: string, notBefore?: number): Promise<CallbackReplayResult>;
}

const maxAttempts = 100;
/** Callbacks that one page looks at, whether they fit the filter or not. */
const lookAtMost = 2000;
const readAtOnce = 250;

/** Of Redis's own refusals: it is no longer failed (-3), or gone (-1). */
const wasQuicker = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === -3 || error.code === -1);

export const createCallbacks = ({
  redis,
  shards,
}: {
  readonly redis: RedisClient;
  readonly shards: readonly Shard[];
}): Callbacks => {
  async function* deadFrom(from: DeadPlace | undefined) {
    for await (const places of walkDead(redis, shards, from)) {
      for (let first = 0; first < places.length; first += readAtOnce) {
        const some = places.slice(first, first + readAtOnce);
        const ids = some.map(({ id }) => id);
        const rows = await readCallbacks(redis, shards, ids);
        // Of each place; undefined where somebody was quicker, or where it is no callback.
        for (const [index, place] of some.entries()) {
          const row = rows[index];
          yield { place, row: row?.state === 'dead' ? row : undefined };
        }
      }
    }
  }

  return {
    of: async (msspTransId, attempts) => {
      const ids = Array.from({ length: Math.min(attempts, maxAttempts) }, (_, index) => index + 1).flatMap(
        (attempt) => [
          callbackId(msspTransId, attempt, 'failed'),
          unrecordedId(msspTransId, attempt),
          callbackId(msspTransId, attempt, 'signed'),
          callbackId(msspTransId, attempt, 'receipted'),
        ],
      );
      return (await readCallbacks(redis, shards, ids)).filter((row) => row !== undefined);
    },

    find: async (id) => (await readCallbacks(redis, shards, [id]))[0],

    dead: async ({ apId, to }, { limit, cursor }) => {
      const newest = to === undefined ? undefined : diedBefore(to);
      const from = cursor === undefined ? newest : readCursor(cursor);
      if (cursor !== undefined && from === undefined) return undefined;
      const rows: CallbackRow[] = [];
      let last: DeadPlace | undefined;
      let looked = 0;
      for await (const { place, row } of deadFrom(from)) {
        const fits = row !== undefined && (apId === undefined || row.apId === apId);
        // One more than asked for is known by now, or it is time to stop.
        if (last !== undefined && ((fits && rows.length === limit) || looked === lookAtMost)) {
          return { rows, cursor: cursorText(last) };
        }
        if (fits) rows.push(row);
        last = place;
        looked += 1;
      }
      return { rows };
    },

    replay: async (id, notBefore) => {
      const job: Job | undefined = await shardOfCallback(shards, id)?.callbacks.queue.getJob(id);
      const data = callbackSchema.safeParse(job?.data).data;
      if (job === undefined || data === undefined) return 'unknown';
      if (!(await job.isFailed())) return 'not-dead';
      try {
        if (notBefore !== data.notBefore) await job.updateData({ ...data, notBefore });
        await job.retry('failed', { resetAttemptsMade: true });
      } catch (error) {
        if (wasQuicker(error)) return 'not-dead';
        throw error;
      }
      return 'replayed';
    },
  };
};
