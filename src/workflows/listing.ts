/**
 * The list of instances, newest first, by application, workflow and status.
 *
 * In each shard there is a sorted set for each status: id of the instance → when it was added. The
 * id holds application and workflow, so the sets need no more. The worker adds an instance with its
 * first turn, so those of other programs are listed, too. It notes an end before the job ends. An
 * instance leaves the list when its job is gone, so there is a set of ends for each retention.
 *
 * In the same step the size of open instances is summed up, for each application and for all
 * (`list:sizes`): a start is refused when there are too many. An instance that was started over
 * HTTP counts at once, any other from its first turn on.
 */
import type { Queue } from 'bullmq';
import type { RedisClient } from '../redis/connect.ts';
import { isInstanceOf, tenantLength, tenantOf } from './contract.ts';
import { maxPeople } from './definition.ts';
import { processName } from './stock-process.ts';

export const statuses = ['open', 'completed', 'failed', 'cancelled'] as const;
export type WorkflowStatus = (typeof statuses)[number];

export interface ListedInstance {
  readonly id: string;
  readonly status: WorkflowStatus;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
}

export interface ListFilter {
  /** Of the id: {@link tenantPrefixOf}, and the name of the workflow. */
  readonly tenantPrefix?: string | undefined;
  readonly name?: string | undefined;
  readonly status?: WorkflowStatus | undefined;
}

const chunk = 500;
/** Entries that one page looks at, whether they match or not. */
const lookAtMost = 20_000;
const maxCleaned = 1000;
const ends = ['ends-completed', 'ends-failed'] as const;

/** The field of all applications together. That of one is its part of the ids. */
const inAll = 'all';

/**
 * KEYS: open, completed, failed, cancelled, ends of completed and of failed jobs, sizes, job, its
 * lock. ARGV: id, created, status, how its job ends (`added`: it is new, unless a worker has noted
 * it before), now, until when ends of completed and of failed jobs are old, how many of each are
 * removed, size, token of the lock.
 *
 * A worker that was paused for longer than its lock lasts, or a program that has added the job, may
 * come after the end. Then an open instance is not noted: nobody would note its end.
 */
const noteScript = `
local id, created, status, job, now, oldDone, oldFailed, most, size, token = unpack(ARGV)
local sets = { open = KEYS[1], completed = KEYS[2], failed = KEYS[3], cancelled = KEYS[4] }
local function count(by)
  for _, owner in ipairs({ string.sub(id, 1, ${tenantLength}), '${inAll}' }) do
    if redis.call('HINCRBY', KEYS[7], owner, by) <= 0 then redis.call('HDEL', KEYS[7], owner) end
  end
end
if job == 'open' and redis.call('GET', KEYS[9]) ~= token then return end
if job == 'added' then
  if redis.call('EXISTS', KEYS[8]) == 0 or redis.call('HEXISTS', KEYS[8], 'finishedOn') == 1 then return end
  for _, key in pairs(sets) do if redis.call('ZSCORE', key, id) then return end end
end
for name, key in pairs(sets) do
  if name ~= status and redis.call('ZREM', key, id) == 1 and name == 'open' then count(-size) end
end
if redis.call('ZADD', sets[status], created, id) == 1 and status == 'open' then count(size) end
redis.call('ZREM', KEYS[5], id)
redis.call('ZREM', KEYS[6], id)
if status == 'open' then return end
redis.call('ZADD', KEYS[job == 'failed' and 6 or 5], now, id)
for ends, before in pairs({ [KEYS[5]] = oldDone, [KEYS[6]] = oldFailed }) do
  for _, old in ipairs(redis.call('ZRANGE', ends, '-inf', before, 'BYSCORE', 'LIMIT', 0, most)) do
    for at = 1, 6 do redis.call('ZREM', KEYS[at], old) end
  end
end`;

export interface Noted {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Of an instance always the same: {@link sizeOf}. */
  readonly size: number;
  readonly status: WorkflowStatus;
  /** How its job ends: a cancelled instance may end in a failed job. */
  readonly job: 'added' | 'open' | 'completed' | 'failed';
  /** Of the lock of the job; for `open`. */
  readonly token?: string | undefined;
}

