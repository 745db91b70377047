/**
 * What is known of bulk replays, in Redis.
 *
 * The list of a bulk is written before it begins and never changes: ids, each with the end that it is about. Beside it
 * stands what became of each. A bulk is worked off by whichever process holds the lease; one that dies leaves nothing behind
 * that the next does not find here, and one that was only asleep can do no harm, because every step asks here first.
 *
 * Its keys, all in one slot, are in docs/storage.md.
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { RedisClient } from '../redis/connect.ts';

export interface BulkOrder {
  readonly id: string;
  readonly by: string;
  readonly reason: string;
  readonly perSecond: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

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
 */
export type BulkResult = 'begun' | 'replayed' | 'signed' | 'changed' | 'gone' | 'refused' | `${number}`;

export interface BulkCounts {
  /** Not replayed yet; of a bulk that was stopped, never. */
  readonly waiting: number;
  /** Replayed and open. */
  readonly inFlight: number;
  readonly signed: number;
  /** Failed again, by fault code. */
  readonly failed: Readonly<Record<string, number>>;
  /** Somebody else replayed them. */
  readonly changed: number;
  /** Their retention was over. */
  readonly gone: number;
  /** Logins, which are not replayed. */
  readonly refused: number;
}

export interface Bulk extends BulkOrder {
  readonly state: BulkState;
  readonly endedAt: number | undefined;
  readonly total: number;
  /** Of one that is over; those of the others change from moment to moment. */
  readonly counts: BulkCounts | undefined;
}

export type BulkTurn = 'go' | 'number' | 'over' | 'replayed' | 'settled';

export interface BulkStore {
  newId(): string;
  /** Writes all of it; it is found, and worked off, from the last write on. */
  create(order: BulkOrder, items: readonly BulkItem[]): Promise<void>;
  find(id: string): Promise<Bulk | undefined>;
  /** Newest first. */
  list(limit: number): Promise<readonly Bulk[]>;
  open(): Promise<readonly string[]>;
  items(id: string): Promise<readonly BulkItem[]>;
  results(id: string): Promise<ReadonlyMap<string, BulkResult>>;
  /** @returns False when it is not running. */
  stop(id: string): Promise<boolean>;
  /**
   * Asks for the turn of an item, and its number.
   *
   * @returns `go`, also for one that was begun before; `number` while the number is being prompted; `over` when the bulk
   *   is not running; `replayed` when it was and is waited for; `settled` when it is known how it ended.
   */
  begin(id: string, item: string, msisdn: string): Promise<BulkTurn>;
  /** @param msisdn Its number, free again. */
  settle(id: string, item: string, result: BulkResult, msisdn?: string): Promise<void>;
  /** Numbers that a bulk has, by transaction. */
  numbers(id: string): Promise<ReadonlyMap<string, string>>;
  finish(id: string, state: 'done' | 'stopped', counts: BulkCounts, now: number): Promise<void>;
}

const bulkIdPattern = /^B[0-9a-f]{16}$/;
const itemsAtOnce = 1000;
/** How long the report can be read. */
const keptSeconds = 30 * 86_400;
/** For what was not written to its end. */
const draftSeconds = 3600;

const orderSchema = z.object({
  by: z.string(),
  reason: z.string(),
  perSecond: z.number(),
  createdAt: z.number(),
  total: z.number(),
});
const countsSchema = z.object({
  waiting: z.number(),
  inFlight: z.number(),
  signed: z.number(),
  failed: z.record(z.string(), z.number()),
  changed: z.number(),
  gone: z.number(),
  // Bulks that ended before there was such a thing do not say.
  refused: z.number().default(0),
});
const itemSchema = z.tuple([z.string(), z.number()]);
const stateSchema = z.enum(['running', 'stopping', 'done', 'stopped']);
/** A later release may know more; what it has settled so is none of this one's doing. */
const resultSchema = z
  .union([
    z.enum(['begun', 'replayed', 'signed', 'changed', 'gone', 'refused']),
    z.templateLiteral([z.number()]),
  ])
  .catch('changed');

