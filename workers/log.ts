/** What workers log and count (metrics.ts). */
import type { SignatureRecord } from '../machines/record.ts';
import type { Place } from '../packages/engine/src/take-job.ts';
import type { UpstreamTransaction } from '../packages/protocol/src/outcome.ts';
import type { EventLog } from '../src/telemetry/logger.ts';

/**
 * The caller of a transaction. Listeners may get the whole request, but read these members only.
 */
export interface About {
  readonly caller: { readonly apId: string; readonly apTransId: string };
}

/** Steps of transactions, named by id. Phone numbers and texts stay out. */
export interface StepLog {
  /** @param upstream Where another service asks the person. */
  asked(id: string, attempt: number, about: About, upstream?: UpstreamTransaction): void;
  /** @param record Its history says when the attempt began and when it was signed. */
  signed(id: string, attempt: number, about: About, record: SignatureRecord): void;
  /** @param about Undefined for a job that cannot be read. */
  failed(id: string, attempt: number, code: number, about?: About): void;
  unreachable(id: string, attempt: number, failures: number, cause: string, about: About): void;
  receipted(id: string, receipt: string, about: About): void;
  /**
   * Something that should not happen: a lost lock, Redis away, a bug, an activity that has failed.
   *
   * @param place The place of the instance, if the error is about one.
   */
  trouble(error: Error, place?: Place): void;
}

/** Changes of the circuit breakers of a process. */
export interface UpstreamLog {
  /** Called when the upstream is down: its jobs are put off from now on. */
  down(origin: string): void;
  back(origin: string): void;
}

/**
 * Each event comes once (transaction-events.ts). The AP_ID is what the job says, unchecked;
 * undefined where it says none.
 */
export interface TransactionLog {
  /** A worker has it for the first time. A replay is another attempt of the same transaction. */
  submitted(apId: string | undefined): void;
  /** @param record Its history says when the attempt began and when it was signed. */
  signed(apId: string | undefined, record: SignatureRecord): void;
  failed(apId: string | undefined, code: number): void;
}

export const createStepLog = (log: EventLog): StepLog => ({
  asked: (msspTransId, attempt, { caller: { apTransId } }, upstream) =>
    log.info({ msspTransId, apTransId, attempt, upstream }, 'device asked'),
  signed: (msspTransId, attempt, { caller: { apTransId } }) =>
    log.info({ msspTransId, apTransId, attempt }, 'signed'),
  failed: (msspTransId, attempt, fault, about) =>
    log.info({ msspTransId, apTransId: about?.caller.apTransId, attempt, fault }, 'failed'),
  unreachable: (msspTransId, attempt, failures, cause, { caller: { apTransId } }) =>
    log.warn({ msspTransId, apTransId, attempt, failures, cause }, 'device unreachable'),
  receipted: (msspTransId, receipt, { caller: { apTransId } }) =>
    log.info({ msspTransId, apTransId, receipt }, 'receipted'),
  trouble: log.trouble,
});

export const createUpstreamLog = (log: EventLog): UpstreamLog => ({
  down: (upstream) => log.error({ upstream }, 'upstream down: what is for it is put off'),
  back: (upstream) => log.info({ upstream }, 'upstream back'),
});
