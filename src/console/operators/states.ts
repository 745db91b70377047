/**
 * The history of a transaction, from its job: the states of its record, and the operator who
 * ordered each further attempt. Other actions of operators are in the audit log. Other programs
 * write jobs, too, so parts that cannot be read are left out.
 */
import { z } from 'zod';
import type { SignatureState } from '../../../machines/signature.machine.ts';
import { faultTable } from '../../../packages/protocol/src/fault.ts';
import { recordIn, signatureRecordSchema } from '../../transactions/contract.ts';
import { parsed, type TransactionRow } from '../../transactions/history/row.ts';
import type { ReplayNote } from '../../transactions/jobs/replay-once.ts';

/** All fields of a job's hash. */
export type JobFields = Readonly<Record<string, string>>;

export interface ToldState {
  readonly state: SignatureState;
  readonly attempt: number;
  /** Milliseconds since the epoch; undefined for a replay that no worker has started yet. */
  readonly at: number | undefined;
  readonly fault?: NonNullable<TransactionRow['fault']>;
  /** The order of the attempt that begins here; absent for the first attempt, or without a note. */
  readonly ordered?: ReplayNote;
}

const historySchema = signatureRecordSchema.pick({ history: true });
type History = z.infer<typeof historySchema>['history'];

const noteSchema = z.object({ by: z.string(), order: z.string() });

/** A replay's note is named after the ended runs before it (replay-once.ts). */
const replayNoteOf = (job: JobFields, attempt: number): ReplayNote | undefined =>
  noteSchema.safeParse(parsed(job[`replay:${attempt - 1}`])).data;

/** The record in the return value is newer than the last stored one. */
const historyIn = (job: JobFields): History => {
  const ended = historySchema.safeParse(parsed(job.returnvalue));
  if (ended.success) return ended.data.history;
  return historySchema.safeParse(recordIn(parsed(job.progress))).data?.history ?? [];
};

/** @returns The states in their order; the last one is the current state. */
export const statesOf = (row: TransactionRow, job: JobFields): readonly ToldState[] => {
  const begun = (attempt: number): Pick<ToldState, 'ordered'> => {
    const ordered = attempt > 1 ? replayNoteOf(job, attempt) : undefined;
    return ordered === undefined ? {} : { ordered };
  };
  const told = historyIn(job).map(
    ({ fault, ...entry }): ToldState => ({
      ...entry,
      ...(fault !== undefined && { fault: { ...fault, reason: faultTable[fault.code].reason } }),
      ...(entry.state === 'submitted' && begun(entry.attempt)),
    }),
  );
  // An unreadable job, a replay before its first turn and an end without a turn are not in the
  // record.
  if (told.length === 0)
    told.push({ state: 'submitted', attempt: 1, at: row.submittedAt || undefined });
  const last = told.at(-1);
  const { state, attempt, endedAt: at, fault } = row;
  if (last?.state !== state || last.attempt !== attempt) {
    const beginning = state === 'submitted' && begun(attempt);
    told.push({ state, attempt, at, ...(fault !== undefined && { fault }), ...beginning });
  }
  return told;
};
