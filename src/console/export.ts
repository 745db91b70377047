/**
 * A list as a file. It is read and sent page by page, so its length costs no memory. It shows each
 * role the same as the list.
 */

import { toError } from '../../packages/engine/src/redis/to-error.ts';
import type { HistoryFilter } from '../transactions/history/filter.ts';
import type { History } from '../transactions/history/history.ts';
import type { ConsoleDeps } from './deps.ts';
import type { Role } from './operators/operator.ts';
import { type ShownRow, shownRow } from './redaction.ts';

const exportFormats = ['csv', 'json'] as const;
export type ExportFormat = (typeof exportFormats)[number];

export const maxExported = 10_000;
const pageRows = 500;

export const isoOf = (at: number | undefined): string =>
  at === undefined ? '' : new Date(at).toISOString();

/** The columns of CSV, with what they write of a row. JSON has the whole rows. */
export type ExportColumns<Row> = Readonly<
  Record<string, (row: Row) => string | number | undefined>
>;

/** A list that can be sent as a file. */
export interface ExportedList<Row> {
  /** The name of the file, without its ending. */
  readonly name: string;
  readonly columns: ExportColumns<Row>;
  /** Reads a page, which may be empty and yet have a cursor. */
  read(page: {
    readonly limit: number;
    readonly cursor: string | undefined;
  }): Promise<{ readonly rows: readonly Row[]; readonly cursor?: string | undefined } | undefined>;
}

/** @param role Who gets the file. */
export const exportedTransactions = (
  { search }: Pick<History, 'search'>,
  role: Role,
  filter: HistoryFilter,
): ExportedList<ShownRow> => ({
  name: 'transactions',
  columns: {
    MSSP_TransID: ({ msspTransId }) => msspTransId,
    AP_ID: ({ apId }) => apId,
    AP_TransID: ({ apTransId }) => apTransId,
    MSISDN: ({ msisdn }) => msisdn,
    profile: ({ profile }) => profile,
    state: ({ state }) => state,
    fault: ({ fault }) => fault?.code,
    reason: ({ fault }) => fault?.reason,
    detail: ({ fault }) => fault?.detail,
    attempt: ({ attempt }) => attempt,
    submitted: ({ submittedAt }) => isoOf(submittedAt),
    ended: ({ endedAt }) => isoOf(endedAt),
    duration_ms: ({ tookMs }) => tookMs,
  },
  read: async (page) => {
    const found = await search(filter, page);
    return found && { ...found, rows: found.rows.map((row) => shownRow(role, row)) };
  },
});

/**
 * Writes a cell by RFC 4180. A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a
 * formula, so an apostrophe is put before it, also before a number with its plus sign. Some
 * spreadsheets separate cells by semicolons or tabs, so it is put after those, too.
 */
export const csvCell = (value: string | number | undefined): string => {
  const harmless = String(value ?? '').replaceAll(
    /(?<=^|[;\t\r\n])(?=[=+\-@])|^(?=[\t\r\n])/g,
    "'",
  );
  return `"${harmless.replaceAll('"', '""')}"`;
};
const csvLine = (cells: readonly (string | number | undefined)[]): string =>
  `${cells.map(csvCell).join(',')}\r\n`;

const types = {
  csv: 'text/csv; charset=utf-8; header=present',
  json: 'application/json;charset=UTF-8',
};

/** The format that an address names. */
export const exportFormatIn = (written: string | undefined): ExportFormat | undefined =>
  exportFormats.find((each) => each === written);

/** @param max The maximum of rows; tests pass a smaller one. */
export const exportList = <Row>(
  { name, columns, read }: ExportedList<Row>,
  format: ExportFormat,
  log: ConsoleDeps['log'],
  max = maxExported,
): Response => {
  /** Reads and logs errors: the answer has begun, so an error can only cut it off. */
  const readPage: typeof read = (page) =>
    read(page).catch((error: unknown) => {
      log.trouble(toError(error));
      throw error;
    });
  async function* chunks(): AsyncGenerator<string> {
    yield format === 'csv' ? csvLine(Object.keys(columns)) : '{"rows":[';
    let left = max;
    let cursor: string | undefined;
    do {
      const page = await readPage({ limit: Math.min(pageRows, left), cursor });
      const rows = page?.rows ?? [];
      const isFirst = left === max;
      left -= rows.length;
      cursor = page?.cursor;
      if (rows.length === 0) continue;
      if (format === 'csv')
        yield rows.map((row) => csvLine(Object.values(columns).map((of) => of(row)))).join('');
      else yield `${isFirst ? '' : ','}\n${rows.map((row) => JSON.stringify(row)).join(',\n')}`;
    } while (cursor !== undefined && left > 0);
    if (format === 'json') yield `\n],"truncated":${cursor !== undefined}}\n`;
  }
  return new Response(ReadableStream.from(chunks()).pipeThrough(new TextEncoderStream()), {
    headers: {
      'content-type': types[format],
      'content-disposition': `attachment; filename="${name}.${format}"`,
      'cache-control': 'no-store',
    },
  });
};
