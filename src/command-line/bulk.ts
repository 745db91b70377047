/**
 * Orders and shows bulks of any list. The service's workers run them, whether or not a command
 * follows.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { BulkPlan } from '../console/operators/bulk-list.ts';
import {
  type BulkProgress,
  type BulkReport,
  failedIn,
  isOver,
} from '../console/operators/bulk-report.ts';
import { type Admin, refused } from './admin.ts';
import { type CliContext, ok, type Report, UsageError } from './context.ts';
import {
  bar,
  type Column,
  type Field,
  fieldsText,
  listFields,
  type Screen,
  table,
  whileShowing,
} from './screen.ts';
import { confirm } from './terminal-input.ts';
import { iso, isoOrNull, timeCell } from './transactions-row.ts';

const lookEveryMs = 500;

const countEnded = (bulk: BulkProgress): number =>
  bulk.signed +
  failedIn(bulk) +
  bulk.cancelled +
  bulk.done +
  bulk.changed +
  bulk.gone +
  bulk.refused;

export const bulkDocument = ({ counts: _, createdAt, endedAt, ...rest }: BulkProgress) => ({
  ...rest,
  createdAt: iso(createdAt),
  endedAt: isoOrNull(endedAt),
});

type PlannedBulk = Pick<BulkPlan, 'found' | 'replayable' | 'first'>;

/** What differs between the bulks that commands order. */
export interface BulkCommand<Plan extends PlannedBulk> {
  /** Below the admin API: `['replays']`. */
  readonly path: readonly string[];
  /** Filter or ids, the kind and what else the order has. */
  readonly selection: object;
  readonly planText: (plan: Plan, context: Screen) => string;
  readonly planDocument: (plan: Plan) => object;
  /** The rows of the plan. */
  readonly columns: readonly Column<Plan['first'][number]>[];
  /** The sentence for a plan with nothing to do. */
  readonly none: string;
  /** The question before the order. */
  readonly question: (plan: Plan) => string;
  /** The command that follows a bulk: `paraph replay --follow`. */
  readonly follow: string;
}

export interface BulkFlags {
  readonly dryRun?: true;
  readonly reason?: string;
  readonly rate: number;
  readonly yes?: true;
  readonly detach?: true;
}

const parseRate = (text: string): number => {
  const value = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value > 0 && value <= 1000)) {
    throw new UsageError('--rate must be a number in a second, more than 0 and at most 1000.');
  }
  return value;
};

/** @param none What the dry run does not do: `replay nothing`. */
export const addBulkOptions = (command: Command, none: string): Command =>
  command
    .option('--dry-run', `say how many and which, and ${none}`)
    .option('--rate <n>', 'how many in a second', parseRate, 5)
    .option('--yes', 'do not ask')
    .option('--detach', 'order it, and do not wait for its end');

export const countsText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name}: ${count}`)
    .join(', ');

/** Says how many items a plan leaves out, and why. @param words By the reason. */
export const refusedFields = (
  { refused }: Pick<BulkPlan, 'refused'>,
  words: Readonly<Record<string, string>>,
): readonly Field[] =>
  listFields(
    'left out',
    Object.entries(refused).flatMap(([why, count]) =>
      count > 0 ? [`${count}: ${words[why] ?? why}`] : [],
    ),
  );

export const truncatedText = ({ truncated }: Pick<BulkPlan, 'truncated'>): string | undefined =>
  truncated ? 'There are more than one bulk may hold: narrow the filter.' : undefined;

/** Lists the items for which the order would be carried out. */
const reportDryRun = <Plan extends PlannedBulk>(
  plan: Plan,
  { planText, planDocument, columns }: BulkCommand<Plan>,
  context: CliContext,
): Report => {
  const { first, replayable } = plan;
  const more = replayable - first.length;
  const rows = first.length === 0 ? '' : `\n${table(columns, first, context)}`;
  const others = more > 0 ? `… and ${more} more\n` : '';
  return ok({ plan: planDocument(plan) }, `${planText(plan, context)}${rows}${others}`);
};

/** Plans a bulk, asks, orders it, and follows it to its end. */
export const orderBulk = async <Plan extends PlannedBulk>(
  context: CliContext,
  admin: Admin,
  command: BulkCommand<Plan>,
  { dryRun, reason, rate, yes, detach }: BulkFlags,
): Promise<Report> => {
  const { path, selection, planText, planDocument, none, question, follow } = command;
  const plan = () => admin.post<Plan>([...path, 'plan'], { ...selection, reason });
  if (dryRun) return reportDryRun(await plan(), command, context);
  if (reason === undefined)
    throw new UsageError('A bulk needs --reason; --dry-run shows what it would do.');
  if (!yes) {
    const planned = await plan();
    const document = { plan: planDocument(planned) };
    if (planned.found > 0)
      context.stderr.write(planText(planned, { ...context, stdout: context.stderr }));
    if (planned.replayable === 0) {
      const problem = planned.found > 0 ? 'There is nothing to do: all are left out.' : none;
      throw refused('refused', 'nothing', problem, document);
    }
    await confirm(context, `${question(planned)} At ${rate} a second.`, document);
  }
  const order = { ...selection, perSecond: rate, reason };
  const started = await admin.post<{ bulkId: string; plan: Plan }>(path, order);
  const { bulkId } = started;
  if (detach) {
    const text = `Ordered. To see how it goes: ${follow} ${bulkId}\n`;
    return ok({ bulkId, plan: planDocument(started.plan) }, text);
  }
  return followBulk(context, admin, bulkId);
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
      ['of', bulk.of],
      ['what', bulk.of && bulk.kind],
      [bulk.of ?? 'transactions', String(bulk.total)],
      ['done', unlessNone(bulk.done)],
      ['signed', bulk.of === undefined ? String(bulk.signed) : undefined],
      [
        'failed again',
        bulk.of === undefined
          ? `${failedIn(bulk)}${failedIn(bulk) > 0 ? ` (${countsText(bulk.failed)})` : ''}`
          : undefined,
      ],
      ['cancelled', unlessNone(bulk.cancelled)],
      ['open', unlessNone(bulk.inFlight)],
      ['not begun', unlessNone(bulk.waiting)],
      ['by others, or too late', unlessNone(bulk.changed)],
      ['gone', unlessNone(bulk.gone)],
      [
        bulk.of === undefined ? 'logins or of workflows, refused' : 'refused',
        unlessNone(bulk.refused),
      ],
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
        const { items, ...report } = await admin.get<BulkReport>(['replays', bulkId]);
        return ok({ bulk: bulkDocument(report), items }, standingText(report, context));
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
  { title: 'OF', cell: ({ of = 'transactions' }) => of },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'BY', cell: ({ by }) => by },
  { title: 'ALL', cell: ({ total }) => String(total), right: true },
  { title: 'SIGNED', cell: ({ signed }) => String(signed), right: true },
  { title: 'FAILED', cell: (bulk) => String(failedIn(bulk)), right: true },
  { title: 'DONE', cell: ({ done, cancelled }) => String(done + cancelled), right: true },
  { title: 'LEFT', cell: ({ waiting, inFlight }) => String(waiting + inFlight), right: true },
  { title: 'REASON', cell: ({ reason = '' }) => reason },
];

export const bulkTable = (bulks: readonly BulkProgress[], context: CliContext): string =>
  bulks.length === 0 ? 'No bulks.\n' : table(bulkColumns(context), bulks, context);
