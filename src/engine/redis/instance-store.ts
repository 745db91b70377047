/**
 * Where an instance lies: in the hash of its own job, so that it lives and dies with the job and shares its slot.
 *
 * | field of the job's hash | what it holds | written by |
 * |---|---|---|
 * | `data` | BullMQ's: the input, as whoever added the job has written it | `queue.add` |
 * | `progress` | BullMQ's: the record (record.ts); before the first commit `{"inbox":true}` where events have come | the commit, under the lock; deliver |
 * | `inbox` | events that no turn has taken yet, a line each: time in ms by Redis's clock, a tab, JSON of key, event and the run of a child that it is about | deliver; the commit cuts it |
 * | `key:<key>` | what became of an event: `waiting`, `accepted` (it waits, and will be taken for certain), `taken`, `refused`. What comes from outside has a key that begins with `out/`; what begins with `run/` is gone when it is taken or refused | deliver; the commit |
 * | `open` | `1` from the first commit on: before it sleeps or ends, a turn looks into the inbox again. `2`: it sleeps, or is about to. `0`: its end is certain | the commit |
 *
 * Programs in other languages answer by a script of their own (docs/queue-contract.md): they rely on `inbox`, `open` and `key:out/<key>`.
 *
 * Beside the jobs, `tries:held` of the queue is a sorted set: `<id> <child>/<run>` of each try that goes on while its job sleeps, by the
 * time until which its process holds it, ms by Redis's clock. The commit writes it, the process renews it, and where a hold has run
 * out any worker wakes the job.
 *
 * J1  Only the holder of the job's lock writes the record. A worker that was paused for longer than its lock lasts writes nothing.
 * J2  A line of the inbox leaves it in the same step as what has become of it arrives.
 * J3  An instance ends only when its inbox is empty, in one step with the promise that nothing comes in any more. One that nobody could
 *     send to (its first turn ends it) needs no such step.
 * J4  A turn goes to sleep only when its inbox is empty, in the same step. So a sender waits for no turn, but for the moment between
 *     this step and the sleep: two instances that tell each other something never wait for each other.
 */
import type { Queue } from 'bullmq';
import { z } from 'zod';
import type { RedisClient } from '../../redis/connect.ts';

/**
 * waiting   The event is durable, and is applied in order.
 * accepted  The same, and the chart will take it.
 * taken, refused   It was sent before, and this has become of it.
 * busy      A worker runs the first turn: ask again in a moment.
 * finished  The instance has ended.
 * unknown   There is no such instance.
 */
export type Delivery = 'waiting' | 'accepted' | 'taken' | 'refused' | 'busy' | 'finished' | 'unknown';

export interface InboxEntry {
  readonly key: string;
  /** Milliseconds since the epoch, by the clock of Redis. */
  readonly at: number;
  readonly event: { readonly type: string };
  readonly about: About | undefined;
}

/** What an event is about that the engine sends: it counts for this run of a child alone. */
export interface About {
  readonly child: string;
  readonly run: number;
  /** Of a try. */
  readonly result?: unknown;
}

export interface Inbox {
  readonly entries: readonly InboxEntry[];
  /** Bytes that these entries take. */
  readonly length: number;
  /** Until when tries are held that go on elsewhere, by `child/run`. */
  readonly holds: ReadonlyMap<string, number>;
  /** The job has failed before, and no commit since has taken note. BullMQ's counts do not tell: some tools reset them. */
  readonly hasFailed: boolean;
  /** The engine has committed before. What looks like a record without that is somebody else's. */
  readonly hasBegun: boolean;
}

/** What a commit stores. */
export interface Commit {
  readonly record: unknown;
  /** Bytes of the inbox that were taken, and what has become of those events. */
  readonly length: number;
  readonly verdicts: readonly Verdict[];
  /** Tries that go on while the job sleeps, and until when they are held. */
  readonly held: readonly string[];
  readonly heldUntil: number;
  readonly released: readonly string[];
  /** It takes note that the job has failed before and runs again. */
  readonly replayed: boolean;
  /** Lets equal jobs join one that had ended and is open again. */
  readonly joinable: Joinable | undefined;
  readonly then: 'goesOn' | 'sleeps' | 'ends';
}

