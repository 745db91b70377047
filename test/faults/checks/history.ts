/** Invariant: history is a path of the machine, and the record is where the job is. */
import { isDeepStrictEqual } from 'node:util';
import { advance, begin, type SignatureRecord } from '../../../machines/record.ts';
import type { HistoryEntry, SignatureEvent } from '../../../machines/signature.machine.ts';
import { fault, faultLine } from '../../../src/protocol/fault.ts';
import type { Check } from '../evidence.ts';

/** The event that leads into a state of the history. */
const eventInto = (
  record: SignatureRecord,
  { state, attempt, at, fault: reason }: HistoryEntry,
): SignatureEvent => {
  switch (state) {
    case 'pending':
      return { type: 'PROMPT', at };
    case 'signed':
      return { type: 'SIGNED', at, attempt, outcome: record.outcome ?? { kind: 'delivered' } };
    case 'receipted':
      return { type: 'RECEIPTED', at, receipt: record.receipt ?? 'unanswered' };
    case 'submitted':
      return { type: 'REPLAY', at, deadline: record.deadline };
    case 'failed':
      return reason?.code === 208
        ? { type: 'EXPIRED', at, attempt }
        : { type: 'FAULTED', at, attempt, fault: reason ?? fault(900) };
  }
};

/** The record is what the machine makes of its own history: anything else is a history that nobody went through. */
const historyIsAPath: Check = function* ({ jobs }) {
  const rule = 'history is a path of the machine';
  for (const { id, record, end, failedReason, timeoutSeconds } of jobs.values()) {
    if (end === 'completed' && record?.state !== 'signed' && record?.state !== 'receipted') {
      yield { rule, id, says: `completed, with a record that says ${record?.state}` };
    }
    if (end === 'failed' && record?.state !== 'failed' && !/^_(900|1\d\d) /.test(failedReason ?? '')) {
      yield { rule, id, says: `failed (${failedReason}), with a record that says ${record?.state}` };
    }
    if (record === undefined) continue;
    if (record.state === 'failed' && record.fault !== undefined && end === 'failed') {
      const line = faultLine(record.fault);
      if (line !== failedReason) yield { rule, id, says: `failed (${failedReason}), recorded as ${line}` };
    }
    const [first] = record.history;
    if (first === undefined) {
      yield { rule, id, says: 'no history' };
      continue;
    }
    const walked = advance(
      begin({ submittedAt: first.at, timeoutSeconds }),
      ...record.history.slice(1).map((entry) => eventInto(record, entry)),
    );
    const same = walked.state === record.state && isDeepStrictEqual(walked.history, record.history);
    if (!same) {
      const path = record.history.map(({ state, attempt }) => `${state} ${attempt}`).join(', ');
      yield { rule, id, says: `no such path: ${path}` };
    }
  }
};

export const historyChecks: readonly Check[] = [historyIsAPath];
