/** `paraph watch`: live changes, as a view on a terminal and as lines elsewhere. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Admin, addAdminAction } from '../command-line/admin.ts';
import {
  type AddCommand,
  type CliContext,
  CommandEnd,
  type Report,
} from '../command-line/context.ts';
import {
  bar,
  isCapable,
  paletteFor,
  printable,
  tableLines,
  widthOf,
} from '../command-line/screen.ts';
import {
  duration,
  faultText,
  rowColumns,
  rowDocument,
  stateCell,
} from '../command-line/transactions-row.ts';
import type { ShownRow } from '../console/redaction.ts';
import type { TransactionDetail } from '../console/transaction-detail.ts';
import type { Overview } from '../transactions/history/overview.ts';

const shownRows = 15;
const newest = 100;
/** So many transactions are remembered, so that no change is shown twice. */
const maxSeen = 10_000;
const tickMs = 250;
const overviewEveryMs = 2000;
const lookEveryMs = 500;

const interrupted: Report = { outcome: 'interrupted', document: {} };

interface NewRows {
  /** Undefined when there are too many changes to list. */
  readonly rows?: readonly ShownRow[];
}

const isOpen = ({ state }: ShownRow): boolean => state === 'submitted' || state === 'pending';

const pause = (ms: number, { signal }: CliContext): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);

/** Draws lines over the lines of the last call. None may be wider than the terminal. */
const createDraw = ({ stdout }: CliContext): ((lines: readonly string[]) => void) => {
  let drawn = 0;
  return (lines) => {
    const up = drawn === 0 ? '' : `\x1b[${drawn}A`;
    // Clears each line behind its end, and the rest of the screen last, so that nothing flickers.
    stdout.write(`${up}\r${lines.map((line) => `${line}\x1b[K\n`).join('')}\x1b[J`);
    drawn = lines.length;
  };
};

/** The line, with its line feed, that reports a change to a file or pipe. */
const changeLine = (row: ShownRow, context: CliContext, json: boolean): string => {
  if (json) return `${JSON.stringify({ transaction: rowDocument(row) })}\n`;
  const at = new Date(row.endedAt ?? context.now()).toISOString();
  const { msspTransId, attempt, apId, apTransId } = row;
  const { text: state } = stateCell(row);
  const parts = [
    at,
    msspTransId,
    state,
    `attempt ${attempt}`,
    duration(row.tookMs),
    apId,
    apTransId,
  ];
  return `${printable(parts.filter((part) => part !== '').join('  '))}\n`;
};

/** Rows of a transaction with equal stamps are equal. */
const readStamp = ({ state, attempt, endedAt }: ShownRow): string =>
  `${state} ${attempt} ${endedAt ?? 0}`;

/**
 * Follows the changes of transactions over a stream. Changes that the service did not list, and
 * those while no stream was open, are read from the list of the newest transactions.
 *
 * @returns Reads the changes since the last call, oldest first.
 */
const listenForChanges = (
  admin: Admin,
  context: CliContext,
): (() => Promise<readonly ShownRow[]>) => {
  const { signal } = context;
  const seen = new Map<string, string>();
  const news: ShownRow[] = [];
  let isIncomplete = true;

  const isNews = (row: ShownRow): boolean => {
    const { msspTransId: id } = row;
    if (seen.get(id) === readStamp(row)) return false;
    // Moves it to the end: the oldest entry is the first to go.
    seen.delete(id);
    seen.set(id, readStamp(row));
    if (seen.size > maxSeen) seen.delete(seen.keys().next().value ?? '');
    return true;
  };

  const listen = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const changes = await admin.events<NewRows>(['events'], { rows: true });
        isIncomplete = true;
        for await (const { rows } of changes) {
          if (rows === undefined) isIncomplete = true;
          else news.push(...rows.filter(isNews));
        }
      } catch {
        // The next read of the newest transactions fails with the same error.
      }
      isIncomplete = true;
      await pause(overviewEveryMs, context);
    }
  };
  void listen();

  return async () => {
    if (isIncomplete) {
      isIncomplete = false;
      try {
        const { rows = [] } = await admin.get<NewRows>(['transactions'], { limit: newest });
        news.push(...rows.toReversed().filter(isNews));
      } catch (error) {
        isIncomplete = true;
        throw error;
      }
    }
    return news.splice(0);
  };
};

const headline = (
  overview: Overview | undefined,
  away: string | undefined,
  context: CliContext,
): string => {
  const { bold, red, dim } = paletteFor(context.stdout, context);
  if (away !== undefined) return red(`${away} does not answer; trying again.`);
  if (overview === undefined) return dim('looking …');
  const { submitted, signed, failed, queue } = overview;
  const now = `${queue.waiting} waiting, ${queue.active} in work, ${queue.delayed} asleep`;
  const line = `${now}; last hour ${submitted} submitted, ${signed} signed, ${failed} failed`;
  return bold(line.slice(0, widthOf(context.stdout) - 1));
};

