/**
 * One transaction with its request and its history.
 *
 * The sources are the record in the job (states), the notes of replays in the job (orders of
 * attempts), and the audit log (actions of operators). An access to the number and the text of a
 * person is recorded in the audit log before they are shown, once in a session.
 */
import type { z } from 'zod';
import type { SignatureState } from '../../machines/signature.machine.ts';
import { faultTable } from '../../packages/protocol/src/fault.ts';
import type { SignatureRequest } from '../../packages/protocol/src/requests.ts';
import { recordIn, signatureRecordSchema } from '../transactions/contract.ts';
import { parsed, type TransactionRow } from '../transactions/history/row.ts';
import type { TransactionView } from '../transactions/outcomes.ts';
import { shardFor } from '../transactions/shards.ts';
import { upstreamsIn } from '../transactions/upstreams.ts';
import type { AdminApiDeps, ConsoleSession } from './deps.ts';
import { type AuditEntry, doneBy } from './operators/audit.ts';
import type { Role } from './operators/operator.ts';
import { type JobFields, statesOf } from './operators/states.ts';
import {
  isSecretText,
  type ShownFault,
  seesPeople,
  shortNumber,
  shownFault,
  shownNumber,
  shownRow,
} from './redaction.ts';

export type TimelineEntry =
  | {
      readonly kind: 'state';
      /** Milliseconds since the epoch. */
      readonly at: number;
      readonly attempt: number;
      readonly state: SignatureState;
      readonly fault?: ShownFault;
      /**
       * The operator who ordered this attempt, and the order: the id of a bulk or of an entry in
       * the audit log.
       */
      readonly by?: { readonly who: string; readonly order: string };
    }
  | {
      readonly kind: 'action';
      readonly at: number;
      readonly action: AuditEntry['action'];
      readonly who: string;
      readonly via: AuditEntry['via'];
      readonly reason?: string;
      /** The outcome of an action that was not done after all. */
      readonly outcome?: string;
    };

/** The role, and whether number and text are requested. */
interface Sight {
  readonly role: Role;
  readonly reveal: boolean;
}

type StoredRecord = z.infer<typeof signatureRecordSchema>;

/** The most entries of the audit log that are read for one transaction. */
const maxActions = 1000;
/**
 * The largest difference of clocks: the audit log has the time of Redis, a transaction the API's.
 */
const clocksApartMs = 60_000;

const readRecord = (job: JobFields): StoredRecord | undefined =>
  signatureRecordSchema.safeParse(parsed(job.returnvalue)).data ??
  signatureRecordSchema.safeParse(recordIn(parsed(job.progress))).data;

/** The row from the job. For an end that cannot be verified it shows the answered fault. */
const applyAnswer = (row: TransactionRow, view: TransactionView | undefined): TransactionRow => {
  if (view?.state.kind !== 'failed' || row.fault !== undefined) return row;
  const { code, detail } = view.state.fault;
  return { ...row, state: 'failed', fault: { code, reason: faultTable[code].reason, detail } };
};

