/**
 * BullMQ's worker, with one rule of its own: only a turn decides that a job fails.
 *
 * BullMQ fails a job with whatever goes wrong when it is completed. So a Redis that refuses writes
 * for some milliseconds (NOREPLICAS, OOM, MISCONF, READONLY, LOADING, BUSY, a timeout) would turn a
 * signed transaction into a failed one. Here the end is tried again, for less time than the lock
 * lasts. If it is still refused, the next turn ends the job.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  DelayedError,
  type Job,
  type JobJson,
  type Processor,
  type Span,
  UnrecoverableError,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { BoundError } from './redis/instance-store.ts';
import { type JobFields, KnownAnswers } from './redis/known-answers.ts';
import { inRedisTime } from './redis/redis-time.ts';
import { toError } from './redis/to-error.ts';

/** BullMQ keeps at least half of a lock's time when it has stopped to renew it. */
const triesMs = 1500;
const firstPauseMs = 20;

/** BullMQ's codes: the job is gone, has another state, or another worker has its lock. */
const isTakenAway = (error: unknown): boolean => {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === 'number' && code < 0;
};

/**
 * Sends a write of the holder of a lock again when Redis refuses it, for one and a half seconds. A
 * write that was executed although its answer was lost finds the lock gone, and changes nothing.
 */
export const untilTaken = async <T>(
  write: () => Promise<T>,
  onRefusal: (error: Error) => void,
): Promise<T> => {
  const until = performance.now() + triesMs;
  for (let pauseMs = firstPauseMs; ; pauseMs *= 2) {
    try {
      return await write();
    } catch (error) {
      if (isTakenAway(error) || error instanceof BoundError || performance.now() + pauseMs > until)
        throw error;
      onRefusal(toError(error));
    }
    await delay(pauseMs);
  }
};

type FetchNext = (() => boolean) | undefined;

const fields = new WeakMap<Job, JobFields>();

/**
 * All fields of a job, as they were when its worker took it; undefined for one of another worker.
 */
export const fieldsOf = (job: Job): JobFields | undefined => fields.get(job);

export class TurnWorker extends Worker {
  readonly #known: KnownAnswers;

  /** @param now Milliseconds since the epoch, by the clock of Redis. */
  constructor(name: string, processor: Processor, options: WorkerOptions, now: () => number) {
    const known = new KnownAnswers(inRedisTime(now));
    super(name, processor, options, known.factory);
    this.#known = known;
  }

  /** Whether no further job waits, as far as is known. */
  isQueueEmpty(): boolean {
    return this.#known.isEmpty();
  }

  protected override createJob(data: JobJson, id: string): Job {
    const job = super.createJob(data, id);
    const given = this.#known.takeFields(id);
    if (given !== undefined) fields.set(job, given);
    return job;
  }

  /** Leaves a job to its next turn, which begins soon. */
  putOff: (id: string, token: string) => Promise<void> = async () => undefined;

  /** Stops renewing the lock of a job. Call it before the lock is given back. */
  letGo(id: string): void {
    this.lockManager.untrackJob(id);
  }

  /** Renews the lock again, at once, when it was not given back. */
  keep(id: string, token: string): void {
    this.lockManager.trackJob(id, token, 1);
  }

  readonly #tell = (error: Error): void => {
    this.emit('error', error);
  };

  protected override handleCompleted(
    result: unknown,
    job: Job,
    token: string,
    fetchNext?: FetchNext,
    span?: Span,
  ): Promise<Job> {
    return untilTaken(() => super.handleCompleted(result, job, token, fetchNext, span), this.#tell);
  }

  protected override async handleFailed(
    error: Error,
    job: Job,
    token: string,
    fetchNext?: FetchNext,
    span?: Span,
  ): Promise<Job> {
    if (error instanceof DelayedError)
      return super.handleFailed(error, job, token, fetchNext, span);
    if (error instanceof UnrecoverableError)
      return untilTaken(() => super.handleFailed(error, job, token, fetchNext, span), this.#tell);
    this.#tell(error);
    if (!isTakenAway(error)) {
      // Where this is refused too, the lock runs out, and the job is taken again.
      await this.putOff(job.id ?? '', token).catch((refusal: unknown) =>
        this.#tell(toError(refusal)),
      );
    }
    return super.handleFailed(new DelayedError(), job, token, fetchNext, span);
  }
}
