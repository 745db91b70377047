/** The parent's side of the HTTP load generator: what is asked of it and what it measured. */
import { startProgram } from '../harness/program.ts';

export interface HttpLoad {
  /** `http://127.0.0.1:8080/rest/service/sign` */
  readonly url: string;
  /** The body, with `{{n}}` where every request has a number of its own. */
  readonly template: string;
  readonly inFlight: number;
  /** Instead of `Content-Type: application/json`. */
  readonly headers?: readonly string[];
  /** The status of success; 200 by default. */
  readonly success?: number;
  /** Ends by time or by count, whichever comes first. */
  readonly durationMs?: number;
  readonly count?: number;
}

export interface HttpLoadResult {
  readonly count: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Answers of another status. */
  readonly failures: number;
  /** Status and beginning of the body of the first of them. */
  readonly firstFailure?: string;
}

export interface HttpLoader {
  readonly pid: number;
  /** @throws When an answer is not 200, unless `tolerant`; and when a connection breaks. */
  run(load: HttpLoad, options?: { readonly tolerant?: boolean }): Promise<HttpLoadResult>;
  stop(): Promise<void>;
}

export const startHttpLoader = async (): Promise<HttpLoader> => {
  const program = await startProgram<HttpLoad, HttpLoadResult>('bench/load/http-load.ts');
  return {
    pid: program.pid,
    run: async (load, { tolerant = false } = {}) => {
      const result = await program.ask(load);
      if (result.failures > 0 && !tolerant) {
        throw new Error(
          `${result.failures} of ${result.count} requests failed, the first with ${result.firstFailure}`,
        );
      }
      return result;
    },
    stop: program.stop,
  };
};
