/**
 * The content of the queue `workflows`: a public contract, because other programs add jobs
 * (docs/queue-contract.md).
 *
 * One job for each instance. Its name is `<workflow>@<version>`, or the name alone for the latest
 * version. Its id is made by `instanceIdOf` (src/transactions/jobs/instance-ids.ts).
 */
import { z } from 'zod';

/** Data of the job of every workflow that the service runs. */
export const workflowDataSchema = z.strictObject({
  apId: z
    .string()
    .min(1)
    .max(256)
    .describe('AP_ID of the application that the instance belongs to'),
  input: z.unknown().optional().describe('What the workflow itself takes'),
});

/**
 * The name of the signature process, whose instances are listed by the people whom they name
 * (listing.ts).
 */
export const processName = 'process';
/** Signers, substitutes and persons to escalate to, in the whole definition of a process. */
export const maxPeople = 100;

export const statuses = ['open', 'completed', 'failed', 'cancelled'] as const;
export type WorkflowStatus = (typeof statuses)[number];
