/**
 * Delivers callbacks: one job for each end of a transaction that an application provider wants to hear of.
 *
 * A try that fails is followed by another, later each time; when all have failed, the job stays among the failed ones until
 * somebody replays it or its retention is over. A try may be cut off anywhere and run again, so a message may come twice,
 * under the same id.
 *
 * A receiver that hangs holds its connection for as long as it is given. So that it does not keep others waiting, an
 * application has a part of the places only; what is beyond is put off (places.ts), which costs none of its tries.
 */
import { setMaxListeners } from 'node:events';
import { DelayedError, type Job, type Telemetry, UnrecoverableError, Worker } from 'bullmq';
import { z } from 'zod';
import { graceOf, inRedisTime } from '../src/engine/redis/redis-time.ts';
import type { RedisClient } from '../src/redis/connect.ts';
import { settlesWithin } from '../src/redis/patience.ts';
import { callbackQueueName, type Shard } from '../src/transactions/shards.ts';
import { createPlaces } from './places.ts';

export const callbackJobName = 'callback';
/** The name under which a job asks for {@link backoffMs}. */
export const callbackBackoff = 'callback';

/** What is told. No number, no text, no signature: a receiver asks for the status, as itself. */
export const callbackJobSchema = z.object({
  msspTransId: z.string(),
  apId: z.string(),
  apTransId: z.string(),
  attempt: z.number().int().min(1),
  /** When it ended, milliseconds since the epoch. */
  at: z.number(),
  /** Of one that was replayed among many: not delivered earlier, milliseconds since the epoch. */
  notBefore: z.number().optional(),
  end: z.discriminatedUnion('state', [
    z.object({ state: z.literal('signed'), statusCode: z.enum(['100', '500', '502']) }),
    z.object({ state: z.literal('failed'), code: z.number().int(), reason: z.string() }),
    z.object({ state: z.literal('receipted'), receipt: z.string() }),
  ]),
});
export type CallbackJobData = Readonly<z.infer<typeof callbackJobSchema>>;

/**
 * answered      The receiver's HTTP status; `retryAfterMs` when it says when it wants to be asked again.
 * refused       Nothing was sent, and nothing will be until the configuration changes.
 * not-sent      Nothing was sent: not to the address that the name stands for now, or not by this process, which knows no address.
 * unreachable   `cause` is a code, such as ECONNREFUSED.
 */
export type DeliveryResult =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfterMs?: number | undefined }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'not-sent'; readonly why: string }
  | { readonly kind: 'unreachable'; readonly cause: string };

/** Never rejects for something that the receiver did. */
export type Deliver = (id: string, data: CallbackJobData, stop: AbortSignal) => Promise<DeliveryResult>;

/** Callbacks are named by id, which begins with that of the transaction. */
export interface CallbackLog {
  delivered(id: string, tries: number, status: number): void;
  /** It will be tried again. */
  undelivered(id: string, tries: number, problem: string): void;
  /** It will not, unless somebody replays it. */
  gaveUp(id: string, tries: number, problem: string): void;
}

export interface Backoff {
  readonly firstMs: number;
  readonly factor: number;
  readonly mostMs: number;
}

/** With ten tries: 5 s, 15 s, 48 s, 2.5 min, 8 min, 24 min, 74 min, 3.8 h, 12 h; together some 17 hours. */
export const usualBackoff: Backoff = { firstMs: 5000, factor: 3.1, mostMs: 12 * 3_600_000 };

export interface CallbackWorkersOptions {
  readonly shards: readonly Shard[];
  readonly blocking: RedisClient;
  readonly deliver: Deliver;
  readonly retention: { readonly failedMs: number };
  readonly now: () => number;
  readonly random?: () => number;
  readonly log: CallbackLog;
  readonly onError: (error: Error) => void;
  /** Of one shard in one process; default 100. */
  readonly concurrency?: number;
  /** A worker that shows no sign of life for so long is dead. More than a delivery lasts; default 20 s. */
  readonly lockMs?: number;
  readonly backoff?: Backoff;
  readonly telemetry?: Telemetry | undefined;
}

