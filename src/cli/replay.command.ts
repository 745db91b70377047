/**
 * `paraph replay`: runs failed transactions again, one or many. The command only orders; the service's policy, limits and
 * audit log hold for it as they do in the console, and its workers do the work.
 */
import type { Command } from 'commander';
import type { ReplaySelection } from '../operators/replays.ts';
import { type CliContext, type Report, UsageProblem } from './context.ts';
import {
  bulkDocument,
  bulkTable,
  followBulk,
  planDocument,
  planText,
  reportDryRun,
} from './operations-bulk.ts';
import { confirm } from './operations-confirm.ts';
import { addFilterOptions, type FilterFlags, filterOf, parseCount } from './operations-filter.ts';
import { refusal } from './operations-refusal.ts';
import { needsIndex, type OperationsSession, withOperations } from './operations-session.ts';
import { paletteFor } from './screen.ts';

interface Flags extends FilterFlags {
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
    throw new UsageProblem('--rate must be a number of replays in a second, more than 0 and at most 1000.');
  }
  return value;
};

const replayOne = async (
  context: CliContext,
  { replays, operator }: OperationsSession,
  msspTransId: string,
  { reason, dryRun }: Flags,
): Promise<Report> => {
  if (dryRun) return reportDryRun(await replays.plan({ ids: [msspTransId] }, operator, reason), context);
  const result = await replays.replay(msspTransId, operator, reason);
  if (result !== 'replayed') {
    return refusal(typeof result === 'object' ? result.refused : result, { msspTransId });
  }
  const done = paletteFor(context.stdout, context).green('Replayed.');
  return {
    outcome: 'ok',
    document: { msspTransId, result },
    text: `${done} To see how it ends: paraph watch ${msspTransId}\n`,
  };
};

const replayMany = async (
  context: CliContext,
  { replays, operator }: OperationsSession,
  selection: ReplaySelection,
  { dryRun, reason, rate, yes, detach }: Flags,
): Promise<Report> => {
  if (dryRun) return reportDryRun(await replays.plan(selection, operator, reason), context);
  if (reason === undefined)
    throw new UsageProblem('A bulk replay needs --reason; --dry-run shows what it would do.');
  if (!yes) {
    const plan = await replays.plan(selection, operator, reason);
    if (plan.replayable === 0) return refusal('nothing', { plan: planDocument(plan) });
    context.stderr.write(planText(plan, { ...context, stdout: context.stderr }));
    const people = plan.numbers === 1 ? 'one person' : `${plan.numbers} people`;
    const question = `Replay ${plan.replayable} at ${rate} a second, and prompt ${people}?`;
    const answer = await confirm(context, question);
    if (answer === 'interrupted') {
      return { outcome: 'interrupted', document: {}, problem: 'Interrupted; nothing was replayed.' };
    }
    if (answer === 'no') {
      return { outcome: 'ok', document: { plan: planDocument(plan) }, text: 'Nothing was replayed.\n' };
    }
  }
  const started = await replays.start(selection, { perSecond: rate, operator, reason });
  if ('refused' in started) {
    return refusal(started.refused, { plan: started.plan && planDocument(started.plan) });
  }
  const { bulkId } = started;
  if (detach) {
    return {
      outcome: 'ok',
      document: { bulkId, plan: planDocument(started.plan) },
      text: `Ordered. To see how it goes: paraph replay --follow ${bulkId}\n`,
    };
  }
  return followBulk(context, replays, bulkId);
};

const stopBulk = async ({ replays, operator }: OperationsSession, bulkId: string, reason?: string) => {
  const result = await replays.stop(bulkId, operator, reason);
  if (typeof result === 'object') return refusal(result.refused, { bulkId });
  switch (result) {
    case 'unknown':
      return refusal('unknown-bulk', { bulkId });
    case 'not-running':
      return refusal('not-running', { bulkId });
    case 'stopping': {
      const text = 'Stopping: nothing more is replayed. Who has been prompted stays prompted.\n';
      return { outcome: 'ok', document: { bulkId, result }, text } satisfies Report;
    }
  }
};

/** One thing at a time, so that a slip of the pen does not replay what it should show. */
const tasksIn = (id: string | undefined, flags: Flags): readonly string[] => {
  const isFiltered = Object.keys(filterOf(flags)).length > 0 || flags.maxAttempts !== undefined || flags.all;
  return [
    ...(id === undefined ? [] : ['one']),
    ...(isFiltered ? ['many'] : []),
    ...(flags.follow === undefined ? [] : ['follow']),
    ...(flags.stop === undefined ? [] : ['stop']),
    ...(flags.list ? ['list'] : []),
  ];
};

const replay = (context: CliContext, id: string | undefined, flags: Flags): Promise<Report> => {
  const [task, ...others] = tasksIn(id, flags);
  if (task === undefined || others.length > 0) {
    throw new UsageProblem(
      'Replay what? Either one MSSP_TransID, or a filter (--all for none), or one of --follow, --stop and --list.',
    );
  }
  return withOperations(context, async (session) => {
    const { replays } = session;
    if (id !== undefined) return replayOne(context, session, id, flags);
    if (flags.follow !== undefined) return followBulk(context, replays, flags.follow);
    if (flags.stop !== undefined) return stopBulk(session, flags.stop, flags.reason);
    if (flags.list) {
      const bulks = await replays.list();
      return { outcome: 'ok', document: { bulks: bulks.map(bulkDocument) }, text: bulkTable(bulks, context) };
    }
    needsIndex(session);
    const { states: _, ...filter } = filterOf(flags);
    const { maxAttempts } = flags;
    const selection = { filter: { ...filter, ...(maxAttempts !== undefined && { maxAttempts }) } };
    return replayMany(context, session, selection, flags);
  });
};

export const addReplay = (program: Command, context: CliContext, done: (report: Report) => void): void => {
  const command = program
    .command('replay')
    .description('run failed transactions again: one, or all that a filter finds')
    .argument('[MSSP_TransID]', 'one of them');
  addFilterOptions(command, context)
    .option('--max-attempts <n>', 'not those with so many attempts', parseCount('--max-attempts', 1, 1000))
    .option('--all', 'all failed transactions, without a filter')
    .option('--dry-run', 'say how many and whom, and replay nothing')
    .option('--reason <text>', 'why; for the audit log')
    .option('--rate <n>', 'how many in a second', parseRate, 5)
    .option('--yes', 'do not ask')
    .option('--detach', 'order it, and do not wait for its end')
    .option('--follow <bulk>', 'show how a bulk replay goes, or went')
    .option('--stop <bulk>', 'replay nothing more of it')
    .option('--list', 'list bulk replays, newest first')
    .option('--json', 'print one JSON document')
    .action(async (id: string | undefined, flags: Flags) => done(await replay(context, id, flags)));
};
