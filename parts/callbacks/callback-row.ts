/**
 * The callback of one end of a transaction, or of what happens in a process, as operators see it:
 * without its address, which may hold a secret, and without data of the person.
 */

/** The workflow of a message that names none. */
export const processName = 'process';

/**
 * waiting    It will be tried, or is being tried.
 * delivered  The receiver has answered 2xx. Kept for two days.
 * dead       It will not be tried again automatically.
 */
export type CallbackState = 'waiting' | 'delivered' | 'dead';

export interface CallbackRow {
  /** The receiver's `webhook-id`. */
  readonly id: string;
  readonly apId: string;
  /** Of a transaction `signed`, `failed` or `receipted`; of a process its type, `process.end`. */
  readonly event: string;
  /** When it happened, milliseconds since the epoch. */
  readonly endedAt: number;
  /** Of a transaction. */
  readonly msspTransId?: string;
  readonly apTransId?: string;
  readonly attempt?: number;
  /** Of a process: its id as the application has chosen it, and the id of the instance. */
  readonly process?: string;
  readonly instanceId?: string;
  /** The step, and the signer in it. */
  readonly step?: string;
  readonly key?: string;
  /** Where a process is told elsewhere than where callbacks of the application are. */
  readonly host?: string;
  readonly state: CallbackState;
  readonly tries: number;
  /** Of the last try that failed: `HTTP 500`. */
  readonly problem?: string;
  /** The last try, milliseconds since the epoch; of a dead one when it died. */
  readonly triedAt?: number;
  /** While it waits for its time. */
  readonly nextTryAt?: number;
}

export interface CallbackFilter {
  readonly apId?: string | undefined;
  /** Dead before, milliseconds since the epoch. */
  readonly to?: number | undefined;
}

export interface CallbackPage {
  readonly rows: readonly CallbackRow[];
  /** Of the next page; absent when this was the last one. */
  readonly cursor?: string;
}

export interface CallbackCounts {
  /** Waiting for another try, or for the time that a bulk replay has given them. */
  readonly retried: number;
  readonly dead: number;
}
