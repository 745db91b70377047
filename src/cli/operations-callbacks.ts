/** A callback in a list: as JSON, and as columns. */
import type { CallbackRow } from '../history/callback-row.ts';
import type { CliContext } from './context.ts';
import { isoOrNull, timeCell } from './operations-row.ts';
import { type Cell, type Column, table } from './operations-table.ts';

export const callbackDocument = (row: CallbackRow) => ({
  id: row.id,
  msspTransId: row.msspTransId,
  apId: row.apId,
  apTransId: row.apTransId,
  attempt: row.attempt,
  event: row.event,
  state: row.state,
  tries: row.tries,
  problem: row.problem ?? null,
  endedAt: isoOrNull(row.endedAt),
  triedAt: isoOrNull(row.triedAt),
  nextTryAt: isoOrNull(row.nextTryAt),
});

const stateCell = ({ state }: CallbackRow): Cell => {
  switch (state) {
    case 'delivered':
      return { text: state, paint: 'green' };
    case 'dead':
      return { text: state, paint: 'red' };
    case 'waiting':
      return { text: state, paint: 'bold' };
  }
};

const commonColumns = (context: CliContext): readonly Column<CallbackRow>[] => [
  { title: 'LAST TRY', cell: ({ triedAt = 0 }) => timeCell(triedAt, context) },
  { title: 'STATE', cell: stateCell },
  { title: 'TRIES', cell: ({ tries }) => String(tries), right: true },
  { title: 'PROBLEM', cell: ({ problem = '' }) => problem },
  { title: 'CALLBACK', cell: ({ id }) => id },
];

/** Of one transaction, or empty when there are none. */
export const callbacksOfText = (rows: readonly CallbackRow[], context: CliContext): string =>
  rows.length === 0 ? '' : `\n${table(commonColumns(context), rows, context)}`;

export const callbacksTable = (rows: readonly CallbackRow[], context: CliContext): string =>
  table([...commonColumns(context), { title: 'AP', cell: ({ apId }) => apId }], rows, context);
