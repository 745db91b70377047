/**
 * Stores the list and the results of a bulk in Redis. They are too large for its record (an
 * instance of machines/bulk-replay.machine.ts).
 *
 * The list of a bulk is written before it starts and never changes: ids, each with the ended runs
 * before the replay. Beside it is the result of each. A process that takes over finds everything
 * here. A process that was only paused does no harm, because every step asks here first.
 *
 * A list without expiry may be worked on. To stop a bulk, its list gets an expiry first; from then
 * on no item is begun.
 *
 * Keys, all in one slot: docs/storage.md.
 */
import { randomBytes } from 'node:crypto';
import type { Job, Queue } from 'bullmq';
import { z } from 'zod';
import {
  type BulkEnd,
  type BulkOrder,
  bulkEndSchema,
  bulkOrderSchema,
  bulkReplayMachine,
  bulkReplayVersion,
} from '../../../machines/bulk-replay.machine.ts';
import { defineWorkflow } from '../../../packages/engine/src/define.ts';
import { createEngine, spreadOver } from '../../../packages/engine/src/engine.ts';
import type { RedisClient } from '../../redis/connect.ts';

export interface BulkItem {
  /** The MSSP_TransID, or the id in the list that the bulk is about. */
  readonly id: string;
  /** How often its job had ended when the order was given. */
  readonly endedRuns: number;
}

/**
 * The result of an item.
 *
 * begun     It is about to be replayed, or was just replayed.
 * replayed  It was replayed; the end is not known yet.
 * cancelled This order has cancelled it.
 * done      The order was carried out, and nothing more is waited for.
 * changed   Something else replayed it too, and the end of this replay is not known. For a cancel:
 *           it had ended, also by another cancel, or there was an answer.
 * gone      Its retention is over.
 * refused   It is a login, or belongs to a workflow, and was not replayed; or its chart has refused.
 * `401`     The code of the fault with which it ended.
 *
 * Unknown results of a later release are read as `changed`.
 */
const resultSchema = z
  .union([
    z.enum(['begun', 'replayed', 'signed', 'cancelled', 'done', 'changed', 'gone', 'refused']),
    z.templateLiteral([z.number()]),
  ])
  .catch('changed');
export type BulkResult = z.infer<typeof resultSchema>;

export type BulkCounts = BulkEnd['counts'];

export interface Bulk extends BulkOrder {
  /** `stopping`: no item is begun any more; replayed ones are waited for. */
  readonly state: 'running' | 'stopping' | 'done' | 'stopped';
  readonly endedAt: number | undefined;
  /** The counts of a bulk that is over. For other bulks they are counted on request. */
  readonly counts: BulkCounts | undefined;
}

export type BulkTurn = 'go' | 'number' | 'over' | 'replayed' | 'settled';

const bulkIdPattern = /^B[0-9a-f]{16}$/;
const itemsAtOnce = 1000;
/** The retention of the report. */
export const keptSeconds = 30 * 86_400;
/** The retention of a list that was not written completely. */
const draftSeconds = 3600;
const stopKey = 'stop';

/** @param chart The chart with its activity, in programs that run turns. */
export const bulkWorkflow = (chart = bulkReplayMachine) =>
  defineWorkflow({
    name: 'bulk-replay',
    version: bulkReplayVersion,
    journal: false,
    chart,
    input: bulkOrderSchema,
    begin: (data: Omit<BulkOrder, 'id'>, { id }): BulkOrder => ({ ...data, id }),
    events: z.object({ type: z.literal('STOP') }),
  });

/** The part of an instance's record that is read here. */
const recordSchema = z.object({
  value: z.enum(['running', 'stopping', 'done', 'stopped']),
  context: z.object({ end: bulkEndSchema.optional() }),
});
const itemSchema = z.tuple([z.string(), z.number()]);
/** KEYS: list, results, numbers. ARGV: transaction, number, `<bulk> <transaction>`. */
const beginScript = `
local result = redis.call('HGET', KEYS[2], ARGV[1])
if result == 'replayed' then return 'replayed' end
if result and result ~= 'begun' then return 'settled' end
if not result and redis.call('TTL', KEYS[1]) ~= -1 then return 'over' end
if ARGV[2] ~= '' then
  local holder = redis.call('HGET', KEYS[3], ARGV[2])
  if holder and holder ~= ARGV[3] then return 'number' end
  redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])
end
redis.call('HSET', KEYS[2], ARGV[1], 'begun')
return 'go'`;

/**
 * Stores the result of an item. A final result stays, because a process that was paused may send an
 * older result after another one has taken the bulk over.
 */
const settleScript = `
local before = redis.call('HGET', KEYS[1], ARGV[1])
if not before or before == 'begun' or before == 'replayed' then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
if ARGV[3] ~= '' and redis.call('HGET', KEYS[2], ARGV[3]) == ARGV[4] then redis.call('HDEL', KEYS[2], ARGV[3]) end`;

const replayKey = (prefix: string, name: string): string => `{${prefix}-replays}:${name}`;

