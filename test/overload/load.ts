/**
 * The parent's side of the load generator of `npm run overload` and `npm run soak`: what is asked
 * of it, what it saw.
 */
import { startProgram } from '../../bench/harness/program.ts';

/** One kind of request among those that are sent. */
export interface Kind {
  readonly name: string;
  readonly path: string;
  /**
   * JSON of the body. `{{n}}` becomes a number that no other request has; `{{any}}` an MSSP_TransID
   * that was answered lately, `{{signed}}` one of a synchronous signature, each of them once.
   * Without such an id the request is not sent.
   */
  readonly template: string;
  readonly weight: number;
}

export interface Load {
  readonly url: string;
  readonly kinds: readonly Kind[];
  readonly durationMs: number;
  /**
   * Open loop: requests go out when they are due, whether or not the ones before were answered.
   * Without it a closed loop: each connection sends when it was answered.
   */
  readonly perSecond?: number;
  /** At most so many requests in flight. */
  readonly connections: number;
  /** Whether the MSSP_TransIDs that were answered are wanted. */
  readonly wantsIds: boolean;
}

export interface Latency {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Seen {
  /** 200 with a response. */
  readonly served: Latency;
  /** The Fault that says that there is no room. */
  readonly refused: Latency;
  /** Any other Fault, by code and detail. */
  readonly faults: Readonly<Record<string, number>>;
  /** Connections that ended without an answer. */
  readonly broken: number;
}

export interface LoadResult {
  readonly seconds: number;
  readonly sent: number;
  /** Due, but all connections were waiting for an answer. */
  readonly unsent: number;
  readonly kinds: Readonly<Record<string, Seen>>;
  readonly ids: readonly string[];
}

export const startLoader = () => startProgram<Load, LoadResult>('test/overload/loader.ts');
