/**
 * The list of instances, newest first: packed rows (instance-fields.ts), kept and searched like those
 * of transactions (src/transactions/history/search.ts).
 *
 * The worker writes the row of an instance in its first turn, so those of other programs are listed,
 * too. It notes an end before the job ends. A row leaves the list with its retention. A process is
 * also found by the numbers of its people: bits of the row stand for them, and its job decides.
 *
 * In the same step the size of open instances is summed up, for each application and for all
 * (`list:sizes`): a start is refused when there are too many. An instance that was started over
 * HTTP counts at once, any other from its first turn on.
 *
 * A row takes 318 bytes, however many people a process has. Sorted sets by status, end and number
 * took 301 without people, 612 with one and 1017 with three.
 */
import { Buffer } from 'node:buffer';
import type { Queue } from 'bullmq';
import type { RedisClient } from '../../../src/redis/connect.ts';
import { readWanted } from '../../../src/transactions/history/fields.ts';
import { generationKeys } from '../../../src/transactions/history/keys.ts';
import { type Facts, packRow } from '../../../src/transactions/history/layout.ts';
import { parsed } from '../../../src/transactions/history/row.ts';
import { removeRows } from '../../../src/transactions/history/row-removal.ts';
import {
  chunkScript,
  noCounters,
  writeRowsScript,
} from '../../../src/transactions/history/rows-script.ts';
import {
  isFiltered,
  type ListedShard,
  type Page,
  search,
} from '../../../src/transactions/history/search.ts';
import { nameIn, tenantLength, tenantOf } from '../../../src/transactions/jobs/instance-ids.ts';
import {
  type InstanceFilter,
  type InstanceRow,
  instanceFacts,
  instanceFields,
  instanceLayout,
  jobCodes,
  type ListedInstance,
  packedFacts,
  statusCodes,
} from '../instance-fields.ts';
import { maxPeople, processName, statuses, type WorkflowStatus } from './contract.ts';

/** The field of all applications together. That of one is its part of the ids. */
const inAll = 'all';

/** No job has an id with a colon. */
const keysOf = (queue: Queue) => ({
  ...generationKeys(queue.toKey('list:rows')),
  sizes: queue.toKey('list:sizes'),
  swept: queue.toKey('list:swept'),
});

/**
 * KEYS: sizes, job, its lock, the four lists of an earlier version, the open one first. ARGV: base of the rows, id, how its job ends (`added`: it is new,
 * unless a worker has noted it before), now, size, token of the lock, facts and names of the row.
 *
 * A worker that was paused for longer than its lock lasts, or a program that has added the job, may
 * come after the end. Then an open instance is not noted: nobody would note its end.
 */
const noteScript = `${writeRowsScript(instanceLayout, noCounters)}
local base, id, job, now, size, token, facts, names = unpack(ARGV)
local function count(by)
  for _, owner in ipairs({ string.sub(id, 1, ${tenantLength}), '${inAll}' }) do
    if redis.call('HINCRBY', KEYS[1], owner, by) <= 0 then redis.call('HDEL', KEYS[1], owner) end
  end
end
if job == 'open' and redis.call('GET', KEYS[3]) ~= token then return end
local number = tonumber(redis.call('HGET', base .. ':at', id) or nil)
if job == 'added' and (number or redis.call('EXISTS', KEYS[2]) == 0 or redis.call('HEXISTS', KEYS[2], 'finishedOn') == 1) then return end
local before = 0
if number then
  local chunk, row = place(number)
  before = string.byte(redis.call('GETRANGE', base .. ':facts:' .. chunk, row * factsWidth, row * factsWidth)) or 0
end
local isOpen, wasOpen = string.byte(facts) == ${statusCodes.open}, before == ${statusCodes.open}
-- Of an earlier version, which has counted it. What stays in its lists is newer than the row.
if redis.call('EXISTS', KEYS[4], KEYS[5], KEYS[6], KEYS[7]) > 0 then
  if redis.call('ZREM', KEYS[4], id) == 1 then wasOpen = true end
  for at = 5, 7 do redis.call('ZREM', KEYS[at], id) end
end
if isOpen and not wasOpen then count(size) end
if wasOpen and not isOpen then count(-size) end
writeRows(base, { id }, { facts }, { names }, tonumber(now))`;

/** KEYS: any of the list. ARGV: base of the rows, prefix of the jobs, wanted fields of jobs, numbers. */
const rowsScript = `${chunkScript(instanceLayout)}
local found, wanted = {}, {}
for field in string.gmatch(ARGV[3], '%a+') do wanted[#wanted + 1] = field end
for i = 4, #ARGV do
  local chunk, row = place(tonumber(ARGV[i]))
  local facts = redis.call('GETRANGE', ARGV[1] .. ':facts:' .. chunk, row * factsWidth, (row + 1) * factsWidth - 1)
  local id = redis.call('GETRANGE', ARGV[1] .. ':names:' .. chunk, row * namesWidth, (row + 1) * namesWidth - 1)
  id = string.gsub(id, '%z+$', '')
  local isRow = #facts == factsWidth
  found[#found + 1] = isRow and string.byte(facts, ${instanceFacts.status.packed.at + 1}) or 0
  found[#found + 1] = isRow and string.format('%.0f', struct.unpack('<d', facts, ${instanceFacts.createdAt.packed.at + 1})) or '0'
  found[#found + 1] = id
  found[#found + 1] = ARGV[3] ~= '' and id ~= '' and redis.call('HMGET', ARGV[2] .. id, unpack(wanted)) or false
end
return found`;

