/**
 * One transaction with its past: what was asked, what happened when, and who had a hand in it.
 *
 * Three sources tell it: the record in the job (states, by the machine), the notes that replays leave in the job (who ordered
 * an attempt), and the audit log (what operators did and why). Whoever may see the person's number and text and does look is in
 * the audit log before they do, once in a session.
 */
import type { z } from 'zod';
import type { SignatureState } from '../../../machines/signature.machine.ts';
import { parsed, type TransactionRow } from '../../history/row.ts';
import { type AuditEntry, doneBy } from '../../operators/audit.ts';
import type { Role } from '../../operators/operator.ts';
import { type JobFields, statesOf } from '../../operators/states.ts';
import { faultTable } from '../../protocol/fault.ts';
import type { SignatureRequest } from '../../protocol/requests.ts';
import { shardFor } from '../../transactions/answers.ts';
import { recordIn, signatureRecordSchema } from '../../transactions/contract.ts';
import type { TransactionView } from '../../transactions/view.ts';
import type { AdminApiDeps, ConsoleSession } from '../deps.ts';
import {
  isSecretText,
  type ShownFault,
  type ShownRow,
  seesPeople,
  shortNumber,
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
    /** Hidden from a viewer; a one-time password from everybody. */
    readonly text?: string;
    /** Its length, for whoever might see it. */
    readonly characters?: number;
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

/** Who looks, and whether at the person, too. */
interface Sight {
  readonly role: Role;
  readonly reveal: boolean;
}

type StoredRecord = z.infer<typeof signatureRecordSchema>;

/** Entries of the audit log about one transaction. */
const mostActions = 1000;
/** The log's time is that of Redis, a transaction's that of the API. */
const clocksApartMs = 60_000;

const recordOf = (job: JobFields): StoredRecord | undefined =>
  signatureRecordSchema.safeParse(parsed(job.returnvalue)).data ??
  signatureRecordSchema.safeParse(recordIn(parsed(job.progress), parsed(job.data))).data;

/** What is listed is what the job says. An end that is not believed is shown as it is answered. */
const asAnswered = (row: TransactionRow, view: TransactionView | undefined): TransactionRow => {
  if (view?.state.kind !== 'failed' || row.fault !== undefined) return row;
  const { code, detail } = view.state.fault;
  return { ...row, state: 'failed', fault: { code, reason: faultTable[code].reason, detail } };
};

const bytesOf = (base64: string): number => Buffer.byteLength(base64, 'base64');

export const createDetails = (deps: AdminApiDeps) => {
  const { history, transactions, shards, redis, audit } = deps;

  const readJob = async (id: string): Promise<JobFields> => {
    const shard = shardFor(shards, id);
    return shard === undefined ? {} : redis.hgetall(shard.signatures.queue.toKey(id));
  };

  const statesIn = (
    job: JobFields,
    row: TransactionRow,
    audited: readonly AuditEntry[],
    { role, reveal }: Sight,
  ): readonly TimelineEntry[] => {
    let last = row.submittedAt;
    return statesOf(row, job).map(({ state, attempt, fault, ordered, ...told }): TimelineEntry => {
      // Two clocks, which may be milliseconds apart: what was ordered has not begun before.
      const orderedAt = audited.find(({ id }) => id === ordered?.order)?.at ?? 0;
      const at = Math.max(told.at ?? last, orderedAt);
      last = at;
      return {
        kind: 'state',
        at,
        attempt,
        state,
        ...(fault !== undefined && { fault: shownFault(role, fault, reveal) }),
        ...(ordered !== undefined && { by: { who: ordered.by, order: ordered.order } }),
      };
    });
  };

  const auditedOf = async (row: TransactionRow): Promise<readonly AuditEntry[]> => {
    const page = await audit.read({
      target: row.msspTransId,
      from: Math.max(0, row.submittedAt - clocksApartMs),
      limit: mostActions,
    });
    return page?.entries ?? [];
  };

  const actionsIn = (audited: readonly AuditEntry[], { role }: Sight): readonly TimelineEntry[] =>
    audited.map(({ at, action, who, via, reason, details }): TimelineEntry => {
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

  const requestOf = (
    { msisdn, messagingMode, timeoutSeconds, caller, services, data }: SignatureRequest,
    { profile }: TransactionRow,
    { role, reveal }: Sight,
  ): ShownRequest => ({
    msisdn: reveal ? shownNumber(role, msisdn.number) : shortNumber(msisdn.number),
    messagingMode,
    timeoutSeconds,
    instant: caller.instant,
    services: Object.keys(services),
    language: services.userLang?.language,
    data: {
      kind: data.kind,
      ...(seesPeople(role) && { characters: [...data.text].length }),
      ...(seesPeople(role) &&
        reveal &&
        !isSecretText(profile) && {
          text: data.text,
          ...(data.kind === 'transaction-approval' && { dtbd: data.dtbd }),
        }),
    },
  });

  const outcomeOf = (record: StoredRecord | undefined, { role, reveal }: Sight): ShownOutcome | undefined => {
    const outcome = record?.outcome;
    if (outcome === undefined) return undefined;
    return {
      kind: outcome.kind,
      ...(outcome.kind === 'signature' && { signatureBytes: bytesOf(outcome.cms) }),
      profile: outcome.profile,
      sscdId: outcome.sscdId,
      validated: outcome.validated ?? false,
      receipt: record?.receipt,
      ...(seesPeople(role) &&
        reveal && {
          geofencing: outcome.geofencing,
          subscriberNetwork: outcome.subscriberNetwork,
        }),
    };
  };

  return {
    /**
     * @param reveal False hides the person from an operator, too, and then the look is not recorded.
     * @returns Undefined when there is no such transaction, or no longer.
     * @throws When the look cannot be recorded: then it is not had.
     */
    read: async (
      id: string,
      session: ConsoleSession,
      reveal = true,
    ): Promise<TransactionDetail | undefined> => {
      const listed = await history.find(id);
      if (listed === undefined) return undefined;
      const { role } = session.operator;
      const sight = { role, reveal };
      if (reveal && seesPeople(role)) {
        const entry = { ...doneBy(session.operator), action: 'view-sensitive', target: id } as const;
        await audit.record(entry, `view:${session.id}:${id}`);
      }
      const [job, view, audited] = await Promise.all([
        readJob(id),
        transactions.find(id).catch(() => undefined),
        auditedOf(listed),
      ]);
      const row = asAnswered(listed, view);
      const record = recordOf(job);
      const timeline = [...actionsIn(audited, sight), ...statesIn(job, row, audited, sight)].toSorted(
        (a, b) => a.at - b.at,
      );
      const open = row.state === 'submitted' || row.state === 'pending';
      return {
        transaction: shownRow(role, row, reveal),
        deadline: open && record?.attempt === row.attempt ? record.deadline : undefined,
        request: view && requestOf(view.request, row, sight),
        outcome: row.state === 'failed' ? undefined : outcomeOf(record, sight),
        timeline,
      };
    },
  };
};
export type Details = ReturnType<typeof createDetails>;
