/**
 * `paraph replay`: runs failed transactions again, one or many. The command only orders the replay:
 * the service's policy, limits and audit log apply as in the console, and its workers do the work.
 */
import { type Admin, addAdminAction, refused } from '../command-line/admin.ts';
import {
  type AddCommand,
  type CliContext,
  ok,
  type Report,
  UsageError,
} from '../command-line/context.ts';
import { paletteFor } from '../command-line/screen.ts';
import { confirm } from '../command-line/terminal-input.ts';
import { addFilterOptions, filterQuery, parseCount } from '../command-line/transactions-filter.ts';
import type { BulkProgress } from '../console/operators/bulk-report.ts';
import type { ShownPlan } from '../console/redaction.ts';
import { transactionFields } from '../transactions/history/filter.ts';
import {
  bulkDocument,
  bulkTable,
  followBulk,
  planDocument,
  planText,
  reportDryRun,
} from './transactions-bulk.ts';

/** A replay takes failed transactions. */
const { state: _, ...replayFields } = transactionFields;

interface Flags {
  readonly all?: true;
  readonly maxAttempts?: number;
  readonly dryRun?: true;
  readonly reason?: string;
  readonly rate: number;
  readonly yes?: true;
  readonly detach?: true;
  readonly follow?: string;
  readonly stop?: string;
  readonly list?: true;
}

const parseRate = (text: string): number => {
  const value = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value > 0 && value <= 1000)) {
    throw new UsageError(
      '--rate must be a number of replays in a second, more than 0 and at most 1000.',
    );
  }
  return value;
};

/** The transactions that are meant, with the names of the admin API. */
type Selection = { readonly filter: object } | { readonly ids: readonly string[] };

const plan = (admin: Admin, selection: Selection, { reason }: Flags): Promise<ShownPlan> =>
  admin.post(['replays', 'plan'], { ...selection, reason });

const replayOne = async (
  context: CliContext,
  admin: Admin,
  msspTransId: string,
  flags: Flags,
): Promise<Report> => {
  if (flags.dryRun) return reportDryRun(await plan(admin, { ids: [msspTransId] }, flags), context);
  const { reason } = flags;
  const answer = await admin.post<object>(['transactions', msspTransId, 'replay'], { reason });
  const done = paletteFor(context.stdout, context).green('Replayed.');
  return ok(
    { msspTransId, ...answer },
    `${done} To see how it ends: paraph watch ${msspTransId}\n`,
  );
};

const replayMany = async (
  context: CliContext,
  admin: Admin,
  selection: Selection,
  flags: Flags,
): Promise<Report> => {
  const { dryRun, reason, rate, yes, detach } = flags;
  if (dryRun) return reportDryRun(await plan(admin, selection, flags), context);
  if (reason === undefined)
    throw new UsageError('A bulk replay needs --reason; --dry-run shows what it would do.');
  if (!yes) {
    const planned = await plan(admin, selection, flags);
    const document = { plan: planDocument(planned) };
    if (planned.replayable === 0) {
      const problem = 'No failed transaction that may be replayed is found by this.';
      throw refused('refused', 'nothing', problem, document);
    }
    context.stderr.write(planText(planned, { ...context, stdout: context.stderr }));
    const people = planned.numbers === 1 ? 'one person' : `${planned.numbers} people`;
    const question = `Replay ${planned.replayable} at ${rate} a second, and prompt ${people}?`;
    await confirm(context, question, document);
  }
  const order = { ...selection, perSecond: rate, reason };
  const started = await admin.post<{ bulkId: string; plan: ShownPlan }>(['replays'], order);
  const { bulkId } = started;
  if (detach) {
    const text = `Ordered. To see how it goes: paraph replay --follow ${bulkId}\n`;
    return ok({ bulkId, plan: planDocument(started.plan) }, text);
  }
  return followBulk(context, admin, bulkId);
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
  return replayMany(context, admin, { filter }, flags);
};

export const addReplay: AddCommand = (program, context, done) => {
  const command = program
    .command('replay')
    .description('run failed transactions again: one, or all that a filter finds')
    .argument('[MSSP_TransID]', 'one of them');
  addFilterOptions(command, replayFields, context)
    .option(
      '--max-attempts <n>',
      'not those with so many attempts',
      parseCount('--max-attempts', 1, 1000),
    )
    .option('--all', 'all failed transactions, without a filter')
    .option('--dry-run', 'say how many and whom, and replay nothing')
    .option('--reason <text>', 'why; for the audit log')
    .option('--rate <n>', 'how many in a second', parseRate, 5)
    .option('--yes', 'do not ask')
    .option('--detach', 'order it, and do not wait for its end')
    .option('--follow <bulk>', 'show how a bulk replay goes, or went')
    .option('--stop <bulk>', 'replay nothing more of it')
    .option('--list', 'list bulk replays, newest first');
  const run = (admin: Admin, id: string | undefined, flags: Flags): Promise<Report> =>
    replay(context, admin, id, flags);
  addAdminAction(command, context, done, run, check);
};
