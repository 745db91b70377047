/**
 * The content of the queues: a public contract, because other services add jobs and read results.
 *
 * Queue `signatures`: one job for each transaction, its id is the MSSP_TransID. The data is the
 * MSS_SignatureReq of the wire without AP_PWD. The progress belongs to the engine and has the state
 * of the request. A completed job returns the final record with the outcome. The `failedReason` of
 * a failed job is one line, `_401 USER_CANCEL: text`.
 *
 * Queue `receipts`: one job for each receipt, its id is `<MSSP_TransID>-receipt`.
 *
 * Both have the prefix `{<prefix>-<shard>}`. The braces keep a shard in one slot of a Redis
 * Cluster.
 */
import { z } from 'zod';
import {
  answerSchema,
  faultSchema,
  outcomeSchema,
  receiptOutcomeSchema,
} from '../../packages/protocol/src/outcome.ts';

export const signatureQueueName = 'signatures';
export const receiptQueueName = 'receipts';
export const signatureJobName = 'sign';
export const receiptJobName = 'receipt';

export const shardPrefix = (prefix: string, shard: number): string => `{${prefix}-${shard}}`;

export const shardPrefixes = (queue: {
  readonly prefix: string;
  readonly shards: number;
}): readonly string[] =>
  Array.from({ length: queue.shards }, (_, shard) => shardPrefix(queue.prefix, shard));

/**
 * The part of a return value that readers need. Later releases may add states and members to the
 * record, but keep this part, so that this release can read the results of newer workers.
 */
export const endRecordSchema = z.object({
  attempt: z.number().int().min(1),
  outcome: outcomeSchema,
});

/** The record of a transaction; also the return value of a completed job. */
export const signatureRecordSchema = z.object({
  version: z.literal(1),
  state: z.enum(['submitted', 'pending', 'signed', 'failed', 'receipted']),
  attempt: z.number().int().min(1),
  deadline: z.number().describe('Milliseconds since the epoch'),
  outcome: outcomeSchema.optional(),
  fault: faultSchema.optional(),
  receipt: receiptOutcomeSchema.optional(),
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
export const signatureJobDataSchema = z.object({
  MSS_SignatureReq: z.record(z.string(), z.unknown()),
});

export interface SignatureJobData {
  readonly MSS_SignatureReq: Readonly<Record<string, unknown>>;
  /**
   * The token of an activity of a workflow. The activity gets the end before the job ends. Only the
   * service reads it.
   */
  readonly answerTo?: string;
}

export const receiptJobDataSchema = z.object({
  msspTransId: z.string(),
  apId: z.string().optional().describe('Whose it is; for the fair order among applications'),
  /** Equal requests have equal fingerprints. Another fingerprint means a second receipt. */
  fingerprint: z.string(),
  msisdn: z.string(),
  message: z.string(),
  /** The device that signed. */
  sscdId: z.string().optional(),
  gateway: z.string().optional().describe('Name of the gateway behind which it is'),
  language: z.string().optional(),
  timeoutSeconds: z.number().int().min(1).max(3600),
});
export type ReceiptJobData = Readonly<z.infer<typeof receiptJobDataSchema>>;

/**
 * The data of a receipt's job as the service stores it. `answerTo`: see {@link SignatureJobData}.
 */
export type StoredReceipt = ReceiptJobData & Pick<SignatureJobData, 'answerTo'>;

export const receiptJobResultSchema = z.object({ receipt: receiptOutcomeSchema });
export type ReceiptJobResult = Readonly<z.infer<typeof receiptJobResultSchema>>;

/** Events that come from outside. The first answer to an attempt counts. */
export const signatureOrderSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ANSWERED'), attempt: z.number().int().min(1), answer: answerSchema }),
  z.object({ type: z.literal('CANCEL'), attempt: z.number().int().min(1), fault: faultSchema }),
]);

/** The part of a stored context that is checked before a turn uses it. */
export const signatureContextSchema = signatureRecordSchema
  .pick({ attempt: true, deadline: true, outcome: true, fault: true, history: true })
  .extend({
    timeoutSeconds: z.number(),
    silence: z.enum(['expired', 'undelivered', 'troubled']),
    failures: z.number(),
    againAt: z.number(),
  });

/**
 * The record of an open or failed transaction, from its job. A completed job returns its record.
 *
 * @returns An unchecked object with the members of {@link signatureRecordSchema}; undefined before
 *   the first turn.
 */
export const recordIn = (progress: unknown): unknown => {
  const { version, context } = Object(progress) as {
    readonly version?: unknown;
    readonly context?: unknown;
  };
  if (context === undefined) return undefined;
  const { attempt, deadline, fault, history } = Object(context) as Readonly<
    Record<string, unknown>
  >;
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
