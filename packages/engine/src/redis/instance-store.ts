/**
 * Stores an instance in the hash of its own job, so that both live and die together, in one slot.
 *
 * data       BullMQ's: the input, as it was added.
 * progress   BullMQ's: the record (record.ts), written by the commit. Before the first commit
 *            `{"inbox":true}`, when events have come.
 * part:<n>   Pieces of a large record (record-parts.ts).
 * inbox      Events that no turn has taken yet, one line each: time in ms by the clock of Redis, a
 *            tab, JSON of key, event and the run of a child that it is about. Deliver appends, the
 *            commit cuts.
 * cut        Id of the commit that has cut the inbox last, or put the job to sleep. After a cut
 *            connection or a timeout a commit is sent again that Redis may have executed: the
 *            second time it cuts nothing, and finds that the job was put to sleep.
 * key:<key>  Verdict on an event: `waiting`, `accepted` (waits, and will be taken for certain),
 *            `taken`, `refused`. Keys of events from outside begin with `out/`. Those that begin
 *            with `run/` are removed after the verdict.
 * keys       JSON: the keys from outside, the oldest first. A further one takes the place of the
 *            oldest of its origin (`maxKeys`, `keyOrigins`).
 * open       `1` from the first commit on: before a turn sleeps or ends it reads the inbox again.
 *            `2`: it sleeps. `0`: its end is certain. Written by the commit.
 *
 * The list `<job>:logs` has the journal (journal-lines.ts). The commit appends to it, and deliver
 * where it refuses an event.
 *
 * Programs in other languages send answers by a script of their own (docs/queue-contract.md). They
 * rely on `inbox`, `open` and `key:out/<key>`.
 *
 * The sorted set `tries:held` of the queue has `<id> <child>/<run>` of each try that goes on while
 * its job sleeps. The score is the time until which a process holds the try, ms by the clock of
 * Redis. The commit adds it, the process renews it. When a hold has run out, any worker wakes the
 * job.
 *
 * J1  Only the holder of the job's lock writes the record. A worker that was paused for longer than
 *     its lock lasts writes nothing.
 * J2  A line leaves the inbox in the same step that stores its verdict.
 * J3  An instance ends only when its inbox is empty, in one step with closing it. An instance that
 *     ends in its first turn needs no such step, because nobody could send to it.
 * J4  A turn goes to sleep only when its inbox is empty, in one step with its commit and with
 *     BullMQ's move to the sleeping jobs (commit-script.ts). So a sender waits at most for the
 *     first commit of a turn that was woken, and two instances that send to each other never wait
 *     for each other.
 */
import type { Queue } from 'bullmq';
import { boundProblem, type InstanceRecord, isTree } from '../record.ts';
import { encode } from '../values.ts';
import type { RedisClient } from './client.ts';
import { commitScript, sleepKeys } from './commit-script.ts';
import { deliverScript, maxInboxBytes, promoteKeys } from './deliver-script.ts';
import { type About, type Inbox, inboxOf, noRef, parse, readLines } from './inbox.ts';
import { logOf } from './journal-lines.ts';
import type { JobFields } from './known-answers.ts';
import { divide, fieldOf, join, noParts, type Parts, partNames } from './record-parts.ts';

/**
 * waiting   The event is durable, and is applied in order.
 * accepted  The same, and the chart will take it.
 * taken, refused   The verdict on an event that was sent before.
 * busy      A worker runs the first turn: try again.
 * finished  The instance has ended.
 * unknown   There is no such instance.
 */
export type Delivery =
  | 'waiting'
  | 'accepted'
  | 'taken'
  | 'refused'
  | 'busy'
  | 'finished'
  | 'unknown';

/** A record as it is stored. */
export interface StoredRecord {
  readonly record: unknown;
  readonly parts: Parts;
}

