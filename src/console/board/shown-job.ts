/**
 * A job as the queue board shows it, to everybody alike: where it stands, and of its contents only what names it. The number is
 * shortened; text, signature and whatever else is in there stay out. Who may see more opens the transaction, which is noted.
 *
 * It is a list of what goes in, not of what is cut: a member that a later release adds is not shown by surprise.
 */
import type { Job } from 'bullmq';
import { z } from 'zod';
import { faultTable, parseFaultLine } from '../../protocol/fault.ts';
import { shortNumber } from '../redaction.ts';

const text = z.string().catch('');
const optionalText = z.string().optional().catch(undefined);
const optionalNumber = z.number().optional().catch(undefined);

const recordSchema = z.object({
  state: text,
  attempt: optionalNumber,
  deadline: optionalNumber,
  receipt: optionalText,
  fault: z.object({ code: z.number() }).optional().catch(undefined),
  outcome: z
    .object({
      kind: text,
      profile: optionalText,
      sscdId: optionalText,
      validated: z.boolean().optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  history: z
    .array(
      z.object({
        state: text,
        attempt: optionalNumber,
        at: optionalNumber,
        fault: z.object({ code: z.number() }).optional().catch(undefined),
      }),
    )
    .catch([]),
});

const signatureSchema = z.object({
  MSS_SignatureReq: z.object({
    AP_Info: z.object({ AP_ID: text, AP_TransID: text }),
    MobileUser: z.object({ MSISDN: text }),
    MessagingMode: text,
    SignatureProfile: text,
    TimeOut: text,
  }),
  transaction: recordSchema.optional().catch(undefined),
});

/** Receipts, callbacks, and whatever else is about a transaction. */
const otherSchema = z.object({
  msspTransId: text,
  msisdn: text,
  apId: optionalText,
  apTransId: optionalText,
  attempt: optionalNumber,
  end: z.object({ state: text, code: optionalNumber }).optional().catch(undefined),
  language: optionalText,
  timeoutSeconds: optionalNumber,
});

const resultSchema = z.union([recordSchema.extend({ state: z.string() }), z.object({ receipt: z.string() })]);

export interface ShownJob {
  readonly name: string;
  readonly data: object;
  readonly returnvalue: object | null;
  readonly failedReason: string;
}

const shownData = (data: unknown): { readonly name: string | undefined; readonly data: object } => {
  const signature = signatureSchema.safeParse(data).data;
  if (signature !== undefined) {
    const { AP_Info, MobileUser, ...request } = signature.MSS_SignatureReq;
    const number = shortNumber(MobileUser.MSISDN);
    return {
      name: `${AP_Info.AP_ID} · ${number} · ${AP_Info.AP_TransID}`,
      data: { ...AP_Info, MSISDN: number, ...request, transaction: signature.transaction },
    };
  }
  const other = otherSchema.safeParse(data).data;
  if (other === undefined || other.msspTransId === '') return { name: undefined, data: {} };
  const number = shortNumber(other.msisdn);
  const name = [other.apId, number, other.apTransId, other.msspTransId].filter(Boolean).join(' · ');
  return { name, data: { ...other, msisdn: number } };
};

/** The code and its name, or that it was no fault. What follows may quote somebody. */
const shownReason = (line: string): string => {
  const fault = parseFaultLine(line);
  return fault === undefined ? 'not a fault' : `_${fault.code} ${faultTable[fault.code].reason}`;
};

const shownJob = ({
  name,
  data,
  returnvalue,
  failedReason,
}: {
  readonly name: string;
  readonly data: unknown;
  readonly returnvalue: unknown;
  readonly failedReason: string | undefined;
}): ShownJob => {
  const shown = shownData(data);
  return {
    name: shown.name ?? name,
    data: shown.data,
    returnvalue: resultSchema.safeParse(returnvalue).data ?? null,
    failedReason: failedReason ? shownReason(failedReason) : '',
  };
};

/** @returns The same job, which now tells only what may be shown. */
export const hideIn = (job: Job): Job => {
  const { data, returnvalue, failedReason, name } = job;
  const shown = shownJob({ name, data, returnvalue, failedReason });
  const whole = job.toJSON.bind(job);
  job.toJSON = () => {
    const { id, timestamp, processedOn, finishedOn, attemptsMade, attemptsStarted, ...rest } = whole();
    const { stalledCounter, delay, priority, queueQualifiedName } = rest;
    return Object.assign(
      { id, timestamp, processedOn, finishedOn, attemptsMade, attemptsStarted, stalledCounter, delay },
      { priority, queueQualifiedName, deferredFailure: '', progress: 0, stacktrace: [], opts: {} },
      shown,
    ) as ReturnType<Job['toJSON']>;
  };
  return job;
};
