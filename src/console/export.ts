/**
 * The list as a file. It is read and sent page by page, so its length costs no memory, and shows
 * each role what the list shows it.
 */
import type { HistoryFilter } from '../history/filter.ts';
import type { History } from '../history/history.ts';
import type { Role } from '../operators/operator.ts';
import { type ShownRow, shownRow } from './redaction.ts';

export const exportFormats = ['csv', 'json'] as const;
type Format = (typeof exportFormats)[number];

export const maxExported = 10_000;
const pageRows = 500;

const isoOf = (at: number | undefined): string => (at === undefined ? '' : new Date(at).toISOString());

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
 * RFC 4180. A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, so an
 * apostrophe goes before it; a number with its plus sign, too.
 */
export const csvCell = (value: string | number | undefined): string => {
  const text = String(value ?? '');
  const harmless = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
};
const csvLine = (cells: readonly (string | number | undefined)[]): string =>
  `${cells.map(csvCell).join(',')}\r\n`;

const types = { csv: 'text/csv; charset=utf-8; header=present', json: 'application/json;charset=UTF-8' };

/** @param max Rows, for tests. */
export const exportRows = (
  { search }: Pick<History, 'search'>,
  role: Role,
  filter: HistoryFilter,
  format: Format,
  max = maxExported,
): Response => {
  async function* chunks(): AsyncGenerator<string> {
    yield format === 'csv' ? csvLine(Object.keys(fields)) : '{"rows":[';
    let left = max;
    let cursor: string | undefined;
    do {
      const page = await search(filter, { limit: Math.min(pageRows, left), cursor });
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
