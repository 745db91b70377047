/**
 * Delivers callbacks: one instance of the chart (callback.machine.ts) for each end of a
 * transaction that an application subscribes to. A try may be cut off and made again, so a message
 * may come twice, under the same id.
 *
 * A receiver that hangs holds a connection until the timeout. So each application gets a part of
 * the slots only; further tries are put off (tenant-concurrency.ts) and do not count.
 */
import type { Telemetry } from 'bullmq';
import { activity } from '../../packages/engine/src/define.ts';
import type { Observation } from '../../packages/engine/src/interpret.ts';
import { toError } from '../../packages/engine/src/redis/to-error.ts';
import { startWorkflowWorker } from '../../packages/engine/src/worker.ts';
import { type PostResult, problemOf } from '../../src/http/outgoing/post.ts';
import type { RedisClient } from '../../src/redis/connect.ts';
import type { Shard } from '../../src/transactions/shards.ts';
import { createTenantConcurrency } from '../../workers/tenant-concurrency.ts';
import {
  type CallbackMessage,
  type CallbackTold,
  type CallbackTry,
  callbackMachine,
  type TryResult,
} from './callback.machine.ts';
import { defineCallbacks } from './callback.workflow.ts';
import { callbacksOf } from './queue.ts';

/** Posts a message. An error of the receiver is a result, and no rejection. */
export type Deliver = (id: string, data: CallbackMessage, stop: AbortSignal) => Promise<PostResult>;

/** The log of callbacks. The id of a callback begins with that of its transaction. */
export interface CallbackLog {
  delivered(id: string, tries: number, status: string): void;
  /** Another try follows. */
  undelivered(id: string, tries: number, problem: string): void;
  /** Called after the last try has failed. Only a replay by an operator brings another one. */
  gaveUp(id: string, tries: number, problem: string): void;
}

export interface Backoff {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
}

/**
 * The usual pauses. Ten tries have pauses of 5 s, 15 s, 48 s, 2.5 min, 8 min, 24 min, 74 min, 3.8 h
 * and 12 h; together some 17 hours.
 */
export const usualBackoff: Backoff = { firstMs: 5000, factor: 3.1, maxMs: 12 * 3_600_000 };

export interface CallbackWorkersOptions {
  readonly shards: readonly Shard[];
  readonly blocking: RedisClient;
  readonly deliver: Deliver;
  readonly retention: { readonly failedMs: number };
  readonly now: () => number;
  readonly random?: () => number;
  readonly log: CallbackLog;
  readonly onError: (error: Error) => void;
  /** The concurrency for one shard in one process. Default 100. */
  readonly concurrency?: number;
  /**
   * Time without a renewal after which a worker counts as dead. It must be longer than a delivery.
   * Default 20 s.
   */
  readonly lockMs?: number;
  readonly backoff?: Backoff;
  readonly telemetry?: Telemetry | undefined;
}

/**
 * The retention of delivered callbacks. An existing job prevents a second callback for an end that
 * is found late (follower.ts).
 */
const deliveredMs = 2 * 86_400_000;

/**
 * The pause after a number of tries, plus or minus a random quarter, so that failed tries are not
 * repeated all at once.
 */
export const backoffMs = (
  tries: number,
  { firstMs, factor, maxMs }: Backoff,
  random: number,
): number => Math.round(Math.min(firstMs * factor ** (tries - 1), maxMs) * (0.75 + random / 2));

/**
 * The status 410 Gone, by which a receiver refuses further tries (Standard Webhooks). It counts for
 * this message only.
 */
const gone = 410;
const retryAfterStatuses: readonly number[] = [429, 503];

export const startCallbackWorkers = (options: CallbackWorkersOptions) => {
  const { shards, blocking, deliver, retention, now, log, onError } = options;
  const {
    random = Math.random,
    concurrency = 100,
    lockMs = 20_000,
    backoff = usualBackoff,
  } = options;
  const max = Math.max(1, Math.floor((concurrency * shards.length) / 4));
  // A slow receiver gets a fifth: several may hang at once, or one may have many names.
  const maxWhenSlow = Math.max(1, Math.floor(max / 5));
  const tenants = createTenantConcurrency({
    max,
    maxWhenSlow,
    maxTotal: Infinity,
    minWaitMs: 2000,
  });

  const resultOf = (tries: number, result: PostResult): TryResult => {
    const problem = problemOf(result);
    const pauseMs = backoffMs(tries, backoff, random());
    if (result.kind === 'refused') return { kind: 'refused', problem };
    if (result.kind !== 'answered') return { kind: 'failed', problem, pauseMs };
    const { status, retryAfterMs = 0 } = result;
    if (status >= 200 && status < 300) return { kind: 'delivered', status };
    if (status === gone) return { kind: 'refused', problem };
    const wantedMs = retryAfterStatuses.includes(status)
      ? Math.min(retryAfterMs, backoff.maxMs)
      : 0;
    return { kind: 'failed', problem, pauseMs: Math.max(pauseMs, wantedMs) };
  };

  /** Turns a bug into a failed try: after an error of the chart no replay would be possible. */
  const notSent = (error: unknown): PostResult => {
    onError(toError(error));
    return { kind: 'not-sent', why: 'an error of this service' };
  };

  const workflow = defineCallbacks(
    callbackMachine.provide({
      actors: {
        deliver: activity<CallbackTry, TryResult>(
          async ({ input: { id, data, number }, signal }) =>
            resultOf(number, await deliver(id, data, signal).catch(notSent)),
          { gate: { turn: (input) => tenants.turn((input as CallbackTry).data.apId) } },
        ),
      },
    }),
  );

  const observe = (id: string, observation: Observation): void => {
    if (observation.kind !== 'action') return;
    const { what, tries, result } = observation.params as CallbackTold;
    log[what](id, tries, result);
  };

  const workers = shards.map((shard) =>
    startWorkflowWorker({
      queue: callbacksOf(shard).queue,
      connection: blocking,
      workflows: [workflow],
      concurrency,
      observe,
      now,
      onError,
      holdMs: lockMs,
      retention: { doneMs: deliveredMs, failedMs: retention.failedMs },
      worker: {
        lockDuration: lockMs,
        stalledInterval: lockMs / 2,
        ...(options.telemetry !== undefined && { telemetry: options.telemetry }),
      },
    }),
  );

  return {
    ready: async (): Promise<void> => {
      await Promise.all(workers.map((worker) => worker.ready()));
    },
    close: async (): Promise<void> => {
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
};