export const createBulkStore = (options: {
  /** The queue of the instances. */
  readonly queue: Queue;
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly now: () => number;
}) => {
  const { queue, redis, prefix, now } = options;
  const engine = createEngine(spreadOver([queue], redis, now), now);
  const workflow = bulkWorkflow();
  const key = (name: string): string => replayKey(prefix, name);
  const itemsKey = (id: string): string => key(`bulk:${id}:items`);
  const resultsKey = (id: string): string => key(`bulk:${id}:results`);

  const bulkOf = async ({
    id = '',
    data,
    progress,
    finishedOn,
    returnvalue,
  }: Job): Promise<Bulk | undefined> => {
    const order = bulkOrderSchema.safeParse(data).data;
    if (order === undefined) return undefined;
    const isOver = finishedOn !== undefined;
    const record = recordSchema.safeParse(isOver ? returnvalue : progress).data;
    const { value = isOver ? 'stopped' : 'running', context } = record ?? {};
    // The event STOP is stored, and the next turn takes it.
    const isStopped = value === 'running' && (await engine.verdict(id, stopKey)) !== undefined;
    const { endedAt, counts } = context?.end ?? {};
    return { id, ...order, state: isStopped ? 'stopping' : value, endedAt, counts };
  };

  /** The numbers that a bulk holds, by transaction. */
  const numbers = async (id: string): Promise<ReadonlyMap<string, string>> => {
    const mine = new Map<string, string>();
    for (const [msisdn, holder] of Object.entries(await redis.hgetall(key('numbers')))) {
      const [bulk, item] = holder.split(' ');
      if (bulk === id && item !== undefined) mine.set(item, msisdn);
    }
    return mine;
  };

  /** Closes the list of a bulk: from now on no item of it is begun. */
  const close = async (id: string): Promise<void> => {
    await redis.expire(itemsKey(id), keptSeconds);
  };

  return {
    numbers,
    close,

    newId: () => `B${randomBytes(8).toString('hex')}`,

    /** Creates a bulk. It exists, and may be worked on, from the last write on. */
    create: async (
      { id, ...order }: Omit<BulkOrder, 'total'>,
      items: readonly BulkItem[],
    ): Promise<void> => {
      for (let from = 0; from < items.length; from += itemsAtOnce) {
        const some = items.slice(from, from + itemsAtOnce);
        const texts = some.map((item) => JSON.stringify([item.id, item.endedRuns]));
        await redis.rpush(itemsKey(id), ...texts);
        await redis.expire(itemsKey(id), draftSeconds);
      }
      await redis.persist(itemsKey(id));
      await engine.start(workflow, id, { ...order, total: items.length });
    },

    find: async (id: string): Promise<Bulk | undefined> => {
      const job: Job | undefined = bulkIdPattern.test(id) ? await queue.getJob(id) : undefined;
      return job && bulkOf(job);
    },

    /** The bulks, newest first. */
    list: async (limit: number): Promise<readonly Bulk[]> => {
      const jobs: readonly (Job | undefined)[] = await queue.getJobs(
        ['wait', 'active', 'delayed', 'completed', 'failed'],
        0,
        limit - 1,
      );
      const found = await Promise.all(jobs.map((job) => job && bulkOf(job)));
      const bulks = found.filter((bulk) => bulk !== undefined);
      return bulks.toSorted((a, b) => b.createdAt - a.createdAt).slice(0, limit);
    },

    items: async (id: string): Promise<readonly BulkItem[]> =>
      (await redis.lrange(itemsKey(id), 0, -1)).map((text) => {
        const [item, endedRuns] = itemSchema.parse(JSON.parse(text));
        return { id: item, endedRuns };
      }),

    results: async (id: string): Promise<ReadonlyMap<string, BulkResult>> => {
      const found = Object.entries(await redis.hgetall(resultsKey(id)));
      return new Map(found.map(([item, text]) => [item, resultSchema.parse(text)]));
    },

    /** @returns False when it is over. */
    stop: async (id: string): Promise<boolean> => {
      const sent = await engine.send(workflow, id, stopKey, { type: 'STOP' });
      if (sent === 'busy') throw new Error('The bulk is busy');
      return sent === 'taken';
    },

    isClosed: async (id: string): Promise<boolean> => (await redis.ttl(itemsKey(id))) !== -1,

    /**
     * Begins an item and takes its number. @param msisdn Empty for a cancel, which needs no number.
     *
     * @returns `go`, also for an item that was begun before; `number` while the number is in use;
     *   `over` when the list is closed; `replayed` when it was replayed and is waited for;
     *   `settled` when its end is known.
     */
    begin: async (id: string, item: string, msisdn: string): Promise<BulkTurn> =>
      (await redis.eval(
        beginScript,
        3,
        itemsKey(id),
        resultsKey(id),
        key('numbers'),
        item,
        msisdn,
        `${id} ${item}`,
      )) as BulkTurn,

    /** Stores the result of an item. @param msisdn The number to be freed; empty for none. */
    settle: async (id: string, item: string, result: BulkResult, msisdn = ''): Promise<void> => {
      const holder = `${id} ${item}`;
      await redis.eval(
        settleScript,
        2,
        resultsKey(id),
        key('numbers'),
        item,
        result,
        msisdn,
        holder,
      );
    },

    /** Frees its numbers, and keeps list and results as long as the report can be read. */
    finish: async (id: string): Promise<void> => {
      const held = [...(await numbers(id)).values()];
      if (held.length > 0) await redis.hdel(key('numbers'), ...held);
      await redis.expire(itemsKey(id), keptSeconds);
      await redis.expire(resultsKey(id), keptSeconds);
    },
  };
};

export type BulkStore = ReturnType<typeof createBulkStore>;
