/**
 * Refused requests: those that were answered with a fault and never became a transaction.
 *
 * Each API process gathers them in memory and writes them once a second, apart from any answer.
 * Redis has counts by application, fault and detail for every five minutes of a day, and the latest
 * ones. Equal requests of one second are one entry of that list, so a flood does not push out the
 * others.
 *
 * Anyone can write any AP_ID. So registered names and others are kept apart, and both are bounded:
 * a request without room is counted by its fault and detail without the name, and if there is no
 * room either, by its fault alone. A sandbox has no registered applications, so all names get the
 * room of registered ones: a single developer who tries out refusals fills twenty groups.
 */

import { toError } from '../../../packages/engine/src/redis/to-error.ts';
import { faultTable, isFaultCode } from '../../../packages/protocol/src/fault.ts';
import type { RedisClient } from '../../redis/connect.ts';

interface RefusedRequest {
  /** The AP_ID in the request, without control characters; undefined when it has none. */
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
/**
 * Named groups of each kind in five minutes, and in a process between two writes. Names that anyone
 * may invent would make the page slow, so few are kept.
 */
const maxNamed = { registered: 200, others: 20 } as const;
/** Further groups without a name. Details are our own sentences, some hundred in all. */
const maxUnnamed = 100;
/** Groups of each kind on the page. */
const maxShown = 200;
/** Entries of each kind in the list of the latest. */
const maxLatest = 100;
const maxDetail = 200;
/** The longest AP_ID of an unregistered application, in characters. */
const maxApId = 64;
/** The field that counts all requests of a bucket. */
const total = 'total';

const keyOf = (prefix: string, kind: Kind, of: number | 'latest'): string =>
  `{${prefix}-refused}:${kind}:${of}`;

/**
 * KEYS: counts, latest. ARGV: four bounds; then fields with name, with detail and with the fault
 * alone, count and entry.
 */
const writeScript = `
for i = 5, #ARGV, 5 do
  local field = ARGV[i]
  redis.call('HINCRBY', KEYS[1], '${total}', ARGV[i + 3])
  for more = 1, 2 do
    local isFull = redis.call('HLEN', KEYS[1]) > tonumber(ARGV[more])
    if isFull and redis.call('HEXISTS', KEYS[1], field) == 0 then field = ARGV[i + more] end
  end
  redis.call('HINCRBY', KEYS[1], field, ARGV[i + 3])
  redis.call('LPUSH', KEYS[2], ARGV[i + 4])
end
redis.call('LTRIM', KEYS[2], 0, ARGV[3] - 1)
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[4]) end`;

type Field = readonly [apId: string, fault: number, detail: string];

export const createRefusals = (options: {
  readonly redis: RedisClient;
  readonly prefix: string;
  readonly isRegistered: (apId: string) => boolean;
  /** Whether this is a sandbox, in which applications need not be registered. */
  readonly sandbox: boolean;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}) => {
  const { redis, prefix, isRegistered, sandbox, now, onError } = options;
  const namedOf = (kind: Kind): number => maxNamed[sandbox ? 'registered' : kind];
  type Group = RefusedRequest & { count: number };
  const pending: Readonly<Record<Kind, Map<string, Group>>> = {
    registered: new Map(),
    others: new Map(),
  };
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
        ['', fault, detail],
        ['', fault, ''],
      ];
      return [
        ...fields.map((field) => JSON.stringify(field)),
        count,
        JSON.stringify({ at, count, ...request }),
      ];
    });
    const named = namedOf(kind);
    await redis.eval(
      writeScript,
      2,
      ...keys,
      named,
      named + maxUnnamed,
      maxLatest,
      keptMs,
      ...told,
    );
  };

  const writeAll = async (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    await Promise.all(kinds.map(write)).catch((error: unknown) => onError(toError(error)));
  };

  return {
    note: ({ operation, fault, ...told }: RefusedRequest, count = 1): void => {
      timer ??= setTimeout(writeAll, writeEveryMs).unref();
      const kind: Kind =
        told.apId !== undefined && isRegistered(told.apId) ? 'registered' : 'others';
      const apId = kind === 'registered' ? told.apId : told.apId?.slice(0, maxApId);
      const groups = pending[kind];
      // With its index each element of a list would make a group of its own.
      const detail = told.detail.replaceAll(/\[\d+\]/g, '[n]').slice(0, maxDetail);
      const named = namedOf(kind);
      // The most exact group that exists, or has room.
      const possible = [
        { request: { apId, operation, fault, detail }, room: named },
        { request: { fault, detail }, room: named + maxUnnamed },
        { request: { fault, detail: '' }, room: Number.POSITIVE_INFINITY },
      ];
      for (const { request, room } of possible) {
        const key = JSON.stringify(request);
        const group = groups.get(key);
        if (group !== undefined) group.count += count;
        else if (groups.size < room) groups.set(key, { ...request, count });
        else continue;
        return;
      }
    },
    /** Writes the remaining counts. */
    close: writeAll,
  };
};

