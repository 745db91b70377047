/**
 * The activities of a signature: find the device, ask it, verify an answer that came from
 * elsewhere. The chart says when each runs (machines/signature.machine.ts).
 *
 * Each may be cut off anywhere and run again by another worker. Devices show an attempt once.
 */
import { type SignatureContext, signatureMachine } from '../machines/signature.machine.ts';
import type {
  Ask,
  Asked,
  Choice,
  Chosen,
  Concluded,
  Verify,
} from '../machines/signature-activities.ts';
import {
  type ActivityArguments,
  activity,
  type InstanceInHand,
  type Workflow,
} from '../packages/engine/src/define.ts';
import type { InstanceStore } from '../packages/engine/src/redis/instance-store.ts';
import type { KeyCustody } from '../packages/pki/src/ports.ts';
import { type Checked, type Fault, fault, takenBackBy } from '../packages/protocol/src/fault.ts';
import { answerSchema, type DeviceAnswer, type Outcome } from '../packages/protocol/src/outcome.ts';
import type { Protocol } from '../packages/protocol/src/parse.ts';
import type { SignatureRequest } from '../packages/protocol/src/requests.ts';
import type { ApplicationProviders } from '../src/registry/application-providers.ts';
import type { OtherServices } from '../src/registry/other-services.ts';
import { type SubscriberRegistry, upstreamOf } from '../src/registry/subscriber.ts';
import type { PromptResult, SigningDevice, Told } from '../src/sscd/device.ts';
import type { Devices } from '../src/sscd/devices.ts';
import type { Answer } from '../src/transactions/answers.ts';
import { type DeviceLock, deviceKey } from '../src/transactions/device-lock.ts';
import {
  type Eligible,
  eligibility,
  obstacleTo,
  servicesOf,
  sscdFor,
  sscdOf,
} from '../src/transactions/eligibility.ts';
import { nonceOf } from '../src/transactions/ids.ts';
import { notBelieved } from '../src/transactions/outcomes.ts';
import type { Seals } from '../src/transactions/seal.ts';
import { defineSignature, type SignatureData } from '../src/transactions/signature-workflow.ts';
import { createVerifyOutcome } from '../src/transactions/verify-outcome.ts';
import type { StepLog } from './log.ts';
import type { Upstreams } from './upstreams.ts';

export interface SignatureActivitiesOptions {
  readonly place: { readonly shard: number; readonly shards: number };
  readonly protocol: Protocol;
  readonly providers: ApplicationProviders;
  readonly subscribers: SubscriberRegistry;
  readonly devices: Devices;
  readonly deviceLock: DeviceLock;
  readonly upstreams: Upstreams;
  readonly services?: Pick<OtherServices, 'trust'> | undefined;
  readonly custody: KeyCustody;
  readonly seals: Pick<Seals, 'seal' | 'fits'>;
  /** Ends the transaction, perhaps of another shard, whose App screen is taken over. */
  readonly answer: Answer;
  /** What is stored of a transaction of this shard. */
  readonly read: InstanceStore['read'];
  /** Whether the run of a workflow that has asked for the transaction no longer does. */
  readonly isWithdrawn: (id: string) => Promise<boolean>;
  readonly now: () => number;
  readonly log: StepLog;
  /** The version of the chart. Default: the latest. Open instances may need an earlier one. */
  readonly version?: number;
}

/**
 * A quarter of an hour: longer than a restart of the key custody. The person has signed, so the
 * last try comes soon after the end of the trouble.
 */
const verifyPolicy = { attempts: 450, backoffMs: 250, maxBackoffMs: 2000 };

/**
 * A turn that is younger than this has not stood still: its lock lasts for seconds, so nobody else
 * has had the job.
 */
const standsStillAfterMs = 250;

/** More rounds than requests ever compete for one phone. */
const takeOverRounds = 100;

/** The timeout of activities that need only this process and Redis: the CPU may be busy. */
const ownMs = (): number => 10_000;

const failed = (reason: Fault): Concluded => ({ kind: 'failed', fault: reason });
const failedUnasked = (reason: Fault): Asked => ({ kind: 'failed', fault: reason, isAsked: false });

const requestOf = ({ data }: InstanceInHand): SignatureRequest => (data as SignatureData).request;