/** What a commit stores. */
export interface Commit {
  /** A unique id. A commit that is sent again under its id counts once. */
  readonly id: string;
  readonly record: InstanceRecord;
  /** The parts of the record that is stored now. */
  readonly parts: Parts;
  /** Bytes of the inbox that were taken, and the verdicts on these events. */
  readonly length: number;
  readonly verdicts: readonly Verdict[];
  /** Tries that go on while the job sleeps, and until when they are held. */
  readonly held: readonly string[];
  readonly heldUntil: number;
  readonly released: readonly string[];
  /** Whether the job had failed before and runs again. */
  readonly replayed: boolean;
  /**
   * Lets equal jobs join a job that had ended and is open again: for `ttlMs`, or for as long as it
   * is open.
   */
  readonly joinable:
    | { readonly deduplicationId: string; readonly ttlMs: number | undefined }
    | undefined;
  /** Lines for the journal, and how many were given up before them. */
  readonly told?: { readonly lines: readonly string[]; readonly dropped: number } | undefined;
  readonly then: 'goesOn' | 'sleeps' | 'ends';
  /** The end of a sleep; milliseconds since the epoch, by the clock of Redis. */
  readonly until?: number | undefined;
}

/**
 * stored  The commit is stored. A job that sleeps was given back in the same step.
 * more    An event has come in, so the instance neither sleeps nor ends.
 * lost    The token no longer has the lock: the caller must stop.
 */
export interface Committed {
  readonly kind: 'stored' | 'more' | 'lost';
  readonly parts: Parts;
}

export type Verdict = readonly [key: string, verdict: 'taken' | 'refused'];

export type InstanceStore = ReturnType<typeof createInstanceStore>;

export interface HeldTry {
  readonly id: string;
  /** The name of the try: `child/run`. */
  readonly name: string;
}

export interface DeliverOptions {
  readonly about?: About;
  readonly foreseen?: Foreseen | undefined;
  /** Whether it is never sent again under its key. */
  readonly sentOnce?: boolean;
  /** The line for the journal when the event is refused at once. */
  readonly refusal?: string | undefined;
}

/**
 * A computed verdict. It holds while no turn runs, no other event has come, and no timer is due.
 */
export interface Foreseen {
  /** The text of the record that was used; undefined before the first commit. */
  readonly record: string | undefined;
  /** Bytes of the inbox whose events were applied before. */
  readonly inboxLength: number;
  readonly verdict: 'accepted' | 'refused';
  /** When a timer is due next; milliseconds since the epoch, by the clock of Redis. */
  readonly before: number;
}

export interface StoredInstance {
  readonly jobName: string;
  /** The text of the record. */
  readonly text: string;
  /** Undefined before the first commit. */
  readonly record: unknown;
  readonly finishedOn: number | undefined;
  /** Whether its end is stored, so that no event counts any more. Its job ends soon. */
  readonly isClosed: boolean;
  readonly returnValue: unknown;
  readonly failedReason: string | undefined;
  /** The data of the job, as it was added. */
  readonly data: unknown;
  readonly timestamp: number;
  /** The options with which the job was added. */
  readonly opts: unknown;
  /** Whether it runs again after it had ended, and no turn has committed since. */
  readonly isReplayed: boolean;
  readonly inbox: Pick<Inbox, 'entries' | 'length'>;
}

/** The commit would store more than an instance may have. Nothing is stored. */
export class BoundError extends Error {
  override readonly name = 'BoundError';
}

/**
 * The prefix of the keys of events for one run of a child. Their verdicts are not kept, because
 * BullMQ reads all fields of a job with each turn, and an instance may live for years.
 */
export const runKeys = 'run/';

/** KEYS: held tries. ARGV: until when, then tries. Returns for each 1 if it is still wanted. */
const renewScript = `
local wanted = {}
for i = 2, #ARGV do
  wanted[i - 1] = redis.call('ZSCORE', KEYS[1], ARGV[i]) and 1 or 0
  if wanted[i - 1] == 1 then redis.call('ZADD', KEYS[1], ARGV[1], ARGV[i]) end
end
return wanted`;

