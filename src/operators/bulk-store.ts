/**
 * Bulk replays: each is an instance of machines/bulk-replay.machine.ts, and here lies what is too large for its record.
 *
 * The list of a bulk is written before it begins and never changes: ids, each with the end that it is about. Beside it
 * stands what became of each. A process that dies leaves nothing behind that the next does not find here, and one that was only
 * asleep can do no harm, because every step asks here first.
 *
 * A list is kept without end while its bulk runs. Once that is no longer so, nothing of it is begun any more: when a bulk is stopped, its
 * list is given an end before anything else is done.
 *
 * Its keys, all in one slot, are in docs/storage.md.
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
} from '../../machines/bulk-replay.machine.ts';
import { defineWorkflow } from '../engine/define.ts';
import { createEngine, spreadOver } from '../engine/engine.ts';
import type { RedisClient } from '../redis/connect.ts';

export interface BulkItem {
  readonly msspTransId: string;
  readonly endedRuns: number;
}

/** `stopping`: nothing more is replayed, what has been is waited for. */
export type BulkState = 'running' | 'stopping' | 'done' | 'stopped';

/**
 * begun     About to be replayed, or just replayed.
 * replayed  Replayed; how it ends is not known yet.
 * signed    So it ended.
 * changed   Somebody else had replayed it, or did afterwards and left nothing that tells how this one's replay had ended.
 * gone      Its retention is over.
 * refused   It is a login, which is not replayed; lists of earlier releases may hold some.
 * `401`     The fault that it ended with.
 *
 * A later release may know more; what it has settled so is none of this one's doing.
 */
const resultSchema = z
  .union([
    z.enum(['begun', 'replayed', 'signed', 'changed', 'gone', 'refused']),
    z.templateLiteral([z.number()]),
  ])
  .catch('changed');
export type BulkResult = z.infer<typeof resultSchema>;

export type BulkCounts = BulkEnd['counts'];

export interface Bulk extends BulkOrder {
  readonly state: BulkState;
  readonly endedAt: number | undefined;
  /** Of one that is over; those of the others change from moment to moment. */
  readonly counts: BulkCounts | undefined;
}

export type BulkTurn = 'go' | 'number' | 'over' | 'replayed' | 'settled';

export interface BulkStore {
  newId(): string;
  /** Writes all of it; it is found, and worked off, from the last write on. */
  create(order: Omit<BulkOrder, 'total'>, items: readonly BulkItem[]): Promise<void>;
  find(id: string): Promise<Bulk | undefined>;
  /** Newest first. */
  list(limit: number): Promise<readonly Bulk[]>;
  items(id: string): Promise<readonly BulkItem[]>;
  results(id: string): Promise<ReadonlyMap<string, BulkResult>>;
  /** @returns False when it is over. */
  stop(id: string): Promise<boolean>;
  /** From now on nothing more of it is begun. */
  close(id: string): Promise<void>;
  isClosed(id: string): Promise<boolean>;
  /**
   * Asks for the turn of an item, and its number.
   *
   * @returns `go`, also for one that was begun before; `number` while the number is being prompted; `over` when the list is
   *   closed; `replayed` when it was and is waited for; `settled` when it is known how it ended.
   */
  begin(id: string, item: string, msisdn: string): Promise<BulkTurn>;
  /** @param msisdn Its number, free again. */
  settle(id: string, item: string, result: BulkResult, msisdn?: string): Promise<void>;
  /** Numbers that a bulk has, by transaction. */
  numbers(id: string): Promise<ReadonlyMap<string, string>>;
  /** Frees its numbers, and keeps list and results for as long as the report can be read. */
  finish(id: string): Promise<void>;
}

const bulkIdPattern = /^B[0-9a-f]{16}$/;
const itemsAtOnce = 1000;
/** How long the report can be read. */
export const keptSeconds = 30 * 86_400;
/** For what was not written to its end. */
const draftSeconds = 3600;
const stopKey = 'stop';

/** @param chart With the way to work off, where turns are run. */
export const bulkWorkflow = (chart = bulkReplayMachine) =>
  defineWorkflow({
    name: 'bulk-replay',
    version: bulkReplayVersion,
    chart,
    input: bulkOrderSchema,
    begin: (data: Omit<BulkOrder, 'id'>, { id }): BulkOrder => ({ ...data, id }),
    events: z.object({ type: z.literal('STOP') }),
  });

