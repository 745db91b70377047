/**
 * One step of a receipt: show it on the phone that signed, and wait for what the user does.
 *
 * It is the signature step in small: asked once, answered from elsewhere or lapsed at the deadline, first writer wins.
 * When it ends, the signature's record moves on to `receipted`. A SIM shows one thing at a time, so a receipt waits
 * until its screen is free, and a signature request that comes meanwhile finds it busy.
 */
import { DelayedError, type Job } from 'bullmq';
import type { ReceiptOutcome } from '../machines/outcome.ts';
import { advance, isOfLaterVersion, type SignatureRecord } from '../machines/record.ts';
import { type Checked, fault, ok, refuse } from '../src/protocol/fault.ts';
import type { Protocol } from '../src/protocol/parse.ts';
import type { SignatureRequest } from '../src/protocol/requests.ts';
import type { SubscriberRegistry } from '../src/registry/subscriber.ts';
import type { Devices } from '../src/sscd/devices.ts';
import {
  type Decision,
  type ReceiptJobData,
  type ReceiptJobResult,
  receiptJobDataSchema,
  receiptJobId,
  signatureRecordSchema,
} from '../src/transactions/contract.ts';
import { sscdOf } from '../src/transactions/eligibility.ts';
import { endingOf } from '../src/transactions/ending.ts';
import { shardOf } from '../src/transactions/ids.ts';
import type { ReadEnd } from '../src/transactions/outcomes.ts';
import { type Screens, screenOf } from '../src/transactions/screens.ts';
import type { Shard } from '../src/transactions/shards.ts';
import { guardStep } from './guard.ts';
import type { StepLog } from './log.ts';
import { fail, idOf, leaveToOthers, saveOrStop, sleep } from './rest.ts';
import { laterWorkerUntil, type Place } from './taking.ts';

type ReceiptJob = Job<ReceiptJobData, ReceiptJobResult>;

export type ReceiptStep = (job: ReceiptJob, token: string) => Promise<ReceiptJobResult>;

/** A receipt is asked once; the field that decides it is that of the first attempt. */
const attempt = 1;

/** How often a receipt looks whether the phone is free, and a transport whether it is up. */
const retryMs = 1000;

interface Taken {
  readonly data: ReceiptJobData;
  /** The signature that the receipt is for, and what was asked for then. */
  readonly signed: SignatureRecord;
  readonly request: SignatureRequest;
}