/**
 * stored  `more`: something has come in, and the instance neither sleeps nor ends.
 * lost    The lock is no longer this token's: the caller must stop and touch nothing.
 */
export type Committed = 'stored' | 'more' | 'lost';

/** How equal jobs find one. */
export interface Joinable {
  readonly deduplicationId: string;
  /** For so long, whether or not it has ended; undefined for as long as it is open: BullMQ frees the key when the job ends. */
  readonly ttlMs: number | undefined;
}

export type Verdict = readonly [key: string, verdict: 'taken' | 'refused'];

export interface InstanceStore {
  /**
   * @param event Kept as it is. @param key Tells this event from every other one to the instance; sent again, it changes nothing.
   * @param options.foreseen What the chart does with the event.
   * @returns Also what is left to do: nothing, to wake the job, or to do so until it is awake, because it is about to sleep.
   */
  deliver(
    id: string,
    key: string,
    event: { readonly type: string },
    options?: DeliverOptions,
  ): Promise<{ readonly given: Delivery; readonly todo: 'nothing' | 'wake' | 'wakeUntilAwake' }>;
  /** @param names `child/run` of the activities whose holds are wanted. */
  readInbox(id: string, names: readonly string[]): Promise<Inbox>;
  commit(id: string, token: string, commit: Commit): Promise<Committed>;
  /** Holds tries until then. @returns For each whether it is still wanted; if not, it was released. */
  renew(tries: readonly HeldTry[], until: number): Promise<readonly boolean[]>;
  /** Wakes instances of which a hold has run out. */
  wakeLapsed(): Promise<void>;
  /** What an event with this key has come to; undefined when none came. */
  verdict(id: string, key: string): Promise<'waiting' | 'accepted' | 'taken' | 'refused' | undefined>;
  /** Takes the job out of the worker's hands. @param until Milliseconds since the epoch, by the clock of Redis. */
  sleep(id: string, token: string, until: number): Promise<void>;
  read(id: string): Promise<StoredInstance | undefined>;
  /** Ends a job's sleep. @returns False for a job that is not asleep. */
  wake(id: string): Promise<boolean>;
}

export interface HeldTry {
  readonly id: string;
  /** `child/run` */
  readonly name: string;
}

export interface DeliverOptions {
  readonly about?: About;
  readonly foreseen?: Foreseen | undefined;
}

/** Holds while no turn runs, no other event has come, and no timer is due. */
export interface Foreseen {
  /** The text of the record that it was computed from; undefined before the first commit. */
  readonly record: string | undefined;
  /** Bytes of the inbox whose events were computed before it. */
  readonly inboxLength: number;
  readonly verdict: 'accepted' | 'refused';
  /** When a timer is due next; milliseconds since the epoch, by the clock of Redis. */
  readonly before: number;
}

export interface StoredInstance {
  /** Of the record. */
  readonly text: string;
  /** A turn runs. */
  readonly runs: boolean;
  /** Undefined before the first commit. */
  readonly record: unknown;
  readonly finishedOn: number | undefined;
  readonly returnValue: unknown;
  readonly failedReason: string | undefined;
  /** As it was added. */
  readonly data: unknown;
  readonly timestamp: number;
  /** Of whoever added the job. */
  readonly opts: unknown;
  /** How many have begun. */
  readonly turns: number;
  /** It runs again after it had ended, and no turn has taken note yet. */
  readonly isReplayed: boolean;
  readonly inbox: Pick<Inbox, 'entries' | 'length'>;
}

const maxInboxBytes = 1_048_576;

/**
 * Begin keys of events that count for one run of a child: when it is over, they are refused without being remembered. BullMQ reads all
 * fields of a job with each turn, and an instance may live for years.
 */
export const runKeys = 'run/';