export interface CallbackWorkers {
  ready(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Delivered ones are kept for longer than an end is told of when it is found late (src/callbacks/follower.ts): the job that
 * is still there is what keeps it from being told twice.
 */
const deliveredMs = 2 * 86_400_000;
const cleanEveryMs = 3_600_000;
const cleanAtMost = 10_000;
/** What is then still being delivered is cut off, and put off until another worker takes it. */
const graceMs = 1000;
const closePatienceMs = 3000;

/** A failure of one try. BullMQ stores the stack with the job, and this one has none worth keeping. */
class TryFailed extends Error {
  readonly retryAfterMs: number;
  constructor(problem: string, retryAfterMs = 0) {
    super(problem);
    this.name = 'TryFailed';
    this.retryAfterMs = retryAfterMs;
    this.stack = '';
  }
}

const giveUp = (problem: string): UnrecoverableError => {
  const error = new UnrecoverableError(problem);
  error.stack = '';
  return error;
};

/** After so many tries; a quarter more or less, so that what failed together does not come back together. */
export const backoffMs = (tries: number, { firstMs, factor, mostMs }: Backoff, random: number): number =>
  Math.round(Math.min(firstMs * factor ** (tries - 1), mostMs) * (0.75 + random / 2));

const isDelivered = (status: number): boolean => status >= 200 && status < 300;

/** The id is a header of the message. */
const isSendable = /^[\w-]+$/;

/** 410 Gone: Standard Webhooks lets a receiver say that it wants no more. It is believed for this message. */
const gone = 410;
const saysWhen: readonly number[] = [429, 503];

const problemOf = (result: DeliveryResult): string => {
  switch (result.kind) {
    case 'answered':
      return `HTTP ${result.status}`;
    case 'refused':
    case 'not-sent':
      return result.why;
    case 'unreachable':
      return `unreachable: ${result.cause}`;
  }
};

/** The error to fail with; undefined when it is delivered. */
const failureOf = (result: DeliveryResult): TryFailed | UnrecoverableError | undefined => {
  const problem = problemOf(result);
  if (result.kind === 'refused') return giveUp(problem);
  if (result.kind !== 'answered') return new TryFailed(problem);
  if (isDelivered(result.status)) return undefined;
  if (result.status === gone) return giveUp(problem);
  return new TryFailed(problem, saysWhen.includes(result.status) ? result.retryAfterMs : 0);
};

export const startCallbackWorkers = (options: CallbackWorkersOptions): CallbackWorkers => {
  const { shards, blocking, deliver, retention, now, log, onError } = options;
  const { random = Math.random, concurrency = 100, lockMs = 20_000, backoff = usualBackoff } = options;
  const most = Math.max(1, Math.floor((concurrency * shards.length) / 4));
  // A receiver that is slow has a fifth of them: several may hang at once, or one have many names.
  const mostWhenSlow = Math.max(1, Math.floor(most / 5));
  const places = createPlaces({ most, mostWhenSlow, mostInAll: Infinity, soonestMs: 2000 });

  const stopping = new AbortController();
  // Each delivery listens; that many are no leak.
  setMaxListeners(0, stopping.signal);

  const putOff = async (job: Job, token: string | undefined, ms: number): Promise<never> => {
    // BullMQ counts from the clock of this process, whatever time it then tells Redis.
    await job.moveToDelayed(Date.now() + ms, token);
    throw new DelayedError();
  };

  const deliverOnce = async (
    job: Job,
    data: CallbackJobData,
    token: string | undefined,
  ): Promise<{ readonly status: number }> => {
    const id = job.id ?? '';
    const tries = job.attemptsMade + 1;
    const result = await deliver(id, data, stopping.signal);
    if (stopping.signal.aborted && result.kind === 'unreachable') return putOff(job, token, 0);
    const failure = failureOf(result);
    if (failure === undefined) {
      const status = result.kind === 'answered' ? result.status : 0;
      log.delivered(id, tries, status);
      return { status };
    }
    const isLast = failure instanceof UnrecoverableError || tries >= (job.opts.attempts ?? 1);
    if (isLast) log.gaveUp(id, tries, failure.message);
    else log.undelivered(id, tries, failure.message);
    throw failure;
  };

  const step = async (job: Job, token: string | undefined): Promise<{ readonly status: number }> => {
    const read = callbackJobSchema.safeParse(job.data);
    // Other programs may add jobs here, too.
    if (!read.success) throw giveUp('The job data is not that of a callback');
    if (!isSendable.test(job.id ?? '')) throw giveUp('The job id is not that of a callback');
    const { apId, notBefore = 0 } = read.data;
    const early = notBefore - now();
    if (early > 0) return putOff(job, token, early);
    const free = places.take(apId);
    if (free === undefined) return putOff(job, token, places.turnIn(apId));
    try {
      return await deliverOnce(job, read.data, token);
    } finally {
      free();
    }
  };

  const backoffStrategy = (tries: number, _type?: string, error?: Error): number => {
    const usual = backoffMs(tries, backoff, random());
    const wanted = error instanceof TryFailed ? Math.min(error.retryAfterMs, backoff.mostMs) : 0;
    return Math.max(usual, wanted);
  };

  const workers = shards.map(
    ({ prefix }) =>
      new Worker(
        callbackQueueName,
        step,
        {
          connection: blocking,
          prefix,
          concurrency,
          lockDuration: lockMs,
          stalledInterval: lockMs / 2,
          maxStalledCount: Number.MAX_SAFE_INTEGER,
          removeOnComplete: { age: deliveredMs / 1000 },
          removeOnFail: { age: Math.ceil(retention.failedMs / 1000) },
          settings: { backoffStrategy },
          ...(options.telemetry !== undefined && { telemetry: options.telemetry }),
        },
        inRedisTime(now),
      ),
  );
  for (const worker of workers) worker.on('error', onError);

  // As in workers.ts: BullMQ drops old jobs only when another one ends.
  const cleaning = setInterval(() => {
    for (const { callbacks } of shards) {
      callbacks.queue.clean(graceOf(deliveredMs, now), cleanAtMost, 'completed').catch(onError);
      callbacks.queue.clean(graceOf(retention.failedMs, now), cleanAtMost, 'failed').catch(onError);
    }
  }, cleanEveryMs);
  cleaning.unref();

  return {
    ready: async () => {
      await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    },
    close: async () => {
      clearInterval(cleaning);
      const cutting = setTimeout(() => stopping.abort(), graceMs);
      await Promise.all(workers.map((worker) => settlesWithin(worker.close(), closePatienceMs)));
      clearTimeout(cutting);
    },
  };
};
