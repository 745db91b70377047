/**
 * One step of a signature: take the job, find out where it stands, ask the device, and end it or let it sleep.
 *
 * A step is a function of what is stored. It may be cut off anywhere and run again by another worker: devices show an
 * attempt once, decisions are first-writer-wins, and every write is fenced by the job's lock.
 *
 * A device that answers at once (a robot) costs no write between taking the job and ending it. A device that makes us
 * wait is first recorded as asked, under the lock, because from then on an answer may come from elsewhere. One that has an
 * upstream is asked while the job sleeps, and its answer comes like one from elsewhere.
 */
import { DelayedError } from 'bullmq';
import type { Outcome } from '../machines/outcome.ts';
import { advance, type SignatureRecord } from '../machines/record.ts';
import type { KeyCustody } from '../src/pki/ports.ts';
import { type Fault, fault } from '../src/protocol/fault.ts';
import type { Protocol } from '../src/protocol/parse.ts';
import type { ApplicationProviders } from '../src/registry/application-providers.ts';
import type { SubscriberRegistry } from '../src/registry/subscriber.ts';
import type { DeviceAnswer, Prompt, PromptResult, SigningDevice, Upstream } from '../src/sscd/device.ts';
import type { Devices } from '../src/sscd/devices.ts';
import type { Answer } from '../src/transactions/answers.ts';
import type { Decision } from '../src/transactions/contract.ts';
import { type Eligible, eligibility, obstacleTo, servicesOf } from '../src/transactions/eligibility.ts';
import { nonceOf } from '../src/transactions/ids.ts';
import { wakeAt } from '../src/transactions/job-home.ts';
import { notBelieved } from '../src/transactions/outcomes.ts';
import { type Screens, screenOf } from '../src/transactions/screens.ts';
import type { Seals } from '../src/transactions/seal.ts';
import type { QueueAt } from '../src/transactions/shards.ts';
import { createTrial } from '../src/transactions/trial.ts';
import { guardStep } from './guard.ts';
import type { StepLog } from './log.ts';
import { fail, leaveToOthers, saveOrStop, sleep } from './rest.ts';
import {
  leftAloneUntil,
  type Place,
  type Run,
  readJob,
  type SignatureJob,
  signatureDeadline,
  takeUp,
} from './taking.ts';
import type { Upstreams } from './upstreams.ts';

export interface SignatureStepOptions {
  readonly at: QueueAt;
  readonly place: Place;
  readonly protocol: Protocol;
  readonly providers: ApplicationProviders;
  readonly subscribers: SubscriberRegistry;
  readonly devices: Devices;
  readonly screens: Screens;
  readonly upstreams: Upstreams;
  readonly custody: KeyCustody;
  readonly seals: Pick<Seals, 'seal'>;
  /** To end a transaction, perhaps of another shard, whose App screen is taken over. */
  readonly answer: Answer;
  readonly now: () => number;
  readonly log: StepLog;
}

export type SignatureStep = (job: SignatureJob, token: string) => Promise<SignatureRecord>;

/** Between tries to reach a device: doubling from 250 ms, at most 8 s. */
const deliveryBackoffMs = (failures: number): number => Math.min(250 * 2 ** Math.min(failures - 1, 5), 8000);

/** A job sleeps for so much longer than a call to an upstream may last, so that it is asked again only when its answer is lost. */
const callMarginMs = 1000;

/** How long a job of a newer release is left before another look, which may be that of a newer worker. */
const laterWorkerMs = 500;

/** More rounds than ever compete for one phone; beyond them something is wrong. */
const takeOverRounds = 100;

