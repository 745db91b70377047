/**
 * The list of instances, newest first, by application, workflow and status.
 *
 * In each shard there is a sorted set for each status: id of the instance → when it was added. The
 * id holds application and workflow, so the sets need no more. The worker adds an instance with its
 * first turn, so those of other programs are listed, too. It notes an end before the job ends. An
 * instance leaves the list when its job is gone, so there is a set of ends for each retention.
 */
import type { Queue } from 'bullmq';
import type { RedisClient } from '../redis/connect.ts';
import { isInstanceOf } from './contract.ts';

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

/**
 * KEYS: open, completed, failed, cancelled, ends of completed and of failed jobs. ARGV: id, created,
 * status, how its job ends, now, until when ends of completed and of failed jobs are old, how many
 * of each are removed.
 */
const noteScript = `
local id, created, status, job, now, oldDone, oldFailed, most = unpack(ARGV)
local sets = { open = KEYS[1], completed = KEYS[2], failed = KEYS[3], cancelled = KEYS[4] }
for _, key in pairs(sets) do if key ~= sets[status] then redis.call('ZREM', key, id) end end
redis.call('ZADD', sets[status], created, id)
redis.call('ZREM', KEYS[5], id)
redis.call('ZREM', KEYS[6], id)
if status == 'open' then return end
redis.call('ZADD', KEYS[job == 'failed' and 6 or 5], now, id)
for ends, before in pairs({ [KEYS[5]] = oldDone, [KEYS[6]] = oldFailed }) do
  for _, old in ipairs(redis.call('ZRANGE', ends, '-inf', before, 'BYSCORE', 'LIMIT', 0, most)) do
    for _, key in ipairs(KEYS) do redis.call('ZREM', key, old) end
  end
end`;

export interface Listing {
  /** @param job How its job ends: a cancelled instance may end in a failed job. */
  note(
    id: string,
    createdAt: number,
    status: WorkflowStatus,
    job: 'open' | 'completed' | 'failed',
  ): Promise<void>;
}

/** Of the instances in one queue. */
export const createListing = (options: {
  readonly queue: Queue;
  readonly redis: RedisClient;
  readonly retention: { readonly doneMs: number; readonly failedMs: number };
  readonly now: () => number;
}): Listing => {
  const { queue, redis, retention, now } = options;
  const keys = [...statuses.map((status) => keyOf(queue, status)), ...ends.map((each) => keyOf(queue, each))];
  return {
    note: async (id, createdAt, status, job) => {
      const time = now();
      const old = [time - retention.doneMs, time - retention.failedMs];
      const noted = [id, createdAt, status, job, time];
      await redis.eval(noteScript, keys.length, ...keys, ...noted, ...old, maxCleaned);
    },
  };
};

/** No job has an id with a colon. */
const keyOf = (queue: Queue, of: WorkflowStatus | (typeof ends)[number]): string => queue.toKey(`list:${of}`);

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