export interface Listing {
  note(noted: Noted): Promise<void>;
  /** Of the open instances of an application, and of all. */
  sizes(apId: string): Promise<{ readonly own: number; readonly inAll: number }>;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** @param step Of a definition that nobody has checked. */
const peopleIn = (step: unknown): number => {
  const { signers, escalate } = Object(step) as { readonly signers?: unknown; readonly escalate?: unknown };
  const substitutes = (signer: unknown): readonly unknown[] =>
    listOf((Object(signer) as { readonly substitutes?: unknown }).substitutes);
  return listOf(signers).reduce<number>(
    (sum, signer) => sum + 1 + substitutes(signer).length,
    escalate === undefined ? 0 : 1,
  );
};

/**
 * How much an open instance counts: one, and one more for each person in the definition of a
 * process, because each may become an instance of its own.
 *
 * @param data Of its job.
 */
export const sizeOf = (name: string, data: unknown): number => {
  if (name !== processName) return 1;
  const { input } = Object(data) as { readonly input?: unknown };
  const { steps, compensation } = Object(input) as {
    readonly steps?: unknown;
    readonly compensation?: unknown;
  };
  const people = [...listOf(steps), ...listOf(compensation)].reduce<number>(
    (sum, step) => sum + peopleIn(step),
    0,
  );
  // A definition with more fails in its first turn.
  return 1 + Math.min(people, maxPeople);
};

/** Of the instances in one queue. */
export const createListing = (options: {
  readonly queue: Queue;
  readonly redis: RedisClient;
  readonly retention: { readonly doneMs: number; readonly failedMs: number };
  readonly now: () => number;
}): Listing => {
  const { queue, redis, retention, now } = options;
  const sizes = keyOf(queue, 'sizes');
  const lists = [...statuses, ...ends].map((each) => keyOf(queue, each));
  return {
    note: async ({ id, createdAt, status, job, size, token = '' }) => {
      const time = now();
      const old = [time - retention.doneMs, time - retention.failedMs];
      const noted = [id, createdAt, status, job, time, ...old, maxCleaned, size, token];
      const keys = [...lists, sizes, queue.toKey(id), queue.toKey(`${id}:lock`)];
      await redis.eval(noteScript, keys.length, ...keys, ...noted);
    },
    sizes: async (apId) => {
      const [own, all] = await redis.hmget(sizes, tenantOf(apId), inAll);
      return { own: Number(own ?? 0), inAll: Number(all ?? 0) };
    },
  };
};

/** No job has an id with a colon. */
const keyOf = (queue: Queue, of: WorkflowStatus | (typeof ends)[number] | 'sizes'): string =>
  queue.toKey(`list:${of}`);

/** Newest first; of one moment by id, backwards. */
const isBefore = (a: ListedInstance, b: ListedInstance): boolean =>
  a.createdAt === b.createdAt ? a.id > b.id : a.createdAt > b.createdAt;

async function* walk(
  redis: RedisClient,
  key: string,
  status: WorkflowStatus,
  from: ListedInstance | undefined,
): AsyncGenerator<ListedInstance> {
  const start = from?.createdAt ?? '+inf';
  for (let offset = 0; ; offset += chunk) {
    const flat = await redis.zrange(
      key,
      start,
      '-inf',
      'BYSCORE',
      'REV',
      'LIMIT',
      offset,
      chunk,
      'WITHSCORES',
    );
    for (let at = 0; at < flat.length; at += 2) {
      const found = { id: flat[at] ?? '', createdAt: Number(flat[at + 1]), status };
      if (from === undefined || isBefore(from, found)) yield found;
    }
    if (flat.length < 2 * chunk) return;
  }
}

const cursorOf = ({ createdAt, id }: ListedInstance): string => `${createdAt}.${id}`;

/** @returns Undefined for a text that is no cursor. */
const readCursor = (cursor: string): ListedInstance | undefined => {
  const [, createdAt, id] = /^(\d{1,15})\.([\w-]+)$/.exec(cursor) ?? [];
  return id === undefined ? undefined : { id, createdAt: Number(createdAt), status: 'open' };
};

const fits = ({ id }: ListedInstance, { tenantPrefix = '', name }: ListFilter): boolean =>
  id.startsWith(tenantPrefix) && (name === undefined || isInstanceOf(id, name));

/**
 * A page of the instances of all shards.
 *
 * @returns Undefined for an invalid cursor. A page may have fewer rows than its limit, even none,
 *   with a cursor.
 */
export const listInstances = async (
  shards: ReadonlyArray<{ readonly queue: Queue; readonly redis: RedisClient }>,
  filter: ListFilter,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<{ readonly rows: readonly ListedInstance[]; readonly cursor?: string } | undefined> => {
  const from = cursor === undefined ? undefined : readCursor(cursor);
  if (cursor !== undefined && from === undefined) return undefined;
  const wanted = filter.status === undefined ? statuses : [filter.status];
  const sources = shards.flatMap(({ queue, redis }) =>
    wanted.map((status) => walk(redis, keyOf(queue, status), status, from)),
  );
  const heads = await Promise.all(sources.map(async (source) => ({ source, next: await source.next() })));
  const rows: ListedInstance[] = [];
  for (let looked = 0; ; looked += 1) {
    let first: (typeof heads)[number] | undefined;
    for (const head of heads) {
      if (head.next.done) continue;
      if (first === undefined || isBefore(head.next.value, first.next.value)) first = head;
    }
    if (first === undefined) return { rows };
    const found: ListedInstance = first.next.value;
    if (fits(found, filter)) rows.push(found);
    if (rows.length === limit || looked === lookAtMost) return { rows, cursor: cursorOf(found) };
    first.next = await first.source.next();
  }
};
