/**
 * Bulk replays as the command line shows them. They are worked off by the service's workers, whether anybody looks or not;
 * what is here only looks.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ShownPlan } from '../console/redaction.ts';
import type { BulkProgress, BulkReport } from '../operators/bulk-report.ts';
import type { Admin } from './admin.ts';
import type { CliContext, Report } from './context.ts';
import { iso, isoOrNull, rowColumns, rowDocument, timeCell } from './operations-row.ts';
import { type Column, table } from './operations-table.ts';
import { bar, whileShowing } from './progress.ts';
import { countFields, fieldsText } from './screen.ts';

const lookEveryMs = 500;

const isOver = ({ state }: BulkProgress): boolean => state === 'done' || state === 'stopped';

const failedIn = ({ failed }: BulkProgress): number =>
  Object.values(failed).reduce((sum, count) => sum + count, 0);

const endedIn = (bulk: BulkProgress): number =>
  bulk.signed + failedIn(bulk) + bulk.changed + bulk.gone + bulk.refused;

export const bulkDocument = ({ counts: _, createdAt, endedAt, ...rest }: BulkProgress) => ({
  ...rest,
  createdAt: iso(createdAt),
  endedAt: isoOrNull(endedAt),
});

const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');

export const planText = (plan: ShownPlan, context: Pick<CliContext, 'stdout' | 'env'>): string => {
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
      ['', plan.truncated ? 'There are more than one bulk may hold: narrow the filter.' : undefined],
    ],
    context,
  );
};

/** Its numbers are shortened, as they are in every list of the command line. */
export const planDocument = ({ first, ...plan }: ShownPlan) => ({ ...plan, first: first.map(rowDocument) });

/** With whom it would prompt. */
export const reportDryRun = (plan: ShownPlan, context: CliContext): Report => {
  const { first, replayable } = plan;
  const more = replayable - first.length;
  const whom = first.length === 0 ? '' : `\n${table(rowColumns(context), first, context)}`;
  return {
    outcome: 'ok',
    document: { plan: planDocument(plan) },
    text: `${planText(plan, context)}${whom}${more > 0 ? `… and ${more} more\n` : ''}`,
  };
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
      ['failed again', `${failedIn(bulk)}${failedIn(bulk) > 0 ? ` (${countsText(bulk.failed)})` : ''}`],
      ['open', unlessNone(bulk.inFlight)],
      ['not replayed', unlessNone(bulk.waiting)],
      ['by others', unlessNone(bulk.changed)],
      ['gone', unlessNone(bulk.gone)],
      ['logins, refused', unlessNone(bulk.refused)],
    ],
    context,
  );
};

/** Shows a bulk until it is over, or until Ctrl-C, which it does not mind. */
export const followBulk = (context: CliContext, admin: Admin, bulkId: string): Promise<Report> =>
  whileShowing(context, async (show): Promise<Report> => {
    const { signal } = context;
    for (;;) {
      const bulk = await admin.get<BulkProgress>(['replays', bulkId, 'progress']);
      if (isOver(bulk)) {
        const { transactions, ...report } = await admin.get<BulkReport>(['replays', bulkId]);
        return {
          outcome: 'ok',
          document: { bulk: bulkDocument(report), transactions },
          text: standingText(report, context),
        };
      }
      const { signed, inFlight, total } = bulk;
      const label = `ended; ${signed} signed, ${failedIn(bulk)} failed, ${inFlight} open`;
      show(`${bar(endedIn(bulk), total)} ${endedIn(bulk)} of ${total} ${label}`);
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
