/**
 * A job as the queue board lists it: where it stands, and of its contents only what names it. Number and faults are those of the
 * console's own lists, by role; text, place, signature and whatever else is in there stay out for everybody.
 *
 * It is a list of what goes in, not of what is cut: a member that a later release adds is not shown by surprise.
 */
import type { Job } from 'bullmq';
import { z } from 'zod';
import type { Role } from '../../operators/operator.ts';
import { type Fault, faultCodes, faultLine, faultTable, parseFaultLine } from '../../protocol/fault.ts';
import { recordIn } from '../../transactions/contract.ts';
import { seesPeople, shownFault, shownNumber } from '../redaction.ts';

const text = z.string().catch('');
const optionalText = z.string().optional().catch(undefined);
const optionalNumber = z.number().optional().catch(undefined);

const faultSchema = z
  .object({ code: z.literal(faultCodes), detail: text })
  .optional()
  .catch(undefined);

const recordSchema = z.object({
  state: text,
  attempt: optionalNumber,
  deadline: optionalNumber,
  receipt: optionalText,
  fault: faultSchema,
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
        fault: faultSchema,
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

/** A bulk replay. Its reason is free text. */
const bulkSchema = z.object({ by: z.string(), perSecond: z.number(), total: z.number() });

const endSchema = recordSchema.extend({ state: z.string() });
const receiptSchema = z.object({ receipt: z.string() });

const shownFaultOf = (role: Role, fault: Fault | undefined) =>
  fault && { fault: shownFault(role, { ...fault, reason: faultTable[fault.code].reason }) };

const shownRecord = (role: Role, { fault, history, ...record }: z.infer<typeof recordSchema>): object => ({
  ...record,
  ...shownFaultOf(role, fault),
  history: history.map(({ fault: then, ...entry }) => ({ ...entry, ...shownFaultOf(role, then) })),
});

const digitsOf = (msisdn: string): string => msisdn.replace(/^\+/, '');

const shownData = (
  role: Role,
  data: unknown,
  progress: unknown,
): { readonly name: string | undefined; readonly data: object } => {
  const signature = signatureSchema.safeParse({
    ...Object(data),
    transaction: recordIn(progress, data),
  }).data;
  if (signature !== undefined) {
    const { MSS_SignatureReq, transaction } = signature;
    const { AP_Info, MobileUser, ...request } = MSS_SignatureReq;
    const number = shownNumber(role, digitsOf(MobileUser.MSISDN));
    return {
      name: `${AP_Info.AP_ID} · ${number} · ${AP_Info.AP_TransID}`,
      data: {
        ...AP_Info,
        MSISDN: number,
        ...request,
        ...(transaction !== undefined && { transaction: shownRecord(role, transaction) }),
      },
    };
  }
  const bulk = bulkSchema.safeParse(data).data;
  if (bulk !== undefined) return { name: `${bulk.by} · ${bulk.total} to replay`, data: bulk };
  const other = otherSchema.safeParse(data).data;
  if (other === undefined || other.msspTransId === '') return { name: undefined, data: {} };
  const number = shownNumber(role, digitsOf(other.msisdn));
  const name = [other.apId, number, other.apTransId, other.msspTransId].filter(Boolean).join(' · ');
  return { name, data: { ...other, msisdn: number } };
};

const shownResult = (role: Role, result: unknown): object | null => {
  const end = endSchema.safeParse(result).data;
  return end === undefined ? (receiptSchema.safeParse(result).data ?? null) : shownRecord(role, end);
};

/** The code and its name, or that it was no fault. What follows may quote somebody. */
const shownReason = (role: Role, line: string): string => {
  const fault = parseFaultLine(line);
  if (fault === undefined) return 'not a fault';
  return seesPeople(role) ? faultLine(fault) : `_${fault.code} ${faultTable[fault.code].reason}`;
};

/** @returns The same job, which now tells only what may be shown to the role. */
export const hideIn = (job: Job, role: Role): Job => {
  const { name = job.name, data } = shownData(role, job.data, job.progress);
  const returnvalue = shownResult(role, job.returnvalue);
  const failedReason = job.failedReason ? shownReason(role, job.failedReason) : '';
  const whole = job.toJSON.bind(job);
  job.toJSON = () => {
    const { id, timestamp, processedOn, finishedOn, attemptsMade, attemptsStarted, ...rest } = whole();
    const { stalledCounter, delay, priority, queueQualifiedName } = rest;
    return Object.assign(
      { id, timestamp, processedOn, finishedOn, attemptsMade, attemptsStarted, stalledCounter, delay },
      { priority, queueQualifiedName, deferredFailure: '', progress: 0, stacktrace: [], opts: {} },
      { name, data, returnvalue, failedReason },
    ) as ReturnType<Job['toJSON']>;
  };
  return job;
};
