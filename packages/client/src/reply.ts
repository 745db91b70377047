/** The outcomes of a call. All of them are expected, so they are values; only bugs are thrown. */
import type { ReceiptOutcome } from '../../protocol/src/outcome.ts';

export interface ServiceFault {
  /** The code of the fault, such as 401. Other services may have other codes. */
  readonly code: number;
  readonly reason: string;
  readonly detail: string;
}

/** @typeParam T The content of a 200. */
export type Reply<T> =
  | { readonly kind: 'answered'; readonly value: T }
  /**
   * A fault. `retryLater`: the service is busy and has not handled the request. `isFinal`: the
   * fault comes from the status of the transaction in a 200, so it is not an error of the moment.
   */
  | {
      readonly kind: 'fault';
      readonly fault: ServiceFault;
      readonly retryLater?: boolean;
      readonly isFinal?: true;
    }
  /**
   * No usable answer; for a status request also a busy service. `cause` can follow a colon.
   * `unsent`: the service has not got the request.
   */
  | { readonly kind: 'unreachable'; readonly cause: string; readonly unsent?: true }
  /** The signal of the caller has aborted. The request may have arrived. */
  | { readonly kind: 'aborted' };

export interface LocationAnswer {
  readonly country: string | undefined;
  readonly accuracyMeters: string | undefined;
  readonly deviceConfidence: string | undefined;
  readonly locationConfidence: string | undefined;
  readonly timestamp: string | undefined;
}

export interface ServiceAnswers {
  readonly geofencing?:
    | LocationAnswer
    | { readonly errorCode: string; readonly errorMessage: string };
  /** The network: MCC, then MNC. */
  readonly subscriberNetwork?: string;
}

/** The state of a transaction without a fault. */
export type Standing =
  | { readonly state: 'outstanding' }
  | {
      readonly state: 'signed';
      /** CMS SignedData, not verified. */
      readonly signature: Uint8Array;
      /** Whether the service has verified the signature itself. */
      readonly validated: boolean;
      readonly services: ServiceAnswers;
    }
  /** A one-time password reached the phone, without a signature. */
  | { readonly state: 'delivered'; readonly services: ServiceAnswers };

export interface Submitted {
  readonly msspTransId: string;
  /** The URI of the chosen method; empty if the service does not name it. */
  readonly profile: string;
  /** The state. `outstanding` also when the service only accepted a synchronous request. */
  readonly standing: Standing;
}

/**
 * The meaning of the status in an answer.
 *
 * accepted  100 REQUEST_OK: a one-time password has reached the phone. Other transactions go on.
 * refused   The transaction has ended without a valid signature.
 */
export type StatusWord =
  | Exclude<Standing, { state: 'delivered' }>
  | { readonly state: 'accepted'; readonly services: ServiceAnswers }
  | { readonly state: 'refused'; readonly fault: ServiceFault };

/** The reaction to a receipt. `unknown`: the service did not report it. */
export type Reaction = ReceiptOutcome | 'unknown';

export interface SscdAnswer {
  readonly state: string | undefined;
  readonly pinBlocked: boolean | undefined;
  readonly card:
    | { readonly mcc: string; readonly mnc: string; readonly network: string }
    | undefined;
  readonly certificates: readonly {
    readonly algorithm: string;
    readonly state: string;
    /** The certificates of user, issuing CA and root, each Base64 of DER. */
    readonly chain: readonly string[];
    readonly subjectNames: readonly string[];
  }[];
}

export interface ProfileAnswer {
  /** The URIs of the profiles that would work now. */
  readonly profiles: readonly string[];
  readonly autoActivation: boolean | undefined;
  readonly recoveryCodeCreated: boolean | undefined;
  readonly sim: SscdAnswer | undefined;
  readonly apps: readonly SscdAnswer[];
}