type Sums = { lastHour: number; lastDay: number };
const byCount = (a: Sums, b: Sums): number => b.lastHour - a.lastHour || b.lastDay - a.lastDay;

const reasonOf = (fault: number): string | undefined =>
  isFaultCode(fault) ? faultTable[fault].reason : undefined;

/** The buckets of the last day, each with whether it belongs to the last hour. */
const bucketsOf = (now: number) => {
  const last = Math.floor(now / bucketMs);
  const count = dayMs / bucketMs;
  return Array.from({ length: count }, (_, index) => ({
    bucket: last - count + 1 + index,
    isRecent: index >= count - hourMs / bucketMs,
  }));
};

/** Counts all refused requests. Much cheaper than {@link readRefusals}. */
export const countRefusals = async (
  redis: RedisClient,
  prefix: string,
  now: number,
): Promise<Sums> => {
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

/** Counts the refused requests of the last hour by fault, the most frequent first. */
export const countRefusalsByFault = async (
  redis: RedisClient,
  prefix: string,
  now: number,
): Promise<
  readonly { readonly fault: number; readonly reason?: string; readonly count: number }[]
> => {
  const pipeline = redis.pipeline();
  for (const { bucket, isRecent } of bucketsOf(now)) {
    if (isRecent) for (const kind of kinds) pipeline.hgetall(keyOf(prefix, kind, bucket));
  }
  const sums = new Map<number, number>();
  for (const [error, counts] of (await pipeline.exec()) ?? []) {
    if (error) throw error;
    for (const [field, count] of Object.entries(counts as Record<string, string>)) {
      if (field === total) continue;
      const [, fault] = JSON.parse(field) as Field;
      sums.set(fault, (sums.get(fault) ?? 0) + Number(count));
    }
  }
  return [...sums]
    .map(([fault, count]) => {
      const reason = reasonOf(fault);
      return { fault, ...(reason !== undefined && { reason }), count };
    })
    .toSorted((a, b) => b.count - a.count || a.fault - b.fault);
};

export interface RefusalFilter {
  readonly apId?: string | undefined;
  readonly fault?: number | undefined;
}

/** @param filter Reads only the requests of this application, and with this fault. */
export const readRefusals = async (
  redis: RedisClient,
  prefix: string,
  now: number,
  filter: RefusalFilter = {},
) => {
  const all = bucketsOf(now);
  const fits = ({ apId, fault }: RefusalFilter): boolean =>
    (filter.apId === undefined || apId === filter.apId) &&
    (filter.fault === undefined || fault === filter.fault);

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
      return {
        apId: named || undefined,
        isRegistered,
        fault,
        reason: reasonOf(fault),
        detail,
        ...sum,
      };
    });
    const latest = (entries as string[]).map((entry) => {
      const told = JSON.parse(entry) as RefusedRequest & {
        readonly at: number;
        readonly count: number;
      };
      return { ...told, isRegistered, reason: reasonOf(told.fault) };
    });
    return {
      counts: counted.filter(fits),
      latest: latest.filter(fits),
    };
  };

  const read = await Promise.all(kinds.map(readKind));
  return {
    /** Counts of the last hour and day, those with the most in the last hour first. */
    counts: read
      .flatMap(({ counts }) => counts.toSorted(byCount).slice(0, maxShown))
      .toSorted(byCount),
    /** The latest requests, newest first. `count`: the number of equal ones in one second. */
    latest: read.flatMap(({ latest }) => latest).toSorted((a, b) => b.at - a.at),
  };
};

export type Refusals = Awaited<ReturnType<typeof readRefusals>>;
