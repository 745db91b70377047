/**
 * Life of one MSS_SignatureReq.
 *
 * submitted  Accepted and durable; nobody has been asked yet.
 * pending    The device has, or is about to have, the prompt. SIGNED, FAULTED or EXPIRED ends it.
 * signed     `context.outcome` says what the device gave. RECEIPTED moves on.
 * failed     `context.fault` says why. REPLAY begins the next attempt.
 * receipted  The user has been sent the receipt; nothing can follow.
 *
 * The first outcome of an attempt stands. Outcomes carry the number of the attempt they answer, so one that arrives
 * after a replay changes nothing, and a finished attempt has no transition that another outcome could take.
 *
 * Nothing happens in here: no clock, no I/O. Times come in with the events, in milliseconds since the epoch. There is
 * no `after` and no `invoke`, because nothing stays in memory while a person thinks: the deadline is a number that the
 * worker acts upon.
 *
 * Source: interface section 3; TS 102 204 asynchronous mode.
 */
import { assign, setup } from 'xstate';
import { type Fault, fault } from '../src/protocol/fault.ts';
import type { Outcome, ReceiptOutcome } from './outcome.ts';

/** A state that was entered, for the timeline. The latest is last. */
export interface HistoryEntry {
  readonly state: SignatureState;
  readonly attempt: number;
  readonly at: number;
  readonly fault?: Fault | undefined;
}

export type SignatureState = 'submitted' | 'pending' | 'signed' | 'failed' | 'receipted';

export interface SignatureContext {
  /** Counts from 1; each replay adds one. */
  readonly attempt: number;
  /** When this attempt expires. */
  readonly deadline: number;
  readonly outcome: Outcome | undefined;
  readonly fault: Fault | undefined;
  readonly receipt: ReceiptOutcome | undefined;
  readonly history: readonly HistoryEntry[];
}

export interface SignatureInput {
  readonly submittedAt: number;
  readonly timeoutSeconds: number;
}

export type SignatureEvent =
  | { readonly type: 'PROMPT'; readonly at: number }
  | { readonly type: 'SIGNED'; readonly at: number; readonly attempt: number; readonly outcome: Outcome }
  | { readonly type: 'FAULTED'; readonly at: number; readonly attempt: number; readonly fault: Fault }
  | { readonly type: 'EXPIRED'; readonly at: number; readonly attempt: number }
  | { readonly type: 'REPLAY'; readonly at: number; readonly deadline: number }
  | { readonly type: 'RECEIPTED'; readonly at: number; readonly receipt: ReceiptOutcome };

const entered = (
  context: SignatureContext,
  state: SignatureState,
  at: number,
  more: { attempt?: number; fault?: Fault } = {},
): readonly HistoryEntry[] => [...context.history, { state, attempt: context.attempt, at, ...more }];

export const initialContext = ({ submittedAt, timeoutSeconds }: SignatureInput): SignatureContext => ({
  attempt: 1,
  deadline: submittedAt + timeoutSeconds * 1000,
  outcome: undefined,
  fault: undefined,
  receipt: undefined,
  history: [{ state: 'submitted', attempt: 1, at: submittedAt }],
});

export const signatureMachine = setup({
  types: {
    context: {} as SignatureContext,
    events: {} as SignatureEvent,
    input: {} as SignatureInput,
  },
  actions: {
    enter: assign({
      history: ({ context, event }, { state }: { state: SignatureState }) =>
        entered(context, state, event.at),
    }),
    fail: assign(({ context, event }, { reason }: { reason: Fault }) => ({
      fault: reason,
      history: entered(context, 'failed', event.at, { fault: reason }),
    })),
  },
  guards: {
    answersThisAttempt: ({ context, event }) => 'attempt' in event && event.attempt === context.attempt,
  },
}).createMachine({
  id: 'signature',
  initial: 'submitted',
  context: ({ input }) => initialContext(input),
  states: {
    submitted: {
      on: {
        PROMPT: {
          target: 'pending',
          actions: { type: 'enter', params: { state: 'pending' } },
        },
        FAULTED: {
          target: 'failed',
          guard: 'answersThisAttempt',
          actions: { type: 'fail', params: ({ event }) => ({ reason: event.fault }) },
        },
        EXPIRED: {
          target: 'failed',
          guard: 'answersThisAttempt',
          actions: { type: 'fail', params: { reason: fault(208) } },
        },
      },
    },
    pending: {
      on: {
        SIGNED: {
          target: 'signed',
          guard: 'answersThisAttempt',
          actions: [
            assign({ outcome: ({ event }) => event.outcome }),
            { type: 'enter', params: { state: 'signed' } },
          ],
        },
        FAULTED: {
          target: 'failed',
          guard: 'answersThisAttempt',
          actions: { type: 'fail', params: ({ event }) => ({ reason: event.fault }) },
        },
        EXPIRED: {
          target: 'failed',
          guard: 'answersThisAttempt',
          actions: { type: 'fail', params: { reason: fault(208) } },
        },
      },
    },
    signed: {
      on: {
        RECEIPTED: {
          target: 'receipted',
          actions: [
            assign({ receipt: ({ event }) => event.receipt }),
            { type: 'enter', params: { state: 'receipted' } },
          ],
        },
      },
    },
    failed: {
      on: {
        REPLAY: {
          target: 'submitted',
          actions: assign({
            attempt: ({ context }) => context.attempt + 1,
            deadline: ({ event }) => event.deadline,
            fault: () => undefined,
            history: ({ context, event }) =>
              entered(context, 'submitted', event.at, { attempt: context.attempt + 1 }),
          }),
        },
      },
    },
    receipted: { type: 'final' },
  },
});
