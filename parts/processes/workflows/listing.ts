/**
 * The list of instances, newest first, by application, workflow, status, time, id and the number of
 * a signer.
 *
 * In each shard there is a sorted set for each status: id of the instance → when it was added. The
 * id holds application and workflow, so the sets need no more. The worker adds an instance with its
 * first turn, so those of other programs are listed, too. It notes an end before the job ends. An
 * instance leaves the list when its job is gone, so there is a set of ends for each retention.
 *
 * A process is also found by the numbers of its people: `list:numbers` has
 * `<number>:<when it was added>:<id>` for each, so those of one number are in order, and
 * `list:people` has the numbers of each process, to take them out again.
 *
 * In the same step the size of open instances is summed up, for each application and for all
 * (`list:sizes`): a start is refused when there are too many. An instance that was started over
 * HTTP counts at once, any other from its first turn on.
 */
import type { Queue } from 'bullmq';
import { readWanted } from '../../../src/history/fields.ts';
import { tenantLength, tenantOf } from '../../../src/jobs/instance-ids.ts';
import type { RedisClient } from '../../../src/redis/connect.ts';
import { type InstanceFilter, instanceFields, type ListedInstance } from '../instance-fields.ts';
import { statuses, type WorkflowStatus } from './contract.ts';
import { maxPeople } from './definition.ts';
import { processName } from './stock-process.ts';

const chunk = 500;
/** Entries that one page looks at, whether they match or not. */
const lookAtMost = 20_000;
const maxCleaned = 1000;
const ends = ['ends-completed', 'ends-failed'] as const;

/** The field of all applications together. That of one is its part of the ids. */
const inAll = 'all';

/**
 * KEYS: open, completed, failed, cancelled, ends of completed and of failed jobs, sizes, job, its
 * lock, numbers, people. ARGV: id, created, status, how its job ends (`added`: it is new, unless a
 * worker has noted it before), now, until when ends of completed and of failed jobs are old, how
 * many of each are removed, size, token of the lock, the time as in `list:numbers`, numbers of its
 * people with a space after each.
 *
 * A worker that was paused for longer than its lock lasts, or a program that has added the job, may
 * come after the end. Then an open instance is not noted: nobody would note its end.
 */
const noteScript = `
local id, created, status, job, now, oldDone, oldFailed, most, size, token, time, people = unpack(ARGV)
local sets = { open = KEYS[1], completed = KEYS[2], failed = KEYS[3], cancelled = KEYS[4] }
local function count(by)
  for _, owner in ipairs({ string.sub(id, 1, ${tenantLength}), '${inAll}' }) do
    if redis.call('HINCRBY', KEYS[7], owner, by) <= 0 then redis.call('HDEL', KEYS[7], owner) end
  end
end
local function forget(which)
  local added, numbers = string.match(redis.call('HGET', KEYS[11], which) or '', '^(%d+) (.+)$')
  for number in string.gmatch(numbers or '', '%d+') do
    redis.call('ZREM', KEYS[10], number .. ':' .. added .. ':' .. which)
  end
  redis.call('HDEL', KEYS[11], which)
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
if people ~= '' and redis.call('HSETNX', KEYS[11], id, time .. ' ' .. people) == 1 then
  for number in string.gmatch(people, '%d+') do
    redis.call('ZADD', KEYS[10], 0, number .. ':' .. time .. ':' .. id)
  end
end
redis.call('ZREM', KEYS[5], id)
redis.call('ZREM', KEYS[6], id)
if status == 'open' then return end
redis.call('ZADD', KEYS[job == 'failed' and 6 or 5], now, id)
for ends, before in pairs({ [KEYS[5]] = oldDone, [KEYS[6]] = oldFailed }) do
  for _, old in ipairs(redis.call('ZRANGE', ends, '-inf', before, 'BYSCORE', 'LIMIT', 0, most)) do
    for at = 1, 6 do redis.call('ZREM', KEYS[at], old) end
    forget(old)
  end
end`;

