/** Shows bulk replays. The service's workers run them, whether or not a command follows. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Admin } from '../command-line/admin.ts';
import { type CliContext, ok, type Report } from '../command-line/context.ts';
import {
  bar,
  type Column,
  countFields,
  fieldsText,
  type Screen,
  table,
  whileShowing,
} from '../command-line/screen.ts';
import {
  iso,
  isoOrNull,
  rowColumns,
  rowDocument,
  timeCell,
} from '../command-line/transactions-row.ts';
import {
  type BulkProgress,
  type BulkReport,
  failedIn,
  isOver,
} from '../console/operators/bulk-report.ts';
import type { ShownPlan } from '../console/redaction.ts';

const lookEveryMs = 500;

const countEnded = (bulk: BulkProgress): number =>
  bulk.signed + failedIn(bulk) + bulk.cancelled + bulk.changed + bulk.gone + bulk.refused;

export const bulkDocument = ({ counts: _, createdAt, endedAt, ...rest }: BulkProgress) => ({
  ...rest,
  createdAt: iso(createdAt),
  endedAt: isoOrNull(endedAt),
});

const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');

export const planText = (plan: ShownPlan, context: Screen): string => {
  const refused = Object.fromEntries(Object.entries(plan.refused).filter(([, count]) => count > 0));
  return fieldsText(
    [
      ['failed, found', String(plan.found)],
      ['to be replayed', String(plan.replayable)],
      ['people prompted', String(plan.numbers)],
      ['most for one', String(plan.mostOfOne)],
      ['by fault', countsText(plan.byFault) || undefined],
      ...countFields('by AP', plan.byAp),
      ['refused', countsText(refused) || undefined],
      [
        '',
        plan.truncated ? 'There are more than one bulk may hold: narrow the filter.' : undefined,
      ],
    ],
    context,
  );
};

/** Mobile numbers are shortened, as in every list. */
export const planDocument = ({ first, ...plan }: ShownPlan) => ({
  ...plan,
  first: first.map(rowDocument),
});

/** Reports the counts of a plan, and lists the transactions that it would replay. */
export const reportDryRun = (plan: ShownPlan, context: CliContext): Report => {
  const { first, replayable } = plan;
  const more = replayable - first.length;
  const whom = first.length === 0 ? '' : `\n${table(rowColumns(context), first, context)}`;
  const others = more > 0 ? `… and ${more} more\n` : '';
  return ok({ plan: planDocument(plan) }, `${planText(plan, context)}${whom}${others}`);
};

const standingText = (bulk: BulkProgress, context: CliContext): string => {
  const unlessNone = (count: number): string | undefined => (count > 0 ? String(count) : undefined);
  return fieldsText(
    [
      ['bulk', bulk.id],
      ['state', bulk.state],
      ['by', bulk.by],
      ['reason', bulk.reason],
      ['ordered', iso(bulk.createdAt)],
      ['ended', bulk.endedAt === undefined ? undefined : iso(bulk.endedAt)],
      ['transactions', String(bulk.total)],
      ['signed', String(bulk.signed)],
      [
        'failed again',
        `${failedIn(bulk)}${failedIn(bulk) > 0 ? ` (${countsText(bulk.failed)})` : ''}`,
      ],
      ['cancelled', unlessNone(bulk.cancelled)],
      ['open', unlessNone(bulk.inFlight)],
      ['not replayed', unlessNone(bulk.waiting)],
      ['by others', unlessNone(bulk.changed)],
      ['gone', unlessNone(bulk.gone)],
      ['logins or of workflows, refused', unlessNone(bulk.refused)],
    ],
    context,
  );
};

/** Shows a bulk until it is over. Ctrl-C ends the command, not the bulk. */
export const followBulk = (context: CliContext, admin: Admin, bulkId: string): Promise<Report> =>
  whileShowing(context, async (show): Promise<Report> => {
    const { signal } = context;
    for (;;) {
      const bulk = await admin.get<BulkProgress>(['replays', bulkId, 'progress']);
      if (isOver(bulk)) {
        const { transactions, ...report } = await admin.get<BulkReport>(['replays', bulkId]);
        return ok({ bulk: bulkDocument(report), transactions }, standingText(report, context));
      }
      const { signed, inFlight, total } = bulk;
      const label = `ended; ${signed} signed, ${failedIn(bulk)} failed, ${inFlight} open`;
      show(`${bar(countEnded(bulk), total)} ${countEnded(bulk)} of ${total} ${label}`);
      if (!signal.aborted) await delay(lookEveryMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) {
        return {
          outcome: 'interrupted',
          document: { bulk: bulkDocument(bulk) },
          problem: `Interrupted; the bulk goes on. To see it: paraph replay --follow ${bulkId}; to stop it: --stop ${bulkId}`,
        };
      }
    }
  });

const bulkColumns = (context: CliContext): readonly Column<BulkProgress>[] => [
  { title: 'ORDERED', cell: ({ createdAt }) => timeCell(createdAt, context) },
  { title: 'BULK', cell: ({ id }) => id },
  { title: 'WHAT', cell: ({ kind = 'replay' }) => kind },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'BY', cell: ({ by }) => by },
  { title: 'ALL', cell: ({ total }) => String(total), right: true },
  { title: 'SIGNED', cell: ({ signed }) => String(signed), right: true },
  { title: 'FAILED', cell: (bulk) => String(failedIn(bulk)), right: true },
  { title: 'LEFT', cell: ({ waiting, inFlight }) => String(waiting + inFlight), right: true },
  { title: 'REASON', cell: ({ reason = '' }) => reason },
];

export const bulkTable = (bulks: readonly BulkProgress[], context: CliContext): string =>
  bulks.length === 0 ? 'No bulk replays.\n' : table(bulkColumns(context), bulks, context);
