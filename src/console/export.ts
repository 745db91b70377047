/**
 * The list as a file. It is read and sent page by page, so its length costs no memory. It shows
 * each role the same as the list.
 */

import { toError } from '../../packages/engine/src/redis/to-error.ts';
import type { HistoryFilter } from '../transactions/history/filter.ts';
import type { History } from '../transactions/history/history.ts';
import type { ConsoleDeps } from './deps.ts';
import type { Role } from './operators/operator.ts';
import { type ShownRow, shownRow } from './redaction.ts';

export const exportFormats = ['csv', 'json'] as const;
type Format = (typeof exportFormats)[number];

export const maxExported = 10_000;
const pageRows = 500;

const isoOf = (at: number | undefined): string =>
  at === undefined ? '' : new Date(at).toISOString();

const fields: Readonly<Record<string, (row: ShownRow) => string | number | undefined>> = {
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
};

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

/** @param max The maximum of rows; tests pass a smaller one. */
export const exportRows = (
  { search }: Pick<History, 'search'>,
  role: Role,
  filter: HistoryFilter,
  format: Format,
  log: ConsoleDeps['log'],
  max = maxExported,
): Response => {
  /** Searches and logs errors: the answer has begun, so an error can only cut it off. */
  const read: typeof search = (...given) =>
    search(...given).catch((error: unknown) => {
      log.trouble(toError(error));
      throw error;
    });
  async function* chunks(): AsyncGenerator<string> {
    yield format === 'csv' ? csvLine(Object.keys(fields)) : '{"rows":[';
    let left = max;
    let cursor: string | undefined;
    do {
      const page = await read(filter, { limit: Math.min(pageRows, left), cursor });
      const rows = (page?.rows ?? []).map((row) => shownRow(role, row));
      const isFirst = left === max;
      left -= rows.length;
      cursor = page?.cursor;
      if (rows.length === 0) continue;
      if (format === 'csv')
        yield rows.map((row) => csvLine(Object.values(fields).map((read) => read(row)))).join('');
      else yield `${isFirst ? '' : ','}\n${rows.map((row) => JSON.stringify(row)).join(',\n')}`;
    } while (cursor !== undefined && left > 0);
    if (format === 'json') yield `\n],"truncated":${cursor !== undefined}}\n`;
  }
  return new Response(ReadableStream.from(chunks()).pipeThrough(new TextEncoderStream()), {
    headers: {
      'content-type': types[format],
      'content-disposition': `attachment; filename="transactions.${format}"`,
      'cache-control': 'no-store',
    },
  });
};
