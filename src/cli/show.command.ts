/** `paraph show`: one transaction, with everything that has happened to it. */
import type { Command } from 'commander';
import type { TransactionRow } from '../history/row.ts';
import { type AuditEntry, doneBy } from '../operators/audit.ts';
import type { CliContext, Report } from './context.ts';
import { callbackDocument, callbacksOfText } from './operations-callbacks.ts';
import { refusal } from './operations-refusal.ts';
import { duration, iso, isoOrNull, rowDocument, shownFault, stateCell, timeCell } from './operations-row.ts';
import { type OperationsSession, withOperations } from './operations-session.ts';
import { type Column, table } from './operations-table.ts';
import type { AttemptEntry, TimelineEntry } from './operations-timeline.ts';
import { type Field, formatFields, paletteFor, widthOf } from './screen.ts';

const auditPage = 1000;
/** Clocks differ: the log's is that of Redis. */
const slackMs = 60_000;

/** Nothing was asked about a transaction before it was there. */
const auditedOf = async (
  { audit }: OperationsSession,
  { msspTransId, submittedAt }: TransactionRow,
): Promise<readonly AuditEntry[]> => {
  const entries: AuditEntry[] = [];
  let cursor: string | undefined;
  do {
    const from = Math.max(submittedAt - slackMs, 0);
    const page = await audit.read({ target: msspTransId, from, limit: auditPage, cursor });
    entries.push(...(page?.entries ?? []));
    cursor = page?.cursor;
  } while (cursor !== undefined);
  return entries;
};

const timelineDocument = ({ at, fault, ...rest }: TimelineEntry) => ({
  at: isoOrNull(at),
  ...rest,
  ...(fault !== undefined && { fault }),
});

const attemptDocument = (entry: AttemptEntry) => ({
  attempt: entry.attempt,
  startedBy: entry.startedBy,
  state: entry.state,
  submittedAt: isoOrNull(entry.submittedAt),
  promptedAt: isoOrNull(entry.promptedAt),
  endedAt: isoOrNull(entry.endedAt),
  fault: entry.fault ?? null,
});

const remarkOf = ({ fault, reason, outcome }: TimelineEntry): string =>
  [fault && `${fault.code} ${fault.reason}: ${fault.detail}`, outcome && `not done (${outcome})`, reason]
    .filter((part) => part !== undefined)
    .join('; ');

const timelineColumns = (context: CliContext): readonly Column<TimelineEntry>[] => [
  { title: 'TIME', cell: ({ at }) => timeCell(at ?? 0, context) },
  { title: 'TRY', cell: ({ attempt }) => (attempt === undefined ? '' : String(attempt)), right: true },
  { title: 'WHAT', cell: ({ event }) => event },
  { title: 'WHO', cell: ({ who }) => who },
  { title: 'WHY', cell: remarkOf },
];

const textOf = (cell: ReturnType<typeof stateCell>): string => (typeof cell === 'string' ? cell : cell.text);

const show = (context: CliContext, id: string, { reveal = false }: { readonly reveal?: boolean }) =>
  withOperations(context, async (session): Promise<Report> => {
    const { history, audit, operator } = session;
    const row = await history.find(id);
    if (row === undefined) return refusal('unknown', { msspTransId: id });
    // Before it is looked at: what cannot be recorded is not shown.
    if (reveal) {
      await audit.record({ ...doneBy(operator), action: 'view-sensitive', target: id });
    }
    const job = await session.readJob(id);
    if (job === undefined) return refusal('unknown', { msspTransId: id });
    // Loaded here because the schemas they read with are large.
    const [{ timelineOf }, { shownOutcome, shownRequest }] = await Promise.all([
      import('./operations-timeline.ts'),
      import('./operations-request.ts'),
    ]);
    const callbacks = await session.callbacks.of(id, row.attempt);
    const told = timelineOf(row, job, await auditedOf(session, row));
    const withShownFault = <T extends AttemptEntry | TimelineEntry>(entry: T): T =>
      entry.fault === undefined ? entry : { ...entry, fault: shownFault(entry.fault, reveal) };
    const timeline = told.timeline.map(withShownFault);
    const attempts = told.attempts.map(withShownFault);
    const request = shownRequest(job, row, reveal);
    const outcome = shownOutcome(job, reveal);
    const fields: readonly Field[] = [
      ['MSSP_TransID', id],
      ['state', `${textOf(stateCell(row))}${row.fault === undefined ? '' : ` ${row.fault.reason}`}`],
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
      ['method', outcome?.profile ?? undefined],
      ['device', outcome?.device ?? undefined],
      ['receipt', outcome?.receipt ?? undefined],
    ];
    const fault = row.fault === undefined ? null : shownFault(row.fault, reveal);
    const palette = paletteFor(context.stdout, context);
    return {
      outcome: 'ok',
      document: {
        transaction: { ...rowDocument(row), msisdn: request.msisdn, fault },
        request,
        result: outcome,
        attempts: attempts.map(attemptDocument),
        timeline: timeline.map(timelineDocument),
        callbacks: callbacks.map(callbackDocument),
      },
      text: `${formatFields(fields, widthOf(context.stdout), palette)}\n${table(timelineColumns(context), timeline, context)}${callbacksOfText(callbacks, context)}`,
    };
  });

export const addShow = (program: Command, context: CliContext, done: (report: Report) => void): void => {
  program
    .command('show')
    .description('show one transaction and all that has happened to it')
    .argument('<MSSP_TransID>', 'the transaction')
    .option('--reveal', 'with what is hidden: number, text, place, details; recorded in the audit log')
    .option('--json', 'print one JSON document')
    .action(async (id: string, flags: { readonly reveal?: boolean }) => done(await show(context, id, flags)));
};
