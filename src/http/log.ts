import type { Operation } from '../../packages/protocol/src/parse.ts';
import type { EventLog } from '../telemetry/logger.ts';

/** The facts about a request that may be logged. */
export interface Trace {
  readonly apId?: string;
  readonly apTransId?: string;
  readonly msspTransId?: string;
  /** The code of the fault that was answered. */
  readonly fault?: number;
  /** The detail of a fault that refused the request. It names no value. */
  readonly refused?: string;
}

/** One answered request, without body, headers and query: they carry numbers and passwords. */
export interface AnsweredEntry extends Trace {
  readonly path: string;
  readonly operation?: Operation | undefined;
  readonly status: number;
  readonly durationMs: number;
}

/** The log lines of HTTP. */
export interface HttpLog {
  answered(entry: AnsweredEntry): void;
  /** An unexpected error: Redis away, a bug. */
  trouble(error: Error): void;
}

export const createHttpLog = (log: EventLog): HttpLog => ({
  answered: ({ path, status, durationMs, apId, apTransId, msspTransId, fault, refused }) =>
    log.info(
      { path, status, durationMs, apId, apTransId, msspTransId, fault, refused },
      'answered',
    ),
  trouble: log.trouble,
});
