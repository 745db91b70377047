/**
 * What has happened to a transaction, and who did it: its states as the job tells them, and what operators asked for as the
 * audit log has it.
 */
import { parsed, type TransactionRow } from '../history/row.ts';
import type { AuditEntry } from '../operators/audit.ts';
import { type JobFields, replayNoteOf, statesOf, type ToldState } from '../operators/states.ts';
import { faultTable } from '../protocol/fault.ts';
import { recordIn, signatureRecordSchema } from '../transactions/contract.ts';

type Fault = NonNullable<TransactionRow['fault']>;

export interface TimelineEntry {
  /** Milliseconds since the epoch; undefined for what has no time of its own. */
  readonly at: number | undefined;
  /** A state that was entered, or an action of the audit log. */
  readonly event: string;
  readonly attempt?: number | undefined;
  /** `application`, `user`, `service`, or the name of an operator. */
  readonly who: string;
  readonly fault?: Fault | undefined;
  /** Of an operator. */
  readonly reason?: string | undefined;
  /** Of an action that turned out not to be done. */
  readonly outcome?: string | undefined;
}

export interface AttemptEntry {
  readonly attempt: number;
  readonly startedBy: string;
  readonly submittedAt: number | undefined;
  readonly promptedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly state: string;
  readonly fault?: Fault | undefined;
}

/** How much time an attempt has; milliseconds since the epoch. */
export interface OpenAttempt {
  readonly attempt: number;
  readonly begunAt: number;
  readonly deadline: number;
}

const openSchema = signatureRecordSchema.pick({ attempt: true, deadline: true, history: true });

/** The attempt that a worker has begun last. */
export const openAttemptIn = (job: JobFields | undefined): OpenAttempt | undefined => {
  const record = openSchema.safeParse(recordIn(parsed(job?.progress), parsed(job?.data))).data;
  const begun = record?.history.findLast(({ state }) => state === 'submitted');
  if (record === undefined || begun === undefined) return undefined;
  return { attempt: record.attempt, begunAt: begun.at, deadline: record.deadline };
};

const outcomeOf = ({ details }: AuditEntry): string | undefined =>
  details?.outcome === undefined ? undefined : String(details.outcome);

/** Of an end as fault 401: the person, unless an operator or the application was quicker. */
const cancellerOf = (detail: string, since: number, at: number, audited: readonly AuditEntry[]): string => {
  const ordered = audited.find(
    (entry) =>
      entry.action === 'cancel' && outcomeOf(entry) === undefined && entry.at >= since && entry.at <= at,
  );
  if (ordered !== undefined) return ordered.who;
  return detail === faultTable[401].detail ? 'user' : 'application';
};

/** Clocks of processes and of Redis differ a little. */
const clockSlackMs = 2000;

/** @param audited Entries of the audit log about this transaction, in any order. */
export const timelineOf = (
  row: TransactionRow,
  job: JobFields,
  audited: readonly AuditEntry[],
): { readonly timeline: readonly TimelineEntry[]; readonly attempts: readonly AttemptEntry[] } => {
  const beganBy = (attempt: number): string =>
    attempt === 1 ? 'application' : (replayNoteOf(job, attempt)?.by ?? 'service');

  let begunAt = row.submittedAt;
  const whoOf = ({ state, attempt, at = begunAt, fault }: ToldState): string => {
    switch (state) {
      case 'submitted':
        return beganBy(attempt);
      case 'pending':
        return 'service';
      case 'signed':
        return 'user';
      case 'receipted':
        return 'application';
      case 'failed':
        return fault?.code === 401
          ? cancellerOf(fault.detail, begunAt - clockSlackMs, at + clockSlackMs, audited)
          : 'service';
    }
  };
  const entries = statesOf(row, job).map((told): TimelineEntry => {
    const { state, attempt, fault, ordered } = told;
    // Two clocks, which may be milliseconds apart: what was ordered has not begun before.
    const orderedAt = audited.find(({ id }) => id === ordered?.order)?.at ?? 0;
    const at = told.at === undefined ? undefined : Math.max(told.at, orderedAt);
    if (state === 'submitted') begunAt = at ?? begunAt;
    return { at, event: state, attempt, who: whoOf(told), fault };
  });

  const numbers = [...new Set(entries.map(({ attempt }) => attempt ?? 1))];
  const attempts = numbers.map((attempt): AttemptEntry => {
    const own = entries.filter((entry) => entry.attempt === attempt);
    const end = own.find(({ event }) => event === 'signed' || event === 'failed');
    return {
      attempt,
      startedBy: beganBy(attempt),
      submittedAt: own.find(({ event }) => event === 'submitted')?.at,
      promptedAt: own.find(({ event }) => event === 'pending')?.at,
      endedAt: end?.at,
      state: own.at(-1)?.event ?? '',
      fault: end?.fault,
    };
  });
  const asked = audited.map(
    (entry): TimelineEntry => ({
      at: entry.at,
      event: entry.action,
      who: entry.who,
      reason: entry.reason,
      outcome: outcomeOf(entry),
    }),
  );
  const order = ({ at }: TimelineEntry): number => at ?? Number.POSITIVE_INFINITY;
  return { timeline: [...asked, ...entries].sort((a, b) => order(a) - order(b)), attempts };
};
