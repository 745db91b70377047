/**
 * `paraph ls`: transactions, newest first. `paraph show`: one of them, with everything that
 * happened to it. `paraph cancel`: ends an open one, and takes the prompt off the phone.
 */

import { faultTable } from '../../packages/protocol/src/fault.ts';
import { addAdminAction, type ListFlags, reportList } from '../command-line/admin.ts';
import { type AddCommand, type CliContext, ok, type Report } from '../command-line/context.ts';
import {
  type Column,
  type Field,
  fieldsText,
  listFields,
  paletteFor,
  table,
} from '../command-line/screen.ts';
import {
  addFilterOptions,
  addPageOptions,
  filterQuery,
} from '../command-line/transactions-filter.ts';
import {
  duration,
  faultText,
  iso,
  isoOrNull,
  rowColumns,
  rowDocument,
  stateCell,
  timeCell,
} from '../command-line/transactions-row.ts';
import type { ShownFault } from '../console/redaction.ts';
import type { TimelineEntry, TransactionDetail } from '../console/transaction-detail.ts';
import { transactionFields } from '../transactions/history/filter.ts';

type StateEntry = Extract<TimelineEntry, { kind: 'state' }>;
type ActionEntry = Extract<TimelineEntry, { kind: 'action' }>;

/** A state that was entered, or an action of the audit log. */
interface ShownEntry {
  readonly at: number;
  readonly event: string;
  readonly attempt?: number;
  /** `application`, `user`, `service`, or the name of an operator. */
  readonly who: string;
  readonly fault?: ShownFault | undefined;
  readonly reason?: string | undefined;
  /** Why an action was not done. */
  readonly outcome?: string | undefined;
}

/** The clocks of processes and of Redis differ a little. */
const clockSlackMs = 2000;

const findStarter = ({ attempt, by }: StateEntry): string =>
  by?.who ?? (attempt === 1 ? 'application' : 'service');

/** Finds out who ended a transaction as fault 401: an operator, the user or the application. */
const findCanceller = (
  end: StateEntry,
  begunAt: number,
  actions: readonly ActionEntry[],
): string => {
  const ordered = actions.find(
    ({ action, outcome, at }) =>
      action === 'cancel' &&
      outcome === undefined &&
      at >= begunAt - clockSlackMs &&
      at <= end.at + clockSlackMs,
  );
  return ordered?.who ?? (end.fault?.detail === faultTable[401].detail ? 'user' : 'application');
};

const createTimeline = (timeline: readonly TimelineEntry[]): readonly ShownEntry[] => {
  const actions = timeline.filter((entry) => entry.kind === 'action');
  let begunAt = 0;
  const findWho = (entry: StateEntry): string => {
    switch (entry.state) {
      case 'submitted':
        begunAt = entry.at;
        return findStarter(entry);
      case 'signed':
        return 'user';
      case 'receipted':
        return 'application';
      case 'failed':
        return entry.fault?.code === 401 ? findCanceller(entry, begunAt, actions) : 'service';
      case 'pending':
        return 'service';
    }
  };
  return timeline.map((entry) => {
    if (entry.kind === 'state') {
      const { at, attempt, state: event, fault } = entry;
      return { at, event, attempt, who: findWho(entry), fault };
    }
    const { at, action: event, who, reason, outcome } = entry;
    return { at, event, who, reason, outcome };
  });
};

const listAttempts = (timeline: readonly TimelineEntry[]): readonly object[] => {
  const states = timeline.filter((entry) => entry.kind === 'state');
  return states
    .filter(
      ({ attempt }, index) => states.findIndex((other) => other.attempt === attempt) === index,
    )
    .map((first) => {
      const own = states.filter(({ attempt }) => attempt === first.attempt);
      const of = (...wanted: readonly string[]) => own.find(({ state }) => wanted.includes(state));
      const end = of('signed', 'failed');
      return {
        attempt: first.attempt,
        startedBy: findStarter(first),
        state: own.at(-1)?.state ?? '',
        submittedAt: isoOrNull(of('submitted')?.at),
        promptedAt: isoOrNull(of('pending')?.at),
        endedAt: isoOrNull(end?.at),
        fault: end?.fault ?? null,
      };
    });
};

const remarkText = ({ fault, reason, outcome }: ShownEntry): string =>
  [fault && faultText(fault), outcome && `not done (${outcome})`, reason]
    .filter((part) => part !== undefined)
    .join('; ');

const timelineColumns = (context: CliContext): readonly Column<ShownEntry>[] => [
  { title: 'TIME', cell: ({ at }) => timeCell(at, context) },
  { title: 'TRY', cell: ({ attempt = '' }) => String(attempt), right: true },
  { title: 'WHAT', cell: ({ event }) => event },
  { title: 'WHO', cell: ({ who }) => who },
  { title: 'WHY', cell: remarkText },
];

