/**
 * A transaction as everybody outside the workflow sees it. HTTP turns it into Status and Fault payloads; nothing here
 * knows of jobs.
 */
import type { LocationError, LocationReport } from '../../machines/outcome.ts';
import type { Fault } from '../protocol/fault.ts';
import type { ProfileName, SignatureRequest } from '../protocol/requests.ts';

export interface SignedView {
  /** CMS SignedData with certificates, Base64. Undefined when a text was delivered instead of a signature made. */
  readonly signature: string | undefined;
  readonly profile: ProfileName | undefined;
  /** The device that signed. */
  readonly sscdId: string | undefined;
  readonly validated: boolean;
  readonly geofencing: LocationReport | LocationError | undefined;
  readonly subscriberNetwork: string | undefined;
}

export type TransactionState =
  | { readonly kind: 'open' }
  | { readonly kind: 'signed'; readonly signed: SignedView }
  | { readonly kind: 'failed'; readonly fault: Fault };

export interface TransactionView {
  readonly msspTransId: string;
  readonly request: SignatureRequest;
  readonly state: TransactionState;
  /** Milliseconds since the epoch; undefined while it is open. */
  readonly endedAt: number | undefined;
}
