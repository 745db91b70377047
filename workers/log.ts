/** What the workers have to say, by step. Transactions are named by id; numbers and texts stay out. */
export interface StepLog {
  asked(id: string, attempt: number): void;
  signed(id: string, attempt: number): void;
  failed(id: string, attempt: number, code: number): void;
  unreachable(id: string, attempt: number, failures: number, cause: string): void;
  receipted(id: string, receipt: string): void;
  /** Something that should not happen: a lost lock, Redis away, a bug. */
  trouble(error: Error): void;
}