/** The shown request. Viewers do not see the text, and no role sees a one-time password. */
const shownRequest = (
  { role, reveal }: Sight,
  { msisdn, messagingMode, timeoutSeconds, caller, services, data }: SignatureRequest,
  { profile }: TransactionRow,
) => ({
  msisdn: reveal ? shownNumber(role, msisdn.number) : shortNumber(msisdn.number),
  messagingMode,
  timeoutSeconds,
  /** The time of the request that the application has given. */
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

/** The shown outcome without the signature; for a viewer also without the location. */
const shownOutcome = ({ role, reveal }: Sight, record: StoredRecord | undefined) => {
  const outcome = record?.outcome;
  return (
    outcome && {
      /** `delivered`: a one-time password, which is not a signature. */
      kind: outcome.kind,
      ...(outcome.kind === 'signature' && {
        signatureBytes: Buffer.byteLength(outcome.cms, 'base64'),
      }),
      profile: outcome.profile,
      sscdId: outcome.sscdId,
      validated: outcome.validated ?? false,
      receipt: record?.receipt,
      ...(seesPeople(role) &&
        reveal && {
          geofencing: outcome.geofencing,
          subscriberNetwork: outcome.subscriberNetwork,
        }),
    }
  );
};

const shownStates = (
  { role, reveal }: Sight,
  row: TransactionRow,
  job: JobFields,
  audited: readonly AuditEntry[],
): readonly TimelineEntry[] => {
  let last = row.submittedAt;
  return statesOf(row, job).map(({ state, attempt, fault, ordered, ...told }): TimelineEntry => {
    // Two clocks, which may differ by milliseconds: an attempt begins after its order.
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

const shownAction = (
  role: Role,
  { at, action, who, via, reason, details }: AuditEntry,
): TimelineEntry => ({
  kind: 'action',
  at,
  action,
  who,
  via,
  // Free text, which may name a person.
  ...(reason !== undefined && seesPeople(role) && { reason }),
  ...(details?.outcome !== undefined && { outcome: String(details.outcome) }),
});

/**
 * The trace id of the request, if that was traced. BullMQ keeps it in the options of the job.
 */
const traceIdIn = (job: JobFields): string | undefined => {
  const { traceparent } = parsed(String(parsed(job.opts).tm));
  return /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(String(traceparent))?.[1];
};

export const createDetails = ({
  history,
  transactions,
  shards,
  redis,
  audit,
  links,
}: AdminApiDeps) => ({
  /**
   * @param reveal False hides the person from operators, too. The access is then not recorded.
   * @returns Undefined when there is no such transaction, or no longer.
   * @throws When the access cannot be recorded.
   */
  read: async (id: string, session: ConsoleSession, reveal = true) => {
    const listed = await history.find(id);
    if (listed === undefined) return undefined;
    const { role } = session.operator;
    const sight = { role, reveal };
    if (reveal && seesPeople(role)) {
      const entry = { ...doneBy(session.operator), action: 'view-sensitive', target: id } as const;
      await audit.record(entry, `view:${session.id}:${id}`);
    }
    const queue = shardFor(shards, id)?.signatures.queue;
    const from = Math.max(0, listed.submittedAt - clocksApartMs);
    const [job, view, actions] = await Promise.all([
      queue === undefined ? {} : redis.hgetall(queue.toKey(id)),
      transactions.find(id).catch(() => undefined),
      audit.read({ target: id, from, limit: maxActions }),
    ]);
    const row = applyAnswer(listed, view);
    const record = readRecord(job);
    const audited = actions?.entries ?? [];
    const traceId = traceIdIn(job);
    const isOpen = row.state === 'submitted' || row.state === 'pending';
    return {
      transaction: shownRow(role, row, reveal),
      /** The time at which the open attempt expires, milliseconds since the epoch. */
      deadline: isOpen && record?.attempt === row.attempt ? record.deadline : undefined,
      /** Undefined when the job has no readable request. */
      request: view && shownRequest(sight, view.request, row),
      outcome: row.state === 'failed' ? undefined : shownOutcome(sight, record),
      /** Its transactions at other services, by attempt. */
      upstreams: upstreamsIn(job),
      /**
       * Links to its log lines and its trace in the operator's systems, if these are configured.
       */
      links: {
        log: links?.log?.replaceAll('{msspTransId}', encodeURIComponent(id)),
        trace: traceId && links?.trace?.replaceAll('{traceId}', traceId),
      },
      /** The timeline, ordered by time. */
      timeline: [
        ...audited.map((entry) => shownAction(role, entry)),
        ...shownStates(sight, row, job, audited),
      ].toSorted((a, b) => a.at - b.at),
    };
  },
});
export type Details = ReturnType<typeof createDetails>;
export type TransactionDetail = NonNullable<Awaited<ReturnType<Details['read']>>>;
