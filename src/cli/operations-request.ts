/** What was asked for, and what came of it, as far as an operator is shown it. Signatures are never: they are the application's. */
import { z } from 'zod';
import { isSecretText, shortNumber } from '../console/redaction.ts';
import { parsed, type TransactionRow } from '../history/row.ts';
import type { JobFields } from '../operators/states.ts';
import { endRecordSchema } from '../transactions/contract.ts';

const requestSchema = z.object({
  MSS_SignatureReq: z.object({
    MessagingMode: z.string().optional(),
    TimeOut: z.union([z.string(), z.number()]).optional(),
    MobileUser: z.object({ MSISDN: z.string() }).optional(),
    DataToBeSigned: z.object({ MimeType: z.string().optional(), Data: z.string() }).optional(),
    AdditionalServices: z.array(z.object({ Description: z.string() })).optional(),
  }),
});

/** Of what is hidden only the size is told. */
const hidden = (text: string): string => `hidden, ${[...text].length} characters`;

/** @param reveal Number and text as they are, but for a one-time password; the caller has recorded that somebody looks. */
export const shownRequest = (job: JobFields, row: TransactionRow, reveal: boolean) => {
  const request = requestSchema.safeParse(parsed(job.data)).data?.MSS_SignatureReq;
  const text = request?.DataToBeSigned?.Data;
  return {
    msisdn: reveal ? (request?.MobileUser?.MSISDN ?? row.msisdn) : shortNumber(row.msisdn),
    profile: row.profile ?? null,
    mode: request?.MessagingMode ?? null,
    timeoutSeconds: request?.TimeOut === undefined ? null : Number(request.TimeOut),
    services: request?.AdditionalServices?.map(({ Description }) => Description) ?? [],
    mimeType: request?.DataToBeSigned?.MimeType ?? null,
    text: text === undefined ? null : reveal && !isSecretText(row.profile) ? text : hidden(text),
  };
};

const receiptSchema = z.object({ receipt: z.string() });

/** Null while there is none. */
export const shownOutcome = (job: JobFields, reveal: boolean) => {
  const end = parsed(job.returnvalue);
  const outcome = endRecordSchema.safeParse(end).data?.outcome;
  if (outcome === undefined) return null;
  const { kind, profile, sscdId, validated, geofencing, subscriberNetwork } = outcome;
  return {
    kind,
    profile: profile ?? null,
    device: sscdId ?? null,
    validated: validated ?? false,
    receipt: receiptSchema.safeParse(end).data?.receipt ?? null,
    // Where somebody was is nobody's business either.
    ...(geofencing !== undefined && { geofencing: reveal ? geofencing : 'hidden' }),
    ...(subscriberNetwork !== undefined && { subscriberNetwork: reveal ? subscriberNetwork : 'hidden' }),
  };
};
