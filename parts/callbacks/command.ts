/** `paraph callbacks`: callbacks that could not be delivered, and their replay. */
import {
  type Admin,
  addAdminAction,
  type ListFlags,
  refused,
  reportList,
  secretActions,
} from '../../src/command-line/admin.ts';
import {
  type AddCommand,
  type CliContext,
  ok,
  type Report,
  UsageError,
} from '../../src/command-line/context.ts';
import type { PartCommands } from '../../src/command-line/part-commands.ts';
import {
  type Column,
  countFields,
  fieldsText,
  type Screen,
  table,
} from '../../src/command-line/screen.ts';
import { confirm } from '../../src/command-line/terminal-input.ts';
import { addPageOptions, parseCount } from '../../src/command-line/transactions-filter.ts';
import { isoOrNull, timeCell } from '../../src/command-line/transactions-row.ts';
import type { CallbackCounts, CallbackRow } from './callback-row.ts';
import {
  type CallbackBulk,
  type CallbackPlan,
  callbacksPerSecond,
  maxCallbacks,
} from './replays.ts';

const callbackDocument = ({ host: _, ...row }: CallbackRow) => ({
  ...row,
  problem: row.problem ?? null,
  endedAt: isoOrNull(row.endedAt),
  triedAt: isoOrNull(row.triedAt),
  nextTryAt: isoOrNull(row.nextTryAt),
});

const callbackPaints = { delivered: 'green', dead: 'red', waiting: 'bold' } as const;

const callbackColumns = (context: Screen): readonly Column<CallbackRow>[] => [
  { title: 'LAST TRY', cell: ({ triedAt = 0 }) => timeCell(triedAt, context) },
  { title: 'STATE', cell: ({ state }) => ({ text: state, paint: callbackPaints[state] }) },
  { title: 'TRIES', cell: ({ tries }) => String(tries), right: true },
  { title: 'PROBLEM', cell: ({ problem = '' }) => problem },
  { title: 'CALLBACK', cell: ({ id }) => id },
];

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
  const done = await admin.post<CallbackBulk>(['callbacks', 'replay'], {
    filter,
    perSecond: rate,
    reason,
  });
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

const addCallbacks: AddCommand = (program, context, done) => {
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
    reportList<CallbackRow>(context, admin, page, {
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

/** Adds the command for the secret beside `aps ls`. */
const addSecret: AddCommand = (program, context, done) => {
  const secret = program.commands
    .find((command) => command.name() === 'aps')
    ?.command('secret <id>')
    .description('print the secret that verifies the callbacks of one; recorded in the audit log');
  if (secret === undefined) throw new Error('There is no command aps');
  secretActions(context, done)(secret, async (admin, apId: string) => {
    const found = await admin.post<{ readonly secret: string }>(['callback-secret'], { apId });
    return ok({ apId, ...found }, `${found.secret}\n`);
  });
};

export const callbackCommands: PartCommands = {
  add: { 'Operate:': [addCallbacks], 'Administer:': [addSecret] },
  examples: { 'callbacks replay': ['--ap mid://shop.example.ch --dry-run'] },
  errors: { 'callbacks unknown': 'unknown-callback', 'callbacks nothing': 'nothing-dead' },
  providerColumns: [{ title: 'CALLBACK', member: 'callbackHost', none: 'no' }],
  stats: (told) => {
    const { callbacks } = told as { readonly callbacks: CallbackCounts };
    return [['callbacks', `${callbacks.retried} tried again, ${callbacks.dead} dead`]];
  },
  ofTransaction: async (context, admin, id) => {
    const { callbacks } = await admin.get<{ readonly callbacks: readonly CallbackRow[] }>([
      'transactions',
      id,
      'callbacks',
    ]);
    return {
      document: { callbacks: callbacks.map(callbackDocument) },
      text:
        callbacks.length === 0 ? '' : `\n${table(callbackColumns(context), callbacks, context)}`,
    };
  },
};
