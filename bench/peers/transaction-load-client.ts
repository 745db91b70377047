/** The parent's side of the transaction load: what is asked of it and what it measured. */
import { startProgram } from '../harness/program.ts';

export const systems = ['paraph', 'dbos', 'restate'] as const;
export type System = (typeof systems)[number];

/** One signature, or a process with three signers in order. */
export const works = ['signature', 'process'] as const;
export type Work = (typeof works)[number];

export interface TransactionLoad {
  readonly system: System;
  readonly work: Work;
  /** `http://127.0.0.1:8080` */
  readonly url: string;
  readonly inFlight: number;
  readonly durationMs: number;
}

export interface TransactionLoadResult {
  /** Transactions whose outcome was seen in time. */
  readonly count: number;
  readonly perSecond: number;
  /** From the request to the answer that it is accepted. */
  readonly acceptP50Ms: number;
  readonly acceptP99Ms: number;
  /** From that answer to the answer that carries the outcome. */
  readonly outcomeP50Ms: number;
  readonly outcomeP99Ms: number;
  /** For each transaction, one at best. */
  readonly statusRequests: number;
  /**
   * Of the last one, to be verified: Base64; of a process three with spaces between, or evidence.
   */
  readonly lastSignature: string;
}

export const startTransactionLoader = () =>
  startProgram<TransactionLoad, TransactionLoadResult>('bench/peers/transaction-load.ts');

/** What is signed, by all of them. */
export const text = 'Example Shop: confirm order?';
