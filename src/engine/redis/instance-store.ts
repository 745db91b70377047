/**
 * Where an instance lies: in the hash of its own job, so that it lives and dies with the job and shares its slot.
 *
 * | field of the job's hash | what it holds | written by |
 * |---|---|---|
 * | `data` | BullMQ's: `{ input, instance }`; `instance` is the record (record.ts) | the commit, under the lock |
 * | `inbox` | events that no turn has taken yet, a line each: key, time in ms by Redis's clock, JSON, with tabs between | deliver; the commit cuts it |
 * | `key:<key>` | what became of an event: `waiting`, `taken`, `refused` | deliver; the commit |
 * | `open` | `1` from the first commit on, `0` once the end is certain | the commit; the seal |
 * | `progress` | BullMQ's: `{"inbox":true}` for an instance that got events before its first turn | deliver |
 *
 * J1  Only the holder of the job's lock writes `data`. A worker that was paused for longer than its lock lasts writes nothing.
 * J2  A line of the inbox leaves it in the same step as what has become of it arrives.
 * J3  An instance ends only when its inbox is empty, in one step with the promise that nothing comes in any more. One that nobody could
 *     send to (its first turn ends it) needs no such step.
 */
import type { Queue } from 'bullmq';
import type { RedisClient } from '../../redis/connect.ts';

/**
 * waiting   The event is durable, and is applied in order.
 * taken, refused   It was sent before, and this has become of it.
 * busy      A worker runs the first turn: ask again in a moment.
 * finished  The instance has ended.
 * unknown   There is no such instance.
 */
export type Delivery = 'waiting' | 'taken' | 'refused' | 'busy' | 'finished' | 'unknown';

export interface InboxEntry {
  readonly key: string;
  /** Milliseconds since the epoch, by the clock of Redis. */
  readonly at: number;
  readonly event: { readonly type: string };
}

export interface Inbox {
  readonly entries: readonly InboxEntry[];
  /** Bytes that these entries take. */
  readonly length: number;
}

export type Verdict = readonly [key: string, verdict: 'taken' | 'refused'];

export interface InstanceStore {
  /** @param event Kept as it is. @param key Tells this event from every other one to the instance; sent again, it changes nothing. */
  deliver(id: string, key: string, event: { readonly type: string }): Promise<Delivery>;
  /** What an event with this key has come to; undefined when none came. */
  verdict(id: string, key: string): Promise<'waiting' | 'taken' | 'refused' | undefined>;
  readInbox(id: string): Promise<Inbox>;
  /** Whether something has come after the first `length` bytes. */
  hasMore(id: string, length: number): Promise<boolean>;
  /** @returns False when the lock is no longer this token's: the caller must stop and touch nothing. */
  commit(
    id: string,
    token: string,
    data: unknown,
    length: number,
    verdicts: readonly Verdict[],
  ): Promise<boolean>;
  /** Makes sure that nothing comes in any more. @returns False when something has, or the lock is lost. */
  seal(id: string, token: string, length: number, verdicts: readonly Verdict[]): Promise<boolean>;
  read(id: string): Promise<StoredInstance | undefined>;
  /** Ends a job's sleep. A job that is not asleep stays where it is. */
  wake(id: string): Promise<void>;
}

export interface StoredInstance {
  readonly data: unknown;
  readonly finishedOn: number | undefined;
  readonly returnValue: unknown;
  readonly failedReason: string | undefined;
}

/** KEYS job, lock. ARGV key, event. */
const deliverScript = `
local job = redis.call('HMGET', KEYS[1], 'timestamp', 'finishedOn', 'open', 'ats', 'key:' .. ARGV[1])
if not job[1] then return 'unknown' end
if job[5] then return job[5] end
if job[2] or job[3] == '0' then return 'finished' end
if not job[3] then
  if redis.call('EXISTS', KEYS[2]) == 1 then return 'busy' end
  redis.call('HSET', KEYS[1], 'progress', '{"inbox":true}')
end
local time = redis.call('TIME')
local line = ARGV[1] .. '\\t' .. string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)) .. '\\t' .. ARGV[2] .. '\\n'
redis.call('HSET', KEYS[1], 'inbox', (redis.call('HGET', KEYS[1], 'inbox') or '') .. line, 'key:' .. ARGV[1], 'waiting')
return 'waiting'`;

/** KEYS job, lock. ARGV token, data, bytes of the inbox that were taken, then key and verdict of each. */
const commitScript = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'data', ARGV[2], 'open', '1')
if ARGV[3] ~= '0' then
  redis.call('HSET', KEYS[1], 'inbox', string.sub(redis.call('HGET', KEYS[1], 'inbox') or '', ARGV[3] + 1))
end
for i = 4, #ARGV, 2 do redis.call('HSET', KEYS[1], 'key:' .. ARGV[i], ARGV[i + 1]) end
return 1`;

/** KEYS job, lock. ARGV token, bytes of the inbox that were taken, then key and verdict of each. */
const sealScript = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
if redis.call('HSTRLEN', KEYS[1], 'inbox') > tonumber(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[1], 'open', '0')
for i = 3, #ARGV, 2 do redis.call('HSET', KEYS[1], 'key:' .. ARGV[i], ARGV[i + 1]) end
return 1`;

const isNotDelayed = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === -3;

const readLines = (text: string): Inbox => ({
  length: Buffer.byteLength(text),
  entries: text.split('\n').flatMap((line) => {
    const [key, at, json] = line.split('\t', 3);
    if (key === undefined || json === undefined) return [];
    return [{ key, at: Number(at), event: JSON.parse(json) as { type: string } }];
  }),
});

export const createInstanceStore = (queue: Queue, redis: RedisClient): InstanceStore => {
  const keys = (id: string): readonly [string, string] => [queue.toKey(id), queue.toKey(`${id}:lock`)];
  return {
    deliver: async (id, key, event) =>
      (await redis.eval(deliverScript, 2, ...keys(id), key, JSON.stringify(event))) as Delivery,
    verdict: async (id, key) =>
      ((await redis.hget(queue.toKey(id), `key:${key}`)) ?? undefined) as
        | 'waiting'
        | 'taken'
        | 'refused'
        | undefined,
    readInbox: async (id) => readLines((await redis.hget(queue.toKey(id), 'inbox')) ?? ''),
    hasMore: async (id, length) => (await redis.hstrlen(queue.toKey(id), 'inbox')) > length,
    commit: async (id, token, data, length, verdicts) =>
      (await redis.eval(
        commitScript,
        2,
        ...keys(id),
        token,
        JSON.stringify(data),
        length,
        ...verdicts.flat(),
      )) === 1,
    seal: async (id, token, length, verdicts) =>
      (await redis.eval(sealScript, 2, ...keys(id), token, length, ...verdicts.flat())) === 1,
    read: async (id) => {
      const [data, timestamp, finishedOn, returnValue, failedReason] = await redis.hmget(
        queue.toKey(id),
        'data',
        'timestamp',
        'finishedOn',
        'returnvalue',
        'failedReason',
      );
      if (timestamp == null) return undefined;
      return {
        data: JSON.parse(data ?? '{}'),
        finishedOn: finishedOn == null ? undefined : Number(finishedOn),
        returnValue: returnValue == null ? undefined : JSON.parse(returnValue),
        failedReason: failedReason ?? undefined,
      };
    },
    wake: async (id) => {
      try {
        await queue.getBackend().promote(id);
      } catch (error) {
        if (!isNotDelayed(error)) throw error;
      }
    },
  };
};
