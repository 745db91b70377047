/**
 * The answer of a device, and the outcome of a receipt. They are schemas, because they are stored
 * with the job, and other services read and write them (docs/queue-contract.md).
 */
import { z } from 'zod';
import { faultCodes } from './fault.ts';
import { profileNames } from './requests.ts';

export const faultSchema = z.object({ code: z.literal(faultCodes), detail: z.string() });

/** The location of the device, in the texts of the wire. */
const locationReport = z.object({
  country: z.string(),
  /** Metres, as a decimal integer. */
  accuracy: z.string(),
  /** Confidences: `0` to `1.0`, at most two decimals. */
  deviceConfidence: z.string(),
  locationConfidence: z.string(),
  /** The time of the fix: `2024-07-02T08:53:10.537+00:00`. */
  timestamp: z.string(),
});
const locationError = z.object({ errorCode: z.string(), errorMessage: z.string() });
export type LocationReport = Readonly<z.infer<typeof locationReport>>;
export type LocationError = Readonly<z.infer<typeof locationError>>;

const delivered = z.object({ kind: z.literal('delivered') });

/** A transaction of another service. */
export const upstreamSchema = z.object({
  gateway: z.string().describe('Its name in the configuration'),
  msspTransId: z.string().describe('The MSSP_TransID there'),
});
export type UpstreamTransaction = Readonly<z.infer<typeof upstreamSchema>>;

export const outcomeSchema = z.intersection(
  z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('signature'),
      cms: z
        .string()
        .describe(
          'CMS SignedData (RFC 5652), Base64, without certificates unless it brings its own',
        ),
      certificates: z.string().optional().describe('Id of the certificate chain to attach'),
    }),
    delivered.describe('A one-time password reached the phone; not a signature'),
  ]),
  z.object({
    profile: z.enum(profileNames).optional().describe('The method that was chosen'),
    sscdId: z.string().optional().describe('The device that signed'),
    /** True when the service has verified the signature, because the request asked for it. */
    validated: z.literal(true).optional(),
    geofencing: z.union([locationReport, locationError]).optional(),
    subscriberNetwork: z.string().optional().describe('MCC then MNC'),
    upstream: upstreamSchema
      .optional()
      .describe(
        'Where a device at another service has signed: the CMS has the certificates of that service',
      ),
    /** The seal of a worker (src/transactions/seal.ts). */
    seal: z
      .string()
      .optional()
      .describe('By which the service knows this outcome for its own; of no use to others'),
  }),
);
export type Outcome = Readonly<z.infer<typeof outcomeSchema>>;

/** The reaction of the user to a receipt. `unanswered`: the phone never showed it. */
export const receiptOutcomeSchema = z.enum(['accepted', 'cancelled', 'timeout', 'unanswered']);
export type ReceiptOutcome = z.infer<typeof receiptOutcomeSchema>;

/** The answer of a device to an attempt, or of another service in its place. */
export const answerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('signature'), cms: z.base64(), certificates: z.string().optional() }),
  delivered,
  z.object({ kind: z.literal('fault'), fault: faultSchema }),
]);
export type DeviceAnswer = Readonly<z.infer<typeof answerSchema>>;
