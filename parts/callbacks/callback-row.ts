/**
 * The row of a callback for operators, about the end of a transaction or an event of a process. It
 * has neither the address, which may hold a secret, nor data of the person.
 */

/** The workflow of a message that names none. */
export const processName = 'process';

/**
 * waiting    A try will follow, or runs.
 * delivered  The receiver has answered 2xx. The callback is kept for two days.
 * dead       No further try follows without an order.
 */
export type CallbackState = 'waiting' | 'delivered' | 'dead';

export interface CallbackRow {
  /** The header `webhook-id` that the receiver gets. */
  readonly id: string;
  readonly apId: string;
  /** `signed`, `failed` or `receipted` for a transaction; for a process its type: `process.end`. */
  readonly event: string;
  /** The time of the event, milliseconds since the epoch. */
  readonly endedAt: number;
  /** This and the next two are present for a transaction. */
  readonly msspTransId?: string;
  readonly apTransId?: string;
  readonly attempt?: number;
  /**
   * The process's id that the application has chosen; `instanceId` is that of the instance.
   */
  readonly process?: string;
  readonly instanceId?: string;
  /** The step of a process; `key` is the signer in it. */
  readonly step?: string;
  readonly key?: string;
  /** The host of the address, if it is not that of the application's callbacks. */
  readonly host?: string;
  readonly state: CallbackState;
  readonly tries: number;
  /** The problem of the last failed try: `HTTP 500`. */
  readonly problem?: string;
  /** The time of the last try, milliseconds since the epoch; for a dead callback of its death. */
  readonly triedAt?: number;
  /** The time of the next try, while the callback waits for it; milliseconds since the epoch. */
  readonly nextTryAt?: number;
}

/** The state as people read it: one that has failed and waits is not well. */
export const stateWords = ({ state, tries }: Pick<CallbackRow, 'state' | 'tries'>): string =>
  state === 'waiting' && tries > 0 ? 'tried again' : state;

export interface CallbackFilter {
  readonly apId?: string | undefined;
  /** Dead before, milliseconds since the epoch. */
  readonly to?: number | undefined;
}

export interface CallbackPage {
  readonly rows: readonly CallbackRow[];
  /** The cursor of the next page; absent on the last page. */
  readonly cursor?: string;
}

export interface CallbackCounts {
  /** Callbacks that wait for another try, or for the time that a bulk replay has set. */
  readonly retried: number;
  readonly dead: number;
}
