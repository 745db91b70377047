/**
 * The public record of a signature: the part of its instance that other programs may rely on
 * (docs/queue-contract.md). A completed job returns it.
 */
import { transition } from 'xstate';
import type { Fault } from '../packages/protocol/src/fault.ts';
import type { Outcome, ReceiptOutcome } from '../packages/protocol/src/outcome.ts';
import {
  type HistoryEntry,
  initial,
  type SignatureContext,
  type SignatureState,
  signatureMachine,
  signatureVersion,
} from './signature.machine.ts';

export interface SignatureRecord {
  readonly version: number;
  readonly state: SignatureState;
  readonly attempt: number;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  readonly outcome?: Outcome | undefined;
  readonly fault?: Fault | undefined;
  readonly receipt?: ReceiptOutcome | undefined;
  readonly history: readonly HistoryEntry[];
}

/** Whether a record is of a later release. Only a program of that release can read all of it. */
export const isOfLaterVersion = (version: unknown): boolean =>
  typeof version === 'number' && version > signatureVersion;

/** Makes the record. It has the top states of the chart; inner states stay private. */
export const recordOf = (
  context: SignatureContext,
  version = signatureVersion,
): SignatureRecord => {
  const { attempt, deadline, outcome, fault, receipt, history } = context;
  return {
    version,
    state: history.at(-1)?.state ?? 'submitted',
    attempt,
    deadline,
    ...(outcome !== undefined && { outcome }),
    ...(fault !== undefined && { fault }),
    ...(receipt !== undefined && { receipt }),
    history,
  };
};

/**
 * Adds the receipt to the record of a signature whose job has ended. The first receipt stands.
 *
 * @param at Milliseconds since the epoch.
 */
export const receipted = (
  record: SignatureRecord,
  receipt: ReceiptOutcome,
  at: number,
): SignatureRecord => {
  const { state, version, ...kept } = record;
  const snapshot = signatureMachine.resolveState({
    value: state === 'signed' ? 'signed' : 'receipted',
    context: { ...initial, ...kept, timeoutSeconds: 0 },
  });
  const [next] = transition(signatureMachine, snapshot, { type: 'RECEIPTED', at, receipt });
  return recordOf(next.context, version);
};
