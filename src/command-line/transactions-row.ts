/**
 * The rows of lists of transactions: as JSON, and as columns. `show --reveal` shows whole numbers.
 */
import { type ShownFault, type ShownRow, shortNumber } from '../console/redaction.ts';
import { type Cell, type Column, isCapable, type Screen } from './screen.ts';

/**
 * A time in ISO 8601; empty for a value that is not a time, because other programs write jobs, too.
 */
export const iso = (ms: number): string => {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
};
export const isoOrNull = (ms: number | undefined): string | null => (ms ? iso(ms) : null);

/** A duration in words: `40 ms`, `1.4 s`, `12 s`, `3 min`. */
export const duration = (ms: number | undefined): string => {
  if (ms === undefined) return '';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 180_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
};

export const rowDocument = (row: ShownRow) => ({
  ...row,
  msisdn: shortNumber(row.msisdn),
  profile: row.profile ?? null,
  // The detail may quote a person: see `show`.
  fault: row.fault === undefined ? null : { code: row.fault.code, reason: row.fault.reason },
  submittedAt: isoOrNull(row.submittedAt),
  endedAt: isoOrNull(row.endedAt),
  tookMs: row.tookMs ?? null,
});

/** A fault in words. A viewer gets no detail. */
export const faultText = ({ code, reason, detail }: ShownFault): string =>
  `${code} ${reason}${detail === undefined ? '' : `: ${detail}`}`;

const paints = {
  submitted: 'bold',
  pending: 'bold',
  signed: 'green',
  receipted: 'green',
  failed: 'red',
} as const;

export const stateCell = ({ state, fault }: Pick<ShownRow, 'state' | 'fault'>) =>
  ({ text: `${state} ${fault?.code ?? ''}`.trim(), paint: paints[state] }) satisfies Cell;

/** A time in UTC; in a terminal, which is narrow, without the year. */
export const timeCell = (ms: number, { stdout, env }: Screen): string => {
  if (ms <= 0) return '';
  const text = iso(ms).replace('T', ' ');
  return `${text.slice(isCapable(stdout, { env }) ? 5 : 0, 19)}Z`;
};

export const rowColumns = (context: Screen): readonly Column<ShownRow>[] => [
  { title: 'SUBMITTED', cell: ({ submittedAt }) => timeCell(submittedAt, context) },
  { title: 'STATE', cell: stateCell },
  { title: 'TRY', cell: ({ attempt }) => String(attempt), right: true },
  { title: 'TOOK', cell: ({ tookMs }) => duration(tookMs), right: true },
  { title: 'NUMBER', cell: ({ msisdn }) => shortNumber(msisdn) },
  { title: 'MSSP_TransID', cell: ({ msspTransId }) => msspTransId },
  { title: 'AP', cell: ({ apId }) => apId },
  { title: 'AP_TransID', cell: ({ apTransId }) => apTransId },
];