export interface Noted {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The people of the instance, who never change: {@link peopleOf}. */
  readonly people: People;
  readonly status: WorkflowStatus;
  /** How its job ends: a cancelled instance may end in a failed job. */
  readonly job: 'added' | 'open' | 'completed' | 'failed';
  /** The token of the lock of the job; for `open`. */
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

/** Why an instance has failed, from its record. */
type ReasonOf = (id: string) => Promise<string | undefined>;

interface Retention {
  readonly doneMs: number;
  readonly failedMs: number;
}

/** Whether the retention of a row is over. */
const isOver = (facts: Facts, row: number, retention: Retention, now: number): boolean => {
  const endedAt = facts.read(instanceFacts.endedAt, row);
  const isFailed = facts.read(instanceFacts.job, row) === jobCodes.failed;
  return endedAt > 0 && now - endedAt >= (isFailed ? retention.failedMs : retention.doneMs);
};

const pack = (row: InstanceRow): readonly [facts: Buffer, names: Buffer] => {
  const facts = Buffer.alloc(instanceLayout.factsWidth);
  packRow(packedFacts, row, facts, 0);
  const names = Buffer.alloc(instanceLayout.namesWidth);
  names.write(row.id);
  return [facts, names];
};

/** A sweep reads all rows: at most so often, and once in the longer retention. */
const sweepEveryMs = ({ doneMs, failedMs }: Retention): number =>
  Math.min(Math.max(doneMs, failedMs, 10_000), 3_600_000);

/** The list of the instances in one queue. */
export const createListing = (options: {
  readonly queue: Queue;
  readonly redis: RedisClient;
  readonly retention: Retention;
  readonly now: () => number;
}) => {
  const { queue, redis, retention, now } = options;
  const keys = keysOf(queue);
  const oldStatuses = oldKeys(queue).statuses.map(([, key]) => key);

  /** Removes rows whose retention is over. @returns How many. */
  const sweep = async (): Promise<number> => {
    await takeOverLists(queue, redis, now());
    return removeRows(redis, instanceLayout, keys, async (facts) =>
      Array.from({ length: facts.count }, (_, row) => row).filter((row) =>
        isOver(facts, row, retention, now()),
      ),
    );
  };

  return {
    sweep,
    note: async (noted: Noted): Promise<void> => {
      const { id, createdAt, status, job, people, token = '' } = noted;
      if (Buffer.byteLength(id) > instanceLayout.idWidth) return;
      const time = now();
      const ended = job === 'completed' || job === 'failed' ? { at: time, job } : undefined;
      const [facts, names] = pack({ id, createdAt, status, ended, numbers: people.numbers });
      const from = [keys.sizes, queue.toKey(id), queue.toKey(`${id}:lock`), ...oldStatuses];
      const given = [keys.base, id, job, time, people.size, token, facts, names];
      await redis.eval(noteScript, from.length, ...from, ...given);
      if (ended === undefined) return;
      // One process at a time, because the key outlasts the sweep.
      const isDue = await redis.set(keys.swept, time, 'PX', sweepEveryMs(retention), 'NX');
      if (isDue !== null) await sweep();
    },
    /** Counts the open instances of an application, and of all. */
    sizes: async (apId: string): Promise<{ readonly own: number; readonly inAll: number }> => {
      const [own, all] = await redis.hmget(keys.sizes, tenantOf(apId), inAll);
      return { own: Number(own ?? 0), inAll: Number(all ?? 0) };
    },
  };
};

const none: People = { size: 1, numbers: [] };

const statusOf = (code: number): WorkflowStatus | undefined =>
  statuses.find((status) => statusCodes[status] === code);

/** The lists of a version before packed rows, one for each status, and the ends of their jobs. */
const oldKeys = (queue: Queue) => ({
  statuses: statuses.map((status) => [status, queue.toKey(`list:${status}`)] as const),
  ends: (['completed', 'failed'] as const).map(
    (job) => [job, queue.toKey(`list:ends-${job}`)] as const,
  ),
  rest: ['numbers', 'people'].map((each) => queue.toKey(`list:${each}`)),
});

/** KEYS: the old list of a status. ARGV: base of the rows, now, id, facts, names. */
const takeOverScript = `${writeRowsScript(instanceLayout, noCounters)}
local base, now, id, facts, names = unpack(ARGV)
if redis.call('ZREM', KEYS[1], id) == 0 then return end
writeRows(base, { id }, { facts }, { names }, tonumber(now))`;

const takenAtOnce = 500;

/**
 * Makes the rows of instances in the lists of a version before packed rows. Workers of that version
 * may still write there, so it is done again with each sweep.
 */
const takeOverLists = async (queue: Queue, redis: RedisClient, now: number): Promise<void> => {
  const old = oldKeys(queue);
  const { base } = keysOf(queue);
  const all = [...old.statuses, ...old.ends].map(([, key]) => key).concat(old.rest);
  if ((await redis.exists(...all)) === 0) return;
  for (const [status, key] of old.statuses) {
    for (;;) {
      const found = await redis.zrange(key, '0', String(takenAtOnce - 1), 'WITHSCORES');
      if (found.length === 0) break;
      for (let at = 0; at < found.length; at += 2) {
        const id = found[at] ?? '';
        const ends = await Promise.all(old.ends.map(([, ends]) => redis.zscore(ends, id)));
        const index = ends.findIndex((end) => end !== null);
        const job = old.ends[index]?.[0];
        const ended = job && { at: Number(ends[index]), job };
        const data = await redis.hget(queue.toKey(id), 'data');
        const { numbers } = peopleOf(nameIn(id), parsed(data));
        const row = { id, createdAt: Number(found[at + 1]), status, ended, numbers };
        await redis.eval(takeOverScript, 1, key, base, now, id, ...pack(row));
      }
    }
  }
  await redis.unlink(...all);
};

/**
 * @param wanted Fields that are read from the jobs: `data` for people, `failedReason`.
 * @param reasonOf Of an instance that has failed, and whose job has not.
 */
const shardOf = (
  { queue, redis }: { readonly queue: Queue; readonly redis: RedisClient },
  wanted: readonly ('data' | 'failedReason')[],
  reasonOf: ReasonOf,
): ListedShard<InstanceRow> => {
  const keys = keysOf(queue);
  return {
    redis,
    generation: async () => keys,
    read: async ({ base }, numbers) => {
      const given = [base, queue.toKey(''), wanted.join(' '), ...numbers];
      const found = (await redis.eval(rowsScript, 1, keys.at, ...given)) as readonly unknown[];
      const rows = numbers.map(async (_, index): Promise<InstanceRow | undefined> => {
        const [code, createdAt, id, read] = found.slice(index * 4, index * 4 + 4);
        const fields: readonly unknown[] = Array.isArray(read) ? read : [];
        const fieldOf = (name: (typeof wanted)[number]): string | undefined => {
          const value = fields[wanted.indexOf(name)];
          return typeof value === 'string' ? value : undefined;
        };
        const data = fieldOf('data');
        const status = statusOf(Number(code));
        if (status === undefined) return undefined;
        const people = data !== undefined ? peopleOf(nameIn(String(id)), parsed(data)) : none;
        return {
          id: String(id),
          status,
          createdAt: Number(createdAt),
          numbers: people.numbers,
          ...(status === 'failed' &&
            wanted.includes('failedReason') && {
              failure: fieldOf('failedReason') ?? (await reasonOf(String(id))),
            }),
        };
      });
      return Promise.all(rows);
    },
  };
};

/**
 * A page of the instances of all shards, newest first.
 *
 * @returns Undefined for an invalid cursor. A page may have fewer rows than its limit, even none,
 *   with a cursor.
 */
export const listInstances = async (
  shards: ReadonlyArray<{ readonly queue: Queue; readonly redis: RedisClient }>,
  filter: InstanceFilter,
  page: {
    readonly limit: number;
    readonly cursor?: string | undefined;
    /** Reads also why each has failed. */
    readonly withFailure?: true;
  },
  {
    retention,
    now,
    reasonOf,
  }: {
    readonly retention: Retention;
    readonly now: () => number;
    readonly reasonOf: ReasonOf;
  },
): Promise<Page<ListedInstance> | undefined> => {
  const { mayMatch, matches, isPacked } = readWanted(instanceFields, filter);
  const { from, to, text } = filter;
  const time = now();
  const found = await search(
    shards.map((shard) =>
      shardOf(
        shard,
        [
          ...(filter.msisdn === undefined ? [] : (['data'] as const)),
          ...(filter.failure === undefined && !page.withFailure ? [] : (['failedReason'] as const)),
        ],
        reasonOf,
      ),
    ),
    {
      layout: instanceLayout,
      needle: text ? Buffer.from(text) : undefined,
      from,
      to,
      isFiltered: isFiltered(filter),
      isPacked,
      mayMatch: (facts, row) =>
        facts.read(instanceFacts.status, row) !== 0 &&
        mayMatch(facts.bytes, row * instanceLayout.factsWidth) &&
        !isOver(facts, row, retention, time),
      matches,
    },
    page,
  );
  return (
    found && {
      ...found,
      rows: found.rows.map(({ id, status, createdAt, failure }) => ({
        id,
        status,
        createdAt,
        ...(page.withFailure && failure !== undefined && { failure }),
      })),
    }
  );
};