/**
 * KEYS: job, lock. ARGV: as they are named below; `foreseen` is a verdict or empty, and holds for
 * this record, this length of the inbox and until `before`.
 *
 * A job that has failed and is run again is open again, although its last turn had closed it. One
 * that is marked to fail (`defa`) has ended. Where other events wait, a sender may have died before
 * it could wake the job.
 */
const deliverScript = `
local key, line, maxInbox, foreseen, record, length, before = unpack(ARGV)
local job = redis.call('HMGET', KEYS[1], 'timestamp', 'finishedOn', 'open', 'key:' .. key, 'inbox', 'progress',
  'stacktrace', 'ats', 'defa')
local added, finished, open, known, inbox, progress, failed, turns, marked = unpack(job, 1, 9)
inbox = inbox or ''
local runs = redis.call('EXISTS', KEYS[2])
if not added then return {'unknown', 0} end
local todo = 1 - runs
if not open and (turns or '0') == '0' then todo = 0 elseif open == '2' then todo = 1 + runs end
if inbox == '' and known then todo = 0 end
if known then return {known, todo} end
if finished or marked or (open == '0' and not failed) then return {'finished', 0} end
if not open and runs == 1 then return {'busy', 0} end
if #inbox > tonumber(maxInbox) then return {'busy', 0} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local state = 'waiting'
if foreseen ~= '' and runs == 0 and now < tonumber(before) and #inbox == tonumber(length)
  and (open and progress or '') == record then state = foreseen end
if state ~= 'refused' then
  redis.call('HSET', KEYS[1], 'inbox', inbox .. string.format('%.0f', now) .. '\\t' .. line .. '\\n')
  if not open then redis.call('HSET', KEYS[1], 'progress', '{"inbox":true}') end
end
redis.call('HSET', KEYS[1], 'key:' .. key, state)
if state == 'refused' and inbox == '' then todo = 0 end
return {state, todo}`;

/**
 * KEYS: job, lock, held tries, key of the deduplication. ARGV: as they are named below; lists begin
 * with their length. Last come fields of the job and their values; a field without a value is
 * removed.
 */
const commitScript = `
local argument = 0
local function take()
  argument = argument + 1
  return ARGV[argument]
end
local token, record, taken, open, unwanted, heldUntil = take(), take(), take(), take(), take(), take()
if redis.call('GET', KEYS[2]) ~= token then return 0 end
local more = redis.call('HSTRLEN', KEYS[1], 'inbox') > tonumber(taken)
if more then open = '1' end
redis.call('HSET', KEYS[1], 'progress', record, 'open', open)
if taken ~= '0' then
  redis.call('HSET', KEYS[1], 'inbox', string.sub(redis.call('HGET', KEYS[1], 'inbox') or '', taken + 1))
end
if unwanted ~= '' then redis.call('HDEL', KEYS[1], unwanted) end
for _ = 1, tonumber(take()) do redis.call('ZADD', KEYS[3], heldUntil, take()) end
for _ = 1, tonumber(take()) do redis.call('ZREM', KEYS[3], take()) end
local joinable, ttl = take(), take()
if joinable ~= '' and (redis.call('GET', KEYS[4]) or joinable) == joinable then
  if ttl == '' then redis.call('SET', KEYS[4], joinable) else redis.call('SET', KEYS[4], joinable, 'PX', ttl) end
end
while argument < #ARGV do
  local field, value = take(), take()
  if value == '' then redis.call('HDEL', KEYS[1], field) else redis.call('HSET', KEYS[1], field, value) end
end
if more then return 2 end
return 1`;

/** KEYS: held tries. ARGV: until when, then tries. Returns for each 1 if it is still wanted. */
const renewScript = `
local wanted = {}
for i = 2, #ARGV do
  wanted[i - 1] = redis.call('ZSCORE', KEYS[1], ARGV[i]) and 1 or 0
  if wanted[i - 1] == 1 then redis.call('ZADD', KEYS[1], ARGV[1], ARGV[i]) end
end
return wanted`;

/**
 * KEYS: held tries. ARGV: now, how many to skip, how many to look at, prefix of job keys. Returns ids
 * of open instances.
 */