export interface Noted {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Of an instance always the same: {@link peopleOf}. */
  readonly people: People;
  readonly status: WorkflowStatus;
  /** How its job ends: a cancelled instance may end in a failed job. */
  readonly job: 'added' | 'open' | 'completed' | 'failed';
  /** Of the lock of the job; for `open`. */
  readonly token?: string | undefined;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Members of a definition that nobody has checked. */
interface Unchecked {
  readonly steps?: unknown;
  readonly compensation?: unknown;
  readonly signers?: unknown;
  readonly substitutes?: unknown;
  readonly escalate?: { readonly to?: unknown };
  readonly msisdn?: unknown;
}
const membersOf = (value: unknown): Unchecked => Object(value) as Unchecked;

const peopleIn = (step: unknown): readonly unknown[] => {
  const { signers, escalate } = membersOf(step);
  return [
    ...listOf(signers).flatMap((signer) => [signer, ...listOf(membersOf(signer).substitutes)]),
    ...(escalate === undefined ? [] : [Object(escalate).to]),
  ];
};

/** Whom an instance may ask. */
export interface People {
  /**
   * How much an open instance counts: one, and one more for each person in the definition of a
   * process, because each may have a child chart and a transaction.
   */
  readonly size: number;
  /** Digits. */
  readonly numbers: readonly string[];
}

/** @param data Of its job. */
export const peopleOf = (name: string, data: unknown): People => {
  if (name !== processName) return { size: 1, numbers: [] };
  const { steps, compensation } = membersOf(Object(data).input);
  // A definition with more fails in its first turn.
  const people = [...listOf(steps), ...listOf(compensation)].flatMap(peopleIn).slice(0, maxPeople);
  const numbers = people.flatMap((person) => {
    const { msisdn } = membersOf(person);
    return (typeof msisdn === 'string' && /^\+?(\d{3,15})$/.exec(msisdn)?.[1]) || [];
  });
  return { size: 1 + people.length, numbers: [...new Set(numbers)] };
};

/** Of the instances in one queue. */
export const createListing = (options: {
  readonly queue: Queue;
  readonly redis: RedisClient;
  readonly retention: { readonly doneMs: number; readonly failedMs: number };
  readonly now: () => number;
}) => {
  const { queue, redis, retention, now } = options;
  const sizes = keyOf(queue, 'sizes');
  const lists = [...statuses, ...ends].map((each) => keyOf(queue, each));
  const byNumber = (['numbers', 'people'] as const).map((each) => keyOf(queue, each));
  return {
    note: async ({ id, createdAt, status, job, people, token = '' }: Noted): Promise<void> => {
      const time = now();
      const old = [time - retention.doneMs, time - retention.failedMs];
      const numbers = people.numbers.map((number) => `${number} `).join('');
      const noted = [id, createdAt, status, job, time, ...old, maxCleaned, people.size, token];
      const keys = [...lists, sizes, queue.toKey(id), queue.toKey(`${id}:lock`), ...byNumber];
      await redis.eval(noteScript, keys.length, ...keys, ...noted, sortable(createdAt), numbers);
    },
    /** Of the open instances of an application, and of all. */
    sizes: async (apId: string): Promise<{ readonly own: number; readonly inAll: number }> => {
      const [own, all] = await redis.hmget(sizes, tenantOf(apId), inAll);
      return { own: Number(own ?? 0), inAll: Number(all ?? 0) };
    },
  };
};

/** No job has an id with a colon. */
const keyOf = (
  queue: Queue,
  of: WorkflowStatus | (typeof ends)[number] | 'sizes' | 'numbers' | 'people',
): string => queue.toKey(`list:${of}`);

/** Sixteen digits, of which texts are in the order of the times. Other programs write any time. */
const sortable = (ms: number): string =>
  String(Math.min(Math.max(Math.trunc(ms), 0), Number.MAX_SAFE_INTEGER)).padStart(16, '0');

/** Newest first; of one moment by id, backwards. */
const isBefore = (a: ListedInstance, b: ListedInstance): boolean =>
  a.createdAt === b.createdAt ? a.id > b.id : a.createdAt > b.createdAt;

interface Walk {
  readonly queue: Queue;
  readonly redis: RedisClient;
  /** The last of the page before. */
  readonly after: ListedInstance | undefined;
  readonly filter: InstanceFilter;
}

/** The latest time that is looked at. */
const latestOf = ({ after, filter: { to } }: Walk): number =>
  Math.min(
    after?.createdAt ?? Number.POSITIVE_INFINITY,
    to === undefined ? Number.POSITIVE_INFINITY : to - 1,
  );

async function* walkStatus(walk: Walk, status: WorkflowStatus): AsyncGenerator<ListedInstance> {
  const { queue, redis, after, filter } = walk;
  const latest = latestOf(walk);
  const start = latest === Number.POSITIVE_INFINITY ? '+inf' : String(latest);
  const stop = filter.from === undefined ? '-inf' : String(filter.from);
  const key = keyOf(queue, status);
  for (let offset = 0; ; offset += chunk) {
    const page = [offset, chunk, 'WITHSCORES'] as const;
    const flat = await redis.zrange(key, start, stop, 'BYSCORE', 'REV', 'LIMIT', ...page);
    for (let at = 0; at < flat.length; at += 2) {
      const found = { id: flat[at] ?? '', createdAt: Number(flat[at + 1]), status };
      if (after === undefined || isBefore(after, found)) yield found;
    }
    if (flat.length < 2 * chunk) return;
  }
}

async function* walkNumber(walk: Walk, number: string): AsyncGenerator<ListedInstance> {
  const { queue, redis, after, filter } = walk;
  const start = `[${number}:${sortable(latestOf(walk))};`;
  const stop = `[${number}:${sortable(filter.from ?? 0)}:`;
  for (let offset = 0; ; offset += chunk) {
    const key = keyOf(queue, 'numbers');
    const members = await redis.zrange(key, start, stop, 'BYLEX', 'REV', 'LIMIT', offset, chunk);
    const ids = members.map((member) => member.split(':')[2] ?? '');
    const scores =
      ids.length === 0
        ? []
        : await Promise.all(statuses.map((status) => redis.zmscore(keyOf(queue, status), ...ids)));
    for (const [index, id] of ids.entries()) {
      const at = scores.findIndex((ofStatus) => typeof ofStatus[index] === 'string');
      const status = statuses[at];
      if (status === undefined) continue;
      const found = { id, createdAt: Number(scores[at]?.[index]), status, number };
      if (after === undefined || isBefore(after, found)) yield found;
    }
    if (members.length < chunk) return;
  }
}

const cursorOf = ({ createdAt, id }: ListedInstance): string => `${createdAt}.${id}`;

/** @returns Undefined for a text that is no cursor. */
const readCursor = (cursor: string): ListedInstance | undefined => {
  const [, createdAt, id] = /^(\d{1,15})\.([\w-]+)$/.exec(cursor) ?? [];
  return id === undefined ? undefined : { id, createdAt: Number(createdAt), status: 'open' };
};

/**
 * A page of the instances of all shards.
 *
 * @returns Undefined for an invalid cursor. A page may have fewer rows than its limit, even none,
 *   with a cursor.
 */
export const listInstances = async (
  shards: ReadonlyArray<{ readonly queue: Queue; readonly redis: RedisClient }>,
  filter: InstanceFilter,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<{ readonly rows: readonly ListedInstance[]; readonly cursor?: string } | undefined> => {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  if (cursor !== undefined && after === undefined) return undefined;
  const wanted = filter.status ?? statuses;
  const { matches } = readWanted(instanceFields, filter);
  const number = filter.msisdn?.replace(/^\+/, '');
  const sources = shards.flatMap((shard) => {
    const walk = { ...shard, after, filter };
    return number === undefined
      ? wanted.map((status) => walkStatus(walk, status))
      : [walkNumber(walk, number)];
  });
  const heads = await Promise.all(
    sources.map(async (source) => ({ source, next: await source.next() })),
  );
  const rows: ListedInstance[] = [];
  for (let looked = 0; ; looked += 1) {
    let first: (typeof heads)[number] | undefined;
    for (const head of heads) {
      if (head.next.done) continue;
      if (first === undefined || isBefore(head.next.value, first.next.value)) first = head;
    }
    if (first === undefined) return { rows };
    const found: ListedInstance = first.next.value;
    if (matches(found)) rows.push(found);
    if (rows.length === limit || looked === lookAtMost) return { rows, cursor: cursorOf(found) };
    first.next = await first.source.next();
  }
};
