/** The parent's side of the answering producer: what is asked of it and what it measured. */
import { startProgram } from '../harness/program.ts';

export interface AnswerStream {
  readonly redisUrl: string;
  /** Of the service, because the answers are signed with its users' keys. Base64url of 32 bytes. */
  readonly masterKey: string;
  /** So many of the pending transactions, picked at random, are answered… */
  readonly count: number;
  /** … at this steady rate. */
  readonly perSecond: number;
}

export interface AnswerStreamResult {
  readonly count: number;
  /** From the moment the answer is given to the event of completion. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** `prepare` makes and keeps the signatures, so that the stream itself costs next to nothing. */
export type AnswerQuestion =
  | { readonly kind: 'prepare'; readonly stream: AnswerStream }
  | { readonly kind: 'answer'; readonly stream: AnswerStream };

/** An answer that is not accepted, or whose transaction does not complete, is an error. */
export const startAnswerer = () =>
  startProgram<AnswerQuestion, AnswerStreamResult>('bench/fill/answer-stream.ts');
