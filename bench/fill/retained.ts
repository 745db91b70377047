/**
 * Many finished transactions within seconds: one real one of a kind is made through the product,
 * and Redis copies it.
 *
 * A copy is what the product leaves behind: the job's hash, value for value but for the seal, which
 * names the transaction, and its place in BullMQ's sorted set of ended jobs. The deduplication key
 * is gone by then and the event stream is trimmed, so there is nothing else. Ids are fresh and well
 * formed, and times are the copy's own, so status finds each of them and retention sees different
 * ages.
 *
 * The ids are numbered, so that status requests need no list of a million.
 */
import { createProtocol } from '../../packages/protocol/src/parse.ts';
import { defaultProtocolRules } from '../../packages/protocol/src/rules.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import {
  shardPrefix,
  signatureQueueName,
  signatureRecordSchema,
} from '../../src/transactions/contract.ts';
import { sealsOfThisRun } from '../harness/paraph.ts';

export type EndedKind = 'signed' | 'failed';

/** Seventeen characters after the shard's two; a letter for the kind keeps the two series apart. */
export const retainedId = (kind: EndedKind, number: number): string =>
  `H00${kind === 'signed' ? 'S' : 'F'}${String(number).padStart(16, '0')}`;

export const signaturesKey = (key: string, prefix = 'paraph'): string =>
  `${shardPrefix(prefix, 0)}:${signatureQueueName}:${key}`;

const setOf: Record<EndedKind, string> = { signed: 'completed', failed: 'failed' };

/** Id of the copy with a number, sealed as a worker would. */
type SealOf = (id: string) => string;

/** @returns Undefined for one that has no outcome to seal. */
const resealing = async (
  redis: RedisClient,
  original: string,
): Promise<{ readonly seal: string; readonly sealOf: SealOf } | undefined> => {
  const [data, returnValue] = await redis.hmget(original, 'data', 'returnvalue');
  const { outcome, attempt } =
    signatureRecordSchema.safeParse(JSON.parse(returnValue ?? 'null')).data ?? {};
  const request = createProtocol(defaultProtocolRules).parseStoredSign(
    JSON.parse(data ?? '{}').MSS_SignatureReq,
  );
  if (outcome?.seal === undefined || attempt === undefined || !request.ok) return undefined;
  return {
    seal: outcome.seal,
    sealOf: (id) => sealsOfThisRun.seal({ id, attempt, request: request.value, outcome }),
  };
};

/**
 * KEYS: the original, the set of ended jobs. ARGV: key prefix, id prefix, first number, count, its
 * time, ms between, its seal, those of the copies.
 */
const copyScript = `
local first, count, at, step = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local made = 0
local result = redis.call('HGET', KEYS[1], 'returnvalue')
local from, till
if ARGV[7] ~= '' then from, till = string.find(result, ARGV[7], 1, true) end
for n = first, first + count - 1 do
  local id = ARGV[2] .. string.format('%016.0f', n)
  local time = string.format('%.0f', at + (n - first) * step)
  if redis.call('COPY', KEYS[1], ARGV[1] .. id) == 1 then
    redis.call('HSET', ARGV[1] .. id, 'timestamp', time, 'processedOn', time, 'finishedOn', time)
    if from then
      local sealed = string.sub(result, 1, from - 1) .. ARGV[8 + n - first] .. string.sub(result, till + 1)
      redis.call('HSET', ARGV[1] .. id, 'returnvalue', sealed)
    end
    redis.call('ZADD', KEYS[2], time, id)
    made = made + 1
  end
end
return made`;

/** Enough to make the round trip small, few enough not to hold up Redis. */
const batch = 2000;
/** Copies ended during the last hour: young enough for every retention. */
const spanMs = 3_000_000;

/**
 * Copies an ended transaction `count` times, as numbers 0 to count - 1 of its kind.
 *
 * @param original Id of a transaction of shard 0 that ended as `kind` says.
 * @throws When there is no such transaction, or copies with these numbers exist.
 */
export const fillRetained = async (
  redis: RedisClient,
  {
    original,
    kind,
    count,
    now,
    prefix,
  }: {
    readonly original: string;
    readonly kind: EndedKind;
    readonly count: number;
    readonly now: number;
    readonly prefix?: string;
  },
): Promise<void> => {
  const key = (name: string): string => signaturesKey(name, prefix);
  const ended = await redis.hget(key(original), 'finishedOn');
  const listed = await redis.zscore(key(setOf[kind]), original);
  if (ended === null || listed === null) throw new Error(`The original has not ended as ${kind}`);
  const sealing = await resealing(redis, key(original));
  const step = Math.max(Math.floor(spanMs / Math.max(count, 1)), 1);
  for (let first = 0; first < count; first += batch) {
    const size = Math.min(batch, count - first);
    const made = await redis.eval(
      copyScript,
      2,
      key(original),
      key(setOf[kind]),
      key(''),
      retainedId(kind, 0).slice(0, 4),
      first,
      size,
      now - spanMs - 60_000 + first * step,
      step,
      sealing?.seal ?? '',
      ...Array.from(
        { length: size },
        (_, offset) => sealing?.sealOf(retainedId(kind, first + offset)) ?? '',
      ),
    );
    if (made !== size) throw new Error('Copies with these numbers are there already');
  }
};

const dropScript = `
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[2], '+inf', 'LIMIT', 0, ARGV[3])
for _, id in ipairs(ids) do redis.call('UNLINK', ARGV[1] .. id) redis.call('ZREM', KEYS[1], id) end
return #ids`;

/**
 * Removes what has ended since a time, so that a round of measuring leaves as many retained as it
 * found.
 *
 * @returns How many were removed.
 */
export const dropEndedSince = async (
  redis: RedisClient,
  sinceMs: number,
  prefix?: string,
): Promise<number> => {
  let dropped = 0;
  for (const set of Object.values(setOf)) {
    for (;;) {
      const key = signaturesKey(set, prefix);
      const some = await redis.eval(dropScript, 1, key, signaturesKey('', prefix), sinceMs, batch);
      dropped += Number(some);
      if (Number(some) < batch) break;
    }
  }
  return dropped;
};