/** KEYS: bulk, results, numbers. ARGV: transaction, number, `<bulk> <transaction>`. */
const beginScript = `
local result = redis.call('HGET', KEYS[2], ARGV[1])
if result == 'replayed' then return 'replayed' end
if result and result ~= 'begun' then return 'settled' end
if not result and redis.call('HGET', KEYS[1], 'state') ~= 'running' then return 'over' end
local holder = redis.call('HGET', KEYS[3], ARGV[2])
if holder and holder ~= ARGV[3] then return 'number' end
redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[1], 'begun')
return 'go'`;

const settleScript = `
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if ARGV[3] ~= '' and redis.call('HGET', KEYS[2], ARGV[3]) == ARGV[4] then redis.call('HDEL', KEYS[2], ARGV[3]) end`;

const stopScript = `
if redis.call('HGET', KEYS[1], 'state') ~= 'running' then return 0 end
redis.call('HSET', KEYS[1], 'state', 'stopping')
return 1`;

export const replayKey = (prefix: string, name: string): string => `{${prefix}-replays}:${name}`;

export const createBulkStore = (redis: RedisClient, prefix: string): BulkStore => {
  const key = (name: string): string => replayKey(prefix, name);
  const bulkKey = (id: string): string => key(`bulk:${id}`);
  const itemsKey = (id: string): string => `${bulkKey(id)}:items`;
  const resultsKey = (id: string): string => `${bulkKey(id)}:results`;

  const find = async (id: string): Promise<Bulk | undefined> => {
    if (!bulkIdPattern.test(id)) return undefined;
    const [text, state, endedAt, counts] = await redis.hmget(
      bulkKey(id),
      'order',
      'state',
      'endedAt',
      'counts',
    );
    if (text == null || state == null) return undefined;
    return {
      id,
      ...orderSchema.parse(JSON.parse(text)),
      state: stateSchema.parse(state),
      endedAt: endedAt == null ? undefined : Number(endedAt),
      counts: counts == null ? undefined : countsSchema.parse(JSON.parse(counts)),
    };
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
    find,
    numbers,

    newId: () => `B${randomBytes(8).toString('hex')}`,

    create: async ({ id, by, reason, perSecond, createdAt }, items) => {
      for (let from = 0; from < items.length; from += itemsAtOnce) {
        const some = items.slice(from, from + itemsAtOnce);
        const texts = some.map(({ msspTransId, endedRuns }) => JSON.stringify([msspTransId, endedRuns]));
        await redis.rpush(itemsKey(id), ...texts);
        await redis.expire(itemsKey(id), draftSeconds);
      }
      const order = JSON.stringify({ by, reason, perSecond, createdAt, total: items.length });
      await redis
        .multi()
        .hset(bulkKey(id), 'order', order, 'state', 'running')
        .persist(itemsKey(id))
        .zadd(key('bulks'), createdAt, id)
        .sadd(key('open'), id)
        .exec();
    },

    list: async (limit) => {
      const ids = await redis.zrevrange(key('bulks'), 0, limit - 1);
      const found = await Promise.all(ids.map(find));
      const gone = ids.filter((_, index) => found[index] === undefined);
      if (gone.length > 0) await redis.zrem(key('bulks'), ...gone);
      return found.filter((bulk) => bulk !== undefined);
    },

    open: () => redis.smembers(key('open')),

    items: async (id) =>
      (await redis.lrange(itemsKey(id), 0, -1)).map((text) => {
        const [msspTransId, endedRuns] = itemSchema.parse(JSON.parse(text));
        return { msspTransId, endedRuns };
      }),

    results: async (id) => {
      const found = Object.entries(await redis.hgetall(resultsKey(id)));
      return new Map(found.map(([item, text]) => [item, resultSchema.parse(text) as BulkResult]));
    },

    stop: async (id) => (await redis.eval(stopScript, 1, bulkKey(id))) === 1,

    begin: async (id, item, msisdn) =>
      (await redis.eval(
        beginScript,
        3,
        bulkKey(id),
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

    finish: async (id, state, counts, now) => {
      const held = [...(await numbers(id)).values()];
      if (held.length > 0) await redis.hdel(key('numbers'), ...held);
      const ending = redis.multi();
      ending.hset(bulkKey(id), 'state', state, 'endedAt', now, 'counts', JSON.stringify(counts));
      for (const each of [bulkKey(id), itemsKey(id), resultsKey(id)]) ending.expire(each, keptSeconds);
      await ending.srem(key('open'), id).exec();
    },
  };
};
