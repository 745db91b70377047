/** A callback in a list: as JSON, and as columns. */
import type { ShownCallback } from '../console/redaction.ts';
import type { CliContext } from './context.ts';
import { isoOrNull, timeCell } from './operations-row.ts';
import type { Column } from './operations-table.ts';

export const callbackDocument = ({ host: _, ...row }: ShownCallback) => ({
  ...row,
  problem: row.problem ?? null,
  endedAt: isoOrNull(row.endedAt),
  triedAt: isoOrNull(row.triedAt),
  nextTryAt: isoOrNull(row.nextTryAt),
});

const paints = { delivered: 'green', dead: 'red', waiting: 'bold' } as const;

export const callbackColumns = (context: CliContext): readonly Column<ShownCallback>[] => [
  { title: 'LAST TRY', cell: ({ triedAt = 0 }) => timeCell(triedAt, context) },
  { title: 'STATE', cell: ({ state }) => ({ text: state, paint: paints[state] }) },
  { title: 'TRIES', cell: ({ tries }) => String(tries), right: true },
  { title: 'PROBLEM', cell: ({ problem = '' }) => problem },
  { title: 'CALLBACK', cell: ({ id }) => id },
];
