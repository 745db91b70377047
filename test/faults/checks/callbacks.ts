/** Invariant: an application is told of each end of each of its transactions. */
import { callbackId } from '../../../parts/callbacks/transaction-events.ts';
import type { Check } from '../evidence.ts';

const everyEndIsTold: Check = function* ({ journal, jobs, notices }) {
  const clientsOwn = new Set(journal.map(({ apTransId }) => apTransId));
  for (const { id, apTransId, record, end } of jobs.values()) {
    if (!clientsOwn.has(apTransId) || end === undefined) continue;
    for (const { state, attempt } of record?.history ?? []) {
      if (state === 'submitted' || state === 'pending') continue;
      if (notices.has(callbackId(id, attempt, state))) continue;
      const says = `attempt ${attempt} was ${state}, and its application was not told`;
      yield { rule: 'every end is told', id, says };
    }
  }
};

export const callbackChecks: readonly Check[] = [everyEndIsTold];