/** @returns Undefined while the service is away. */
const unlessAway = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CommandEnd && error.report.outcome !== 'unreachable') throw error;
    return undefined;
  }
};

const watchAll = async (context: CliContext, admin: Admin, json: boolean): Promise<Report> => {
  admin.needsIndex();
  const { stdout, signal, now } = context;
  const isLive = !json && isCapable(stdout, context);
  const draw = createDraw(context);
  const { dim } = paletteFor(stdout, context);
  const changes = listenForChanges(admin, context);
  let rows: readonly ShownRow[] = [];
  let overview: Overview | undefined;
  /**
   * Whether the service is away. While nothing changes, only the request for the overview tells.
   */
  let isAway = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isFirst = true;
  for (; !signal.aborted; await pause(tickMs, context)) {
    const changed = await unlessAway(changes());
    if (!isLive) {
      // A file gets only new changes.
      if (!isFirst) for (const row of changed ?? []) stdout.write(changeLine(row, context, json));
      isFirst &&= changed === undefined;
      continue;
    }
    if (changed !== undefined && now() >= lookedAt + overviewEveryMs) {
      lookedAt = now();
      overview = await unlessAway(admin.get<Overview>(['overview'], { hours: 1 }));
      isAway = overview === undefined;
    }
    const ids = new Set(changed?.map(({ msspTransId }) => msspTransId));
    const others = rows.filter(({ msspTransId }) => !ids.has(msspTransId));
    rows = [...(changed ?? []).toReversed(), ...others].slice(0, shownRows);
    draw([
      headline(overview, changed === undefined || isAway ? admin.place : undefined, context),
      ...tableLines(rowColumns(context), rows, context),
      dim('Ctrl-C ends this view.'),
    ]);
  }
  return interrupted;
};

/** The line of a transaction in a terminal; while it is open, with a bar and the seconds left. */
const liveLine = (
  { transaction: row, deadline, timeline }: TransactionDetail,
  context: CliContext,
): string => {
  const { text, paint } = stateCell(row);
  const state = paletteFor(context.stdout, context)[paint](text);
  const head = `${row.msspTransId}  ${state}  attempt ${row.attempt}`;
  const begun = timeline.findLast((entry) => entry.kind === 'state' && entry.state === 'submitted');
  if (deadline === undefined || begun === undefined) return head;
  const left = Math.max(0, Math.ceil((deadline - context.now()) / 1000));
  return `${head}  ${bar(context.now() - begun.at, deadline - begun.at)} ${left} s`;
};

const reportEnd = (row: ShownRow): Report => {
  const document = { transaction: rowDocument(row) };
  if (row.fault === undefined) return { outcome: 'ok', document };
  const { code, reason, detail } = row.fault;
  return {
    outcome: 'fault',
    document: { ...document, fault: { code, reason, detail } },
    problem: `Fault ${faultText(row.fault)}`,
  };
};

const watchOne = async (
  context: CliContext,
  admin: Admin,
  id: string,
  json: boolean,
): Promise<Report> => {
  const { stdout, signal } = context;
  const isLive = !json && isCapable(stdout, context);
  const draw = createDraw(context);
  let stamp = '';
  for (;;) {
    const detail = await admin.get<TransactionDetail>(['transactions', id], { reveal: false });
    const { transaction: row } = detail;
    if (isLive) draw([liveLine(detail, context)]);
    else if (readStamp(row) !== stamp) {
      stamp = readStamp(row);
      // With `--json` the last document reports the end.
      if (isOpen(row) || !json) stdout.write(changeLine(row, context, json));
    }
    if (!isOpen(row)) return reportEnd(row);
    if (!signal.aborted) await pause(lookEveryMs, context);
    if (signal.aborted) return { ...interrupted, document: { transaction: rowDocument(row) } };
  }
};

interface Flags {
  readonly json?: boolean;
}

export const addWatch: AddCommand = (program, context, done) => {
  const command = program
    .command('watch')
    .description('show what happens while it happens, until Ctrl-C')
    .argument('[MSSP_TransID]', 'one transaction, until it has ended')
    .option('--json', 'print one JSON document for each change, and one at the end');
  addAdminAction(
    command,
    context,
    done,
    (admin, id: string | undefined, { json = false }: Flags) =>
      id === undefined ? watchAll(context, admin, json) : watchOne(context, admin, id, json),
  );
};
