/**
 * The activity `sign` of workflows: an ordinary transaction of the application.
 *
 * The id of the transaction follows from the run of the activity, so a second try joins the first.
 * The job holds the token of the activity, and the worker of the signature answers with it before
 * the job ends (sign-run.ts). A job may also end without a turn. So the activity is
 * tried again after the deadline, and finds the end. Both believe only a job that asks the person
 * for what the run asks (asked-run.ts).
 *
 * When the chart leaves the state, the transaction is cancelled. A try in a process that was paused
 * may come later than that. So `withdraw` leaves a note first, and a transaction with such a note
 * is not added (src/transactions/jobs/fair-adding.ts). A try that answers without a transaction does the same:
 * the chart goes on, and another try of the run may still be about to add one.
 */
import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { PromiseActorLogic } from 'xstate';
import {
  type ActivityArguments,
  activity,
  type Gate,
  type InstanceInHand,
  type Later,
  later,
} from '../../../packages/engine/src/define.ts';
import { BusyError, type Engine, turnBusyTimeoutMs } from '../../../packages/engine/src/engine.ts';
import { type Fault, fault, takenBackBy } from '../../../packages/protocol/src/fault.ts';
import type { Protocol } from '../../../packages/protocol/src/parse.ts';
import type { SignatureRequest } from '../../../packages/protocol/src/requests.ts';
import { defaultTimeoutSeconds } from '../../../packages/protocol/src/write-request.ts';
import type { RedisClient } from '../../../src/redis/connect.ts';
import type { ApplicationProviders } from '../../../src/registry/application-providers.ts';
import type { RateLimit, RateLimiter } from '../../../src/registry/rate-limiter.ts';
import type { SubscriberRegistry } from '../../../src/registry/subscriber.ts';
import { createSendOrder } from '../../../src/transactions/answers.ts';
import { endRecordSchema } from '../../../src/transactions/contract.ts';
import { eligibility } from '../../../src/transactions/eligibility.ts';
import { transactionOfRun } from '../../../src/transactions/ids.ts';
import { takenBackKey } from '../../../src/transactions/jobs/fair-adding.ts';
import { tenantOfInstance } from '../../../src/transactions/jobs/instance-ids.ts';
import { notBelieved } from '../../../src/transactions/outcomes.ts';
import { type Shard, shardFor } from '../../../src/transactions/shards.ts';
import { createSubmitFor, type FindTransaction } from '../../../src/transactions/transactions.ts';
import type { SignAsk, SignResult } from '../charts/service-activities.ts';
import { apIdOf, isObject, lookAgainAfterMs, noInput } from './asked-run.ts';
import type { SignRoom } from './sign-room.ts';
import { createAsk, failedBy, isAskedBy, signedWith } from './sign-run.ts';
import { untilRedisAnswers } from './until-redis.ts';

/** How often all workflows together may ask one number. */
const promptsOfOne: RateLimit = { requests: 6, perSeconds: 60 };
/** Longer than a process is paused, and than the tries of another one go on. */
const withdrawnSeconds = 3600;
/**
 * Shorter, because the run goes on when the process of the try dies before its answer is stored.
 * Longer than processes are usually paused.
 */
const unaddedSeconds = 120;
const maxApIds = 10_000;

const firstSpreadMs = 10_000;
const maxSpreadMs = 30 * 60_000;

/**
 * When a signer who was refused a prompt tries again. Many may wait for one number, and all of them
 * are told the same seconds. So each tries at a random time after these, in a span that doubles
 * each time.
 *
 * @param seconds Until the number may have a prompt again.
 * @param before How often in a row this signer was refused before.
 * @param random From 0 to 1.
 * @returns Milliseconds from now.
 */
export const limitedPauseMs = (seconds: number, before: number, random: number): number =>
  Math.ceil(seconds * 1000 + random * Math.min(firstSpreadMs * 2 ** before, maxSpreadMs));

export interface SignActivityOptions {
  readonly shards: readonly Shard[];
  readonly redis: RedisClient;
  readonly protocol: Protocol;
  readonly providers: Pick<ApplicationProviders, 'checkStored'>;
  readonly subscribers: SubscriberRegistry;
  readonly limiter: RateLimiter;
  readonly room: SignRoom;
  /** Host part of profile URIs. */
  readonly authority: string;
  readonly find: FindTransaction;
  /** The engine of workflows. */
  readonly engine: Pick<Engine, 'find'>;
  readonly now: () => number;
  /**
   * Gets {@link notBelieved} for a job under the id of the transaction that asks something else.
   */
  readonly onError: (error: Error) => void;
}

/**
 * @param waits Whether the activity itself waits while the number has had its prompts: that of
 *   charts of one's own. That of a part is answered `limited`, keeps what proves a signature, and
 *   its input names the application.
 */