const readRequest = ({ request, transaction }: TransactionDetail) => {
  const data = request?.data;
  const length = data?.characters === undefined ? '' : `, ${data.characters} characters`;
  return {
    msisdn: request?.msisdn ?? transaction.msisdn,
    profile: transaction.profile ?? null,
    mode: request?.messagingMode ?? null,
    timeoutSeconds: request?.timeoutSeconds ?? null,
    services: request?.services ?? [],
    kind: data?.kind ?? null,
    text: data === undefined ? null : (data.text ?? `hidden${length}`),
  };
};

const readResult = ({ outcome }: TransactionDetail) => {
  if (outcome === undefined) return null;
  const {
    profile = null,
    sscdId: device = null,
    receipt = null,
    signatureBytes: _,
    ...rest
  } = outcome;
  return { ...rest, profile, device, receipt };
};

const reportDetail = (
  context: CliContext,
  detail: TransactionDetail,
  more: readonly { readonly document: object; readonly text: string }[],
): Report => {
  const { transaction: row } = detail;
  const request = readRequest(detail);
  const result = readResult(detail);
  const timeline = createTimeline(detail.timeline);
  const fields: readonly Field[] = [
    ['MSSP_TransID', row.msspTransId],
    ['state', `${stateCell(row).text} ${row.fault?.reason ?? ''}`.trim()],
    ['attempt', String(row.attempt)],
    ['AP', row.apId || undefined],
    ['AP_TransID', row.apTransId || undefined],
    ['number', request.msisdn || undefined],
    ['text', request.text ?? undefined],
    ['profile', request.profile ?? undefined],
    ['mode', request.mode ?? undefined],
    ['time allowed', request.timeoutSeconds === null ? undefined : `${request.timeoutSeconds} s`],
    ...listFields('services', request.services),
    ['submitted', row.submittedAt > 0 ? iso(row.submittedAt) : undefined],
    ['ended', row.endedAt === undefined ? undefined : iso(row.endedAt)],
    ['took', duration(row.tookMs) || undefined],
    ['method', result?.profile ?? undefined],
    ['device', result?.device ?? undefined],
    ['receipt', result?.receipt ?? undefined],
  ];
  const document = {
    transaction: { ...rowDocument(row), msisdn: request.msisdn, fault: row.fault ?? null },
    request,
    result,
    attempts: listAttempts(detail.timeline),
    timeline: timeline.map((entry) => ({ ...entry, at: isoOrNull(entry.at) })),
    ...Object.assign({}, ...more.map((each) => each.document)),
  };
  const past = table(timelineColumns(context), timeline, context);
  return ok(
    document,
    `${fieldsText(fields, context)}\n${past}${more.map(({ text }) => text).join('')}`,
  );
};

export const addTransactions: AddCommand = (program, context, done) => {
  const ls = program.command('ls').description('list transactions, newest first');
  addPageOptions(addFilterOptions(ls, transactionFields, context), 50);
  addAdminAction(ls, context, done, async (admin, flags: ListFlags) => {
    admin.needsIndex();
    return reportList(context, admin, flags, {
      command: 'ls',
      path: 'transactions',
      query: filterQuery(transactionFields, flags),
      pageRows: 500,
      member: 'transactions',
      none: 'No such transactions.\n',
      columns: rowColumns(context),
      document: rowDocument,
    });
  });
  const show = program
    .command('show')
    .description('show one transaction and all that has happened to it')
    .argument('<MSSP_TransID>', 'the transaction')
    .option(
      '--reveal',
      'with what is hidden: number, text, place, details; recorded in the audit log',
    );
  addAdminAction(
    show,
    context,
    done,
    async (admin, id: string, { reveal = false }: { reveal?: boolean }) => {
      const detail = await admin.get<TransactionDetail>(['transactions', id], { reveal });
      const more = context.parts.flatMap(
        ({ commands }) => commands?.ofTransaction?.(context, admin, id) ?? [],
      );
      return reportDetail(context, detail, await Promise.all(more));
    },
  );
  const cancel = program
    .command('cancel')
    .description('end an open transaction as fault 401')
    .argument('<MSSP_TransID>', 'the transaction')
    .requiredOption('--reason <text>', 'why; for the audit log');
  addAdminAction(
    cancel,
    context,
    done,
    async (admin, id: string, { reason }: { reason: string }) => {
      const answer = await admin.post<object>(['transactions', id, 'cancel'], { reason });
      const text = `${paletteFor(context.stdout, context).green('Cancelled.')} It ends as fault 401.\n`;
      return ok({ msspTransId: id, ...answer }, text);
    },
  );
};
