/**
 * How a signature's life is kept between steps: as a small plain record instead of a live actor.
 *
 * XState's own persisted snapshot carries actor plumbing (children, history values, status) that this machine never
 * uses; the record keeps only what decides the future and what people ask about the past. It names the version of the
 * machine that wrote it. A newer program reads older records with the machine they were written by, so a release can
 * be rolled out while transactions of the previous one are open.
 *
 * A step goes through a short-lived actor rather than XState's pure `transition`: the pure function builds an inert
 * actor for each call and costs five times as much. No action of the machine does anything but assign, so both are
 * the same function.
 */
import { createActor } from 'xstate';
import type { Fault } from '../src/protocol/fault.ts';
import type { Outcome, ReceiptOutcome } from './outcome.ts';
import {
  type HistoryEntry,
  type SignatureEvent,
  type SignatureInput,
  type SignatureState,
  signatureMachine,
} from './signature.machine.ts';

export interface SignatureRecord {
  readonly version: 1;
  readonly state: SignatureState;
  readonly attempt: number;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  readonly outcome?: Outcome | undefined;
  readonly fault?: Fault | undefined;
  readonly receipt?: ReceiptOutcome | undefined;
  readonly history: readonly HistoryEntry[];
}

/** Every machine that may have written a record that is still open somewhere. Old ones stay until none can be. */
const machines = { 1: signatureMachine } as const;

const actorFor = (record: SignatureRecord) => {
  const { version, state, attempt, deadline, outcome, fault, receipt, history } = record;
  const machine = machines[version];
  if (machine === undefined) throw new Error(`No signature machine of version ${version} is known`);
  const snapshot = machine.resolveState({
    value: state,
    context: { attempt, deadline, outcome, fault, receipt, history },
  });
  // The types ask for an input; an actor that has a snapshot never reads it.
  return createActor(machine, { snapshot, input: { submittedAt: deadline, timeoutSeconds: 0 } });
};

const runThrough = (
  actor: ReturnType<typeof actorFor>,
  events: readonly SignatureEvent[],
): SignatureRecord => {
  actor.start();
  for (const event of events) {
    // XState warns about events to an actor in its final state; to us they are like any unexpected event.
    if (actor.getSnapshot().status !== 'active') break;
    actor.send(event);
  }
  const { value, context } = actor.getSnapshot();
  actor.stop();
  const { attempt, deadline, outcome, fault, receipt, history } = context;
  return {
    version: 1,
    state: value,
    attempt,
    deadline,
    ...(outcome !== undefined && { outcome }),
    ...(fault !== undefined && { fault }),
    ...(receipt !== undefined && { receipt }),
    history,
  };
};

/** The record of a request that was just accepted, after the events given. */
export const begin = (input: SignatureInput, ...events: readonly SignatureEvent[]): SignatureRecord =>
  runThrough(createActor(signatureMachine, { input }), events);

/**
 * Applies events in order. Events that the record's state does not expect change nothing.
 *
 * @throws When the record was written by a machine this program no longer knows.
 */
export const advance = (record: SignatureRecord, ...events: readonly SignatureEvent[]): SignatureRecord =>
  runThrough(actorFor(record), events);
