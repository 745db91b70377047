/**
 * The few writes that BullMQ does not offer, made on the job's own hash, so that they live and die with the job and
 * share its slot in a cluster.
 *
 * BullMQ guards the end of a job by its lock, but not `updateData`: a worker that was paused for longer than its lock
 * lasts could write an old state over a newer one. {@link JobHome.save} compares the lock's token in the same step.
 *
 * An answer comes from another process while no worker holds the job. Whoever writes `decision:<attempt>` first has
 * decided the attempt; everyone else learns what was decided. It can only be written while the device has been asked
 * (`awaiting` names the attempt) and the job has not ended. The worker that wakes at the deadline decides by the same
 * field, so an answer and the timeout can never both win.
 */
import type { Queue } from 'bullmq';
import { fault } from '../protocol/fault.ts';
import type { RedisClient } from '../redis/connect.ts';
import { type Decision, decisionSchema } from './contract.ts';

/**
 * accepted     This answer decided the attempt.
 * decided      Another answer, or the deadline, was first.
 * not-pending  The device has not been asked for this attempt.
 * finished     The transaction has ended.
 * unknown      There is no such transaction.
 * malformed    The answer is none; nothing was decided.
 */
export type AnswerResult = 'accepted' | 'decided' | 'not-pending' | 'finished' | 'unknown' | 'malformed';

export interface StoredEnd {
  /** Milliseconds since the epoch; undefined while the job is open. */
  readonly finishedOn: number | undefined;
  readonly returnValue: unknown;
  readonly failedReason: string | undefined;
}

export interface StoredJob extends StoredEnd {
  readonly data: unknown;
  readonly timestamp: number;
}

/** How equal requests find a job. */
export interface Joinable {
  readonly deduplicationId: string;
  /** For so long, whether or not it has ended; undefined for as long as it is open: BullMQ frees the key when the job ends. */
  readonly ttlMs: number | undefined;
}

export interface JobHome {
  /**
   * Writes the job's data under its lock. `awaiting` names the attempt that may be answered from now on; 0 for none, where an
   * attempt begins; undefined leaves it as it is. `joinable` lets equal requests join a transaction that is open again.
   *
   * @returns False when the lock is no longer this token's: the caller must stop and touch nothing.
   */
  save(id: string, token: string, data: unknown, awaiting?: number, joinable?: Joinable): Promise<boolean>;
  answer(id: string, attempt: number, decision: Decision): Promise<AnswerResult>;
  /** Decides unless somebody has. @returns What is decided now. */
  decide(id: string, attempt: number, decision: Decision): Promise<Decision>;
  decision(id: string, attempt: number): Promise<Decision | undefined>;
  read(id: string): Promise<StoredJob | undefined>;
  /** How a job ended, without its data. @returns Undefined for a job that there is not. */
  readEnd(id: string): Promise<StoredEnd | undefined>;
  /** Whether the job has failed since the attempt in hand began, also when whoever runs it again has reset BullMQ's counts. */
  hasFailed(id: string): Promise<boolean>;
  /** Replaces the return value of a completed job. @returns False when the job is not, or no longer, completed. */
  amend(id: string, returnValue: unknown): Promise<boolean>;
}

const saveScript = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
if ARGV[3] == '' then redis.call('HSET', KEYS[1], 'data', ARGV[2])
else redis.call('HSET', KEYS[1], 'data', ARGV[2], 'awaiting', ARGV[3]) end
if ARGV[3] == '0' then redis.call('HDEL', KEYS[1], 'stacktrace') end
if ARGV[4] == '' then return 1 end
local first = redis.call('GET', KEYS[3])
if first and first ~= ARGV[4] then return 1 end
if ARGV[5] == '' then redis.call('SET', KEYS[3], ARGV[4]) else redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[5]) end
return 1`;

const answerScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 'unknown' end
if redis.call('HEXISTS', KEYS[1], 'finishedOn') == 1 then return 'finished' end
if redis.call('HGET', KEYS[1], 'awaiting') ~= ARGV[1] then return 'not-pending' end
if redis.call('HSETNX', KEYS[1], 'decision:' .. ARGV[1], ARGV[2]) == 0 then return 'decided' end
return 'accepted'`;

const decideScript = `
if redis.call('EXISTS', KEYS[1]) == 0 then return ARGV[2] end
redis.call('HSETNX', KEYS[1], 'decision:' .. ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], 'decision:' .. ARGV[1])`;

