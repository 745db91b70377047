/** `paraph ls`: transactions, newest first. */
import type { Command } from 'commander';
import type { TransactionRow } from '../history/row.ts';
import { type CliContext, type Report, UsageProblem } from './context.ts';
import {
  addFilterOptions,
  addStateOption,
  type FilterFlags,
  filterOf,
  parseCount,
} from './operations-filter.ts';
import { rowColumns, rowDocument } from './operations-row.ts';
import { needsIndex, withOperations } from './operations-session.ts';
import { table } from './operations-table.ts';

interface Flags extends FilterFlags {
  readonly limit: number;
  readonly cursor?: string;
}

const pageRows = 500;

const ls = (context: CliContext, flags: Flags): Promise<Report> =>
  withOperations(context, async (session) => {
    needsIndex(session);
    const filter = filterOf(flags);
    const rows: TransactionRow[] = [];
    let { cursor } = flags;
    let total: number | undefined;
    do {
      const limit = Math.min(flags.limit - rows.length, pageRows);
      const page = await session.history.search(filter, { limit, cursor });
      if (page === undefined) throw new UsageProblem('--cursor must be one that paraph ls --json gave.');
      rows.push(...page.rows);
      total ??= page.total;
      cursor = page.cursor;
    } while (cursor !== undefined && rows.length < flags.limit && !context.signal.aborted);
    const of = total === undefined || total === rows.length ? '' : ` of ${total}`;
    const more = cursor === undefined ? '' : `${rows.length}${of} shown; there are more: --limit\n`;
    return {
      outcome: 'ok',
      document: {
        transactions: rows.map(rowDocument),
        ...(total !== undefined && { total }),
        ...(cursor !== undefined && { cursor }),
      },
      text:
        rows.length === 0 ? 'No such transactions.\n' : `${table(rowColumns(context), rows, context)}${more}`,
    };
  });

export const addLs = (program: Command, context: CliContext, done: (report: Report) => void): void => {
  const command = program
    .command('ls')
    .description('list transactions, newest first (at the service’s Redis)');
  addFilterOptions(addStateOption(command), context)
    .option('--limit <n>', 'how many at most', parseCount('--limit', 1, 100_000), 50)
    .option('--cursor <cursor>', 'go on where a list ended, from its JSON')
    .option('--json', 'print one JSON document')
    .action(async (flags: Flags) => done(await ls(context, flags)));
};
