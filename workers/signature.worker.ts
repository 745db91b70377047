/**
 * One step of a signature: take the job, find out where it stands, ask the device, and end it or let it sleep.
 *
 * A step is a function of what is stored. It may be cut off anywhere and run again by another worker: devices show an
 * attempt once, decisions are first-writer-wins, and every write is fenced by the job's lock.
 *
 * A device that answers at once (a robot) costs no write between taking the job and ending it. A device that makes us
 * wait is first recorded as asked, under the lock, because from then on an answer may come from elsewhere.
 */

import { Buffer } from 'node:buffer';
import type { Job } from 'bullmq';
import type { Outcome } from '../machines/outcome.ts';
import { advance, begin, type SignatureRecord } from '../machines/record.ts';
import { attachCertificates } from '../src/pki/cms.ts';
import type { KeyCustody } from '../src/pki/ports.ts';
import { verifySignature } from '../src/pki/verify.ts';
import { type Fault, fault } from '../src/protocol/fault.ts';
import type { Protocol } from '../src/protocol/parse.ts';
import { bytesToSign, type SignatureRequest } from '../src/protocol/requests.ts';
import type { ApplicationProviders } from '../src/registry/application-providers.ts';
import type { SubscriberRegistry } from '../src/registry/subscriber.ts';
import type { SigningDevice } from '../src/sscd/device.ts';
import type { Devices } from '../src/sscd/devices.ts';
import type { Answer } from '../src/transactions/answers.ts';
import { type SignatureJobData, signatureRecordSchema } from '../src/transactions/contract.ts';
import { type Eligible, eligibility, obstacleTo, servicesOf } from '../src/transactions/eligibility.ts';
import type { Decision } from '../src/transactions/job-home.ts';
import { type Screens, screenOf } from '../src/transactions/screens.ts';
import type { QueueAt } from '../src/transactions/shards.ts';
import type { StepLog } from './log.ts';
import { fail, idOf, saveOrStop, sleep } from './rest.ts';

export interface SignatureStepOptions {
  readonly at: QueueAt;
  readonly protocol: Protocol;
  readonly providers: ApplicationProviders;
  readonly subscribers: SubscriberRegistry;
  readonly devices: Devices;
  readonly screens: Screens;
  readonly custody: KeyCustody;
  /** To end a transaction, perhaps of another shard, whose App screen is taken over. */
  readonly answer: Answer;
  readonly now: () => number;
  readonly log: StepLog;
}

export type SignatureStep = (
  job: Job<SignatureJobData, SignatureRecord>,
  token: string,
) => Promise<SignatureRecord>;

/** Everything that one run of a step knows. */
interface Run {
  readonly job: Job<SignatureJobData, SignatureRecord>;
  readonly id: string;
  readonly token: string;
  readonly request: SignatureRequest;
  readonly record: SignatureRecord;
  /** An answer from elsewhere has been possible: the end must be decided, not just written. */
  readonly asked: boolean;
}

/** When an attempt is over, for a job whose data may be anything. */
export const signatureDeadline = (job: Job<SignatureJobData, SignatureRecord>): number => {
  const asked = job.data.MSS_SignatureReq as { readonly TimeOut?: unknown } | undefined;
  const timeoutSeconds = Number(asked?.TimeOut);
  const fromRequest = job.timestamp + (Number.isFinite(timeoutSeconds) ? timeoutSeconds * 1000 : 0);
  const { transaction } = job.data;
  return transaction !== undefined && transaction.attempt > job.attemptsMade
    ? transaction.deadline
    : fromRequest;
};

/** Between tries to reach a device: doubling from 250 ms, at most 8 s. */
const deliveryBackoffMs = (failures: number): number => Math.min(250 * 2 ** (failures - 1), 8000);