export const createSignatureStep = (options: SignatureStepOptions): SignatureStep => {
  const {
    at,
    place,
    protocol,
    providers,
    subscribers,
    devices,
    screens,
    upstreams,
    custody,
    seals,
    answer,
    now,
    log,
  } = options;
  const { home } = at;
  const trial = createTrial(custody);

  /** What a step knew last, for whoever goes on when it throws: the job in hand is as it was when it was taken. */
  const latest = new WeakMap<SignatureJob, Run>();
  const keep = (run: Run): Run => {
    latest.set(run.job, run);
    return run;
  };

  const save = async (run: Run, changes: Partial<Run['data']>, awaiting?: number): Promise<Run['data']> => {
    const data = { ...run.data, ...changes };
    await saveOrStop(home, run.job, run.token, data, awaiting);
    keep({ ...run, data });
    return data;
  };

  /** Notes that a step threw and nobody has been asked: then the silence is the service's own. */
  const noteTrouble = async (run: Run): Promise<void> => {
    await save(run, { transaction: run.record, endedRuns: run.job.attemptsMade, troubled: true });
  };

  const endFailed = async (run: Run, reason: Fault): Promise<never> => {
    const { attempt } = run.record;
    const event =
      reason.code === 208
        ? ({ type: 'EXPIRED', at: now(), attempt } as const)
        : ({ type: 'FAULTED', at: now(), attempt, fault: reason } as const);
    await save(run, { transaction: advance(run.record, event), endedRuns: run.job.attemptsMade });
    log.failed(run.id, attempt, reason.code, run.request);
    return fail(reason);
  };

  const endSigned = async (
    run: Run,
    { chosen, subscriber }: Eligible,
    given: Exclude<DeviceAnswer, { kind: 'fault' }>,
  ): Promise<SignatureRecord> => {
    const { validate } = run.request.services;
    const time = now();
    const { id, request } = run;
    const { attempt } = run.record;
    // A robot has just signed in this process; anything that came from elsewhere is looked at first.
    if (given.kind === 'signature' && (run.asked || validate !== undefined)) {
      const invalid = await trial({ id, attempt, request, signature: given, at: time, nonce: 'own' });
      if (invalid?.code === 900) log.trouble(notBelieved(id));
      if (invalid !== undefined) return endFailed(run, invalid);
    }
    const outcome: Outcome = {
      ...given,
      profile: chosen.answerProfile,
      ...(chosen.sscd !== undefined && { sscdId: chosen.sscd.id }),
      ...(validate !== undefined && given.kind === 'signature' && { validated: true as const }),
      ...servicesOf(request, { chosen, subscriber }, time),
    };
    const record = advance(
      run.record,
      { type: 'PROMPT', at: time },
      {
        type: 'SIGNED',
        at: time,
        attempt,
        outcome: { ...outcome, seal: seals.seal({ id, attempt, request, outcome }) },
      },
    );
    log.signed(id, attempt, request, record);
    return record;
  };

  /** Whom the request goes to: once the device was asked, that device, whatever the registry says by now. */
  const eligibleFor = (run: Run) => eligibility(run.request, subscribers, run.data.chosen);

  /** Ends the attempt as decided, and gives the screen back. */
  const end = async (run: Run, decision: Decision): Promise<SignatureRecord> => {
    const { attempt } = run.record;
    const sscdId = run.data.chosen?.sscdId;
    if (sscdId !== undefined) {
      const screen = screenOf(run.request.msisdn.number, sscdId);
      await screens.release(screen, { transactionId: run.id, attempt });
    }
    switch (decision.kind) {
      case 'expired':
        return endFailed(run, fault(208));
      case 'fault':
        return endFailed(run, decision.fault);
      case 'receipt':
        return endFailed(run, fault(900));
      case 'signature':
      case 'delivered': {
        const eligible = eligibleFor(run);
        return eligible.ok ? endSigned(run, eligible.value, decision) : endFailed(run, eligible.fault);
      }
    }
  };

  /** Makes a decision the attempt's, or yields to one that was there first, and ends with it. */
  const conclude = async (run: Run, decision: Decision): Promise<SignatureRecord> =>
    end(run, run.asked ? await home.decide(run.id, run.record.attempt, decision) : decision);

  /** Gets the screen of a person's device. @returns A fault when it is taken. */
  const claimScreen = async (
    run: Run,
    eligible: Eligible,
    device: SigningDevice,
  ): Promise<Fault | undefined> => {
    const { sscd } = eligible.chosen;
    if (!device.screen || sscd === undefined) return undefined;
    const screen = screenOf(run.request.msisdn.number, sscd.id);
    const { attempt, deadline } = run.record;
    const me = { transactionId: run.id, attempt };
    for (let round = 0; round < takeOverRounds; round += 1) {
      const held = await screens.claim(screen, me, deadline);
      if (held === undefined) return undefined;
      if (sscd.kind === 'sim') return fault(406);
      // Once this prompt is out, a newer one that has the screen has replaced it.
      if (run.asked) return fault(401);
      // The one that is replaced ends first: if we are cut off here, it has lost its screen to nobody.
      await answer(held.transactionId, held.attempt, { kind: 'fault', fault: fault(401) });
      if (await screens.takeOver(screen, held, me, deadline)) {
        // It may have been asked only just now, and have seen its screen still its own: tell it again.
        await answer(held.transactionId, held.attempt, { kind: 'fault', fault: fault(401) });
        return undefined;
      }
    }
    throw new Error('The screen of a device changes hands too fast');
  };

  /** Records under the lock that the device has, or is about to have, the prompt. */
  const markAsked = async (
    run: Run,
    { chosen }: Eligible,
    time: number,
    deliveryFailures = 0,
  ): Promise<Run> => {
    const record = advance(run.record, { type: 'PROMPT', at: time });
    const data = await save(
      run,
      {
        transaction: record,
        endedRuns: run.job.attemptsMade,
        deliveryFailures,
        troubled: undefined,
        chosen: {
          profile: chosen.answerProfile,
          ...(chosen.sscd !== undefined && { sscdId: chosen.sscd.id }),
        },
      },
      record.attempt,
    );
    return keep({ ...run, record, data, asked: true });
  };

  const noteFailures = (run: Run, deliveryFailures: number): Promise<Run['data']> =>
    save(run, { transaction: run.record, endedRuns: run.job.attemptsMade, deliveryFailures });

  /** Tells a sleeping job how the call to its upstream went. If this fails, it wakes by itself and asks again. */
  const bring = async (run: Run, result: PromptResult): Promise<void> => {
    const { id, record, request, data } = run;
    const { attempt, deadline } = record;
    switch (result.kind) {
      case 'answered':
        await home.answer(id, attempt, result.answer);
        return;
      case 'awaiting':
        await wakeAt(at.queue, id, Math.min(result.askAgainAt ?? deadline, deadline), now());
        return;
      case 'unreachable': {
        const failures = data.deliveryFailures ?? 1;
        log.unreachable(id, attempt, failures, result.cause, request);
        await wakeAt(at.queue, id, Math.min(now() + deliveryBackoffMs(failures), deadline), now());
      }
    }
  };

  /** @returns Whether the upstream works. */
  const call = async (run: Run, device: SigningDevice, prompt: Prompt): Promise<'answered' | 'failed'> => {
    const result = await device.prompt(prompt);
    await bring(run, result).catch((error: unknown) =>
      log.trouble(error instanceof Error ? error : new Error(String(error))),
    );
    return result.kind === 'unreachable' && !result.refused ? 'failed' : 'answered';
  };

  /**
   * Asks a device that has an upstream, or puts the job off. Either way the job sleeps and holds no place of the worker.
   *
   * A call counts as failed from before it is made: whatever becomes of it or of this process, a job whose text nobody has
   * taken until the deadline ends as undelivered. So does one that never found a place.
   */
  const askUpstream = async (
    start: Run,
    eligible: Eligible,
    device: SigningDevice,
    upstream: Upstream,
    prompt: Prompt,
  ): Promise<never> => {
    const { job, token, data, request } = start;
    const { attempt, deadline } = start.record;
    const turn = upstreams.turn(upstream.origin, request.caller.apId);
    if (turn.kind === 'wait') {
      if (!data.deliveryFailures) await noteFailures(start, 1);
      return sleep(
        at,
        job,
        token,
        Math.min(now() + turn.ms, deadline),
        now(),
        start.asked ? attempt : undefined,
      );
    }
    let run = start;
    try {
      run = await markAsked(start, eligible, prompt.now, (data.deliveryFailures ?? 0) + 1);
      const wakesAt = Math.min(now() + upstream.timeoutMs + callMarginMs, deadline);
      return await sleep(at, job, token, wakesAt, now(), attempt);
    } catch (error) {
      // Not called earlier: the answer has to find a job that sleeps.
      if (error instanceof DelayedError) turn.call(() => call(run, device, prompt));
      else turn.giveBack();
      throw error;
    }
  };

  /** Puts the request to its device and does what the device says. */
  const ask = async (start: Run, eligible: Eligible): Promise<SignatureRecord> => {
    const { chosen, subscriber } = eligible;
    const { sscd } = chosen;
    const device = devices.deviceFor(chosen);
    const time = now();
    let run = start;
    const busy = await claimScreen(run, eligible, device);
    if (busy !== undefined) return conclude(run, { kind: 'fault', fault: busy });
    if (device.screen && !run.asked) {
      run = await markAsked(run, eligible, time);
      // A newer request may have taken an App's screen before this one could be answered; from now on it can.
      const replaced = sscd?.kind === 'app' ? await claimScreen(run, eligible, device) : undefined;
      if (replaced !== undefined) return conclude(run, { kind: 'fault', fault: replaced });
    }
    const { attempt, deadline, history } = run.record;
    const prompt: Prompt = {
      transactionId: run.id,
      attempt,
      msisdn: run.request.msisdn.number,
      subscriber,
      sscd,
      data: run.request.data,
      nonce: nonceOf(run.id, attempt),
      language: run.request.services.userLang?.language ?? subscriber?.language,
      promptedAt: run.asked ? (history.at(-1)?.at ?? time) : time,
      now: time,
      deadline,
    };
    if (device.upstream !== undefined) return askUpstream(run, eligible, device, device.upstream, prompt);
    let result: PromptResult;
    try {
      result = await device.prompt(prompt);
    } catch (error) {
      if (run.asked) await noteTrouble(run);
      throw error;
    }
    switch (result.kind) {
      case 'answered':
        return conclude(run, result.answer);
      case 'awaiting': {
        if (!run.asked || run.data.deliveryFailures || run.data.troubled) {
          run = await markAsked(run, eligible, time);
        }
        log.asked(run.id, attempt, run.request);
        return sleep(
          at,
          run.job,
          run.token,
          Math.min(result.askAgainAt ?? deadline, deadline),
          now(),
          attempt,
        );
      }
      case 'unreachable': {
        const failures = (run.data.deliveryFailures ?? 0) + 1;
        log.unreachable(run.id, attempt, failures, result.cause, run.request);
        await noteFailures(run, failures);
        const wakesAt = Math.min(time + deliveryBackoffMs(failures), deadline);
        return sleep(at, run.job, run.token, wakesAt, now(), run.asked ? attempt : undefined);
      }
    }
  };

  /** What silence until the deadline means: the transport, the service or the user. */
  const atDeadline = ({ data }: Run): Decision => {
    if (data.troubled) return { kind: 'fault', fault: fault(900) };
    return data.deliveryFailures ? { kind: 'fault', fault: fault(209) } : { kind: 'expired' };
  };

  const advanceJob = async (run: Run): Promise<SignatureRecord> => {
    const { record, request } = run;
    if (record.state === 'failed') return fail(record.fault ?? fault(900));
    const decision = run.asked ? await home.decision(run.id, record.attempt) : undefined;
    if (decision !== undefined) return end(run, decision);
    if (now() >= record.deadline) return conclude(run, atDeadline(run));
    const allowed = providers.checkStored(request);
    if (!allowed.ok) return conclude(run, { kind: 'fault', fault: allowed.fault });
    const eligible = eligibleFor(run);
    if (!eligible.ok) return conclude(run, { kind: 'fault', fault: eligible.fault });
    const obstacle = run.asked ? undefined : obstacleTo(request, eligible.value);
    if (obstacle !== undefined) return conclude(run, { kind: 'fault', fault: obstacle });
    return ask(run, eligible.value);
  };

  return async (job, token) => {
    const leaveUntil = leftAloneUntil(job, now());
    if (leaveUntil !== undefined) {
      if (now() >= leaveUntil) return fail(fault(900, 'The transaction is of a release that no worker has'));
      return leaveToOthers(sleep(at, job, token, now() + laterWorkerMs, now()), log);
    }
    const read = readJob(job, protocol, place);
    if (!read.ok) {
      log.failed(job.id ?? '', 0, read.fault.code);
      if (read.fault.code === 900) log.trouble(notBelieved(job.id ?? ''));
      return fail(read.fault);
    }
    const { data, request } = read.value;
    const take = async (): Promise<Run> => keep(await takeUp(home, job, token, read.value, now()));
    const goOn = async (): Promise<Run> => latest.get(job) ?? take();
    return guardStep({
      at,
      job,
      token,
      step: async () => advanceJob(await take()),
      deadline: await signatureDeadline(home, job, data, request, now()),
      note: async () => {
        const run = await goOn();
        if (!run.asked) await noteTrouble(run);
      },
      giveUp: async () => {
        const run = await goOn();
        return conclude(run, run.asked ? atDeadline(run) : { kind: 'fault', fault: fault(900) });
      },
      now,
      log,
    });
  };
};
