/** `paraph audit`: who did what, newest first. */
import type { Command } from 'commander';
import { type AuditAction, type AuditEntry, auditActions } from '../operators/audit.ts';
import { type CliContext, type Report, UsageProblem } from './context.ts';
import { parseCount, parseTime } from './operations-filter.ts';
import { iso, timeCell } from './operations-row.ts';
import { withOperations } from './operations-session.ts';
import { type Column, table } from './operations-table.ts';

interface Flags {
  readonly from?: number;
  readonly to?: number;
  readonly who?: string;
  readonly action?: AuditAction;
  readonly target?: string;
  readonly limit: number;
  readonly cursor?: string;
}

const pageEntries = 1000;

const parseAction = (text: string): AuditAction => {
  const action = auditActions.find((known) => known === text);
  if (action === undefined) throw new UsageProblem(`--action must be one of ${auditActions.join(', ')}.`);
  return action;
};

const detailsOf = ({ details = {} }: AuditEntry): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');

const columns = (context: CliContext): readonly Column<AuditEntry>[] => [
  { title: 'TIME', cell: ({ at }) => timeCell(at, context) },
  { title: 'WHO', cell: ({ who }) => who },
  { title: 'VIA', cell: ({ via }) => via },
  { title: 'ACTION', cell: ({ action }) => action },
  { title: 'TARGET', cell: ({ target = '' }) => target },
  { title: 'REASON', cell: ({ reason = '' }) => reason },
  { title: 'DETAILS', cell: detailsOf },
];

const audit = (context: CliContext, { limit, ...filter }: Flags): Promise<Report> =>
  withOperations(context, async (session) => {
    const entries: AuditEntry[] = [];
    let { cursor } = filter;
    do {
      const some = Math.min(limit - entries.length, pageEntries);
      const page = await session.audit.read({ ...filter, limit: some, cursor });
      if (page === undefined) throw new UsageProblem('--cursor must be one that paraph audit --json gave.');
      entries.push(...page.entries);
      cursor = page.cursor;
    } while (cursor !== undefined && entries.length < limit && !context.signal.aborted);
    const more = cursor === undefined ? '' : `${entries.length} shown; there may be more: --limit\n`;
    return {
      outcome: 'ok',
      document: {
        entries: entries.map((entry) => ({ ...entry, at: iso(entry.at) })),
        ...(cursor !== undefined && { cursor }),
      },
      text:
        entries.length === 0 ? 'No such entries.\n' : `${table(columns(context), entries, context)}${more}`,
    };
  });

export const addAudit = (program: Command, context: CliContext, done: (report: Report) => void): void => {
  const { now } = context;
  program
    .command('audit')
    .description('show who did what, newest first')
    .option('--from <time>', 'then or later; ISO 8601, or 2h ago', parseTime('--from', now))
    .option('--to <time>', 'before', parseTime('--to', now))
    .option('--who <name>', 'by this operator')
    .option('--action <action>', 'of this kind: replay, cancel, user-add …', parseAction)
    .option('--target <id>', 'about this transaction, bulk replay or user')
    .option('--limit <n>', 'how many at most', parseCount('--limit', 1, 100_000), 100)
    .option('--cursor <cursor>', 'go on where a list ended, from its JSON')
    .option('--json', 'print one JSON document')
    .action(async (flags: Flags) => done(await audit(context, flags)));
};
