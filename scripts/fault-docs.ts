/**
 * Fills the tables that say what becomes of each fault: of a login (docs/login.md), and who may
 * replay it (docs/operations/replay.md). With `--check` it compares.
 */

import { faultCodes, faultTable } from '../packages/protocol/src/fault.ts';
import { defaultReplayPolicy } from '../src/console/operators/replay-policy.ts';
import { toLoginError } from '../src/oauth/login-failures.ts';
import { writeOrCheck } from './generated-file.ts';
import { fillTable } from './key-table.ts';

const line = (...cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;

const replayTable = (): string =>
  `${line('Fault', 'Rule')}|---|---|\n${faultCodes
    .map((code) => line(`${code} ${faultTable[code].reason}`, `\`${defaultReplayPolicy[code]}\``))
    .join('')}`;

/** Neighbours that a client cannot tell apart share a row. */
const loginTable = (): string => {
  const rows: { readonly faults: number[]; readonly told: string }[] = [];
  for (const fault of faultCodes) {
    const { error, code } = toLoginError({ code: fault });
    const told = `\`${error}\` | \`${code}\``;
    const last = rows.at(-1);
    if (last?.told === told) last.faults.push(fault);
    else rows.push({ faults: [fault], told });
  }
  return `${line('Fault', 'Error', 'Code')}|---|---|---|\n${rows
    .map(({ faults, told }) => line(faults.join(', '), told))
    .join('')}`;
};

writeOrCheck(
  [
    { path: 'docs/login.md', make: (document) => fillTable(document, 'faults', loginTable()) },
    {
      path: 'docs/operations/replay.md',
      make: (document) => fillTable(document, 'faults', replayTable()),
    },
  ],
  { check: process.argv.includes('--check'), remedy: '`npm run docs`' },
);
