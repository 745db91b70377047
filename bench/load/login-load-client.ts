/** The parent's side of the browsers that log in: what is asked of them and what they measured. */
import { startProgram } from '../harness/program.ts';

export interface LoginLoad {
  /** `http://127.0.0.1:8080` */
  readonly origin: string;
  readonly inFlight: number;
  readonly durationMs: number;
}

export interface LoginLoadResult {
  readonly count: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A login that does not end with an ID token is an error. */
export const startLoginLoader = () => startProgram<LoginLoad, LoginLoadResult>('bench/load/login-load.ts');
