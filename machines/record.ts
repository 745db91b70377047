/**
 * How a signature's life is kept between steps: as a small plain record instead of a live actor.
 *
 * XState's own persisted snapshot carries actor plumbing (children, history values, status) that this machine never
 * uses; the record keeps only what decides the future and what people ask about the past. It names the version of the
 * machine that wrote it. A newer program reads older records with the machine they were written by, so a release can
 * be rolled out while transactions of the previous one are open.
 *
 * A step computes with the machine's own transition function and never starts an actor: nothing here lives longer
 * than the call. XState wants to know in whose name it computes; one actor that is never started lends its name to all.
 */
import { type AnyActorScope, createActor } from 'xstate';
import type { Fault } from '../src/protocol/fault.ts';
import type { Outcome, ReceiptOutcome } from './outcome.ts';
import {
  type HistoryEntry,
  initialContext,
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

/** The version that new transactions get. */
const currentVersion = 1;

/** A record of a release after this one, which only a program of that release can advance. */
export const isOfLaterVersion = (version: unknown): boolean =>
  typeof version === 'number' && version > currentVersion;

/** The machine's actions only assign, and assignments are part of the transition. */
const noEffects = (): never => {
  throw new Error('The signature machine has no effects');
};

const nobody = createActor(signatureMachine, { input: { submittedAt: 0, timeoutSeconds: 0 } });
const scope: AnyActorScope = {
  self: nobody,
  id: nobody.id,
  sessionId: nobody.sessionId,
  system: nobody.system,
  logger: noEffects,
  defer: noEffects,
  emit: noEffects,
  stopChild: noEffects,
  actionExecutor: noEffects,
};

type Snapshot = ReturnType<typeof signatureMachine.resolveState>;

const machineOf = (version: SignatureRecord['version']) => {
  const machine = machines[version];
  if (machine === undefined) throw new Error(`No signature machine of version ${version} is known`);
  return machine;
};

const runThrough = (
  version: SignatureRecord['version'],
  start: Snapshot,
  events: readonly SignatureEvent[],
): SignatureRecord => {
  const machine = machineOf(version);
  let snapshot = start;
  for (const event of events) {
    // Nothing follows a final state; to us that is like any event that a state does not expect.
    if (snapshot.status !== 'active') break;
    snapshot = machine.transition(snapshot, event, scope);
  }
  const { attempt, deadline, outcome, fault, receipt, history } = snapshot.context;
  return {
    version,
    state: snapshot.value,
    attempt,
    deadline,
    ...(outcome !== undefined && { outcome }),
    ...(fault !== undefined && { fault }),
    ...(receipt !== undefined && { receipt }),
    history,
  };
};

/** The record of a request that was just accepted, after the events given. */
export const begin = (input: SignatureInput, ...events: readonly SignatureEvent[]): SignatureRecord => {
  const { attempt, deadline, history } = initialContext(input);
  // The machine's initial state does nothing on entry, so nothing has to be computed to be in it.
  const record = { version: currentVersion, state: 'submitted', attempt, deadline, history } as const;
  return events.length === 0 ? record : advance(record, ...events);
};

/**
 * Applies events in order. Events that the record's state does not expect change nothing.
 *
 * @throws When the record was written by a machine this program no longer knows.
 */
export const advance = (record: SignatureRecord, ...events: readonly SignatureEvent[]): SignatureRecord => {
  const { version, state, attempt, deadline, outcome, fault, receipt, history } = record;
  const context = { attempt, deadline, outcome, fault, receipt, history };
  return runThrough(version, machineOf(version).resolveState({ value: state, context }), events);
};
