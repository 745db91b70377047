/** `paraph callbacks`: what could not be told to applications, and telling it after all. */
import type { Command } from 'commander';
import type { CallbackFilter, CallbackRow } from '../history/callback-row.ts';
import { type CallbackPlan, callbacksPerSecond, mostCallbacks } from '../operators/callback-replays.ts';
import { type CliContext, type Report, UsageProblem } from './context.ts';
import { callbackDocument, callbacksTable } from './operations-callbacks.ts';
import { confirm } from './operations-confirm.ts';
import { parseCount } from './operations-filter.ts';
import { refusal } from './operations-refusal.ts';
import { type OperationsSession, withOperations } from './operations-session.ts';
import { type Field, formatFields, paletteFor, widthOf } from './screen.ts';

interface ListFlags {
  readonly ap?: string;
  readonly limit: number;
  readonly cursor?: string;
}

interface ReplayFlags {
  readonly ap?: string;
  readonly all?: true;
  readonly dryRun?: true;
  readonly reason?: string;
  readonly rate: number;
  readonly yes?: true;
}

const pageRows = 500;

const filterOf = ({ ap }: { readonly ap?: string }): CallbackFilter => ({
  ...(ap !== undefined && { apId: ap }),
});

const ls = (context: CliContext, flags: ListFlags): Promise<Report> =>
  withOperations(context, async ({ callbacks }) => {
    const rows: CallbackRow[] = [];
    let { cursor } = flags;
    do {
      const limit = Math.min(flags.limit - rows.length, pageRows);
      const page = await callbacks.dead(filterOf(flags), { limit, cursor });
      if (page === undefined) {
        throw new UsageProblem('--cursor must be one that paraph callbacks ls --json gave.');
      }
      rows.push(...page.rows);
      cursor = page.cursor;
    } while (cursor !== undefined && rows.length < flags.limit && !context.signal.aborted);
    const more = cursor === undefined ? '' : `${rows.length} shown; there are more: --limit\n`;
    return {
      outcome: 'ok',
      document: { callbacks: rows.map(callbackDocument), ...(cursor !== undefined && { cursor }) },
      text: rows.length === 0 ? 'No dead callbacks.\n' : `${callbacksTable(rows, context)}${more}`,
    };
  });

const replayOne = async (
  { callbacks, operator }: OperationsSession,
  id: string,
  reason: string | undefined,
): Promise<Report> => {
  const result = await callbacks.replay(id, operator, reason);
  if (result === 'replayed') {
    const text = 'Replayed: it begins with its first try again.\n';
    return { outcome: 'ok', document: { id, result }, text };
  }
  if (typeof result === 'object') return refusal(result.refused, { id });
  return refusal(result === 'unknown' ? 'unknown-callback' : result, { id });
};

const planText = ({ found, byAp, truncated }: CallbackPlan, context: CliContext): string => {
  const fields: readonly Field[] = [
    ['dead', String(found)],
    ...Object.entries(byAp).map(
      ([ap, count], index): Field => [index === 0 ? 'by AP' : '', `${ap}: ${count}`],
    ),
    ['', truncated ? `There are more: one order holds the newest ${mostCallbacks}.` : undefined],
  ];
  return formatFields(fields, widthOf(context.stdout), paletteFor(context.stdout, context));
};

const replayMany = async (
  context: CliContext,
  { callbacks, operator }: OperationsSession,
  { dryRun, yes, rate, reason, ...flags }: ReplayFlags,
): Promise<Report> => {
  // What dies from now on is not what is counted.
  const filter = { ...filterOf(flags), to: context.now() };
  if (dryRun || !yes) {
    const plan = await callbacks.plan(filter);
    if (dryRun) return { outcome: 'ok', document: { plan }, text: planText(plan, context) };
    if (plan.found === 0) return refusal('nothing-dead', { plan });
    context.stderr.write(planText(plan, { ...context, stdout: context.stderr }));
    const answer = await confirm(context, `Replay ${plan.found}, at ${rate} a second?`);
    if (answer === 'interrupted') {
      return { outcome: 'interrupted', document: {}, problem: 'Interrupted; nothing was replayed.' };
    }
    if (answer === 'no') return { outcome: 'ok', document: { plan }, text: 'Nothing was replayed.\n' };
  }
  const done = await callbacks.replayAll(filter, { perSecond: rate, operator, reason });
  if ('refused' in done) return refusal(done.refused === 'nothing' ? 'nothing-dead' : done.refused);
  const { found, replayed, left, truncated } = done;
  const others = left === 0 ? '' : ` ${left} of ${found} were replayed by others, or are gone.`;
  const more = truncated ? ' There are more: order again.' : '';
  return { outcome: 'ok', document: done, text: `${replayed} replayed.${others}${more}\n` };
};

const replay = (context: CliContext, id: string | undefined, flags: ReplayFlags): Promise<Report> => {
  const tasks = [id, flags.ap, flags.all].filter((task) => task !== undefined);
  if (tasks.length !== 1) {
    throw new UsageProblem('Replay what? Either one callback, or those of one --ap, or --all.');
  }
  if (id !== undefined && (flags.dryRun || flags.yes)) {
    throw new UsageProblem('--dry-run and --yes are for many callbacks.');
  }
  return withOperations(context, async (session) =>
    id === undefined ? replayMany(context, session, flags) : replayOne(session, id, flags.reason),
  );
};

export const addCallbacks = (program: Command, context: CliContext, done: (report: Report) => void): void => {
  const callbacks = program.command('callbacks').description('what could not be told to applications');
  callbacks
    .command('ls')
    .description('list dead callbacks, newest first (at the service’s Redis)')
    .option('--ap <id>', 'of this AP_ID')
    .option('--limit <n>', 'how many at most', parseCount('--limit', 1, 100_000), 50)
    .option('--cursor <cursor>', 'go on where a list ended, from its JSON')
    .option('--json', 'print one JSON document')
    .action(async (flags: ListFlags) => done(await ls(context, flags)));
  const { least, usual, most } = callbacksPerSecond;
  callbacks
    .command('replay')
    .description('try dead callbacks again: one, or all of an application')
    .argument('[callback]', 'one of them')
    .option('--ap <id>', 'all of this AP_ID')
    .option('--all', 'all of all applications')
    .option('--dry-run', 'say how many, and replay nothing')
    .option('--reason <text>', 'why; for the audit log')
    .option('--rate <n>', 'how many in a second', parseCount('--rate', least, most), usual)
    .option('--yes', 'do not ask')
    .option('--json', 'print one JSON document')
    .action(async (id: string | undefined, flags: ReplayFlags) => done(await replay(context, id, flags)));
};
