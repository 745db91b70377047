/**
 * The form of a job on the queue board. A transaction shows the same as its row in the console's
 * list; other jobs show the members of the schemas below. Numbers and faults depend on the role.
 * The members are an allow list, so that a member of a later release is not shown by accident.
 */
import type { Job } from 'bullmq';
import { z } from 'zod';
import { faultLine, faultTable, parseFaultLine } from '../../../packages/protocol/src/fault.ts';
import { signatureQueueName } from '../../transactions/contract.ts';
import { rowOf } from '../../transactions/history/row.ts';
import type { Role } from '../operators/operator.ts';
import { seesPeople, shownNumber, shownRow } from '../redaction.ts';
import type { BoardQueue, ShownJob } from './board-part.ts';

const optional = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);

/** Receipts, callbacks and other jobs about a transaction. */
const otherSchema = z.object({
  msspTransId: z.string().min(1),
  msisdn: z.string().catch(''),
  apId: optional(z.string()),
  apTransId: optional(z.string()),
  attempt: optional(z.number()),
  end: optional(z.object({ state: z.string(), code: optional(z.number()) })),
  language: optional(z.string()),
  timeoutSeconds: optional(z.number()),
});

/** A bulk, without its reason, which is free text. */
const bulkSchema = z.object({
  kind: z.string().default('replay'),
  by: z.string(),
  perSecond: z.number(),
  total: z.number(),
});

const resultSchema = z.object({ receipt: z.string() });

const shownTransaction = (role: Role, { id = '', ...job }: Job): ShownJob => {
  const { data, timestamp, finishedOn, attemptsMade, failedReason, returnvalue, progress } = job;
  const ended = finishedOn === undefined ? undefined : String(finishedOn);
  const fields = [
    JSON.stringify(data),
    String(timestamp),
    ended,
    String(attemptsMade),
    failedReason,
  ];
  const row = rowOf(id, [...fields, JSON.stringify(returnvalue), JSON.stringify(progress)]);
  if (row === undefined) return { data: {} };
  const { apId, apTransId, msisdn, profile, ...transaction } = shownRow(role, row);
  const name = [apId, msisdn, apTransId].filter(Boolean).join(' · ');
  return { name, data: { apId, apTransId, msisdn, profile, transaction } };
};

const shownOther = (role: Role, { data }: Job): ShownJob => {
  const bulk = bulkSchema.safeParse(data).data;
  if (bulk !== undefined) return { name: `${bulk.by} · ${bulk.total} to ${bulk.kind}`, data: bulk };
  const other = otherSchema.safeParse(data).data;
  if (other === undefined) return { data: {} };
  const msisdn = shownNumber(role, other.msisdn.replace(/^\+/, ''));
  const name = [other.apId, msisdn, other.apTransId, other.msspTransId].filter(Boolean).join(' · ');
  return { name, data: { ...other, msisdn } };
};

/** The code and its name, or that it was not a fault. The detail may quote a person. */
const shownReason = (role: Role, line: string): string => {
  const fault = parseFaultLine(line);
  if (fault === undefined) return 'not a fault';
  return seesPeople(role) ? faultLine(fault) : `_${fault.code} ${faultTable[fault.code].reason}`;
};

/** @returns The same job. Its JSON now has only what the role may see. */
export const redactJob = (job: Job, role: Role, part?: BoardQueue): Job => {
  const isTransaction = job.queueName === signatureQueueName;
  const { name = job.name, data } =
    part?.shown?.(job) ?? (isTransaction ? shownTransaction : shownOther)(role, job);
  const returnvalue = isTransaction ? null : (resultSchema.safeParse(job.returnvalue).data ?? null);
  const failedReason = job.failedReason ? shownReason(role, job.failedReason) : '';
  const whole = job.toJSON.bind(job);
  job.toJSON = () => {
    const { id, timestamp, processedOn, finishedOn, attemptsMade, attemptsStarted, ...rest } =
      whole();
    const { stalledCounter, delay, priority, queueQualifiedName } = rest;
    return Object.assign(
      {
        id,
        timestamp,
        processedOn,
        finishedOn,
        attemptsMade,
        attemptsStarted,
        stalledCounter,
        delay,
      },
      { priority, queueQualifiedName, deferredFailure: '', progress: 0, stacktrace: [], opts: {} },
      { name, data, returnvalue, failedReason },
    ) as ReturnType<Job['toJSON']>;
  };
  return job;
};
