import type { Connection } from './connection.ts';
import type { Report } from './context.ts';
import type { Ended } from './signature-report.ts';

/** A transaction that has not ended, and how to ask for its end. */
export const outstandingReport = ({ resume }: Connection, known: Ended): Report => ({
  outcome: 'outstanding',
  document: known,
  problem: `Transaction ${known.msspTransId} is outstanding; to wait for its end: ${resume(known.msspTransId)}`,
});
