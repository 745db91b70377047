/** `paraph show`: one transaction, with everything that has happened to it. */

import type { ShownCallback, ShownFault } from '../console/redaction.ts';
import type { TimelineEntry, TransactionDetail } from '../console/transaction-detail.ts';
import { faultTable } from '../protocol/fault.ts';
import { addAdminAction } from './admin.ts';
import type { AddCommand, CliContext, Report } from './context.ts';
import { callbackColumns, callbackDocument } from './operations-callbacks.ts';
import { duration, faultText, iso, isoOrNull, rowDocument, stateCell, timeCell } from './operations-row.ts';
import { type Column, table } from './operations-table.ts';
import { type Field, fieldsText } from './screen.ts';

type StateEntry = Extract<TimelineEntry, { kind: 'state' }>;
type ActionEntry = Extract<TimelineEntry, { kind: 'action' }>;

interface ShownEntry {
  readonly at: number;
  /** A state that was entered, or an action of the audit log. */
  readonly event: string;
  readonly attempt?: number;
  /** `application`, `user`, `service`, or the name of an operator. */
  readonly who: string;
  readonly fault?: ShownFault | undefined;
  readonly reason?: string | undefined;
  /** Of an action that turned out not to be done. */
  readonly outcome?: string | undefined;
}

/** Clocks of processes and of Redis differ a little. */
const clockSlackMs = 2000;

const starterOf = ({ attempt, by }: StateEntry): string =>
  by?.who ?? (attempt === 1 ? 'application' : 'service');

/** Of an end as fault 401: the person, unless an operator or the application was quicker. */
const cancellerOf = (end: StateEntry, begunAt: number, actions: readonly ActionEntry[]): string => {
  const ordered = actions.find(
    ({ action, outcome, at }) =>
      action === 'cancel' &&
      outcome === undefined &&
      at >= begunAt - clockSlackMs &&
      at <= end.at + clockSlackMs,
  );
  return ordered?.who ?? (end.fault?.detail === faultTable[401].detail ? 'user' : 'application');
};

const timelineOf = (timeline: readonly TimelineEntry[]): readonly ShownEntry[] => {
  const actions = timeline.filter((entry) => entry.kind === 'action');
  let begunAt = 0;
  const whoOf = (entry: StateEntry): string => {
    switch (entry.state) {
      case 'submitted':
        begunAt = entry.at;
        return starterOf(entry);
      case 'signed':
        return 'user';
      case 'receipted':
        return 'application';
      case 'failed':
        return entry.fault?.code === 401 ? cancellerOf(entry, begunAt, actions) : 'service';
      case 'pending':
        return 'service';
    }
  };
  return timeline.map((entry) => {
    if (entry.kind === 'state') {
      const { at, attempt, state: event, fault } = entry;
      return { at, event, attempt, who: whoOf(entry), fault };
    }
    const { at, action: event, who, reason, outcome } = entry;
    return { at, event, who, reason, outcome };
  });
};

const attemptsOf = (timeline: readonly TimelineEntry[]): readonly object[] => {
  const states = timeline.filter((entry) => entry.kind === 'state');
  return states
    .filter(({ attempt }, index) => states.findIndex((other) => other.attempt === attempt) === index)
    .map((first) => {
      const own = states.filter(({ attempt }) => attempt === first.attempt);
      const of = (...wanted: readonly string[]) => own.find(({ state }) => wanted.includes(state));
      const end = of('signed', 'failed');
      return {
        attempt: first.attempt,
        startedBy: starterOf(first),
        state: own.at(-1)?.state ?? '',
        submittedAt: isoOrNull(of('submitted')?.at),
        promptedAt: isoOrNull(of('pending')?.at),
        endedAt: isoOrNull(end?.at),
        fault: end?.fault ?? null,
      };
    });
};

const remarkOf = ({ fault, reason, outcome }: ShownEntry): string =>
  [fault && faultText(fault), outcome && `not done (${outcome})`, reason]
    .filter((part) => part !== undefined)
    .join('; ');

const timelineColumns = (context: CliContext): readonly Column<ShownEntry>[] => [
  { title: 'TIME', cell: ({ at }) => timeCell(at, context) },
  { title: 'TRY', cell: ({ attempt = '' }) => String(attempt), right: true },
  { title: 'WHAT', cell: ({ event }) => event },
  { title: 'WHO', cell: ({ who }) => who },
  { title: 'WHY', cell: remarkOf },
];

/** Of a text that is hidden. */
const lengthOf = ({ characters }: { readonly characters?: number }): string =>
  characters === undefined ? '' : `, ${characters} characters`;

const requestOf = ({ request, transaction }: TransactionDetail) => {
  const data = request?.data;
  return {
    msisdn: request?.msisdn ?? transaction.msisdn,
    profile: transaction.profile ?? null,
    mode: request?.messagingMode ?? null,
    timeoutSeconds: request?.timeoutSeconds ?? null,
    services: request?.services ?? [],
    kind: data?.kind ?? null,
    text: data === undefined ? null : (data.text ?? `hidden${lengthOf(data)}`),
  };
};

const resultOf = ({ outcome }: TransactionDetail) => {
  if (outcome === undefined) return null;
  const { profile = null, sscdId: device = null, receipt = null, signatureBytes: _, ...rest } = outcome;
  return { ...rest, profile, device, receipt };
};

const reportOf = (
  context: CliContext,
  detail: TransactionDetail,
  callbacks: readonly ShownCallback[],
): Report => {
  const { transaction: row } = detail;
  const request = requestOf(detail);
  const result = resultOf(detail);
  const timeline = timelineOf(detail.timeline);
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
    ...request.services.map((service, index): Field => [index === 0 ? 'services' : '', service]),
    ['submitted', row.submittedAt > 0 ? iso(row.submittedAt) : undefined],
    ['ended', row.endedAt === undefined ? undefined : iso(row.endedAt)],
    ['took', duration(row.tookMs) || undefined],
    ['method', result?.profile ?? undefined],
    ['device', result?.device ?? undefined],
    ['receipt', result?.receipt ?? undefined],
  ];
  const below = callbacks.length === 0 ? '' : `\n${table(callbackColumns(context), callbacks, context)}`;
  return {
    outcome: 'ok',
    document: {
      transaction: { ...rowDocument(row), msisdn: request.msisdn, fault: row.fault ?? null },
      request,
      result,
      attempts: attemptsOf(detail.timeline),
      timeline: timeline.map((entry) => ({ ...entry, at: isoOrNull(entry.at) })),
      callbacks: callbacks.map(callbackDocument),
    },
    text: `${fieldsText(fields, context)}\n${table(timelineColumns(context), timeline, context)}${below}`,
  };
};

interface Flags {
  readonly reveal?: boolean;
}

interface Callbacks {
  readonly callbacks: readonly ShownCallback[];
}

export const addShow: AddCommand = (program, context, done) => {
  const command = program
    .command('show')
    .description('show one transaction and all that has happened to it')
    .argument('<MSSP_TransID>', 'the transaction')
    .option('--reveal', 'with what is hidden: number, text, place, details; recorded in the audit log');
  addAdminAction(command, context, done, async (admin, id: string, { reveal = false }: Flags) => {
    const detail = await admin.get<TransactionDetail>(['transactions', id], { reveal });
    const { callbacks } = await admin.get<Callbacks>(['transactions', id, 'callbacks']);
    return reportOf(context, detail, callbacks);
  });
};