/** What is read of an instance's record. */
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
local holder = redis.call('HGET', KEYS[3], ARGV[2])
if holder and holder ~= ARGV[3] then return 'number' end
redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[1], 'begun')
return 'go'`;

const settleScript = `
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if ARGV[3] ~= '' and redis.call('HGET', KEYS[2], ARGV[3]) == ARGV[4] then redis.call('HDEL', KEYS[2], ARGV[3]) end`;

export const replayKey = (prefix: string, name: string): string => `{${prefix}-replays}:${name}`;

export const createBulkStore = (options: {
  /** Of the instances. */
  readonly queue: Queue;
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly now: () => number;
}): BulkStore => {
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
    // The turn that takes it comes in a moment.
    const isStopped = value === 'running' && (await engine.verdict(id, stopKey)) !== undefined;
    const { endedAt, counts } = context?.end ?? {};
    return { id, ...order, state: isStopped ? 'stopping' : value, endedAt, counts };
  };

  const numbers = async (id: string): Promise<ReadonlyMap<string, string>> => {
    const mine = new Map<string, string>();
    for (const [msisdn, holder] of Object.entries(await redis.hgetall(key('numbers')))) {
      const [bulk, item] = holder.split(' ');
      if (bulk === id && item !== undefined) mine.set(item, msisdn);
    }
    return mine;
  };

  return {
    numbers,

    newId: () => `B${randomBytes(8).toString('hex')}`,

    create: async ({ id, by, reason, perSecond, createdAt }, items) => {
      for (let from = 0; from < items.length; from += itemsAtOnce) {
        const some = items.slice(from, from + itemsAtOnce);
        const texts = some.map(({ msspTransId, endedRuns }) => JSON.stringify([msspTransId, endedRuns]));
        await redis.rpush(itemsKey(id), ...texts);
        await redis.expire(itemsKey(id), draftSeconds);
      }
      await redis.persist(itemsKey(id));
      await engine.start(workflow, id, { by, reason, perSecond, createdAt, total: items.length });
    },

    find: async (id) => {
      const job: Job | undefined = bulkIdPattern.test(id) ? await queue.getJob(id) : undefined;
      return job && bulkOf(job);
    },

    list: async (limit) => {
      const jobs: readonly (Job | undefined)[] = await queue.getJobs(
        ['wait', 'active', 'delayed', 'completed', 'failed'],
        0,
        limit - 1,
      );
      const found = await Promise.all(jobs.map((job) => job && bulkOf(job)));
      const bulks = found.filter((bulk) => bulk !== undefined);
      return bulks.toSorted((a, b) => b.createdAt - a.createdAt).slice(0, limit);
    },

    items: async (id) =>
      (await redis.lrange(itemsKey(id), 0, -1)).map((text) => {
        const [msspTransId, endedRuns] = itemSchema.parse(JSON.parse(text));
        return { msspTransId, endedRuns };
      }),

    results: async (id) => {
      const found = Object.entries(await redis.hgetall(resultsKey(id)));
      return new Map(found.map(([item, text]) => [item, resultSchema.parse(text)]));
    },

    stop: async (id) => {
      const sent = await engine.send(workflow, id, stopKey, { type: 'STOP' });
      if (sent === 'busy') throw new Error('The bulk is busy');
      return sent === 'taken';
    },

    close: async (id) => {
      await redis.expire(itemsKey(id), keptSeconds);
    },

    isClosed: async (id) => (await redis.ttl(itemsKey(id))) !== -1,

    begin: async (id, item, msisdn) =>
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

    settle: async (id, item, result, msisdn = '') => {
      const holder = `${id} ${item}`;
      await redis.eval(settleScript, 2, resultsKey(id), key('numbers'), item, result, msisdn, holder);
    },

    finish: async (id) => {
      const held = [...(await numbers(id)).values()];
      if (held.length > 0) await redis.hdel(key('numbers'), ...held);
      await redis.expire(itemsKey(id), keptSeconds);
      await redis.expire(resultsKey(id), keptSeconds);
    },
  };
};
