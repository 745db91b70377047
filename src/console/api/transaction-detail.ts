/**
 * One transaction with its past: what was asked, what happened when, and who had a hand in it.
 *
 * Three sources tell it: the record in the job (states, by the machine), the notes that replays leave in the job (who ordered
 * an attempt), and the audit log (what operators did and why). Whoever may see the person's number and text and does look is in
 * the audit log before they do, once in a session.
 */
import { z } from 'zod';
import type { SignatureState } from '../../../machines/signature.machine.ts';
import type { TransactionRow } from '../../history/row.ts';
import type { AuditEntry } from '../../operators/audit.ts';
import { faultTable } from '../../protocol/fault.ts';
import type { SignatureRequest } from '../../protocol/requests.ts';
import { shardFor } from '../../transactions/answers.ts';
import { type SignatureJobData, signatureRecordSchema } from '../../transactions/contract.ts';
import type { ConsoleDeps, ConsoleSession } from '../deps.ts';
import {
  type ShownFault,
  type ShownRow,
  seesPeople,
  shownFault,
  shownNumber,
  shownRow,
} from '../redaction.ts';

export type TimelineEntry =
  | {
      readonly kind: 'state';
      /** Milliseconds since the epoch. */
      readonly at: number;
      readonly attempt: number;
      readonly state: SignatureState;
      readonly fault?: ShownFault;
      /** Who ordered this attempt, and by what: the id of a bulk or of an entry in the audit log. */
      readonly by?: { readonly who: string; readonly order: string };
    }
  | {
      readonly kind: 'action';
      readonly at: number;
      readonly action: AuditEntry['action'];
      readonly who: string;
      readonly via: AuditEntry['via'];
      readonly reason?: string;
      /** Of an action that turned out not to be done. */
      readonly outcome?: string;
    };

export interface ShownRequest {
  readonly msisdn: string;
  readonly messagingMode: string;
  readonly timeoutSeconds: number;
  /** When the application says that it asked. */
  readonly instant: string;
  readonly services: readonly string[];
  readonly language: string | undefined;
  readonly data: {
    readonly kind: SignatureRequest['data']['kind'];
    /** Hidden from a viewer. */
    readonly text?: string;
    /** The rows of an approval, as JSON. */
    readonly dtbd?: string;
  };
}

export interface ShownOutcome {
  /** `delivered`: a one-time password, which is no signature. */
  readonly kind: 'signature' | 'delivered';
  /** The signature itself is not shown. */
  readonly signatureBytes?: number;
  readonly profile?: string | undefined;
  readonly sscdId?: string | undefined;
  readonly validated: boolean;
  readonly receipt?: string | undefined;
  /** Where the person was; hidden from a viewer. */
  readonly geofencing?: object | undefined;
  readonly subscriberNetwork?: string | undefined;
}

export interface TransactionDetail {
  readonly transaction: ShownRow;
  /** When the attempt that is open expires, milliseconds since the epoch. */
  readonly deadline: number | undefined;
  /** Undefined where the job holds no request that can be read. */
  readonly request: ShownRequest | undefined;
  readonly outcome: ShownOutcome | undefined;
  /** By time. */
  readonly timeline: readonly TimelineEntry[];
}

type StoredRecord = z.infer<typeof signatureRecordSchema>;

const noteSchema = z.object({ by: z.string(), order: z.string() });
/** Entries of the audit log about one transaction. */
const mostActions = 200;
/** The log's time is that of Redis, a transaction's that of the API. */
const clocksApartMs = 60_000;

const parsed = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
};

const recordIn = (job: Readonly<Record<string, string>>): StoredRecord | undefined => {
  const data = Object(parsed(job.data)) as Partial<SignatureJobData>;
  const end = signatureRecordSchema.safeParse(parsed(job.returnvalue)).data;
  return end ?? signatureRecordSchema.safeParse(data.transaction).data;
};

const bytesOf = (base64: string): number => Buffer.byteLength(base64, 'base64');

