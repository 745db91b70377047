/** `paraph audit`: who did what, newest first. */
import { addAdminAction, type ListFlags, reportList } from '../command-line/admin.ts';
import type { AddCommand } from '../command-line/context.ts';
import { addPageOptions, parseOneOf, parseTime } from '../command-line/transactions-filter.ts';
import { iso, timeCell } from '../command-line/transactions-row.ts';
import { type AuditEntry, auditActions } from '../console/operators/audit.ts';

interface Flags extends ListFlags {
  readonly from?: number;
  readonly to?: number;
  readonly who?: string;
  readonly action?: string;
  readonly target?: string;
  readonly bulk?: string;
  readonly items?: boolean;
}

const detailsText = ({ details = {} }: AuditEntry): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');

export const addAudit: AddCommand = (program, context, done) => {
  const { now } = context;
  const actions = [
    ...auditActions,
    ...context.parts.flatMap(({ auditActions = [] }) => auditActions),
  ];
  const kind = 'of this kind: replay, cancel, user-add …';
  const command = program
    .command('audit')
    .description('show who did what, newest first')
    .option('--from <time>', 'then or later; ISO 8601, or 2h ago', parseTime('--from', now))
    .option('--to <time>', 'before', parseTime('--to', now))
    .option('--who <name>', 'by this operator')
    .option('--action <action>', kind, parseOneOf('--action', actions))
    .option('--target <id>', 'about this transaction, bulk replay or user')
    .option('--bulk <id>', 'each item of this bulk')
    .option('--items', 'each item of bulks, which are one entry otherwise');
  addPageOptions(command, 100);
  addAdminAction(
    command,
    context,
    done,
    (admin, { from, to, who, action, target, bulk, items, ...page }: Flags) =>
      reportList<AuditEntry>(context, admin, page, {
        command: 'audit',
        path: 'audit',
        query: { from, to, who, action, target, bulk, items: items ? 'true' : undefined },
        pageRows: 1000,
        member: 'entries',
        none: 'No such entries.\n',
        columns: [
          { title: 'TIME', cell: ({ at }) => timeCell(at, context) },
          { title: 'WHO', cell: ({ who }) => who },
          { title: 'VIA', cell: ({ via }) => via },
          { title: 'ACTION', cell: ({ action }) => action },
          { title: 'TARGET', cell: ({ target = '' }) => target },
          { title: 'REASON', cell: ({ reason = '' }) => reason },
          { title: 'DETAILS', cell: detailsText },
        ],
        document: (entry) => ({ ...entry, at: iso(entry.at) }),
      }),
  );
};
