import type { SignatureRecord } from '../machines/record.ts';

/**
 * Whose transaction a step is about: as much of the request as may be told. What a run has in hand is passed as it is, so
 * that telling costs nothing; whoever listens takes these members and no other.
 */
export interface About {
  readonly caller: { readonly apId: string; readonly apTransId: string };
}

/** What the workers have to say, by step. Transactions are named by id; numbers and texts stay out. */
export interface StepLog {
  asked(id: string, attempt: number, about: About): void;
  /** @param record As it is now: its history says when the attempt began and when it was signed. */
  signed(id: string, attempt: number, about: About, record: SignatureRecord): void;
  /** @param about Undefined for a job that cannot be read. */
  failed(id: string, attempt: number, code: number, about?: About): void;
  unreachable(id: string, attempt: number, failures: number, cause: string, about: About): void;
  receipted(id: string, receipt: string, about: About): void;
  /** Something that should not happen: a lost lock, Redis away, a bug. */
  trouble(error: Error): void;
}

/** What the circuit breakers of a process say, once for each change. */
export interface UpstreamLog {
  /** From now on its jobs are put off. */
  down(origin: string): void;
  back(origin: string): void;
}

/**
 * How transactions go, each told once by the worker that the queue has confirmed it to (ends.ts). The AP_ID is what the job
 * says, which nobody may have checked; undefined where it says none.
 */
export interface TransactionLog {
  /** A worker has it for the first time. A replay is another attempt and no other transaction. */
  submitted(apId: string | undefined): void;
  /** @param record As it was stored: its history says when the attempt began and when it was signed. */
  signed(apId: string | undefined, record: SignatureRecord): void;
  failed(apId: string | undefined, code: number): void;
}
