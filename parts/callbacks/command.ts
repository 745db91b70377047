/** `paraph callbacks`: callbacks that could not be delivered, their replay, and a try at once. */
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
import { type CallbackCounts, type CallbackRow, stateWords } from './callback-row.ts';
import type { FailingReceiver, FailingReceivers } from './receivers.ts';
import {
  type CallbackBulk,
  type CallbackOrder,
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
  {
    title: 'STATE',
    cell: (row) => ({ text: stateWords(row), paint: callbackPaints[row.state] }),
  },
  { title: 'TRIES', cell: ({ tries }) => String(tries), right: true },
  { title: 'PROBLEM', cell: ({ problem = '' }) => problem },
  { title: 'CALLBACK', cell: ({ id }) => id },
];

/** The transaction by the id of its application, or the event of a process. */
const aboutText = ({ process, apTransId, msspTransId, event }: CallbackRow): string =>
  `${process ?? apTransId ?? msspTransId ?? ''} ${event}`;

const listColumns = (context: Screen, retried: boolean): readonly Column<CallbackRow>[] => {
  const [lastTry, ...others] = callbackColumns(context);
  const nextTry: Column<CallbackRow> = {
    title: 'NEXT TRY',
    cell: ({ nextTryAt }) => (nextTryAt === undefined ? 'now' : timeCell(nextTryAt, context)),
  };
  return [
    { title: 'EVENT AT', cell: ({ endedAt }) => timeCell(endedAt, context) },
    ...(lastTry === undefined ? [] : [lastTry]),
    ...(retried ? [nextTry] : []),
    ...others,
    { title: 'AP', cell: ({ apId }) => apId },
    { title: 'HOST', cell: ({ host = '' }) => host },
    { title: 'ABOUT', cell: aboutText },
  ];
};

const problemsText = ({ problems }: FailingReceiver): string =>
  Object.entries(problems)
    .slice(0, 3)
    .map(([problem, count]) => `${problem}: ${count}`)
    .join(', ');

/** The failing callbacks by receiver, and what their problems usually mean. */
const receiversText = (
  { receivers, retried, dead, isWhole }: FailingReceivers,
  isRetried: boolean,
  context: CliContext,
): string => {
  const other = isRetried
    ? `${retried} are tried again; ${dead} dead: without --retried`
    : `${dead} dead; ${retried} are tried again: --retried`;
  if (receivers.length === 0) return `${other}\n`;
  const advices = receivers.flatMap(({ apId, host = apId, advice }) =>
    advice === undefined ? [] : [[host, advice] as const],
  );
  const columns: readonly Column<FailingReceiver>[] = [
    { title: 'AP', cell: ({ apId }) => apId },
    { title: 'HOST', cell: ({ host = '' }) => host },
    { title: 'TRIED AGAIN', cell: (each) => String(each.retried), right: true },
    { title: 'DEAD', cell: (each) => String(each.dead), right: true },
    { title: 'PROBLEMS', cell: problemsText },
    { title: 'OLDEST', cell: ({ oldestAt }) => timeCell(oldestAt, context) },
    {
      title: 'NEXT TRY',
      cell: ({ nextTryAt }) => (nextTryAt === undefined ? '' : timeCell(nextTryAt, context)),
    },
  ];
  const newest = isWhole ? '' : 'The newest of both lists are counted.\n';
  return `${table(columns, receivers, context)}${newest}${fieldsText(advices, context)}${other}\n\n`;
};

const receiverDocument = (receiver: FailingReceiver) => ({
  ...receiver,
  oldestAt: isoOrNull(receiver.oldestAt),
  triedAt: isoOrNull(receiver.triedAt),
  nextTryAt: isoOrNull(receiver.nextTryAt),
});

type LsFlags = ListFlags & { readonly ap?: string; readonly retried?: true };

/** The list, and before it the receivers. */
const list = async (
  context: CliContext,
  admin: Admin,
  { ap, retried, ...page }: LsFlags,
): Promise<Report> => {
  const report = await reportList<CallbackRow>(context, admin, page, {
    command: 'callbacks ls',
    path: 'callbacks',
    query: { apId: ap, state: retried && 'retried' },
    pageRows: 500,
    member: 'callbacks',
    none: '',
    columns: listColumns(context, retried === true),
    document: callbackDocument,
  });
  if (page.cursor !== undefined) return report;
  const failing = await admin.get<FailingReceivers>(['callbacks', 'receivers']);
  const receivers = failing.receivers.filter(({ apId }) => ap === undefined || apId === ap);
  return ok(
    {
      ...report.document,
      receivers: receivers.map(receiverDocument),
      counts: { dead: failing.dead, retried: failing.retried },
    },
    `${receiversText({ ...failing, receivers }, retried === true, context)}${report.text ?? ''}`,
  );
};

