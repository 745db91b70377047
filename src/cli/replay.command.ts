/**
 * `paraph replay`: runs failed transactions again, one or many. The command only orders the replay:
 * the service's policy, limits and audit log apply as in the console, and its workers do the work.
 */
import { type Admin, addAdminAction } from '../command-line/admin.ts';
import {
  addBulkOptions,
  type BulkCommand,
  type BulkFlags,
  bulkDocument,
  bulkTable,
  countsText,
  followBulk,
  orderBulk,
  refusedFields,
  truncatedText,
} from '../command-line/bulk.ts';
import {
  type AddCommand,
  type CliContext,
  ok,
  type Report,
  UsageError,
} from '../command-line/context.ts';
import { countFields, fieldsText, paletteFor, type Screen } from '../command-line/screen.ts';
import { addFilterOptions, filterQuery, parseCount } from '../command-line/transactions-filter.ts';
import { rowColumns, rowDocument } from '../command-line/transactions-row.ts';
import type { BulkProgress } from '../console/operators/bulk-report.ts';
import { transactionRefusals } from '../console/order-errors.ts';
import type { ShownPlan } from '../console/redaction.ts';
import { transactionFields } from '../transactions/history/filter.ts';

/** A replay takes failed transactions. */
const { state: _, ...replayFields } = transactionFields;

interface Flags extends BulkFlags {
  readonly all?: true;
  readonly maxAttempts?: number;
  readonly follow?: string;
  readonly stop?: string;
  readonly list?: true;
}

/** In the names of the admin API. */
type Selection = { readonly filter: object } | { readonly ids: readonly string[] };

const planText = (plan: ShownPlan, context: Screen): string =>
  fieldsText(
    [
      ['failed, found', String(plan.found)],
      ['to be replayed', String(plan.replayable)],
      ['people prompted', String(plan.numbers)],
      ['most for one', String(plan.mostOfOne)],
      ['by fault', countsText(plan.byFault) || undefined],
      ...countFields('by AP', plan.byAp),
      ...refusedFields(plan, transactionRefusals),
      ['', truncatedText(plan)],
    ],
    context,
  );

/** Mobile numbers are shortened, as in every list. */
const planDocument = ({ first, ...plan }: ShownPlan) => ({
  ...plan,
  first: first.map(rowDocument),
});

const bulkOf = (context: CliContext, selection: Selection): BulkCommand<ShownPlan> => ({
  path: ['replays'],
  selection,
  planText,
  planDocument,
  columns: rowColumns(context),
  none: 'No failed transaction that may be replayed is found by this.',
  question: ({ replayable, numbers }) =>
    `Replay ${replayable}, and prompt ${numbers === 1 ? 'one person' : `${numbers} people`}?`,
  follow: 'paraph replay --follow',
});

const replayOne = async (
  context: CliContext,
  admin: Admin,
  msspTransId: string,
  flags: Flags,
): Promise<Report> => {
  if (flags.dryRun)
    return orderBulk(context, admin, bulkOf(context, { ids: [msspTransId] }), flags);
  const { reason } = flags;
  const answer = await admin.post<object>(['transactions', msspTransId, 'replay'], { reason });
  const done = paletteFor(context.stdout, context).green('Replayed.');
  return ok(
    { msspTransId, ...answer },
    `${done} To see how it ends: paraph watch ${msspTransId}\n`,
  );
};

const stopBulk = async (admin: Admin, bulkId: string, reason?: string): Promise<Report> => {
  const answer = await admin.post<object>(['replays', bulkId, 'stop'], { reason });
  const text = 'Stopping: nothing more is replayed. Prompts that were sent stay on their phones.\n';
  return ok({ bulkId, ...answer }, text);
};

/** One task only, so that a mistyped command does not replay. */
const check = (id: string | undefined, flags: Flags): void => {
  const { maxAttempts, all, follow, stop, list } = flags;
  const filter = Object.values({ ...filterQuery(replayFields, flags), maxAttempts, all });
  const isFiltered = filter.some((value) => value !== undefined) || undefined;
  const tasks = [id, isFiltered, follow, stop, list].filter((task) => task !== undefined);
  if (tasks.length === 1) return;
  throw new UsageError(
    'Replay what? Either one MSSP_TransID, or a filter (--all for none), or one of --follow, --stop and --list.',
  );
};

const replay = async (
  context: CliContext,
  admin: Admin,
  id: string | undefined,
  flags: Flags,
): Promise<Report> => {
  if (id !== undefined) return replayOne(context, admin, id, flags);
  if (flags.follow !== undefined) return followBulk(context, admin, flags.follow);
  if (flags.stop !== undefined) return stopBulk(admin, flags.stop, flags.reason);
  if (flags.list) {
    const { replays } = await admin.get<{ readonly replays: readonly BulkProgress[] }>(['replays']);
    return ok({ bulks: replays.map(bulkDocument) }, bulkTable(replays, context));
  }
  admin.needsIndex();
  const filter = { ...filterQuery(replayFields, flags), maxAttempts: flags.maxAttempts };
  return orderBulk(context, admin, bulkOf(context, { filter }), flags);
};

export const addReplay: AddCommand = (program, context, done) => {
  const command = program
    .command('replay')
    .description('run failed transactions again: one, or all that a filter finds')
    .argument('[MSSP_TransID]', 'one of them');
  addBulkOptions(addFilterOptions(command, replayFields, context), 'replay nothing')
    .option(
      '--max-attempts <n>',
      'not those with so many attempts',
      parseCount('--max-attempts', 1, 1000),
    )
    .option('--all', 'all failed transactions, without a filter')
    .option('--reason <text>', 'why; for the audit log')
    .option('--follow <bulk>', 'show how a bulk goes, or went')
    .option('--stop <bulk>', 'begin nothing more of a bulk')
    .option('--list', 'list bulks, newest first');
  const run = (admin: Admin, id: string | undefined, flags: Flags): Promise<Report> =>
    replay(context, admin, id, flags);
  addAdminAction(command, context, done, run, check);
};