export const createSignActivity = (
  options: SignActivityOptions,
  waits: boolean,
): PromiseActorLogic<SignResult, SignAsk> => {
  const { shards, redis, protocol, providers, subscribers, limiter, room } = options;
  const { find, now, onError } = options;
  const ask = createAsk(options);
  const submit = createSubmitFor(options);
  const sends = new Map(
    shards.map(
      (shard) =>
        [
          shard,
          createSendOrder(shard.signatures, { protocol, now, timeoutMs: turnBusyTimeoutMs }),
        ] as const,
    ),
  );
  const noteOf = (id: string): string =>
    shardFor(shards, id)?.signatures.queue.toKey(takenBackKey(id)) ?? '';

  /** @returns Undefined when nothing was added under this id. */
  const look = async (
    id: string,
    asked: SignatureRequest,
  ): Promise<SignResult | Later | undefined> => {
    const job = await shardFor(shards, id)?.signatures.jobs.read(id);
    if (job === undefined) return undefined;
    const view = await find(id);
    if (view !== undefined && !isAskedBy(asked, view.request)) {
      onError(notBelieved(id));
      return failedBy(fault(900));
    }
    switch (view?.state.kind) {
      case 'open':
        return later;
      case 'signed': {
        const { attempt = 1, outcome } = endRecordSchema.safeParse(job.returnValue).data ?? {};
        return signedWith(outcome, !waits, { msspTransId: id, at: job.finishedOn ?? 0, attempt });
      }
      default:
        return failedBy(view?.state.fault ?? fault(900), id);
    }
  };

  /** @returns The answer of a try that has added nothing, unless another one has. */
  const unadded = async (
    id: string,
    asked: SignatureRequest,
    answer: SignResult,
  ): Promise<SignResult | Later> => {
    await redis.set(noteOf(id), '1', 'EX', unaddedSeconds);
    return (await look(id, asked)) ?? answer;
  };

  /** By the part of the ids that stands for an application. */
  const apIds = new Map<string, string>();

  const noteApId = (instance: InstanceInHand): string => {
    const apId = apIdOf(instance);
    if (apIds.size >= maxApIds) apIds.clear();
    apIds.set(tenantOfInstance(instance.id), apId);
    return apId;
  };

  /** A chart of one's own may pass on what somebody else has written, so only ours is believed. */
  const givenApId = (input: unknown): string | undefined => {
    const { apId } = Object(input) as Partial<SignAsk>;
    return !waits && typeof apId === 'string' ? apId : undefined;
  };

  /** Only looks: a try that waits for the number takes no room. */
  const gate: Gate = {
    turn: (input, { id }) => {
      // That of a chart of one's own is read by the first try.
      const apId = givenApId(input) ?? apIds.get(tenantOfInstance(id));
      const ms = apId === undefined ? 0 : room.look(apId);
      return ms === 0 ? { kind: 'place', end: () => undefined } : { kind: 'wait', ms };
    },
  };

  /** The same checks as over HTTP, after those of the form. */
  const check = async (request: SignatureRequest): Promise<Fault | undefined> => {
    if (request.profile.name.includes('Otp')) return fault(109, 'The profile gives no signature');
    const allowed = providers.checkStored(request);
    if (!allowed.ok) return allowed.fault;
    const eligible = await eligibility(request, subscribers);
    return eligible.ok ? undefined : eligible.fault;
  };

  const cancel = async (id: string): Promise<void> => {
    const shard = shardFor(shards, id);
    const send = shard && sends.get(shard);
    // Such a transaction is not replayed, so its first attempt is the only one.
    const order = { type: 'CANCEL', attempt: 1, fault: takenBackBy.workflow } as const;
    if ((await send?.(id, 'withdraw', order, { judged: false })) === 'busy') throw new BusyError();
  };

  const sign = async (given: ActivityArguments<SignAsk>): Promise<SignResult | Later> => {
    const { input, instance, token, signal } = given;
    if (!isObject(input)) return failedBy(noInput);
    const apId = givenApId(input) ?? noteApId(instance);
    const asked = ask(given, input, apId);
    const id = transactionOfRun(token, shards.length);
    if (!asked.ok) {
      await redis.set(noteOf(id), '1', 'EX', unaddedSeconds);
      return failedBy(asked.fault);
    }
    const { request, wire } = asked.value;
    const found = await look(id, request);
    if (found !== undefined) return found;
    const refused = await check(request);
    if (refused !== undefined) return unadded(id, request, failedBy(refused));
    const key = `prompts:${hash('sha256', request.msisdn.number)}`;
    for (;;) {
      for (let ms = room.take(apId); ms > 0; ms = room.take(apId))
        await delay(ms, undefined, { signal });
      let isAdded = false;
      let seconds: number;
      try {
        seconds = await limiter.takeOrWait(key, promptsOfOne);
        if (seconds === 0) {
          await submit(id, wire, token);
          isAdded = true;
          return later;
        }
      } finally {
        room.end(apId, isAdded);
      }
      if (!waits) {
        const pauseMs = limitedPauseMs(seconds, input.limited ?? 0, Math.random());
        return unadded(id, request, { kind: 'limited', until: now() + pauseMs });
      }
      await delay(seconds * 1000, undefined, { signal });
    }
  };

  return activity<SignAsk, SignResult>(sign, {
    ...untilRedisAnswers,
    gate,
    // Otherwise a state that was never stored could have asked somebody.
    afterCommit: () => true,
    turnWaitsMs: () => 200,
    lookAgainMs: (input) =>
      ((Object(input) as Partial<SignAsk>).timeoutSeconds ?? defaultTimeoutSeconds) * 1000 +
      lookAgainAfterMs,
    withdraw: async ({ token }) => {
      const id = transactionOfRun(token, shards.length);
      await redis.set(noteOf(id), '1', 'EX', withdrawnSeconds);
      await cancel(id);
    },
  });
};
