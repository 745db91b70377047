/** Invariant: history is a path of the machine, and the record is where the job is. */
import type { SignatureRecord } from '../../../machines/record.ts';
import type { HistoryEntry, SignatureState } from '../../../machines/signature.machine.ts';
import { faultLine } from '../../../packages/protocol/src/fault.ts';
import type { Check } from '../evidence.ts';

/**
 * What a history has after what. Nobody signs who was not asked, and nothing is replayed that has
 * not failed.
 */
export const follows: Readonly<Record<SignatureState, readonly SignatureState[]>> = {
  submitted: ['pending', 'failed'],
  pending: ['signed', 'failed'],
  signed: ['receipted'],
  failed: ['submitted'],
  receipted: [],
};

/** @returns What is wrong with a step of a history. */
const problemOf = (
  before: HistoryEntry | undefined,
  { state, attempt, at, fault }: HistoryEntry,
) => {
  if (before === undefined) {
    return state === 'submitted' && attempt === 1
      ? undefined
      : `it begins with ${state} ${attempt}`;
  }
  if (!follows[before.state].includes(state)) return `${state} after ${before.state}`;
  if (attempt !== before.attempt + (state === 'submitted' ? 1 : 0))
    return `${state} ${attempt} after attempt ${before.attempt}`;
  if (at < before.at) return `${state} ${before.at - at} ms before ${before.state}`;
  if ((fault !== undefined) !== (state === 'failed'))
    return `${state} with the fault ${fault?.code}`;
  return undefined;
};

/** @returns Where a record contradicts its own history. */
const contradictionIn = (record: SignatureRecord, timeoutSeconds: number): string | undefined => {
  const { state, attempt, deadline, fault, outcome, receipt, history } = record;
  const last = history.at(-1);
  const begun = history.findLast((entry) => entry.state === 'submitted');
  if (last?.state !== state || last.attempt !== attempt)
    return `it says ${state} ${attempt}, and its history ends with ${last?.state} ${last?.attempt}`;
  const due = (begun?.at ?? 0) + timeoutSeconds * 1000;
  if (deadline !== due)
    return `its deadline is ${deadline - due} ms after the TimeOut of its attempt`;
  if (fault?.code !== last.fault?.code || fault?.detail !== last.fault?.detail)
    return `it says ${fault && faultLine(fault)}, and its history ${last.fault && faultLine(last.fault)}`;
  const isSigned = state === 'signed' || state === 'receipted';
  if ((outcome !== undefined) !== isSigned) return `${state}, with the outcome ${outcome?.kind}`;
  if ((receipt !== undefined) !== (state === 'receipted'))
    return `${state}, with the receipt ${receipt}`;
  return undefined;
};

const historyIsAPath: Check = function* ({ jobs }) {
  const rule = 'history is a path of the machine';
  for (const { id, record, end, failedReason, timeoutSeconds } of jobs.values()) {
    if (end === 'completed' && record?.state !== 'signed' && record?.state !== 'receipted') {
      yield { rule, id, says: `completed, with a record that says ${record?.state}` };
    }
    if (
      end === 'failed' &&
      record?.state !== 'failed' &&
      !/^_(900|1\d\d) /.test(failedReason ?? '')
    ) {
      yield {
        rule,
        id,
        says: `failed (${failedReason}), with a record that says ${record?.state}`,
      };
    }
    if (record === undefined) continue;
    if (record.state === 'failed' && record.fault !== undefined && end === 'failed') {
      const line = faultLine(record.fault);
      if (line !== failedReason)
        yield { rule, id, says: `failed (${failedReason}), recorded as ${line}` };
    }
    const { history } = record;
    if (history.length === 0) {
      yield { rule, id, says: 'no history' };
      continue;
    }
    const problem = history
      .map((entry, index) => problemOf(history[index - 1], entry))
      .find((found) => found !== undefined);
    if (problem !== undefined) {
      const path = history.map(({ state, attempt }) => `${state} ${attempt}`).join(', ');
      yield { rule, id, says: `no such path: ${path}: ${problem}` };
    }
    const contradiction = contradictionIn(record, timeoutSeconds);
    if (contradiction !== undefined) yield { rule, id, says: contradiction };
  }
};

export const historyChecks: readonly Check[] = [historyIsAPath];