const amendScript = `
if redis.call('HEXISTS', KEYS[1], 'finishedOn') == 0 then return 0 end
if redis.call('HEXISTS', KEYS[1], 'returnvalue') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'returnvalue', ARGV[1])
return 1`;

/** BullMQ's error when a job that is to be woken is not asleep: somebody woke it already, or it never slept. */
const isNotDelayed = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === -3;

/** Other programs write decisions too. What cannot be read has decided all the same: nobody else may. */
const readDecision = (text: string): Decision => {
  try {
    return decisionSchema.parse(JSON.parse(text));
  } catch {
    return { kind: 'fault', fault: fault(900) };
  }
};

const endFields = ['finishedOn', 'returnvalue', 'failedReason'] as const;

const storedEnd = ([finishedOn, returnValue, failedReason]: readonly (string | null)[]): StoredEnd => ({
  finishedOn: finishedOn == null ? undefined : Number(finishedOn),
  returnValue: returnValue == null ? undefined : JSON.parse(returnValue),
  failedReason: failedReason ?? undefined,
});

export const createJobHome = (queue: Queue, redis: RedisClient): JobHome => {
  const keyOf = (id: string): string => queue.toKey(id);

  const decision = async (id: string, attempt: number): Promise<Decision | undefined> => {
    const text = await redis.hget(keyOf(id), `decision:${attempt}`);
    return text === null ? undefined : readDecision(text);
  };

  return {
    decision,

    save: async (id, token, data, awaiting, joinable) => {
      const key = keyOf(id);
      const written = await redis.eval(
        saveScript,
        3,
        key,
        `${key}:lock`,
        queue.toKey(`de:${joinable?.deduplicationId ?? ''}`),
        token,
        JSON.stringify(data),
        awaiting ?? '',
        joinable === undefined ? '' : id,
        joinable?.ttlMs ?? '',
      );
      return written === 1;
    },

    answer: async (id, attempt, answer) => {
      if (!decisionSchema.safeParse(answer).success) return 'malformed';
      const result = await redis.eval(answerScript, 1, keyOf(id), attempt, JSON.stringify(answer));
      // An answer that was already there may stem from a process that died before it could wake the job.
      if (result === 'accepted' || result === 'decided') {
        await wake(queue, id);
      }
      return result as AnswerResult;
    },

    decide: async (id, attempt, wanted) =>
      readDecision(String(await redis.eval(decideScript, 1, keyOf(id), attempt, JSON.stringify(wanted)))),

    hasFailed: async (id) => (await redis.hexists(keyOf(id), 'stacktrace')) === 1,

    amend: async (id, returnValue) =>
      (await redis.eval(amendScript, 1, keyOf(id), JSON.stringify(returnValue))) === 1,

    read: async (id) => {
      const [data, timestamp, ...end] = await redis.hmget(keyOf(id), 'data', 'timestamp', ...endFields);
      if (typeof data !== 'string') return undefined;
      return { data: JSON.parse(data), timestamp: Number(timestamp), ...storedEnd(end) };
    },

    readEnd: async (id) => {
      const [timestamp, ...end] = await redis.hmget(keyOf(id), 'timestamp', ...endFields);
      return timestamp == null ? undefined : storedEnd(end);
    },
  };
};

/** Ends a job's sleep. A job that is not asleep stays where it is: it is being run, or about to be. */
export const wake = async (queue: Queue, id: string): Promise<void> => {
  try {
    await queue.getBackend().promote(id);
  } catch (error) {
    if (!isNotDelayed(error)) throw error;
  }
};

/**
 * Lets a sleeping job wake at another time than it was to; one that is awake stays so. Not by BullMQ's `changeDelay`, which counts
 * from the clock of the process.
 */
export const wakeAt = async (queue: Queue, id: string, until: number, now: number): Promise<void> => {
  const { delayed, meta, marker, events } = queue.keys;
  const backend = queue.getBackend();
  const given = [delayed, meta, marker, events, Math.max(until - now, 0), now, id, queue.toKey(id)];
  const answer: unknown = await backend.execCommand(await backend.client, 'changeDelay', given);
  // -1: there is no such job any more. -3: it is not asleep.
  if (answer !== 0 && answer !== -1 && answer !== -3) throw new Error(`changeDelay answered ${answer}`);
};