export const createReceiptStep = (options: {
  readonly shard: Shard;
  readonly place: Place;
  readonly protocol: Protocol;
  readonly subscribers: SubscriberRegistry;
  readonly devices: Devices;
  readonly screens: Screens;
  readonly readEnd: ReadEnd;
  readonly now: () => number;
  readonly log: StepLog;
}): ReceiptStep => {
  const { shard, place, protocol, subscribers, devices, screens, readEnd, now, log } = options;
  const { signatures, receipts } = shard;

  /** Any service with access to the queue can add such jobs; a receipt is only shown for a signature that there is. */
  const read = async (job: ReceiptJob): Promise<Checked<Taken> | 'of-a-later-release'> => {
    const data = receiptJobDataSchema.safeParse(job.data);
    if (!data.success) {
      const path = data.error.issues[0]?.path.map(String).join('.') ?? '';
      return refuse(101, `The job data is not usable: ${path || 'it must be an object'}`);
    }
    const { msspTransId, msisdn } = data.data;
    if (shardOf(msspTransId, place.shards) !== place.shard || job.id !== receiptJobId(msspTransId)) {
      return refuse(101, 'The job id must be that of the receipt of a transaction of this shard');
    }
    const stored = await signatures.home.read(msspTransId);
    if (isOfLaterVersion(Object(stored?.returnValue).version)) return 'of-a-later-release';
    const record = signatureRecordSchema.safeParse(stored?.returnValue);
    const written = stored?.data as { readonly MSS_SignatureReq?: unknown } | undefined;
    const request = protocol.parseStoredSign(written?.MSS_SignatureReq);
    const ending = stored && endingOf(stored);
    const refused = refuse(101, 'A receipt follows a successful signature of the same number');
    if (record.data === undefined || ending === undefined || !request.ok) return refused;
    if (request.value.msisdn.number !== msisdn) return refused;
    const state = await readEnd(ending, {
      id: msspTransId,
      request: request.value,
      endedAt: stored?.finishedOn,
    });
    if (state.kind !== 'signed' || state.signed.signature === undefined) return refused;
    return ok({ data: data.data, signed: record.data, request: request.value });
  };

  const deadlineOf = (job: ReceiptJob, { data }: Taken): number =>
    Math.min(job.timestamp, now()) + data.timeoutSeconds * 1000;

  const holder = (job: ReceiptJob) => ({ transactionId: idOf(job), attempt });

  /** The first word stands: a run that is cut off in here is followed by one that may find the deadline past. */
  const end = async (job: ReceiptJob, { data, signed, request }: Taken, wanted: ReceiptOutcome) => {
    const { msspTransId, msisdn, sscdId } = data;
    const decided = await receipts.home.decide(idOf(job), attempt, { kind: 'receipt', receipt: wanted });
    const receipt = decided.kind === 'receipt' ? decided.receipt : wanted;
    if (sscdId !== undefined) await screens.release(screenOf(msisdn, sscdId), holder(job));
    const record = advance(signed, { type: 'RECEIPTED', at: now(), receipt });
    await signatures.home.amend(msspTransId, record);
    log.receipted(msspTransId, receipt, request);
    return { receipt };
  };

  const receiptOf = (decision: Decision, lapsesAs: ReceiptOutcome): ReceiptOutcome =>
    decision.kind === 'receipt' ? decision.receipt : lapsesAs;

  const ask = async (job: ReceiptJob, token: string, taken: Taken): Promise<ReceiptJobResult> => {
    const { data } = taken;
    const { msspTransId, msisdn, message, language, sscdId } = data;
    const deadline = deadlineOf(job, taken);
    const subscriber = subscribers.find(msisdn);
    const sscd = sscdOf(subscriber, sscdId);
    if (sscd === undefined) return end(job, taken, 'unanswered');
    const device = devices.deviceFor({ method: sscd.kind, sscd });
    if (device.screen && sscd.kind === 'sim') {
      const held = await screens.claim(screenOf(msisdn, sscd.id), holder(job), deadline);
      if (held !== undefined) return sleep(receipts, job, token, Math.min(now() + retryMs, deadline), now());
    }
    const result = await device.receipt({
      transactionId: msspTransId,
      msisdn,
      subscriber,
      sscd,
      message,
      language: language ?? subscriber?.language,
      deadline,
    });
    switch (result.kind) {
      case 'answered':
        return end(job, taken, result.receipt);
      case 'awaiting':
        await saveOrStop(receipts.home, job, token, { ...data, lapsesAs: result.lapsesAs }, attempt);
        return sleep(receipts, job, token, deadline, now(), attempt);
      case 'unreachable':
        log.unreachable(msspTransId, attempt, job.attemptsStarted, result.cause, taken.request);
        return sleep(receipts, job, token, Math.min(now() + retryMs, deadline), now());
    }
  };

  const step = async (job: ReceiptJob, token: string, taken: Taken): Promise<ReceiptJobResult> => {
    const id = idOf(job);
    const { lapsesAs } = taken.data;
    const decision = await receipts.home.decision(id, attempt);
    if (decision !== undefined) return end(job, taken, receiptOf(decision, lapsesAs ?? 'unanswered'));
    if (now() < deadlineOf(job, taken)) return ask(job, token, taken);
    return end(job, taken, lapsesAs ?? 'unanswered');
  };

  return async (job, token) => {
    const taken = await read(job).catch((error: unknown) => {
      log.trouble(error instanceof Error ? error : new Error(String(error)));
      // Left as it is, the job stalls and is taken up again.
      throw new DelayedError();
    });
    if (taken === 'of-a-later-release') {
      if (now() >= laterWorkerUntil([job.timestamp], now())) return fail(fault(900));
      return leaveToOthers(sleep(receipts, job, token, now() + retryMs, now()), log);
    }
    if (!taken.ok) return fail(taken.fault);
    return guardStep({
      at: receipts,
      job,
      token,
      step: () => step(job, token, taken.value),
      deadline: deadlineOf(job, taken.value),
      note: async () => undefined,
      giveUp: async () => {
        const decision = await receipts.home.decision(idOf(job), attempt);
        return decision?.kind === 'receipt' ? end(job, taken.value, decision.receipt) : fail(fault(900));
      },
      now,
      log,
    });
  };
};
