/** What may be said of a request. */
export interface Trace {
  readonly apId?: string;
  readonly apTransId?: string;
  readonly msspTransId?: string;
  /** The code of the fault that was answered. */
  readonly fault?: number;
}

/** One answered request. Never a body, a header or a query: they carry numbers, texts and passwords. */
export interface AnsweredEntry extends Trace {
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
}

/** What HTTP has to say. */
export interface HttpLog {
  answered(entry: AnsweredEntry): void;
  /** Something that should not happen: Redis away, a bug. */
  trouble(error: Error): void;
}
