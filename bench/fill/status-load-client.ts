/** The parent's side of the status requests: what is asked of them and what they measured. */
import { startProgram } from '../harness/program.ts';

export interface StatusLoad {
  /** `http://127.0.0.1:8080/rest/service/status`, or `…/job` of the floor (floors/bare-http.ts). */
  readonly url: string;
  /** What is asked for. Default: `status`. */
  readonly kind?: 'status' | 'job';
  /** Copies of a signed transaction, numbered from 0: see retained.ts. */
  readonly retained: number;
  readonly inFlight: number;
  readonly durationMs: number;
}

export interface StatusLoadResult {
  readonly count: number;
  readonly seconds: number;
  readonly perSecond: number;
}

/** An answer without a signature is an error. */
export const startStatusLoader = () =>
  startProgram<StatusLoad, StatusLoadResult>('bench/fill/status-load.ts');
