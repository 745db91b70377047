/** `paraph callbacks`: callbacks that could not be delivered, and their replay. */
import type { ShownCallback } from '../console/redaction.ts';
import {
  type CallbackBulk,
  type CallbackPlan,
  callbacksPerSecond,
  maxCallbacks,
} from '../operators/callback-replays.ts';
import { type Admin, addAdminAction, type ListFlags, refused, reportList } from './admin.ts';
import { type AddCommand, type CliContext, ok, type Report, UsageError } from './context.ts';
import { countFields, fieldsText } from './screen.ts';
import { confirm } from './terminal-input.ts';
import { addPageOptions, parseCount } from './transactions-filter.ts';
import { callbackColumns, callbackDocument } from './transactions-row.ts';

interface ReplayFlags {
  readonly ap?: string;
  readonly all?: true;
  readonly dryRun?: true;
  readonly reason?: string;
  readonly rate: number;
  readonly yes?: true;
}

const replayOne = async (admin: Admin, id: string, reason: string | undefined): Promise<Report> => {
  const answer = await admin.post<object>(['callbacks', id, 'replay'], { reason });
  return ok({ id, ...answer }, 'Replayed: it begins with its first try again.\n');
};

const planText = ({ found, byAp, truncated }: CallbackPlan, context: CliContext): string =>
  fieldsText(
    [
      ['dead', String(found)],
      ...countFields('by AP', byAp),
      ['', truncated ? `There are more: one order holds the newest ${maxCallbacks}.` : undefined],
    ],
    context,
  );

const replayMany = async (
  context: CliContext,
  admin: Admin,
  { dryRun, yes, rate, reason, ap }: ReplayFlags,
): Promise<Report> => {
  // Callbacks that die from now on are not counted.
  const filter = { apId: ap, to: context.now() };
  if (dryRun || !yes) {
    const plan = await admin.post<CallbackPlan>(['callbacks', 'plan'], { filter });
    if (dryRun) return ok({ plan }, planText(plan, context));
    if (plan.found === 0) {
      throw refused('refused', 'nothing-dead', 'No dead callback is found by this.', { plan });
    }
    context.stderr.write(planText(plan, { ...context, stdout: context.stderr }));
    await confirm(context, `Replay ${plan.found}, at ${rate} a second?`, { plan });
  }
  const done = await admin.post<CallbackBulk>(['callbacks', 'replay'], { filter, perSecond: rate, reason });
  const { found, replayed, left, truncated } = done;
  const others = left === 0 ? '' : ` ${left} of ${found} were replayed by others, or are gone.`;
  const more = truncated ? ' There are more: order again.' : '';
  return ok(done, `${replayed} replayed.${others}${more}\n`);
};

const check = (id: string | undefined, flags: ReplayFlags): void => {
  const tasks = [id, flags.ap, flags.all].filter((task) => task !== undefined);
  if (tasks.length !== 1) {
    throw new UsageError('Replay what? Either one callback, or those of one --ap, or --all.');
  }
  if (id !== undefined && (flags.dryRun || flags.yes)) {
    throw new UsageError('--dry-run and --yes are for many callbacks.');
  }
};

export const addCallbacks: AddCommand = (program, context, done) => {
  const callbacks = program
    .command('callbacks')
    .description('callbacks to applications that could not be delivered');
  const ls = callbacks
    .command('ls')
    .description('list dead callbacks, newest first, or those that are tried again')
    .option('--ap <id>', 'of this AP_ID')
    .option('--retried', 'those that have failed and are tried again by themselves');
  addPageOptions(ls, 50);
  type LsFlags = ListFlags & { readonly ap?: string; readonly retried?: true };
  addAdminAction(ls, context, done, (admin, { ap, retried, ...page }: LsFlags) =>
    reportList<ShownCallback>(context, admin, page, {
      command: 'callbacks ls',
      path: 'callbacks',
      query: { apId: ap, state: retried && 'retried' },
      pageRows: 500,
      member: 'callbacks',
      none: retried ? 'No callbacks are tried again.\n' : 'No dead callbacks.\n',
      columns: [
        ...callbackColumns(context),
        { title: 'AP', cell: ({ apId }) => apId },
        {
          title: 'PROCESS',
          cell: ({ process, event }) => (process === undefined ? '' : `${process} ${event}`),
        },
      ],
      document: callbackDocument,
    }),
  );
  const { min, usual, max } = callbacksPerSecond;
  const replay = callbacks
    .command('replay')
    .description('try dead callbacks again: one, or all of an application')
    .argument('[callback]', 'one of them')
    .option('--ap <id>', 'all of this AP_ID')
    .option('--all', 'all of all applications')
    .option('--dry-run', 'say how many, and replay nothing')
    .option('--reason <text>', 'why; for the audit log')
    .option('--rate <n>', 'how many in a second', parseCount('--rate', min, max), usual)
    .option('--yes', 'do not ask');
  const run = (admin: Admin, id: string | undefined, flags: ReplayFlags): Promise<Report> =>
    id === undefined ? replayMany(context, admin, flags) : replayOne(admin, id, flags.reason);
  addAdminAction(replay, context, done, run, check);
};
