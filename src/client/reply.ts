/**
 * What a call to a signature service can come to. Everything here is expected and a value: a client that talks over a
 * network and with people throws for bugs only.
 */
import type { ReceiptOutcome } from '../../machines/outcome.ts';

export interface ServiceFault {
  /** As in `_401`, without the underscore. Other services have codes that ours does not know. */
  readonly code: number;
  readonly reason: string;
  readonly detail: string;
}

/** @typeParam T What a 200 says. */
export type Reply<T> =
  | { readonly kind: 'answered'; readonly value: T }
  /** `retryLater`: the service is busy; what was asked for has not been looked at. */
  | { readonly kind: 'fault'; readonly fault: ServiceFault; readonly retryLater?: boolean }
  /**
   * Nobody answered, or somebody who speaks something else; for a status request also a service that is too busy to look.
   * `cause` can follow a colon.
   */
  | { readonly kind: 'unreachable'; readonly cause: string }
  /** The caller's own signal. What was sent may have been received. */
  | { readonly kind: 'aborted' };

export interface LocationAnswer {
  readonly country: string | undefined;
  readonly accuracyMeters: string | undefined;
  readonly deviceConfidence: string | undefined;
  readonly locationConfidence: string | undefined;
  readonly timestamp: string | undefined;
}

export interface ServiceAnswers {
  readonly geofencing?: LocationAnswer | { readonly errorCode: string; readonly errorMessage: string };
  /** MCC then MNC. */
  readonly subscriberNetwork?: string;
}

/** Where a transaction stands, when it has not ended in a fault. */
export type Standing =
  | { readonly state: 'outstanding' }
  | {
      readonly state: 'signed';
      /** CMS SignedData as it came, not verified. */
      readonly signature: Uint8Array;
      /** The service says that it has verified the signature itself. */
      readonly validated: boolean;
      readonly services: ServiceAnswers;
    }
  /** A one-time password reached the phone. There is no signature. */
  | { readonly state: 'delivered'; readonly services: ServiceAnswers };

export interface Submitted {
  readonly msspTransId: string;
  /** URI of the method that was chosen; empty when the service did not say. */
  readonly profile: string;
  /** Always `outstanding` in asynch mode. */
  readonly standing: Standing;
}

/** `unknown`: the service did not say. */
export type Reaction = ReceiptOutcome | 'unknown';

export interface SscdAnswer {
  readonly state: string | undefined;
  readonly pinBlocked: boolean | undefined;
  readonly card: { readonly mcc: string; readonly mnc: string; readonly network: string } | undefined;
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
