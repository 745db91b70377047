/**
 * What lies in the queues: a public contract, because other services add jobs and read their results themselves.
 *
 * Queue `signatures`: one job per transaction, its id the MSSP_TransID. Data is the wire's own MSS_SignatureReq without
 * AP_PWD. Where the request stands lies in the job's progress, which is the engine's. A completed job returns the final record with the
 * outcome. A failed job's `failedReason` is one line, `_401 USER_CANCEL: text`.
 *
 * Queue `receipts`: one job per receipt, its id the MSSP_TransID with `-receipt` behind it.
 *
 * Both live under the prefix `{<prefix>-<shard>}`; the braces keep a shard's keys in one slot of a Redis Cluster.
 */
import { z } from 'zod';
import { faultCodes } from '../protocol/fault.ts';
import { profileNames } from '../protocol/requests.ts';

export const signatureQueueName = 'signatures';
export const receiptQueueName = 'receipts';
export const signatureJobName = 'sign';
export const receiptJobName = 'receipt';

export const shardPrefix = (prefix: string, shard: number): string => `{${prefix}-${shard}}`;

const faultSchema = z.object({ code: z.literal(faultCodes), detail: z.string() });

const outcomeSchema = z.intersection(
  z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('signature'),
      cms: z
        .string()
        .describe('CMS SignedData (RFC 5652), Base64, without certificates unless it brings its own'),
      certificates: z.string().optional().describe('Id of the certificate chain to attach'),
    }),
    z
      .object({ kind: z.literal('delivered') })
      .describe('A one-time password reached the phone; not a signature'),
  ]),
  z.object({
    profile: z.enum(profileNames).optional().describe('The method that was chosen'),
    sscdId: z.string().optional().describe('The device that signed'),
    validated: z.literal(true).optional(),
    geofencing: z
      .union([
        z.object({
          country: z.string(),
          accuracy: z.string(),
          deviceConfidence: z.string(),
          locationConfidence: z.string(),
          timestamp: z.string(),
        }),
        z.object({ errorCode: z.string(), errorMessage: z.string() }),
      ])
      .optional(),
    subscriberNetwork: z.string().optional().describe('MCC then MNC'),
    seal: z
      .string()
      .optional()
      .describe('By which the service knows this outcome for its own; of no use to others'),
  }),
);

/**
 * What a reader needs of a completed job's return value. Later releases may add states and members to the record; this
 * much they leave as it is, so that a process of this release can answer for what a newer worker has signed.
 */
export const endRecordSchema = z.object({ attempt: z.number().int().min(1), outcome: outcomeSchema });
export type StoredOutcome = z.infer<typeof outcomeSchema>;

/** Where a transaction stands; also the return value of a completed job. */
export const signatureRecordSchema = z.object({
  version: z.literal(1),
  state: z.enum(['submitted', 'pending', 'signed', 'failed', 'receipted']),
  attempt: z.number().int().min(1),
  deadline: z.number().describe('Milliseconds since the epoch'),
  outcome: outcomeSchema.optional(),
  fault: faultSchema.optional(),
  receipt: z.enum(['accepted', 'cancelled', 'timeout', 'unanswered']).optional(),
  history: z.array(
    z.object({
      state: z.enum(['submitted', 'pending', 'signed', 'failed', 'receipted']),
      attempt: z.number().int().min(1),
      at: z.number().describe('Milliseconds since the epoch'),
      fault: faultSchema.optional(),
    }),
  ),
});

/** The request is checked against the protocol's own schema when the worker takes the job. */
export const signatureJobDataSchema = z.object({ MSS_SignatureReq: z.record(z.string(), z.unknown()) });

/** The same as a type. */
export interface SignatureJobData {
  readonly MSS_SignatureReq: Readonly<Record<string, unknown>>;
}

/** What a release before 0.2 has noted in the data of a job. */
export const earlierNoteSchema = z.object({
  transaction: signatureRecordSchema.optional(),
  chosen: z.object({ profile: z.enum(profileNames), sscdId: z.string().optional() }).optional(),
});

export const receiptJobDataSchema = z.object({
  msspTransId: z.string(),
  apId: z.string().optional().describe('Whose it is; for the fair order among applications'),
  /** Equal requests have equal fingerprints: what tells a repeated request from a second receipt. */
  fingerprint: z.string(),
  msisdn: z.string(),
  message: z.string(),
  /** The device that signed. */
  sscdId: z.string().optional(),
  language: z.string().optional(),
  timeoutSeconds: z.number().int().min(1).max(3600),
  /** Of a release before 0.2: what silence until the deadline means, once the phone has been asked. */
  lapsesAs: z.enum(['timeout', 'unanswered']).optional(),
});
export type ReceiptJobData = Readonly<z.infer<typeof receiptJobDataSchema>>;

export const receiptJobResultSchema = z.object({
  receipt: z.enum(['accepted', 'cancelled', 'timeout', 'unanswered']),
});
export type ReceiptJobResult = Readonly<z.infer<typeof receiptJobResultSchema>>;

/** What a device, or somebody in its place, may answer. */
export const answerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('signature'), cms: z.base64(), certificates: z.string().optional() }),
  z.object({ kind: z.literal('delivered') }),
  z.object({ kind: z.literal('fault'), fault: faultSchema }),
]);

/** Events that come from outside. Of answers the first one to an attempt stands. */
export const signatureOrderSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ANSWERED'), attempt: z.number().int().min(1), answer: answerSchema }),
  z.object({ type: z.literal('CANCEL'), attempt: z.number().int().min(1), fault: faultSchema }),
]);

/** What lies in the record of an instance, as far as it is not believed unseen. */
export const signatureContextSchema = signatureRecordSchema
  .pick({ attempt: true, deadline: true, outcome: true, fault: true, history: true })
  .extend({
    timeoutSeconds: z.number(),
    silence: z.enum(['expired', 'undelivered', 'troubled']),
    failures: z.number(),
    againAt: z.number(),
  });

/**
 * Where an open or failed transaction stands, from what lies in its job. How it was signed is only returned, and is not told of here.
 *
 * @returns What has the members of a {@link signatureRecordSchema}, if it is one; undefined before the first turn.
 */
export const recordIn = (progress: unknown, data: unknown): unknown => {
  const { version, context } = Object(progress) as { readonly version?: unknown; readonly context?: unknown };
  if (context === undefined) return Object(data).transaction;
  const { attempt, deadline, fault, history } = Object(context) as Readonly<Record<string, unknown>>;
  const last: unknown = Array.isArray(history) ? history.at(-1) : undefined;
  return {
    version,
    state: Object(last).state,
    attempt,
    deadline,
    ...(fault !== undefined && { fault }),
    history,
  };
};

export const receiptJobId = (msspTransId: string): string => `${msspTransId}-receipt`;