/** The texts of each order. */
const words = {
  replay: {
    found: 'dead',
    none: ['nothing-dead', 'No dead callback is found by this.'],
    question: (plan: CallbackPlan) => `Replay ${plan.found}`,
    one: 'Replayed: it begins with its first try again.\n',
    many: 'replayed',
    description: 'try dead callbacks again: one, or all of an application',
    dryRun: 'say how many, and replay nothing',
  },
  try: {
    found: 'tried again',
    none: ['nothing-waiting', 'No callback that waits for its next try is found by this.'],
    question: (plan: CallbackPlan) => `Try ${plan.found} now`,
    one: 'Tried now: it begins with its first try again.\n',
    many: 'tried now',
    description: 'try callbacks now that wait for their next try: one, or all of an application',
    dryRun: 'say how many, and try nothing',
  },
} as const;

interface OrderFlags {
  readonly ap?: string;
  readonly all?: true;
  readonly dryRun?: true;
  readonly reason?: string;
  readonly rate: number;
  readonly yes?: true;
}

const orderOne = async (
  admin: Admin,
  kind: CallbackOrder,
  id: string,
  reason: string | undefined,
): Promise<Report> => {
  const answer = await admin.post<object>(['callbacks', id, kind], { reason });
  return ok({ id, ...answer }, words[kind].one);
};

const planText = (
  kind: CallbackOrder,
  { found, byAp, truncated }: CallbackPlan,
  context: CliContext,
): string =>
  fieldsText(
    [
      [words[kind].found, String(found)],
      ...countFields('by AP', byAp),
      ['', truncated ? `There are more: one order holds ${maxCallbacks}.` : undefined],
    ],
    context,
  );

const orderMany = async (
  context: CliContext,
  admin: Admin,
  kind: CallbackOrder,
  { dryRun, yes, rate, reason, ap }: OrderFlags,
): Promise<Report> => {
  const { none, question, many } = words[kind];
  // Callbacks that die from now on are not counted.
  const filter = { apId: ap, ...(kind === 'replay' && { to: context.now() }) };
  if (dryRun || !yes) {
    const plan = await admin.post<CallbackPlan>(['callbacks', 'plan'], { kind, filter });
    if (dryRun) return ok({ plan }, planText(kind, plan, context));
    if (plan.found === 0) throw refused('refused', none[0], none[1], { plan });
    context.stderr.write(planText(kind, plan, { ...context, stdout: context.stderr }));
    await confirm(context, `${question(plan)}, at ${rate} a second?`, { plan });
  }
  const done = await admin.post<CallbackBulk>(['callbacks', kind], {
    filter,
    perSecond: rate,
    reason,
  });
  const { found, replayed = 0, tried = replayed, left, truncated } = done;
  const others = left === 0 ? '' : ` Another order came first for ${left} of ${found}.`;
  const more = truncated ? ' There are more: order again.' : '';
  return ok(done, `${tried} ${many}.${others}${more}\n`);
};

const check = (id: string | undefined, flags: OrderFlags): void => {
  const tasks = [id, flags.ap, flags.all].filter((task) => task !== undefined);
  if (tasks.length !== 1) {
    throw new UsageError('Which? Either one callback, or those of one --ap, or --all.');
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
  addAdminAction(ls, context, done, (admin, flags: LsFlags) => list(context, admin, flags));
  const { min, usual, max } = callbacksPerSecond;
  const addOrder = (kind: CallbackOrder): void => {
    const { description, dryRun } = words[kind];
    const command = callbacks
      .command(kind)
      .description(description)
      .argument('[callback]', 'one of them')
      .option('--ap <id>', 'all of this AP_ID')
      .option('--all', 'all of all applications')
      .option('--dry-run', dryRun)
      .option('--reason <text>', 'why; for the audit log')
      .option('--rate <n>', 'how many in a second', parseCount('--rate', min, max), usual)
      .option('--yes', 'do not ask');
    const run = (admin: Admin, id: string | undefined, flags: OrderFlags): Promise<Report> =>
      id === undefined
        ? orderMany(context, admin, kind, flags)
        : orderOne(admin, kind, id, flags.reason);
    addAdminAction(command, context, done, run, check);
  };
  addOrder('replay');
  addOrder('try');
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
  examples: {
    'callbacks replay': ['--ap mid://shop.example.ch --dry-run'],
    'callbacks try': ['--ap mid://shop.example.ch --dry-run'],
  },
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
