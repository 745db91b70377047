/** The outcomes of a call. All of them are expected, so they are values; only bugs are thrown. */
import type { ReceiptOutcome } from '../protocol/outcome.ts';

export interface ServiceFault {
  /** As in `_401`, without the underscore. Other services may have other codes. */
  readonly code: number;
  readonly reason: string;
  readonly detail: string;
}

/** @typeParam T The content of a 200. */
export type Reply<T> =
  | { readonly kind: 'answered'; readonly value: T }
  /**
   * `retryLater`: the service is busy and has not looked at the request.
   * `isFinal`: said by the status of the transaction in a 200, so it is no trouble of the moment.
   */
  | {
      readonly kind: 'fault';
      readonly fault: ServiceFault;
      readonly retryLater?: boolean;
      readonly isFinal?: true;
    }
  /**
   * No usable answer; for a status request also a busy service. `cause` can follow a colon.
   * `unsent`: the service has got nothing of the request.
   */
  | { readonly kind: 'unreachable'; readonly cause: string; readonly unsent?: true }
  /** The caller's signal. The request may have arrived. */
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
  /** MCC then MNC. */
  readonly subscriberNetwork?: string;
}

/** The state of a transaction without a fault. */
export type Standing =
  | { readonly state: 'outstanding' }
  | {
      readonly state: 'signed';
      /** CMS SignedData, not verified. */
      readonly signature: Uint8Array;
      /** The service has verified the signature itself. */
      readonly validated: boolean;
      readonly services: ServiceAnswers;
    }
  /** A one-time password reached the phone, without a signature. */
  | { readonly state: 'delivered'; readonly services: ServiceAnswers };

export interface Submitted {
  readonly msspTransId: string;
  /** URI of the chosen method; empty if the service does not say it. */
  readonly profile: string;
  /** `outstanding` where the service accepted the request, although it was a synchronous one. */
  readonly standing: Standing;
}

/**
 * What the status of an answer says.
 *
 * accepted  100 REQUEST_OK: a one-time password has reached the phone. Anything else goes on.
 * refused   The transaction has ended without a valid signature.
 */
export type StatusWord =
  | Exclude<Standing, { state: 'delivered' }>
  | { readonly state: 'accepted'; readonly services: ServiceAnswers }
  | { readonly state: 'refused'; readonly fault: ServiceFault };

/** `unknown`: the service did not say. */
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
    /** Base64 DER: user, issuing CA, root. */
    readonly chain: readonly string[];
    readonly subjectNames: readonly string[];
  }[];
}

export interface ProfileAnswer {
  /** URIs that would work now. */
  readonly profiles: readonly string[];
  readonly autoActivation: boolean | undefined;
  readonly recoveryCodeCreated: boolean | undefined;
  readonly sim: SscdAnswer | undefined;
  readonly apps: readonly SscdAnswer[];
}
