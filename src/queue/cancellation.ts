/**
 * Taking a request back.
 *
 * Once a person has been asked, a cancel is an answer like any other: the first one decides the attempt, and the worker
 * takes the prompt off the phone. Before that there is nothing to answer. Then the job is marked, by BullMQ's own field
 * for jobs that are to fail as soon as they are taken (`defa`), so that no worker begins it and it ends like every other
 * failed job: with an event for those who wait, a status over HTTP, a place for a replay.
 *
 * The mark is set in one step with the check that no worker has the job (its lock), that it has not ended, and that its
 * data and its count of ended runs are what the decision was based on. A worker takes a job in one step, too; so either it
 * sees the mark, or the mark is refused. While a worker has the job, this waits: a step takes milliseconds, and then
 * somebody has been asked or the job has ended.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { advance, begin, type SignatureRecord } from '../../machines/record.ts';
import { type Fault, fault, faultLine } from '../protocol/fault.ts';
import type { Protocol } from '../protocol/parse.ts';
import type { RedisClient } from '../redis/connect.ts';
import type { Decision, SignatureJobData } from '../transactions/contract.ts';
import { wake } from '../transactions/job-home.ts';
import type { QueueAt } from '../transactions/shards.ts';
import { isOfThisRun, pendingAttempt, readStanding, type Standing } from './standing.ts';

/**
 * cancelled  Nobody will be asked, or the prompt is taken back. It ends as fault 401.
 * too-late   It had ended, or somebody has answered.
 * busy       A worker was at it all the time (10 s): ask again.
 * unknown    There is no such transaction.
 */
export type CancelResult = 'cancelled' | 'too-late' | 'busy' | 'unknown';

const faultOf = ({ by = 'application' }: Cancellation): Fault =>
  fault(401, `The ${by} cancelled the request`);

const patienceMs = 10_000;
const pauseMs = (round: number): number => Math.min(5 * 2 ** round, 200);

/** The mark ends the deduplication, too, but for one that lasts beyond the end: there the equal request gets this end. */
const withdrawScript = `
local now = redis.call('HMGET', KEYS[1], 'data', 'atm', 'finishedOn', 'deid')
if now[1] ~= ARGV[1] or (now[2] or '0') ~= ARGV[2] or now[3] then return 'changed' end
if redis.call('EXISTS', KEYS[2]) == 1 then return 'taken' end
redis.call('HSET', KEYS[1], 'data', ARGV[3], 'defa', ARGV[4])
local key = KEYS[3] .. (now[4] or '')
if redis.call('GET', key) == ARGV[5] and redis.call('PTTL', key) == -1 then redis.call('DEL', key) end
return 'withdrawn'`;

export interface Cancellation {
  readonly at: QueueAt;
  readonly redis: RedisClient;
  readonly protocol: Protocol;
  readonly now: () => number;
  /** Who is told to have done it; the application by default. */
  readonly by?: 'application' | 'operator';
}

/** What a worker would note of an attempt that ends like this; undefined for a job that no worker would begin. */
const endedRecord = (standing: Standing, cancellation: Cancellation): SignatureRecord | undefined => {
  const { protocol, now } = cancellation;
  const request = protocol.parseStoredSign(standing.data?.MSS_SignatureReq);
  if (!request.ok) return undefined;
  const { timeoutSeconds } = request.value;
  const at = now();
  const last =
    standing.data?.transaction ?? begin({ submittedAt: Math.min(standing.timestamp, at), timeoutSeconds });
  const current = isOfThisRun(standing)
    ? last
    : advance(
        last,
        { type: 'FAULTED', at, attempt: last.attempt, fault: fault(900) },
        { type: 'REPLAY', at, deadline: at + timeoutSeconds * 1000 },
      );
  return advance(current, { type: 'FAULTED', at, attempt: current.attempt, fault: faultOf(cancellation) });
};

const withdraw = async (
  id: string,
  standing: Standing,
  cancellation: Cancellation,
): Promise<'withdrawn' | 'taken' | 'changed'> => {
  const { at, redis } = cancellation;
  const transaction = endedRecord(standing, cancellation);
  const data: SignatureJobData | undefined =
    standing.data === undefined || transaction === undefined
      ? undefined
      : {
          ...(isOfThisRun(standing) ? standing.data : { MSS_SignatureReq: standing.data.MSS_SignatureReq }),
          transaction,
          endedRuns: standing.endedRuns,
        };
  const key = at.queue.toKey(id);
  const result = await redis.eval(
    withdrawScript,
    3,
    key,
    `${key}:lock`,
    at.queue.toKey('de:'),
    standing.text,
    String(standing.endedRuns),
    data === undefined ? standing.text : JSON.stringify(data),
    faultLine(faultOf(cancellation)),
    id,
  );
  return result as 'withdrawn' | 'taken' | 'changed';
};

/**
 * Answers in the place of the person.
 *
 * A connection that breaks off sends its command again when it is back, and the second answer finds the first. So what has
 * decided the attempt is looked at: in the same words it is this cancel, or another one by the same party.
 */
const answerFor = async (
  id: string,
  attempt: number,
  cancellation: Cancellation,
): Promise<CancelResult | undefined> => {
  const { home, queue } = cancellation.at;
  const cancelled: Decision = { kind: 'fault', fault: faultOf(cancellation) };
  const result = await home.answer(id, attempt, cancelled);
  if (result === 'not-pending') return undefined;
  if (result === 'unknown') return 'unknown';
  if (result !== 'accepted' && !isDeepStrictEqual(await home.decision(id, attempt), cancelled))
    return 'too-late';
  // An equal request that comes from now on is a new one, but for one that would get the end of this one.
  const job = await queue.getJob(id);
  if (job?.opts.deduplication?.ttl === undefined) await job?.removeDeduplicationKey();
  return 'cancelled';
};

/** @returns Undefined when it has to be looked at once more. */
const tryOnce = async (id: string, cancellation: Cancellation): Promise<CancelResult | undefined> => {
  const { at, redis } = cancellation;
  const standing = await readStanding(redis, at.queue.toKey(id));
  if (standing === undefined) return 'unknown';
  if (standing.ending !== undefined) return 'too-late';
  if (standing.withdrawn) {
    // Whoever marked it may have died before it could wake it.
    await wake(at.queue, id);
    return 'cancelled';
  }
  const asked = pendingAttempt(standing);
  if (asked !== undefined) return answerFor(id, asked, cancellation);
  const last = standing.data?.transaction;
  // A step has decided the attempt, and was cut off before it could tell: whoever takes the job tells it.
  if (last?.state === 'failed' && isOfThisRun(standing)) return 'too-late';
  if (last?.state === 'pending' && (await at.home.decision(id, last.attempt))?.kind === 'signature') {
    // A completed job that some tool runs again: what a person signed stands.
    return 'too-late';
  }
  if ((await withdraw(id, standing, cancellation)) !== 'withdrawn') return undefined;
  await wake(at.queue, id);
  return 'cancelled';
};

/** @throws When Redis is unreachable; the request may then be cancelled or not. */
export const cancelTransaction = async (id: string, cancellation: Cancellation): Promise<CancelResult> => {
  const until = cancellation.now() + patienceMs;
  for (let round = 0; ; round += 1) {
    const result = await tryOnce(id, cancellation);
    if (result !== undefined) return result;
    if (cancellation.now() >= until) return 'busy';
    await delay(pauseMs(round));
  }
};
