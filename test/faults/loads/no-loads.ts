/** Evidence of a run that had none of them. */
import type { Evidence } from '../evidence.ts';

export const noLoads: Evidence['loads'] = {
  bulks: [],
  logins: [],
  documents: [],
  mails: { runs: [], mails: [], refused: [] },
  charts: { runs: [], marks: [], ends: [] },
};