/**
 * KEYS: held tries. ARGV: now, how many to skip, how many to look at, prefix of job keys. Returns
 * ids of open instances.
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
  'atm',
  'name',
  'open',
] as const;

/**
 * Whether the next turn of an open job begins with REPLAY: it had failed, or ended without a
 * commit.
 */
export const isRunAgain = (job: {
  /** BullMQ's stack trace is there until a commit removes it. */
  readonly hasFailed: boolean;
  readonly hasRecord: boolean;
  /** The number of times that the job has ended. */
  readonly ends: number;
}): boolean => job.hasFailed || (!job.hasRecord && job.ends > 0);

export const hasRecord = (progress: unknown): boolean =>
  (Object(progress) as { readonly workflow?: unknown }).workflow !== undefined;

const isNotDelayed = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === -3;

/** The field that BullMQ writes when a job fails, and keeps when the job is run again. */
const failedField = 'stacktrace';
const openValues = { goesOn: '1', sleeps: '2', ends: '0' } as const;

/** Whether an id names a job. BullMQ's own keys have the same prefix as those of jobs. */
export const isJobId = (queue: Queue, id: string): boolean =>
  !id.includes(':') && !Object.hasOwn(queue.keys, id);

const maxLapsed = 1000;
const maxRenewed = 1000;

