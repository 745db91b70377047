/**
 * Delivers callbacks: one instance of the chart (machines/callback.machine.ts) for each end of a transaction that an application
 * provider wants to hear of. A try may be cut off anywhere and made again, so a message may come twice, under the same id.
 *
 * A receiver that hangs holds its connection for as long as it is given. So that it does not keep others waiting, an
 * application has a part of the places only; what is beyond is put off (places.ts), which costs none of its tries.
 */
import type { Telemetry } from 'bullmq';
import { z } from 'zod';
import {
  type CallbackContext,
  type CallbackData,
  type CallbackInput,
  type CallbackTold,
  type CallbackTry,
  callbackMachine,
  callbackSchema,
  callbackVersion,
  type TryResult,
} from '../machines/callback.machine.ts';
import { activity, defineWorkflow, type GateTurn } from '../src/engine/define.ts';
import type { Observation } from '../src/engine/interpret.ts';
import { graceOf } from '../src/engine/redis/redis-time.ts';
import { startWorkflowWorker } from '../src/engine/worker.ts';
import type { RedisClient } from '../src/redis/connect.ts';
import { toError } from '../src/redis/to-error.ts';
import type { Shard } from '../src/transactions/shards.ts';
import { createPlaces } from './places.ts';

export const callbackJobName = 'callback';

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
export type Deliver = (id: string, data: CallbackData, stop: AbortSignal) => Promise<DeliveryResult>;

/** Callbacks are named by id, which begins with that of the transaction. */
export interface CallbackLog {
  delivered(id: string, tries: number, status: string): void;
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
/** After so many tries; a quarter more or less, so that what failed together does not come back together. */
export const backoffMs = (tries: number, { firstMs, factor, mostMs }: Backoff, random: number): number =>
  Math.round(Math.min(firstMs * factor ** (tries - 1), mostMs) * (0.75 + random / 2));

const isDelivered = (status: number): boolean => status >= 200 && status < 300;

/** The id is a header of the message. */
const sendableId = z.string().regex(/^[\w-]+$/);

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

export const startCallbackWorkers = (options: CallbackWorkersOptions): CallbackWorkers => {
  const { shards, blocking, deliver, retention, now, log, onError } = options;
  const { random = Math.random, concurrency = 100, lockMs = 20_000, backoff = usualBackoff } = options;
  const most = Math.max(1, Math.floor((concurrency * shards.length) / 4));
  // A receiver that is slow has a fifth of them: several may hang at once, or one have many names.
  const mostWhenSlow = Math.max(1, Math.floor(most / 5));
  const places = createPlaces({ most, mostWhenSlow, mostInAll: Infinity, soonestMs: 2000 });

  const resultOf = (tries: number, result: DeliveryResult): TryResult => {
    const problem = problemOf(result);
    const pauseMs = backoffMs(tries, backoff, random());
    if (result.kind === 'refused') return { kind: 'refused', problem };
    if (result.kind !== 'answered') return { kind: 'failed', problem, pauseMs };
    const { status, retryAfterMs = 0 } = result;
    if (isDelivered(status)) return { kind: 'delivered', status };
    if (status === gone) return { kind: 'refused', problem };
    const wantedMs = saysWhen.includes(status) ? Math.min(retryAfterMs, backoff.mostMs) : 0;
    return { kind: 'failed', problem, pauseMs: Math.max(pauseMs, wantedMs) };
  };

  /** A bug. As an error of the chart it would end a callback in a way that nobody can replay. */
  const notSent = (error: unknown): DeliveryResult => {
    onError(toError(error));
    return { kind: 'not-sent', why: 'an error of this service' };
  };

  const workflow = defineWorkflow({
    name: callbackJobName,
    version: callbackVersion,
    chart: callbackMachine.provide({
      actors: {
        deliver: activity<CallbackTry, TryResult>(
          async ({ input: { id, data, number }, signal }) =>
            resultOf(number, await deliver(id, data, signal).catch(notSent)),
          { gate: { turn: (input) => placeOf((input as CallbackTry).data.apId) } },
        ),
      },
    }),
    input: callbackSchema,
    begin: (data: CallbackData, { id, at, attempts }): CallbackInput => ({
      id: sendableId.parse(id),
      data,
      most: attempts,
      pauseMs: Math.max((data.notBefore ?? 0) - at, 0),
    }),
    observe: ['tell'],
    reasonOf: ({ problem }: CallbackContext) => problem ?? '',
  });

  const placeOf = (apId: string): GateTurn => {
    const free = places.take(apId);
    return free === undefined
      ? { kind: 'wait', ms: places.turnIn(apId) }
      : { kind: 'place', end: () => free() };
  };

  const observe = (id: string, observation: Observation): void => {
    if (observation.kind !== 'action') return;
    const { what, tries, result } = observation.params as CallbackTold;
    log[what](id, tries, result);
  };

  const workers = shards.map(({ callbacks: { queue } }) =>
    startWorkflowWorker({
      queue,
      connection: blocking,
      workflows: [workflow],
      concurrency,
      observe,
      now,
      onTrouble: onError,
      holdMs: lockMs,
      worker: {
        lockDuration: lockMs,
        stalledInterval: lockMs / 2,
        removeOnComplete: { age: deliveredMs / 1000 },
        removeOnFail: { age: Math.ceil(retention.failedMs / 1000) },
        ...(options.telemetry !== undefined && { telemetry: options.telemetry }),
      },
    }),
  );

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
      await Promise.all(workers.map((worker) => worker.ready()));
    },
    close: async () => {
      clearInterval(cleaning);
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
};