const lapsedScript = `
local ids = {}
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', ARGV[2], ARGV[3])) do
  local id = string.match(member, '^[^ ]+')
  local job = redis.call('HMGET', ARGV[4] .. id, 'timestamp', 'finishedOn')
  if job[1] and not job[2] then ids[#ids + 1] = id else redis.call('ZREM', KEYS[1], member) end
end
return ids`;

const readFields = [
  'progress',
  'timestamp',
  'finishedOn',
  'returnvalue',
  'failedReason',
  'data',
  'stacktrace',
  'inbox',
  'opts',
  'ats',
  'atm',
] as const;

/** Other programs write jobs, too. @returns Undefined for what is no JSON. */
export const parse = (text: string | null | undefined): unknown => {
  try {
    return text == null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Whether the next turn of an open job begins with REPLAY: it had failed, or it had ended before anything of it was committed. */
export const isRunAgain = (job: {
  /** BullMQ's trace of a failure is there until a turn is committed. */
  readonly hasFailed: boolean;
  readonly hasRecord: boolean;
  /** How often it has ended. */
  readonly ends: number;
}): boolean => job.hasFailed || (!job.hasRecord && job.ends > 0);

/** Whether what lies in a job's progress is the record of an instance. */
export const hasRecord = (progress: unknown): boolean =>
  (Object(progress) as { readonly workflow?: unknown }).workflow !== undefined;

const isNotDelayed = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === -3;

const lineSchema = z.tuple([
  z.string(),
  z.looseObject({ type: z.string() }),
  z
    .object({ child: z.string(), run: z.number(), result: z.looseObject({ kind: z.string() }).optional() })
    .optional(),
]);

/** What is no event leaves the inbox with those that were taken. */
const readLines = (text: string): InboxEntry[] =>
  text.split('\n').flatMap((line) => {
    const [time, json] = line.split('\t', 2);
    const at = Number(time);
    const { data } = lineSchema.safeParse(parse(json));
    if (data === undefined || !Number.isFinite(at)) return [];
    const [key, event, about] = data;
    return [{ key, at, event, about }];
  });

/** BullMQ writes it when a job fails, and leaves it when the job is run again. */
const failedField = 'stacktrace';
const openValues = { goesOn: '1', sleeps: '2', ends: '0' } as const;
const todos = ['nothing', 'wake', 'wakeUntilAwake'] as const;

/** BullMQ's own keys stand beside those of the jobs. */
export const isJobId = (queue: Queue, id: string): boolean =>
  !id.includes(':') && !Object.hasOwn(queue.keys, id);

const maxLapsed = 1000;
const maxRenewed = 1000;

/** @param now Milliseconds since the epoch, by the clock of Redis. */
export const createInstanceStore = (queue: Queue, redis: RedisClient, now: () => number): InstanceStore => {
  /** No job has an id with a colon. */
  const heldKey = queue.toKey('tries:held');
  const memberOf = ({ id, name }: HeldTry): string => `${id} ${name}`;
  const wake = async (id: string): Promise<boolean> => {
    try {
      await queue.getBackend().promote(id);
      return true;
    } catch (error) {
      if (!isNotDelayed(error)) throw error;
      return false;
    }
  };
  const keys = (id: string): readonly [string, string] => [queue.toKey(id), queue.toKey(`${id}:lock`)];
  return {
    deliver: async (id, key, event, { about, foreseen } = {}) => {
      if (!isJobId(queue, id)) return { given: 'unknown', todo: 'nothing' };
      const line = JSON.stringify([key, event, ...(about === undefined ? [] : [about])]);
      const { verdict = '', record = '', inboxLength = 0, before = 0 } = foreseen ?? {};
      const until = Math.min(before, Number.MAX_SAFE_INTEGER);
      const given = [key, line, maxInboxBytes, verdict, record, inboxLength, until];
      const answer = await redis.eval(deliverScript, 2, ...keys(id), ...given);
      const [delivered, todo] = answer as readonly [Delivery, number];
      return { given: delivered, todo: todos[todo] ?? 'nothing' };
    },
    readInbox: async (id, names) => {
      const members = names.map((name) => memberOf({ id, name }));
      const [[text, failed, open], holds] = await Promise.all([
        redis.hmget(queue.toKey(id), 'inbox', failedField, 'open'),
        members.length === 0 ? [] : redis.zmscore(heldKey, members),
      ]);
      const lines = text ?? '';
      return {
        entries: readLines(lines),
        length: Buffer.byteLength(lines),
        hasFailed: failed != null,
        hasBegun: open != null,
        holds: new Map(names.map((name, index) => [name, Number(holds[index] ?? 0)])),
      };
    },
    commit: async (id, token, { length, verdicts, held, released, joinable, ...commit }) => {
      const members = (names: readonly string[]) => names.map((name) => memberOf({ id, name }));
      const answer = await redis.eval(
        commitScript,
        4,
        ...keys(id),
        heldKey,
        queue.toKey(`de:${joinable?.deduplicationId ?? ''}`),
        token,
        JSON.stringify(commit.record),
        length,
        openValues[commit.then],
        commit.replayed ? failedField : '',
        commit.heldUntil,
        held.length,
        ...members(held),
        released.length,
        ...members(released),
        joinable === undefined ? '' : id,
        joinable?.ttlMs ?? '',
        ...verdicts.flatMap(([key, verdict]) => [`key:${key}`, key.startsWith(runKeys) ? '' : verdict]),
      );
      return answer === 1 ? 'stored' : answer === 2 ? 'more' : 'lost';
    },
    renew: async (tries, until) => {
      const wanted: boolean[] = [];
      for (let from = 0; from < tries.length; from += maxRenewed) {
        const members = tries.slice(from, from + maxRenewed).map(memberOf);
        const answer = (await redis.eval(renewScript, 1, heldKey, until, ...members)) as readonly number[];
        wanted.push(...answer.map((each) => each === 1));
      }
      return wanted;
    },
    wakeLapsed: async () => {
      const time = now();
      for (let passed = 0; ; ) {
        const given = [heldKey, time, passed, maxLapsed, queue.toKey('')];
        const ids = (await redis.eval(lapsedScript, 1, ...given)) as readonly string[];
        if (ids.length === 0) return;
        // Those stay where they are until a turn comes; the others are gone from the set.
        passed += ids.length;
        await Promise.all([...new Set(ids)].map(wake));
      }
    },
    verdict: async (id, key) => {
      const verdict = await redis.hget(queue.toKey(id), `key:${key}`);
      return (verdict ?? undefined) as Awaited<ReturnType<InstanceStore['verdict']>>;
    },
    sleep: async (id, token, until) => {
      const time = now();
      // Not by `job.moveToDelayed`, which asks the clock of the process.
      await queue
        .getBackend()
        .moveToDelayed(id, time, Math.max(until - time, 0), token, { skipAttempt: true });
    },
    read: async (id) => {
      if (!isJobId(queue, id)) return undefined;
      const [job, lock] = keys(id);
      const [fields, runs] = await Promise.all([redis.hmget(job, ...readFields), redis.exists(lock)]);
      const [
        progress,
        timestamp,
        finishedOn,
        returnValue,
        failedReason,
        data,
        failed,
        inbox,
        opts,
        turns,
        ends,
      ] = fields;
      if (timestamp == null) return undefined;
      const record = Object(parse(progress)) as { readonly workflow?: unknown };
      return {
        text: progress ?? '',
        runs: runs === 1,
        record: record.workflow === undefined ? undefined : record,
        finishedOn: finishedOn == null ? undefined : Number(finishedOn),
        returnValue: parse(returnValue),
        failedReason: failedReason ?? undefined,
        data: parse(data),
        timestamp: Number(timestamp),
        opts: parse(opts),
        turns: Number(turns ?? 0),
        isReplayed:
          finishedOn == null &&
          isRunAgain({ hasFailed: failed != null, hasRecord: hasRecord(record), ends: Number(ends ?? 0) }),
        inbox: { entries: readLines(inbox ?? ''), length: Buffer.byteLength(inbox ?? '') },
      };
    },
    wake,
  };
};
