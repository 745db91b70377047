/**
 * What has happened to a transaction, and who did it, from three sources: the record in its job, which knows every state of
 * every attempt; the notes of replays beside it; and the audit log, which knows what operators asked for.
 *
 * Other programs write jobs too, so whatever cannot be read is left out.
 */
import { z } from 'zod';
import type { TransactionRow } from '../history/row.ts';
import type { AuditEntry } from '../operators/audit.ts';
import { faultTable, isFaultCode } from '../protocol/fault.ts';
import { signatureRecordSchema } from '../transactions/contract.ts';

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

export type JobFields = Readonly<Record<string, string>>;

const historySchema = z.object({ history: signatureRecordSchema.shape.history });
type History = z.infer<typeof historySchema>['history'];

const noteSchema = z.object({ by: z.string() });

export const parsedJson = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
};

const member = (value: unknown, name: string): unknown => (Object(value) as Record<string, unknown>)[name];

/** The end's own record goes further than the one that was saved before it. */
const statesIn = (job: JobFields): History => {
  const ended = historySchema.safeParse(parsedJson(job.returnvalue));
  if (ended.success) return ended.data.history;
  const saved = historySchema.safeParse(member(parsedJson(job.data), 'transaction'));
  return saved.success ? saved.data.history : [];
};

/** How much time an attempt has; milliseconds since the epoch. */
export interface OpenAttempt {
  readonly attempt: number;
  readonly begunAt: number;
  readonly deadline: number;
}

const openSchema = signatureRecordSchema.pick({ attempt: true, deadline: true, history: true });

/** The attempt that a worker has begun last. */
export const openAttemptIn = (job: JobFields | undefined): OpenAttempt | undefined => {
  const record = openSchema.safeParse(member(parsedJson(job?.data), 'transaction')).data;
  const begun = record?.history.findLast(({ state }) => state === 'submitted');
  if (record === undefined || begun === undefined) return undefined;
  return { attempt: record.attempt, begunAt: begun.at, deadline: record.deadline };
};

/** By the attempt that a replay began: its note is named after the ended runs before it. */
const replayers = (job: JobFields): ReadonlyMap<number, string> =>
  new Map(
    Object.entries(job).flatMap(([name, text]) => {
      const runs = /^replay:(\d{1,9})$/.exec(name)?.[1];
      const note = runs === undefined ? undefined : noteSchema.safeParse(parsedJson(text)).data;
      return note === undefined ? [] : [[Number(runs) + 1, note.by] as const];
    }),
  );

const outcomeOf = ({ details }: AuditEntry): string | undefined =>
  details?.outcome === undefined ? undefined : String(details.outcome);

const describedFault = ({ code, detail }: { code: number; detail: string }): Fault | undefined =>
  isFaultCode(code) ? { code, reason: faultTable[code].reason, detail } : undefined;

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
  const replayedBy = replayers(job);
  const states = statesIn(job);
  const beganBy = (attempt: number): string =>
    attempt === 1 ? 'application' : (replayedBy.get(attempt) ?? 'service');

  const entries: TimelineEntry[] = [];
  let begunAt = row.submittedAt;
  for (const { state, attempt, at, fault } of states) {
    if (state === 'submitted') begunAt = at;
    const described = fault && describedFault(fault);
    const who = (): string => {
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
    entries.push({ at, event: state, attempt, who: who(), fault: described });
  }
  // What the record does not know: a job that nobody could read, or a replay that no worker has taken yet.
  if (states.length === 0) {
    entries.push({ at: row.submittedAt || undefined, event: 'submitted', attempt: 1, who: 'application' });
  }
  const last = entries.at(-1);
  if (last?.event !== row.state || last.attempt !== row.attempt) {
    const who = row.state === 'submitted' ? beganBy(row.attempt) : 'service';
    entries.push({ at: row.endedAt, event: row.state, attempt: row.attempt, who, fault: row.fault });
  }

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