export const createDetails = (deps: ConsoleDeps) => {
  const { history, transactions, shards, redis, audit } = deps;

  const readJob = async (id: string): Promise<Readonly<Record<string, string>>> => {
    const shard = shardFor(shards, id);
    return shard === undefined ? {} : redis.hgetall(shard.signatures.queue.toKey(id));
  };

  const statesOf = (
    row: TransactionRow,
    record: StoredRecord | undefined,
    job: Readonly<Record<string, string>>,
    { operator: { role } }: ConsoleSession,
  ): readonly TimelineEntry[] => {
    const byOf = (attempt: number) => {
      const note = noteSchema.safeParse(parsed(job[`replay:${attempt - 1}`])).data;
      return note && { by: { who: note.by, order: note.order } };
    };
    const told: TimelineEntry[] = (record?.history ?? []).map(({ state, attempt, at, fault }) => ({
      kind: 'state',
      at,
      attempt,
      state,
      ...(fault !== undefined && {
        fault: shownFault(role, { ...fault, reason: faultTable[fault.code].reason }),
      }),
      ...(state === 'submitted' && attempt > 1 && byOf(attempt)),
    }));
    // What the job says and its record does not yet: a new attempt that nobody has taken, an end that was not a step's.
    const last = record?.history.at(-1);
    const { state, attempt } = row;
    if (last?.state === state && last.attempt === attempt) return told;
    const fault = row.fault && { fault: shownFault(role, row.fault) };
    const at = row.endedAt ?? (attempt === 1 ? row.submittedAt : (last?.at ?? row.submittedAt));
    const by = state === 'submitted' && attempt > 1 ? byOf(attempt) : undefined;
    return [...told, { kind: 'state', at, attempt, state, ...fault, ...by }];
  };

  const actionsOn = async (row: TransactionRow, { operator: { role } }: ConsoleSession) => {
    const page = await audit.read({
      target: row.msspTransId,
      from: Math.max(0, row.submittedAt - clocksApartMs),
      limit: mostActions,
    });
    return (page?.entries ?? []).map(({ at, action, who, via, reason, details }): TimelineEntry => {
      const outcome = details?.outcome;
      return {
        kind: 'action',
        at,
        action,
        who,
        via,
        // In somebody's own words, which may name a person.
        ...(reason !== undefined && seesPeople(role) && { reason }),
        ...(outcome !== undefined && { outcome: String(outcome) }),
      };
    });
  };

  const requestOf = (
    { msisdn, messagingMode, timeoutSeconds, caller, services, data }: SignatureRequest,
    { operator: { role } }: ConsoleSession,
  ): ShownRequest => ({
    msisdn: shownNumber(role, msisdn.number),
    messagingMode,
    timeoutSeconds,
    instant: caller.instant,
    services: Object.keys(services),
    language: services.userLang?.language,
    data: {
      kind: data.kind,
      ...(seesPeople(role) && {
        text: data.text,
        ...(data.kind === 'transaction-approval' && { dtbd: data.dtbd }),
      }),
    },
  });

  const outcomeOf = (
    record: StoredRecord | undefined,
    { operator: { role } }: ConsoleSession,
  ): ShownOutcome | undefined => {
    const outcome = record?.outcome;
    if (outcome === undefined) return undefined;
    return {
      kind: outcome.kind,
      ...(outcome.kind === 'signature' && { signatureBytes: bytesOf(outcome.cms) }),
      profile: outcome.profile,
      sscdId: outcome.sscdId,
      validated: outcome.validated ?? false,
      receipt: record?.receipt,
      ...(seesPeople(role) && {
        geofencing: outcome.geofencing,
        subscriberNetwork: outcome.subscriberNetwork,
      }),
    };
  };

  return {
    /**
     * @returns Undefined when there is no such transaction, or no longer.
     * @throws When the look cannot be recorded: then it is not had.
     */
    read: async (id: string, session: ConsoleSession): Promise<TransactionDetail | undefined> => {
      const row = await history.find(id);
      if (row === undefined) return undefined;
      const { name: who, via, role } = session.operator;
      if (seesPeople(role)) {
        const entry = { who, via, action: 'view-sensitive', target: id } as const;
        await audit.record(entry, `view:${session.id}:${id}`);
      }
      const [job, view, actions] = await Promise.all([
        readJob(id),
        transactions.find(id).catch(() => undefined),
        actionsOn(row, session),
      ]);
      const record = recordIn(job);
      const timeline = [...statesOf(row, record, job, session), ...actions].toSorted((a, b) => a.at - b.at);
      const open = row.state === 'submitted' || row.state === 'pending';
      return {
        transaction: shownRow(role, row),
        deadline: open && record?.attempt === row.attempt ? record.deadline : undefined,
        request: view && requestOf(view.request, session),
        outcome: outcomeOf(record, session),
        timeline,
      };
    },
  };
};
export type Details = ReturnType<typeof createDetails>;
