/** A transaction in a list: as JSON, and as columns. Its number is shortened: whoever needs it uses `show --reveal`. */
import { shortNumber } from '../console/redaction.ts';
import type { TransactionRow } from '../history/row.ts';
import { faultTable, isFaultCode } from '../protocol/fault.ts';
import type { CliContext } from './context.ts';
import type { Cell, Column } from './operations-table.ts';
import { isCapable } from './screen.ts';

/** Empty for what is no time: other programs write jobs too. */
export const iso = (ms: number): string => {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
};
export const isoOrNull = (ms: number | undefined): string | null => (ms ? iso(ms) : null);

/** `40 ms`, `1.4 s`, `12 s`, `3 min`. */
export const duration = (ms: number | undefined): string => {
  if (ms === undefined) return '';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  return ms < 180_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
};

export const rowDocument = (row: TransactionRow) => ({
  msspTransId: row.msspTransId,
  apId: row.apId,
  apTransId: row.apTransId,
  msisdn: shortNumber(row.msisdn),
  profile: row.profile ?? null,
  state: row.state,
  // What its detail says was perhaps written by somebody: see `show`.
  fault: row.fault === undefined ? null : { code: row.fault.code, reason: row.fault.reason },
  attempt: row.attempt,
  submittedAt: isoOrNull(row.submittedAt),
  endedAt: isoOrNull(row.endedAt),
  tookMs: row.tookMs ?? null,
});

/** Our own words say nothing about anybody; a detail in others may quote what somebody wrote. */
export const shownFault = <Fault extends { readonly code: number; readonly detail: string }>(
  fault: Fault,
  reveal: boolean,
): Fault => {
  const { code, detail } = fault;
  const isOurs = isFaultCode(code) && detail === faultTable[code].detail;
  return reveal || isOurs ? fault : { ...fault, detail: 'hidden' };
};

export const stateCell = ({ state, fault }: Pick<TransactionRow, 'state' | 'fault'>): Cell => {
  switch (state) {
    case 'signed':
    case 'receipted':
      return { text: state, paint: 'green' };
    case 'failed':
      return { text: `failed ${fault?.code ?? ''}`.trim(), paint: 'red' };
    case 'submitted':
    case 'pending':
      return { text: state, paint: 'bold' };
  }
};

/** A terminal is narrow and shows what is of today; a file is read later. UTC in both. */
export const timeCell = (ms: number, { stdout, env }: Pick<CliContext, 'stdout' | 'env'>): string => {
  if (ms <= 0) return '';
  const text = iso(ms).replace('T', ' ');
  return isCapable(stdout, { env }) ? text.slice(5, 19) : `${text.slice(0, 19)}Z`;
};

export const rowColumns = (
  context: Pick<CliContext, 'stdout' | 'env'>,
): readonly Column<TransactionRow>[] => [
  { title: 'SUBMITTED', cell: ({ submittedAt }) => timeCell(submittedAt, context) },
  { title: 'STATE', cell: stateCell },
  { title: 'TRY', cell: ({ attempt }) => String(attempt), right: true },
  { title: 'TOOK', cell: ({ tookMs }) => duration(tookMs), right: true },
  { title: 'NUMBER', cell: ({ msisdn }) => shortNumber(msisdn) },
  { title: 'MSSP_TransID', cell: ({ msspTransId }) => msspTransId },
  { title: 'AP', cell: ({ apId }) => apId },
  { title: 'AP_TransID', cell: ({ apTransId }) => apTransId },
];