export const createSignatureStep = (options: SignatureStepOptions): SignatureStep => {
  const { at, protocol, providers, subscribers, devices, screens, custody, answer, now, log } = options;
  const { home } = at;

  const save = (run: Run, changes: Partial<SignatureJobData>, awaiting?: number): Promise<void> =>
    saveOrStop(home, run.job, run.token, { ...run.job.data, ...changes }, awaiting);

  /** Where the job stands as it is taken. */
  const recordOf = async (job: Run['job'], request: SignatureRequest): Promise<SignatureRecord> => {
    const stored = job.data.transaction;
    if (stored === undefined) {
      return begin({ submittedAt: job.timestamp, timeoutSeconds: request.timeoutSeconds });
    }
    // BullMQ counts how often the job has failed. An attempt that has been counted is over, so the job runs again
    // because somebody replays it; one that has not was cut off, perhaps between its record and its end.
    if (stored.attempt > job.attemptsMade) return stored;
    // Some tools run completed jobs again. What a person signed stands, and is found where it was decided.
    if ((await home.decision(idOf(job), stored.attempt))?.kind === 'signature') return stored;
    const time = now();
    const failed = advance(stored, { type: 'FAULTED', at: time, attempt: stored.attempt, fault: fault(900) });
    return advance(failed, { type: 'REPLAY', at: time, deadline: time + request.timeoutSeconds * 1000 });
  };

  const endFailed = async (run: Run, reason: Fault): Promise<never> => {
    const event =
      reason.code === 208
        ? ({ type: 'EXPIRED', at: now(), attempt: run.record.attempt } as const)
        : ({ type: 'FAULTED', at: now(), attempt: run.record.attempt, fault: reason } as const);
    const record = advance(run.record, event);
    await save(run, { transaction: record, deliveryFailures: 0 });
    log.failed(run.id, record.attempt, reason.code);
    return fail(reason);
  };

  /** Verifies what a device signed, for a request that asked for it. */
  const validated = async (
    run: Run,
    cms: string,
    chainId: string | undefined,
  ): Promise<Fault | undefined> => {
    const bytes = Buffer.from(cms, 'base64');
    const chain = chainId === undefined ? undefined : await custody.chain(chainId);
    const complete = chain === undefined ? bytes : attachCertificates(bytes, chain.certificates);
    const result = verifySignature(complete, bytesToSign(run.request.data), {
      trust: await custody.trust(),
      at: new Date(now()),
    });
    if (result.ok) return undefined;
    return result.reason === 'CERTIFICATE_EXPIRED' ? fault(422) : fault(900);
  };

  const endSigned = async (
    run: Run,
    eligible: Eligible,
    given: Extract<Decision, { kind: 'signature' | 'delivered' }>,
  ): Promise<SignatureRecord> => {
    const wantsValidation = run.request.services.validate !== undefined && given.kind === 'signature';
    if (wantsValidation) {
      const invalid = await validated(run, given.cms, given.certificates);
      if (invalid !== undefined) return endFailed(run, invalid);
    }
    const time = now();
    const outcome: Outcome = {
      ...given,
      profile: eligible.chosen.answerProfile,
      ...(wantsValidation && { validated: true as const }),
      ...servicesOf(run.request, eligible, time),
    };
    const record = advance(
      run.record,
      { type: 'PROMPT', at: time },
      { type: 'SIGNED', at: time, attempt: run.record.attempt, outcome },
    );
    log.signed(run.id, record.attempt);
    return record;
  };

  /** Ends the attempt as decided, and gives the screen back. */
  const end = async (run: Run, decision: Decision): Promise<SignatureRecord> => {
    const eligible = eligibility(run.request, subscribers);
    if (eligible.ok && eligible.value.chosen.sscd !== undefined && run.asked) {
      const screen = screenOf(run.request.msisdn.number, eligible.value.chosen.sscd.id);
      await screens.release(screen, { transactionId: run.id, attempt: run.record.attempt });
    }
    switch (decision.kind) {
      case 'expired':
        return endFailed(run, fault(208));
      case 'fault':
        return endFailed(run, decision.fault);
      case 'signature':
      case 'delivered':
        return eligible.ok ? endSigned(run, eligible.value, decision) : endFailed(run, eligible.fault);
      case 'receipt':
        throw new Error('A receipt cannot answer a signature request');
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
    for (;;) {
      const held = await screens.claim(screen, me, deadline);
      if (held === undefined) return undefined;
      if (sscd.kind === 'sim') return fault(406);
      // The one that is replaced ends first: if we are cut off here, it has lost its screen to nobody.
      await answer(held.transactionId, held.attempt, { kind: 'fault', fault: fault(401) });
      if (await screens.takeOver(screen, held, me, deadline)) return undefined;
    }
  };

  /** Puts the request to its device and does what the device says. */
  const ask = async (start: Run, eligible: Eligible): Promise<SignatureRecord> => {
    const { chosen, subscriber } = eligible;
    const { sscd, method } = chosen;
    const device = devices.deviceFor(
      sscd !== undefined && (method === 'sim' || method === 'app')
        ? { method, sscd }
        : { method: method === 'otp-flash' ? 'otp-flash' : 'otp-text' },
    );
    const time = now();
    let run = start;
    // Before the screen is claimed: whoever takes it over ends its holder, which only works for one that was asked.
    if (device.screen && !run.asked) run = await markAsked(run, time);
    const busy = await claimScreen(run, eligible, device);
    if (busy !== undefined) return conclude(run, { kind: 'fault', fault: busy });

    const { attempt, deadline, history } = run.record;
    const result = await device.prompt({
      transactionId: run.id,
      attempt,
      msisdn: run.request.msisdn.number,
      subscriber,
      sscd,
      data: run.request.data,
      language: run.request.services.userLang?.language ?? subscriber?.language,
      promptedAt: run.asked ? (history.at(-1)?.at ?? time) : time,
      now: time,
      deadline,
    });
    switch (result.kind) {
      case 'answered':
        return conclude(run, result.answer);
      case 'awaiting': {
        if (!run.asked || run.job.data.deliveryFailures) run = await markAsked(run, time);
        log.asked(run.id, attempt);
        return sleep(at, run.job, run.token, Math.min(result.askAgainAt ?? deadline, deadline), attempt);
      }
      case 'unreachable': {
        const failures = (run.job.data.deliveryFailures ?? 0) + 1;
        log.unreachable(run.id, attempt, failures, result.cause);
        await save(run, { transaction: run.record, deliveryFailures: failures });
        const wakeAt = Math.min(time + deliveryBackoffMs(failures), deadline);
        return sleep(at, run.job, run.token, wakeAt, run.asked ? attempt : undefined);
      }
    }
  };

  /** Records under the lock that the device has, or is about to have, the prompt. */
  const markAsked = async (run: Run, time: number): Promise<Run> => {
    const record = advance(run.record, { type: 'PROMPT', at: time });
    await save(run, { transaction: record, deliveryFailures: 0 }, record.attempt);
    return { ...run, record, asked: true };
  };

  return async (job, token) => {
    const id = idOf(job);
    const parsed = protocol.parseStoredSign(job.data.MSS_SignatureReq);
    if (!parsed.ok) {
      log.failed(id, 0, parsed.fault.code);
      return fail(parsed.fault);
    }
    const request = parsed.value;
    const { transaction } = job.data;
    if (transaction !== undefined && !signatureRecordSchema.safeParse(transaction).success) {
      return fail(fault(101, 'transaction is not the record of a signature'));
    }
    const record = await recordOf(job, request);
    const run: Run = { job, id, token, request, record, asked: record.state === 'pending' };

    if (record.state === 'failed' && record.fault !== undefined) return fail(record.fault);
    if (record.state === 'signed' || record.state === 'receipted') return record;

    const decision = run.asked ? await home.decision(id, record.attempt) : undefined;
    if (decision !== undefined) return end(run, decision);
    if (now() >= record.deadline) {
      const undelivered = (job.data.deliveryFailures ?? 0) > 0;
      return conclude(run, undelivered ? { kind: 'fault', fault: fault(209) } : { kind: 'expired' });
    }
    const allowed = providers.checkStored(request);
    if (!allowed.ok) return conclude(run, { kind: 'fault', fault: allowed.fault });
    const eligible = eligibility(request, subscribers);
    if (!eligible.ok) return conclude(run, { kind: 'fault', fault: eligible.fault });
    const obstacle = run.asked ? undefined : obstacleTo(request, eligible.value);
    if (obstacle !== undefined) return conclude(run, { kind: 'fault', fault: obstacle });
    return ask(run, eligible.value);
  };
};
