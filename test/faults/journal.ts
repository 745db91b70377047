/**
 * What the clients themselves know: what they asked, when, and what they were told. It is kept
 * apart from the service and is the only word on what was acknowledged.
 */
import { appendFileSync } from 'node:fs';
import type { AnswerResult } from '../../src/transactions/answers.ts';

/** `unknown`: no answer, or none that means anything; the request may have been heard or not. */
export type Told =
  | { readonly kind: 'accepted'; readonly id: string }
  | { readonly kind: 'signed'; readonly id?: string | undefined; readonly signature: string }
  | { readonly kind: 'delivered'; readonly id?: string | undefined }
  | { readonly kind: 'open' }
  | { readonly kind: 'fault'; readonly code: number; readonly detail: string }
  | { readonly kind: 'reaction'; readonly reaction: string }
  | { readonly kind: 'answer'; readonly result: AnswerResult }
  | { readonly kind: 'replayed' }
  | { readonly kind: 'unknown'; readonly cause: string };

export interface Operation {
  readonly client: string;
  readonly name: 'sign' | 'status' | 'receipt' | 'cancel' | 'replay';
  readonly mode?: 'synch' | 'asynch';
  /** The transaction, as far as the client knew it before. */
  readonly id?: string;
  /** Of a sign request: the process that was asked. */
  readonly api?: string;
  /** Equal for requests with the same body. */
  readonly apTransId?: string;
  readonly msisdn?: string;
  readonly text?: string;
  readonly timeoutSeconds?: number;
  /** Of a cancel: which attempt, and the words by which it can be known again. */
  readonly attempt?: number;
  readonly detail?: string;
}

export interface Entry extends Operation {
  /** Milliseconds since the epoch: when it was asked, and when the answer was there. */
  readonly from: number;
  readonly to: number;
  readonly told: Told;
}

export interface Journal {
  readonly entries: readonly Entry[];
  /** Does something and notes what came of it. */
  record(operation: Operation, act: () => Promise<Told>): Promise<Told>;
  /** Notes what has come of something otherwise. */
  note(entry: Entry): void;
}

export const openJournal = (file: string): Journal => {
  const entries: Entry[] = [];
  const note = (entry: Entry): void => {
    entries.push(entry);
    appendFileSync(file, `${JSON.stringify(entry)}\n`);
  };
  return {
    entries,
    note,
    record: async (operation, act) => {
      const from = Date.now();
      const told = await act();
      note({ ...operation, from, to: Date.now(), told });
      return told;
    },
  };
};