/** @param now Milliseconds since the epoch, by the clock of Redis. */
export const createInstanceStore = (queue: Queue, redis: RedisClient, now: () => number) => {
  /** The key of the held tries. It is not a key of a job, because ids of jobs have no colon. */
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
  const keys = (id: string): readonly [string, string] => [
    queue.toKey(id),
    queue.toKey(`${id}:lock`),
  ];
  return {
    /**
     * Adds an event to the inbox, unless `options.foreseen` says that it is refused.
     *
     * @param key Unique for the event. Sent again under its key, it changes nothing.
     * @returns `isAwake`: false where the turn that was woken has not committed yet. It must be
     *   sent again then.
     */
    deliver: async (
      id: string,
      key: string,
      event: { readonly type: string },
      { about, foreseen, sentOnce = false, refusal = '' }: DeliverOptions = {},
    ): Promise<{ readonly given: Delivery; readonly isAwake: boolean }> => {
      if (!isJobId(queue, id)) return { given: 'unknown', isAwake: true };
      const line = JSON.stringify([
        key,
        encode(event, 'event', noRef),
        ...(about === undefined ? [] : [encode(about, 'answer', noRef)]),
      ]);
      const { verdict = '', record = '', inboxLength = 0, before = 0 } = foreseen ?? {};
      const until = Math.min(before, Number.MAX_SAFE_INTEGER);
      const given = [
        queue.toKey(''),
        id,
        key,
        line,
        maxInboxBytes,
        verdict,
        record,
        inboxLength,
        until,
        Number(sentOnce),
        refusal,
      ];
      const names = promoteKeys.map((name) => queue.toKey(name));
      const answer = await redis.eval(
        deliverScript,
        3 + names.length,
        ...keys(id),
        logOf(queue.toKey(id)),
        ...names,
        ...given,
      );
      const [delivered, awake] = answer as readonly [Delivery, number];
      return { given: delivered, isAwake: awake === 1 };
    },
    /** The inbox from the fields of a job that was just taken, without holds. */
    inboxIn: (fields: JobFields): Inbox =>
      inboxOf(
        { text: fields.get('inbox'), failed: fields.get(failedField), open: fields.get('open') },
        new Map(),
      ),
    /** @param names `child/run` of the activities whose holds are read. */
    readInbox: async (id: string, names: readonly string[]): Promise<Inbox> => {
      const members = names.map((name) => memberOf({ id, name }));
      const [[text = '', failed = null, open = null], holds] = await Promise.all([
        redis.hmget(queue.toKey(id), 'inbox', failedField, 'open'),
        members.length === 0 ? [] : redis.zmscore(heldKey, members),
      ]);
      return inboxOf(
        { text, failed, open },
        new Map(names.map((name, at) => [name, Number(holds[at] ?? 0)])),
      );
    },
    /**
     * The record in the `progress` of a job that the caller has taken.
     *
     * @param fields Those of the job, where the caller has them.
     */
    whole: async (id: string, progress: unknown, fields?: JobFields): Promise<StoredRecord> => {
      const names = partNames(progress);
      if (names === undefined) return { record: progress, parts: noParts };
      if (fields !== undefined) return join(progress, (name) => fields.get(fieldOf(name)));
      const texts =
        names.length === 0 ? [] : await redis.hmget(queue.toKey(id), ...names.map(fieldOf));
      const byName = new Map(names.map((name, index) => [name, texts[index]]));
      return join(progress, (name) => byName.get(name));
    },
    /**
     * Stores the record and what belongs to it. A job that is to sleep is put to sleep in this
     * step.
     *
     *
     * @throws BoundError
     */
    commit: async (
      id: string,
      token: string,
      { length, verdicts, held, released, joinable, told, until, ...commit }: Commit,
    ): Promise<Committed> => {
      const members = (names: readonly string[]) => names.map((name) => memberOf({ id, name }));
      const text = JSON.stringify(commit.record);
      const problem = boundProblem(commit.record, text);
      if (problem !== undefined) throw new BoundError(problem);
      const division = divide(commit.record, text, isTree(commit.record), commit.parts);
      const sleeps = commit.then === 'sleeps';
      const time = now();
      const keyNames = sleeps ? sleepKeys.map((name) => queue.keys[name] ?? queue.toKey(name)) : [];
      const answer = await redis.eval(
        commitScript,
        5 + keyNames.length,
        ...keys(id),
        heldKey,
        queue.toKey(`de:${joinable?.deduplicationId ?? ''}`),
        logOf(queue.toKey(id)),
        ...keyNames,
        token,
        division.progress,
        length,
        length === 0 && told === undefined && !sleeps ? '' : commit.id,
        openValues[commit.then],
        commit.replayed ? failedField : '',
        commit.heldUntil,
        ...(sleeps
          ? [id, queue.toKey(''), time, Math.max((until ?? time) - time, 0)]
          : ['', '', '', '']),
        told?.lines.map((each) => `${each}\n`).join('') ?? '',
        told?.dropped ?? 0,
        held.length,
        ...members(held),
        released.length,
        ...members(released),
        joinable === undefined ? '' : id,
        joinable?.ttlMs ?? '',
        ...division.gone.flatMap(({ name }) => [fieldOf(name), '']),
        ...division.added.flatMap(({ name, text: part }) => [fieldOf(name), part]),
        ...verdicts.flatMap(([key, verdict]) => [
          `key:${key}`,
          key.startsWith(runKeys) ? '' : verdict,
        ]),
      );
      if (Number(answer) < 0)
        throw Object.assign(new Error(`The job ${id} is not in hand: it cannot sleep`), {
          code: Number(answer),
        });
      const kind = answer === 1 ? 'stored' : answer === 2 ? 'more' : 'lost';
      return { kind, parts: division.parts };
    },
    /**
     * Holds tries until the given time.
     * @returns Whether each was still held, in the same order.
     */
    renew: async (tries: readonly HeldTry[], until: number): Promise<readonly boolean[]> => {
      const wanted: boolean[] = [];
      for (let from = 0; from < tries.length; from += maxRenewed) {
        const members = tries.slice(from, from + maxRenewed).map(memberOf);
        const answer = (await redis.eval(
          renewScript,
          1,
          heldKey,
          until,
          ...members,
        )) as readonly number[];
        wanted.push(...answer.map((each) => each === 1));
      }
      return wanted;
    },
    /** Wakes instances that have a hold which has run out. */
    wakeLapsed: async (): Promise<void> => {
      const time = now();
      for (let passed = 0; ; ) {
        const given = [heldKey, time, passed, maxLapsed, queue.toKey('')];
        const ids = (await redis.eval(lapsedScript, 1, ...given)) as readonly string[];
        if (ids.length === 0) return;
        // These stay in the set until a turn comes. The script has removed the others.
        passed += ids.length;
        await Promise.all([...new Set(ids)].map(wake));
      }
    },
    /** Whether a turn of the instance runs. */
    isRunning: async (id: string): Promise<boolean> => (await redis.exists(keys(id)[1])) === 1,
    /** The verdict on the event with this key; undefined when there was none. */
    verdict: async (id: string, key: string) => {
      const verdict = await redis.hget(queue.toKey(id), `key:${key}`);
      return (verdict ?? undefined) as 'waiting' | 'accepted' | 'taken' | 'refused' | undefined;
    },
    /**
     * Puts the job of a worker to sleep. @param until Milliseconds since the epoch, by the clock of
     * Redis.
     */
    sleep: async (id: string, token: string, until: number): Promise<void> => {
      const time = now();
      // `job.moveToDelayed` would use the clock of the process.
      await queue
        .getBackend()
        .moveToDelayed(id, time, Math.max(until - time, 0), token, { skipAttempt: true });
    },
    /** The BullMQ options of the job; undefined when there is no such job. */
    readOptions: async (id: string): Promise<unknown> =>
      parse(await redis.hget(queue.toKey(id), 'opts')),
    read: async (id: string): Promise<StoredInstance | undefined> => {
      if (!isJobId(queue, id)) return undefined;
      const [job] = keys(id);
      const found = await redis.hmget(job, ...readFields);
      // Parts of a record are read with it in one step: a commit replaces them.
      const isDivided = partNames(parse(found[0])) !== undefined;
      const fields: Readonly<Record<string, string | null | undefined>> = isDivided
        ? await redis.hgetall(job)
        : Object.fromEntries(readFields.map((name, index) => [name, found[index]]));
      const { progress, timestamp, finishedOn, returnvalue, failedReason, data } = fields;
      const { stacktrace: failed, inbox, opts, atm: ends, name: jobName, open } = fields;
      if (timestamp == null) return undefined;
      const { record: whole } = join(parse(progress), (name) => fields[fieldOf(name)]);
      const record = Object(whole) as { readonly workflow?: unknown };
      return {
        jobName: jobName ?? '',
        text: progress ?? '',
        record: record.workflow === undefined ? undefined : record,
        finishedOn: finishedOn == null ? undefined : Number(finishedOn),
        // A job that failed and runs again is open again, before its first commit too.
        isClosed: open === openValues.ends && (finishedOn != null || failed == null),
        returnValue: parse(returnvalue),
        failedReason: failedReason ?? undefined,
        data: parse(data),
        timestamp: Number(timestamp),
        opts: parse(opts),
        isReplayed:
          finishedOn == null &&
          isRunAgain({
            hasFailed: failed != null,
            hasRecord: hasRecord(record),
            ends: Number(ends ?? 0),
          }),
        inbox: { entries: readLines(inbox ?? ''), length: Buffer.byteLength(inbox ?? '') },
      };
    },
    /** The lines of the journal, and how many older ones are gone. */
    readJournal: async (
      id: string,
    ): Promise<{ readonly lines: readonly string[]; readonly dropped: number }> => {
      const [job] = keys(id);
      const [lines, dropped] = await Promise.all([
        redis.lrange(logOf(job), 0, -1),
        redis.hget(job, 'dropped'),
      ]);
      return { lines, dropped: Number(dropped ?? 0) };
    },
    /** Ends a job's sleep. @returns False for a job that is not asleep. */
    wake,
  };
};
