/**
 * What a device gives back, and what became of a receipt. Plain data: it is stored with the job and
 * read by other services (docs/queue-contract.md).
 */

import type { Fault } from '../src/protocol/fault.ts';
import type { ProfileName } from '../src/protocol/requests.ts';

/**
 * A signature by the user's key. `cms` is a CMS SignedData without its certificates. They are the
 * same for every signature of a key, so they are kept once, under `certificates`.
 */
export interface SignedOutcome {
  readonly kind: 'signature';
  /** Base64. */
  readonly cms: string;
  /** Id of the certificate chain to attach; undefined when `cms` carries its own. */
  readonly certificates?: string | undefined;
}

/** A one-time password reached the user's phone. The user confirmed nothing. */
export interface DeliveredOutcome {
  readonly kind: 'delivered';
}

/** Where the device was, in the texts of the wire. */
export interface LocationReport {
  readonly country: string;
  /** Metres, decimal integer. */
  readonly accuracy: string;
  /** `0` to `1.0`, at most two decimals. */
  readonly deviceConfidence: string;
  readonly locationConfidence: string;
  /** `2024-07-02T08:53:10.537+00:00`. */
  readonly timestamp: string;
}

export interface LocationError {
  readonly errorCode: string;
  readonly errorMessage: string;
}

export type Outcome = (SignedOutcome | DeliveredOutcome) & {
  /** The method that was chosen for the user. */
  readonly profile?: ProfileName | undefined;
  /** The device that signed; a receipt goes to the same one. */
  readonly sscdId?: string | undefined;
  /** The service has verified the signature, because the request asked for it. */
  readonly validated?: true | undefined;
  readonly geofencing?: LocationReport | LocationError | undefined;
  /** MCC then MNC. */
  readonly subscriberNetwork?: string | undefined;
  /** Proof that this outcome belongs to this transaction (src/transactions/seal.ts). */
  readonly seal?: string | undefined;
};

/** What the user did with a receipt. `unanswered`: the phone never showed it. */
export type ReceiptOutcome = 'accepted' | 'cancelled' | 'timeout' | 'unanswered';

/** What a device answers to an attempt, or another service in its place. */
export type DeviceAnswer =
  | SignedOutcome
  | DeliveredOutcome
  | { readonly kind: 'fault'; readonly fault: Fault };
