/**
 * Refused requests: those that were answered with a fault and never became a transaction.
 *
 * Each API process gathers them in memory and writes them once a second, apart from any answer.
 * Redis has counts by application, fault and detail for every five minutes of a day, and the latest
 * ones. Equal requests of one second are one entry of that list, so a flood does not push out the
 * others.
 *
 * Anyone can write any AP_ID. So registered names and others are kept apart, and both are bounded:
 * what finds no room is counted by its fault alone.
 */
import { faultTable, isFaultCode } from '../protocol/fault.ts';
import type { RedisClient } from '../redis/connect.ts';
import { toError } from '../redis/to-error.ts';

interface RefusedRequest {
  /** As the request says, without control characters; undefined when it does not say. */
  readonly apId?: string | undefined;
  readonly operation?: string | undefined;
  readonly fault: number;
  /** Names members and never their values. */
  readonly detail: string;
}

type Kind = 'registered' | 'others';
const kinds: readonly Kind[] = ['registered', 'others'];

const writeEveryMs = 1000;
const bucketMs = 300_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const keptMs = 25 * hourMs;
/** In five minutes. Names that anyone may invent would make the page slow, so few are kept. */
const maxGroups = { registered: 200, others: 20 } as const;
/** In the list, of each kind. */
const maxLatest = 100;
/** In a process between two writes. */
const maxPending = { registered: 200, others: 20 } as const;
const maxDetail = 200;
/** Of an application that is not registered. */
const maxApId = 64;
/** Counts all of a bucket. */
const total = 'total';

const keyOf = (prefix: string, kind: Kind, of: number | 'latest'): string =>
  `{${prefix}-refused}:${kind}:${of}`;

/** KEYS: counts, latest. ARGV: three bounds; then field, field without room, count and entry. */
const writeScript = `
for i = 4, #ARGV, 4 do
  local field = ARGV[i]
  redis.call('HINCRBY', KEYS[1], '${total}', ARGV[i + 2])
  local isNew = redis.call('HEXISTS', KEYS[1], field) == 0
  if isNew and redis.call('HLEN', KEYS[1]) > tonumber(ARGV[1]) then field = ARGV[i + 1] end
  redis.call('HINCRBY', KEYS[1], field, ARGV[i + 2])
  redis.call('LPUSH', KEYS[2], ARGV[i + 3])
end
redis.call('LTRIM', KEYS[2], 0, ARGV[2] - 1)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[3]) end`;

type Field = readonly [apId: string, fault: number, detail: string];

export const createRefusals = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly isRegistered: (apId: string) => boolean;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}) => {
  const { redis, prefix, isRegistered, now, onError } = options;
  type Group = RefusedRequest & { count: number };
  const pending: Readonly<Record<Kind, Map<string, Group>>> = { registered: new Map(), others: new Map() };
  let timer: NodeJS.Timeout | undefined;

  const write = async (kind: Kind): Promise<void> => {
    const groups = [...pending[kind].values()];
    pending[kind].clear();
    if (groups.length === 0) return;
    const at = now();
    const keys = [keyOf(prefix, kind, Math.floor(at / bucketMs)), keyOf(prefix, kind, 'latest')];
    const told = groups.flatMap(({ count, ...request }) => {
      const { apId = '', fault, detail } = request;
      const fields: readonly Field[] = [
        [apId, fault, detail],
        ['', fault, ''],
      ];
      return [
        ...fields.map((field) => JSON.stringify(field)),
        count,
        JSON.stringify({ at, count, ...request }),
      ];
    });
    await redis.eval(writeScript, 2, ...keys, maxGroups[kind], maxLatest, keptMs, ...told);
  };

  const writeAll = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    await Promise.all(kinds.map(write)).catch((error: unknown) => onError(toError(error)));
  };

  return {
    note: ({ operation, fault, ...told }: RefusedRequest, count = 1): void => {
      timer ??= setTimeout(writeAll, writeEveryMs).unref();
      const kind: Kind = told.apId !== undefined && isRegistered(told.apId) ? 'registered' : 'others';
      const apId = kind === 'registered' ? told.apId : told.apId?.slice(0, maxApId);
      const groups = pending[kind];
      // An index would make as many groups as a list can have elements.
      const detail = told.detail.replaceAll(/\[\d+\]/g, '[n]').slice(0, maxDetail);
      const key = JSON.stringify([apId, operation, fault, detail]);
      const group = groups.get(key) ?? groups.get(String(fault));
      if (group !== undefined) group.count += count;
      else if (groups.size < maxPending[kind]) groups.set(key, { apId, operation, fault, detail, count });
      else groups.set(String(fault), { fault, detail: '', count });
    },
    /** Writes what is left. */
    close: writeAll,
  };
};

