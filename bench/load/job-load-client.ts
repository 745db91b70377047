/** The parent's side of the producer: what is asked of it and what it measured. */
import { startProgram } from '../harness/program.ts';
import type { ProcessShape, signBody } from './requests.ts';

export interface JobLoad {
  /**
   * flow   Adds jobs and waits for their ends, so many in flight.
   * drain  Adds `count` jobs to a paused queue, resumes it and waits until all have completed.
   * bulk   Adds `count` jobs, or for `durationMs`, `inFlight` in each addBulk; waits for none.
   * drop   Removes the waiting jobs from the queue's lists and waits for those in hand.
   */
  readonly kind: 'flow' | 'drain' | 'bulk' | 'drop';
  readonly socketPath: string;
  /** Of the queue: `{paraph-0}`. */
  readonly prefix: string;
  /** What each job asks for: a signature, or a process in the queue `workflows`. */
  readonly body: ReturnType<typeof signBody> | ProcessShape;
  /** Default 64. */
  readonly inFlight?: number;
  readonly durationMs?: number;
  readonly count?: number;
}

export interface JobLoadResult {
  readonly count: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** From the call that adds to the event of completion; zero for a drain. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** A failed job is an error. */
export const startJobLoader = () => startProgram<JobLoad, JobLoadResult>('bench/load/job-load.ts');
