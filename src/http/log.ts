/** What the log may say about a request. */
export interface Trace {
  readonly apId?: string;
  readonly apTransId?: string;
  readonly msspTransId?: string;
  /** The code of the fault that was answered. */
  readonly fault?: number;
}

/** One answered request. Never bodies, headers or queries: they carry numbers and passwords. */
export interface AnsweredEntry extends Trace {
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
}

/** The log lines of HTTP. */
export interface HttpLog {
  answered(entry: AnsweredEntry): void;
  /** An unexpected error: Redis away, a bug. */
  trouble(error: Error): void;
}