export const createSignatureWorkflow = (options: SignatureActivitiesOptions): Workflow => {
  const {
    providers,
    subscribers,
    devices,
    deviceLock,
    upstreams,
    custody,
    seals,
    answer,
    now,
    log,
  } = options;
  const verifyOutcome = createVerifyOutcome(custody, options.services?.trust);

  const screenFor = (request: SignatureRequest, sscdId: string): string =>
    deviceKey(request.msisdn.number, sscdId);

  /**
   * @param from.isOwn The answer was made in this process, just now.
   * @param from.told  What another service knows that has asked the person.
   */
  const conclude = async (
    { id, data }: InstanceInHand,
    attempt: number,
    { chosen, subscriber }: Eligible,
    given: DeviceAnswer,
    { isOwn = false, told }: { readonly isOwn?: boolean; readonly told?: Told | undefined } = {},
  ): Promise<Concluded> => {
    if (given.kind === 'fault') return failed(given.fault);
    const { request } = data as SignatureData;
    const { validate } = request.services;
    const time = now();
    if (given.kind === 'signature' && (!isOwn || validate !== undefined)) {
      const claimed = {
        id,
        attempt,
        request,
        signature: given,
        gateway: told?.upstream.gateway,
        at: time,
      };
      const invalid = await verifyOutcome(claimed);
      if (invalid?.code === 900) log.trouble(notBelieved(id));
      if (invalid !== undefined) return failed(invalid);
    }
    const profile = told?.profile ?? chosen.answerProfile;
    const sscd = told === undefined ? chosen.sscd : (sscdFor(subscriber, profile) ?? chosen.sscd);
    const outcome: Outcome = {
      ...given,
      profile,
      ...(sscd !== undefined && { sscdId: sscd.id }),
      ...(validate !== undefined && given.kind === 'signature' && { validated: true as const }),
      ...(told === undefined
        ? servicesOf(request, { chosen, subscriber }, time)
        : { ...told.services, upstream: told.upstream }),
    };
    return {
      kind: 'signed',
      outcome: { ...outcome, seal: seals.seal({ id, attempt, request, outcome }) },
    };
  };

  /**
   * Gets the screen of a person's device.
   *
   * @param isShown The prompt was shown, so a newer one that has the screen has replaced it.
   * @returns A fault when it is taken.
   */
  const claimScreen = async (
    { id, data }: InstanceInHand,
    { attempt, deadline }: Ask,
    { chosen: { sscd } }: Eligible,
    device: SigningDevice,
    isShown: boolean,
  ): Promise<Fault | undefined> => {
    if (!device.screen || sscd === undefined) return undefined;
    const screen = screenFor((data as SignatureData).request, sscd.id);
    const me = { transactionId: id, attempt };
    for (let round = 0; round < takeOverRounds; round += 1) {
      const held = await deviceLock.claim(screen, me, deadline);
      if (held === undefined) return undefined;
      // An attempt that failed without a turn has not released it.
      const isBefore = held.transactionId === id && held.attempt < attempt;
      if (isBefore && (await deviceLock.takeOver(screen, held, me, deadline))) return undefined;
      if (sscd.kind === 'sim') return fault(406);
      if (isShown) return takenBackBy.newerRequest;
      // The old transaction ends first. After a crash here its screen is just unused.
      await answer(held.transactionId, held.attempt, {
        kind: 'fault',
        fault: takenBackBy.newerRequest,
      });
      if (await deviceLock.takeOver(screen, held, me, deadline)) {
        // It may have been asked a moment ago, while it still had the screen: end it again.
        await answer(held.transactionId, held.attempt, {
          kind: 'fault',
          fault: takenBackBy.newerRequest,
        });
        return undefined;
      }
    }
    throw new Error('The screen of a device changes hands too fast');
  };

  /** Releases the screen of an attempt that has ended: its release may have preceded the claim. */
  const giveBack = async (
    instance: InstanceInHand,
    { attempt }: Ask,
    { chosen: { sscd } }: Eligible,
  ): Promise<void> => {
    if (sscd === undefined) return;
    const screen = screenFor(requestOf(instance), sscd.id);
    await deviceLock.release(screen, { transactionId: instance.id, attempt });
  };

  /**
   * What has become of the attempt since its job was taken, where the process may have stood still.
   *
   * @returns `judge`: an event waits, which may end it.
   */
  const standingOf = async ({
    instance,
    input,
  }: ActivityArguments<Ask>): Promise<'open' | 'over' | 'judge'> => {
    const takenForMs = now() - instance.takenAt;
    // It is negative when the clock was set.
    if (takenForMs >= 0 && takenForMs < standsStillAfterMs) return 'open';
    const read = () => options.read(instance.id);
    // Not asked yet, so there is time: an error would end the attempt.
    const stored = await read().catch(read).catch(read);
    const { attempt, history } =
      (Object(stored?.record) as { readonly context?: SignatureContext }).context ?? {};
    if (stored?.finishedOn !== undefined || attempt !== input.attempt) return 'over';
    if (history?.at(-1)?.state !== 'pending') return 'over';
    return stored?.inbox.length === 0 ? 'open' : 'judge';
  };

  /**
   * A device that signs by itself is asked in the first turn. While a worker that died or stands
   * still holds the job, no event reaches it, so what took the request back left a note
   * (sign-activity.ts). It is looked for only when the ask comes later than usual.
   */
  const isLeftBehind = async ({ id, data, createdAt }: InstanceInHand): Promise<boolean> =>
    (data as SignatureData).answerTo !== undefined &&
    now() - createdAt >= standsStillAfterMs &&
    options.isWithdrawn(id);

  const prompt = (
    given: ActivityArguments<Ask>,
    { chosen: { sscd }, subscriber }: Eligible,
    device: SigningDevice,
  ): Promise<PromptResult> => {
    const { id, data } = given.instance;
    const { attempt, deadline, promptedAt = now() } = given.input;
    const { request } = data as SignatureData;
    return device.prompt({
      transactionId: id,
      attempt,
      apId: request.caller.apId,
      msisdn: request.msisdn.number,
      subscriber,
      sscd,
      data: request.data,
      nonce: nonceOf(id, attempt),
      language: request.services.userLang?.language ?? subscriber?.language,
      promptedAt,
      now: now(),
      deadline,
      // Reading the signal has its price.
      ...(device.upstream !== undefined && { request, signal: given.signal }),
    });
  };

  const askedBy = async (
    given: ActivityArguments<Ask>,
    eligible: Eligible,
    device: SigningDevice,
    isOwn: boolean,
  ): Promise<Asked> => {
    const { instance, input: ask } = given;
    const request = requestOf(instance);
    const result = await prompt(given, eligible, device);
    switch (result.kind) {
      case 'answered':
        return conclude(instance, ask.attempt, eligible, result.answer, {
          isOwn,
          told: result.told,
        });
      case 'awaiting':
        if (result.unanswered !== undefined) {
          log.unreachable(instance.id, ask.attempt, ask.failures + 1, result.unanswered, request);
          return { kind: 'awaiting', againAt: result.askAgainAt, isUnanswered: true };
        }
        if (!ask.isAsked) log.asked(instance.id, ask.attempt, request, result.upstream);
        return { kind: 'awaiting', againAt: result.askAgainAt };
      case 'unreachable':
        log.unreachable(instance.id, ask.attempt, ask.failures + 1, result.cause, request);
        return { kind: 'unreachable', ...(result.refused && { isRefused: true }) };
    }
  };

  const eligibleFor = async ({
    instance,
    input,
  }: ActivityArguments<Ask>): Promise<Checked<Eligible>> => {
    const request = requestOf(instance);
    // What the former owner of the number was asked is not for the eyes of the next one.
    if (instance.createdAt < custody.ownerOf(request.msisdn.number).since)
      return { ok: false, fault: fault(404, 'The number has a new owner since the request') };
    const allowed = providers.checkStored(request);
    return allowed.ok ? eligibility(request, subscribers, input.chosen) : allowed;
  };

  const choose = async (given: ActivityArguments<Ask>): Promise<Choice> => {
    const { instance, input: ask } = given;
    const eligible = await eligibleFor(given);
    if (!eligible.ok) return failed(eligible.fault);
    const obstacle = obstacleTo(requestOf(instance), eligible.value);
    if (obstacle !== undefined) return failed(obstacle);
    const method = eligible.value.chosen;
    const device = devices.deviceFor(method);
    const { sscd } = method;
    const chosen: Chosen = {
      profile: method.answerProfile,
      ...(sscd !== undefined && { sscdId: sscd.id }),
      ...(device.screen && { screen: true }),
      ...(device.upstream !== undefined && { upstream: device.upstream.origin }),
    };
    if (!device.screen && device.upstream === undefined) {
      if (await isLeftBehind(instance)) return failed(takenBackBy.workflow);
      const asked = await askedBy(given, eligible.value, device, true);
      return asked.kind === 'awaiting' || asked.kind === 'unreachable'
        ? { ...asked, chosen }
        : asked;
    }
    const busy = await claimScreen(instance, ask, eligible.value, device, false);
    if (busy !== undefined) return failed(busy);
    if (given.signal.aborted) await giveBack(instance, ask, eligible.value);
    return { kind: 'ask', chosen };
  };

  const askChosen = async (given: ActivityArguments<Ask>): Promise<Asked> => {
    const { instance, input: ask } = given;
    const eligible = await eligibleFor(given);
    if (!eligible.ok) return failedUnasked(eligible.fault);
    const device = devices.deviceFor(eligible.value.chosen);
    const busy = await claimScreen(instance, ask, eligible.value, device, true);
    if (busy !== undefined) return failedUnasked(busy);
    const standing = given.signal.aborted ? 'over' : ask.isAsked ? 'open' : await standingOf(given);
    if (standing === 'judge') return { kind: 'unreachable', isAsked: false };
    if (standing === 'over') {
      await giveBack(instance, ask, eligible.value);
      return { kind: 'awaiting', isAsked: false };
    }
    return askedBy(given, eligible.value, device, false);
  };

  return defineSignature({
    ...options,
    onPlanted: (id) => log.trouble(notBelieved(id)),
    chart: signatureMachine.provide({
      actors: {
        choose: activity<Ask, Choice>(choose, { turnWaitsMs: ownMs }),
        ask: activity<Ask, Asked>(askChosen, {
          gate: {
            turn: (input, instance) => {
              const { upstream } = (input as Ask).chosen ?? {};
              if (upstream === undefined) return { kind: 'place', end: () => undefined };
              return upstreams.turn(upstream, requestOf(instance).caller.apId);
            },
            verdictOf: (output) => {
              const asked = output as Asked;
              if ('isAsked' in asked) return 'not-asked';
              if ('isUnanswered' in asked) return 'failed';
              return asked.kind === 'unreachable' && !asked.isRefused ? 'failed' : 'answered';
            },
          },
          afterCommit: (input) => !(input as Ask).isAsked,
          turnWaitsMs: (input) => {
            const { upstream } = (input as Ask).chosen ?? {};
            return upstream === undefined ? ownMs() : upstreams.turnWaitsMs(upstream);
          },
        }),
        verify: activity<Verify, Concluded>(
          async ({ input: { attempt, chosen, answer: given }, instance }) => {
            const eligible = await eligibility(requestOf(instance), subscribers, chosen);
            if (!eligible.ok) return failed(eligible.fault);
            const { data: answered } = answerSchema.safeParse(given);
            const { sscd } = eligible.value.chosen;
            // Other programs may write anything, such as a delivery for a device that signs. What
            // is at another service is heard from that alone: no nonce binds its signatures to us.
            const isDevices =
              answered?.kind === 'delivered'
                ? sscd === undefined
                : sscd === undefined || upstreamOf(sscd) === undefined;
            if (answered !== undefined && isDevices)
              return conclude(instance, attempt, eligible.value, answered);
            log.trouble(notBelieved(instance.id));
            return failed(fault(900));
          },
          {
            ...verifyPolicy,
            turnWaitsMs: ownMs,
            // It only reads. Should the answer change because of a crash, the other one is
            // verified, too.
            afterCommit: () => false,
          },
        ),
      },
      actions: {
        releaseScreen: async (args, { sscdId, attempt }) => {
          const { instance } = args as unknown as { readonly instance: InstanceInHand };
          const request = requestOf(instance);
          const shown = { transactionId: instance.id, attempt };
          await deviceLock.release(screenFor(request, sscdId), shown);
          const { number: msisdn } = request.msisdn;
          const sscd = sscdOf(await subscribers.find(msisdn), sscdId);
          const device = sscd && devices.deviceFor({ method: sscd.kind, sscd });
          await device?.withdraw?.({ ...shown, msisdn });
        },
      },
    }),
  });
};
