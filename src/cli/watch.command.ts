/** `paraph watch`: what happens, while it happens. On a terminal a view that is kept up to date, otherwise line by line. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Overview } from '../history/overview.ts';
import type { TransactionRow } from '../history/row.ts';
import type { CliContext, Report } from './context.ts';
import { bar } from './operations-progress.ts';
import { refusal } from './operations-refusal.ts';
import { duration, rowColumns, rowDocument, shownFault, stateCell } from './operations-row.ts';
import { createLiveScreen } from './operations-screen.ts';
import { needsIndex, type OperationsSession, withOperations } from './operations-session.ts';
import { tableLines } from './operations-table.ts';
import type { OpenAttempt } from './operations-timeline.ts';
import { watchTransactions } from './operations-watch.ts';
import { isCapable, paletteFor, printable, widthOf } from './screen.ts';

const shownRows = 15;
const overviewEveryMs = 2000;
const lookEveryMs = 500;
const hourMs = 3_600_000;

const interrupted: Report = { outcome: 'interrupted', document: {} };

const isOpen = ({ state }: TransactionRow): boolean => state === 'submitted' || state === 'pending';

/** A change as one line of its own, for files and pipes. */
const lineOf = (row: TransactionRow, context: CliContext, json: boolean): string => {
  if (json) return `${JSON.stringify({ transaction: rowDocument(row) })}\n`;
  const at = new Date(row.endedAt ?? context.now()).toISOString();
  const state = stateCell(row);
  const { msspTransId, attempt, apId, apTransId } = row;
  const parts = [
    at,
    msspTransId,
    typeof state === 'string' ? state : state.text,
    `attempt ${attempt}`,
    duration(row.tookMs),
    apId,
    apTransId,
  ];
  return `${printable(parts.filter((part) => part !== '').join('  '))}\n`;
};

const headOf = (overview: Overview | undefined, troubled: boolean, context: CliContext): string => {
  const { bold, red, dim } = paletteFor(context.stdout, context);
  if (troubled) return red('Redis does not answer; trying again.');
  if (overview === undefined) return dim('looking …');
  const { submitted, signed, failed, queue } = overview;
  const now = `${queue.waiting} waiting, ${queue.active} in work, ${queue.delayed} asleep`;
  return bold(
    `${now}; last hour ${submitted} submitted, ${signed} signed, ${failed} failed`.slice(
      0,
      widthOf(context.stdout) - 1,
    ),
  );
};

const watchAll = async (context: CliContext, session: OperationsSession, json: boolean): Promise<Report> => {
  needsIndex(session);
  const { history } = session;
  const isLive = !json && isCapable(context.stdout, context);
  const screen = createLiveScreen(context);
  const { dim } = paletteFor(context.stdout, context);
  let rows: readonly TransactionRow[] = [];
  let overview: Overview | undefined;
  /** While nothing changes, only this asks Redis anything. */
  let isAway = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isFirst = true;
  await watchTransactions(session, context, async ({ changed, troubled }) => {
    if (!isLive) {
      // What was there before is not news to a file.
      if (!isFirst) for (const row of changed) context.stdout.write(lineOf(row, context, json));
      isFirst &&= troubled;
      return;
    }
    const time = context.now();
    if (!troubled && time >= lookedAt + overviewEveryMs) {
      lookedAt = time;
      overview = await history.overview(time - hourMs).catch(() => undefined);
      isAway = overview === undefined;
    }
    const ids = new Set(changed.map(({ msspTransId }) => msspTransId));
    rows = [...changed.toReversed(), ...rows.filter(({ msspTransId }) => !ids.has(msspTransId))].slice(
      0,
      shownRows,
    );
    screen.draw([
      headOf(overview, troubled || isAway, context),
      ...tableLines(rowColumns(context), rows, context.stdout, context),
      dim('Ctrl-C ends this view.'),
    ]);
  });
  return interrupted;
};

/** What is open shows how much of its time has passed. */
const liveLine = (row: TransactionRow, attempt: OpenAttempt | undefined, context: CliContext): string => {
  const { bold, green, red } = paletteFor(context.stdout, context);
  const paint = row.state === 'failed' ? red : isOpen(row) ? bold : green;
  const state = stateCell(row);
  const head = `${row.msspTransId}  ${paint(typeof state === 'string' ? state : state.text)}  attempt ${row.attempt}`;
  if (attempt?.attempt !== row.attempt || !isOpen(row)) return head;
  const { begunAt, deadline } = attempt;
  const left = Math.max(0, Math.ceil((deadline - context.now()) / 1000));
  return `${head}  ${bar(context.now() - begunAt, deadline - begunAt)} ${left} s`;
};

const endOf = (row: TransactionRow): Report => {
  const document = { transaction: rowDocument(row) };
  if (row.fault === undefined) return { outcome: 'ok', document };
  const { code, reason, detail } = shownFault(row.fault, false);
  return {
    outcome: 'fault',
    document: { ...document, fault: { code, reason, detail } },
    problem: `Fault ${code} ${reason}: ${detail}`,
  };
};

const watchOne = async (
  context: CliContext,
  session: OperationsSession,
  id: string,
  json: boolean,
): Promise<Report> => {
  const { history, readJob } = session;
  const { openAttemptIn } = await import('./operations-timeline.ts');
  const isLive = !json && isCapable(context.stdout, context);
  const screen = createLiveScreen(context);
  let stamp = '';
  for (;;) {
    // One job is quickly read, and knows more than the index.
    const row = await history.find(id);
    if (row === undefined) return refusal('unknown', { msspTransId: id });
    if (isLive) screen.draw([liveLine(row, openAttemptIn(await readJob(id)), context)]);
    else if (`${row.state} ${row.attempt}` !== stamp) {
      stamp = `${row.state} ${row.attempt}`;
      // The end of it is the document at the end.
      if (isOpen(row) || !json) context.stdout.write(lineOf(row, context, json));
    }
    if (!isOpen(row)) return endOf(row);
    if (!context.signal.aborted) {
      await delay(lookEveryMs, undefined, { signal: context.signal }).catch(() => undefined);
    }
    if (context.signal.aborted) return { ...interrupted, document: { transaction: rowDocument(row) } };
  }
};

export const addWatch = (program: Command, context: CliContext, done: (report: Report) => void): void => {
  program
    .command('watch')
    .description('show what happens while it happens, until Ctrl-C')
    .argument('[MSSP_TransID]', 'one transaction, until it has ended')
    .option('--json', 'print one JSON document for each change, and one at the end')
    .action(async (id: string | undefined, { json = false }: { readonly json?: boolean }) =>
      done(
        await withOperations(context, (session) =>
          id === undefined ? watchAll(context, session, json) : watchOne(context, session, id, json),
        ),
      ),
    );
};
