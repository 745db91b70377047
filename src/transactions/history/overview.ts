/**
 * Counts recent transactions, from the counters of minutes or hours, and the jobs in the queues.
 *
 * Each attempt that ended is counted: a transaction that failed and was replayed counts as failed
 * and as signed, if the indexer read it in between (a few times a second). A rebuild knows only the
 * last end of each.
 */
import { faultTable, isFaultCode } from '../../../packages/protocol/src/fault.ts';
import type { RedisClient } from '../../redis/connect.ts';
import type { ShardKeys } from './keys.ts';
import { readPosition } from './position.ts';
import { bucketMs, type CountedUnit, counted } from './rows-script.ts';

const maxParts = 60;

type Counts = Record<string, number>;

/**
 * KEYS: the state. ARGV: prefix of the counters' keys, the first, the last, the number in a part. A
 * day has 1440 minutes, so they are added up in Redis.
 */
const partsScript = `
local parts = {}
local sums, last = {}, tonumber(ARGV[3])
for unit = tonumber(ARGV[2]), last do
  local counts = redis.call('HGETALL', ARGV[1] .. string.format('%d', unit))
  for i = 1, #counts, 2 do sums[counts[i]] = (sums[counts[i]] or 0) + tonumber(counts[i + 1]) end
  if (unit - ARGV[2] + 1) % ARGV[4] == 0 or unit == last then
    parts[#parts + 1] = sums
    sums = {}
  end
end
return cjson.encode(parts)`;

/** The counters of each part. */
const readParts = async (
  redis: RedisClient,
  keys: ShardKeys,
  unit: CountedUnit,
  {
    first,
    last,
    inPart,
  }: { readonly first: number; readonly last: number; readonly inPart: number },
): Promise<readonly Counts[]> => {
  const position = readPosition(await redis.hget(keys.state, 'position'));
  if (position === undefined) return [];
  const begins = `${keys.generation(position.generation).base}:${unit}:`;
  const parts = await redis.eval(partsScript, 1, keys.state, begins, first, last, inPart);
  return JSON.parse(String(parts)) as readonly Counts[];
};

/** The lengths of the queue's lists. */
const readQueue = async (redis: RedisClient, keys: ShardKeys): Promise<Counts> => {
  const pipeline = redis
    .pipeline()
    .llen(keys.signatures('wait'))
    .zcard(keys.signatures('prioritized'))
    .llen(keys.signatures('active'))
    .zcard(keys.signatures('delayed'));
  const counts = ((await pipeline.exec()) ?? []).map(([error, count]) => {
    if (error) throw error;
    return Number(count);
  });
  const [wait = 0, prioritized = 0, active = 0, delayed = 0] = counts;
  return { waiting: wait + prioritized, active, delayed };
};

const merge = (into: Counts, from: Counts): Counts => {
  for (const [name, count] of Object.entries(from)) into[name] = (into[name] ?? 0) + count;
  return into;
};

const numbered = (
  counts: Counts,
  letter: 'f' | 't',
): readonly (readonly [number: number, count: number])[] =>
  Object.entries(counts)
    .filter(([name]) => name.startsWith(letter) && /^\d+$/.test(name.slice(1)))
    .map(([name, count]) => [Number(name.slice(1)), count] as const);

const failedIn = (counts: Counts): number =>
  numbered(counts, 'f').reduce((sum, [, count]) => sum + count, 0);

const percentilesIn = (counts: Counts) => {
  const buckets = numbered(counts, 't').toSorted(([a], [b]) => a - b);
  const all = buckets.reduce((sum, [, count]) => sum + count, 0);
  if (all === 0) return undefined;
  const percentile = (part: number): number => {
    let passed = 0;
    for (const [bucket, count] of buckets) {
      passed += count;
      if (passed >= all * part) return Math.round(bucketMs(bucket));
    }
    return 0;
  };
  return { p50: percentile(0.5), p90: percentile(0.9), p99: percentile(0.99) };
};

/** @param sinceMs Milliseconds since the epoch; never more than 31 days ago. */
export const overview = async (
  redis: RedisClient,
  shards: readonly ShardKeys[],
  sinceMs: number,
  now: number,
) => {
  const unit: CountedUnit = now - sinceMs > counted.minute.keptMs ? 'hour' : 'minute';
  const { ms, keptMs } = counted[unit];
  const last = Math.floor(now / ms);
  const first = Math.min(Math.floor(Math.max(sinceMs, now - keptMs) / ms), last);
  const inPart = Math.ceil((last - first + 1) / maxParts);
  const [ofShards, queues] = await Promise.all([
    Promise.all(shards.map((keys) => readParts(redis, keys, unit, { first, last, inPart }))),
    Promise.all(shards.map((keys) => readQueue(redis, keys))),
  ]);
  const parts = Array.from({ length: Math.ceil((last - first + 1) / inPart) }, (_, part) =>
    ofShards.reduce<Counts>((sum, shard) => merge(sum, shard[part] ?? {}), {}),
  );
  const all = parts.reduce<Counts>(merge, {});
  const { waiting = 0, active = 0, delayed = 0 } = queues.reduce<Counts>(merge, {});
  const totals = (counts: Counts) => ({
    submitted: counts.submitted ?? 0,
    signed: counts.signed ?? 0,
    failed: failedIn(counts),
  });
  return {
    /** The beginning of a minute or an hour, milliseconds since the epoch. */
    since: first * ms,
    ...totals(all),
    /** The faults with their counts, most frequent first. */
    faults: numbered(all, 'f')
      .map(([code, count]) => ({
        code,
        reason: isFaultCode(code) ? faultTable[code].reason : undefined,
        count,
      }))
      .toSorted((a, b) => b.count - a.count || a.code - b.code),
    /** Percentiles of the durations of signed attempts, milliseconds, within five per cent. */
    timeToSignMs: percentilesIn(all),
    /** Jobs that wait for a worker, are with one, or sleep until an answer or a deadline. */
    queue: { waiting, active, delayed },
    /** The totals of at most sixty parts of equal length, oldest first, each with its beginning. */
    series: parts.map((counts, part) => ({ at: (first + part * inPart) * ms, ...totals(counts) })),
  };
};

export type Overview = Awaited<ReturnType<typeof overview>>;
export type OverviewPart = Overview['series'][number];