type Sums = { lastHour: number; lastDay: number };
const byCount = (a: Sums, b: Sums): number => b.lastHour - a.lastHour || b.lastDay - a.lastDay;

const reasonOf = (fault: number): string | undefined =>
  isFaultCode(fault) ? faultTable[fault].reason : undefined;

/** The buckets of the last day, and whether each is of the last hour. */
const bucketsOf = (now: number) => {
  const last = Math.floor(now / bucketMs);
  const count = dayMs / bucketMs;
  return Array.from({ length: count }, (_, index) => ({
    bucket: last - count + 1 + index,
    isRecent: index >= count - hourMs / bucketMs,
  }));
};

/** How many in all. Much cheaper than {@link readRefusals}. */
export const countRefusals = async (redis: RedisClient, prefix: string, now: number): Promise<Sums> => {
  const buckets = bucketsOf(now).flatMap((each) => kinds.map((kind) => ({ ...each, kind })));
  const pipeline = redis.pipeline();
  for (const { bucket, kind } of buckets) pipeline.hget(keyOf(prefix, kind, bucket), total);
  const sums = { lastHour: 0, lastDay: 0 };
  for (const [index, [error, count]] of ((await pipeline.exec()) ?? []).entries()) {
    if (error) throw error;
    sums.lastDay += Number(count ?? 0);
    if (buckets[index]?.isRecent) sums.lastHour += Number(count ?? 0);
  }
  return sums;
};

/** @param apId Of these requests alone. */
export const readRefusals = async (
  redis: RedisClient,
  prefix: string,
  now: number,
  apId?: string | undefined,
) => {
  const all = bucketsOf(now);
  const fits = (told: string | undefined): boolean => apId === undefined || told === apId;

  const readKind = async (kind: Kind) => {
    const isRegistered = kind === 'registered';
    const pipeline = redis.pipeline().lrange(keyOf(prefix, kind, 'latest'), 0, -1);
    for (const { bucket } of all) pipeline.hgetall(keyOf(prefix, kind, bucket));
    const [entries = [], ...buckets] = ((await pipeline.exec()) ?? []).map(([error, found]) => {
      if (error) throw error;
      return found as string[] | Record<string, string>;
    });
    const sums = new Map<string, Sums>();
    for (const [index, counts] of buckets.entries()) {
      for (const [field, count] of Object.entries(counts)) {
        if (field === total) continue;
        const sum = sums.get(field) ?? { lastHour: 0, lastDay: 0 };
        sum.lastDay += Number(count);
        if (all[index]?.isRecent) sum.lastHour += Number(count);
        sums.set(field, sum);
      }
    }
    const counted = [...sums].map(([field, sum]) => {
      const [named, fault, detail] = JSON.parse(field) as Field;
      return { apId: named || undefined, isRegistered, fault, reason: reasonOf(fault), detail, ...sum };
    });
    const latest = (entries as string[]).map((entry) => {
      const told = JSON.parse(entry) as RefusedRequest & { readonly at: number; readonly count: number };
      return { ...told, isRegistered, reason: reasonOf(told.fault) };
    });
    return {
      counts: counted.filter((each) => fits(each.apId)),
      latest: latest.filter((each) => fits(each.apId)),
    };
  };

  const read = await Promise.all(kinds.map(readKind));
  return {
    /** Of at most an hour and a day, the most frequent of the last hour first. */
    counts: read
      .flatMap(({ counts }) => counts.toSorted(byCount).slice(0, maxGroups.registered))
      .toSorted(byCount),
    /** Newest first. `count`: so many equal ones in one second. */
    latest: read.flatMap(({ latest }) => latest).toSorted((a, b) => b.at - a.at),
  };
};

export type Refusals = Awaited<ReturnType<typeof readRefusals>>;
