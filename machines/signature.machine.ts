/**
 * Life of one MSS_SignatureReq.
 *
 * submitted  The request is durable, and no prompt was sent. `choose` finds the device. A robot
 *            answers at once. A user who cannot get a prompt (PIN blocked, suspended, not
 *            activated, outside the fence) fails here: no device gets a prompt, so the attempt is
 *            never pending.
 * pending    The device has the prompt, or is about to get it. The first of these ends the state:
 *            the device's own answer, ANSWERED from elsewhere, CANCEL, the deadline. While an
 *            answer from elsewhere is verified, no other event counts.
 * signed     `context.outcome` has the answer of the device. RECEIPTED moves on.
 * failed     `context.fault` has the reason. REPLAY begins the next attempt.
 * receipted  The user has got the receipt. No event changes this state.
 *
 * The first outcome of an attempt stands. ANSWERED and CANCEL carry the number of their attempt;
 * one that comes after a replay is refused. REPLAY also comes when a tool runs again a job that had
 * ended in another way; the attempt before then counts as failed by an internal error.
 *
 * All times are milliseconds since the epoch. Each event has the time `at` which it came.
 *
 * Source: interface section 3; TS 102 204 asynchronous mode.
 */
import { assign, enqueueActions, fromPromise, setup } from 'xstate';
import { stepTime } from '../packages/engine/src/step-time.ts';
import { type Fault, fault } from '../packages/protocol/src/fault.ts';
import type { DeviceAnswer, Outcome, ReceiptOutcome } from '../packages/protocol/src/outcome.ts';
import type { Ask, Asked, Choice, Chosen, Concluded, Verify } from './signature-activities.ts';

export const signatureVersion = 1;

export type SignatureState = 'submitted' | 'pending' | 'signed' | 'failed' | 'receipted';

/** A state that was entered, for the timeline. The latest is last. */
export interface HistoryEntry {
  readonly state: SignatureState;
  readonly attempt: number;
  readonly at: number;
  readonly fault?: Fault | undefined;
}

export interface SignatureContext {
  readonly timeoutSeconds: number;
  /** Counts from 1; each replay adds one. */
  readonly attempt: number;
  /** The time at which this attempt expires. */
  readonly deadline: number;
  /** The fault without an answer until the deadline: a key of {@link silenceFaults}. */
  readonly silence: keyof typeof silenceFaults;
  /** The number of tries in a row that did not reach the device. */
  readonly failures: number;
  /** The time of the next try. */
  readonly againAt: number;
  readonly chosen?: Chosen | undefined;
  /** Whether the device has shown the prompt. */
  readonly isAsked: boolean;
  /** An answer from elsewhere that is not verified yet. */
  readonly answer?: DeviceAnswer | undefined;
  readonly outcome?: Outcome | undefined;
  readonly fault?: Fault | undefined;
  readonly receipt?: ReceiptOutcome | undefined;
  readonly history: readonly HistoryEntry[];
}

export interface SignatureInput {
  readonly at: number;
  /** The time at which the request was added. The deadline of the first attempt counts from it. */
  readonly addedAt: number;
  readonly timeoutSeconds: number;
}

/** Events that come from outside. */
export type SignatureOrder =
  | { readonly type: 'ANSWERED'; readonly attempt: number; readonly answer: DeviceAnswer }
  | { readonly type: 'CANCEL'; readonly attempt: number; readonly fault: Fault };

export type SignatureEvent =
  | SignatureOrder
  | { readonly type: 'REPLAY'; readonly input: SignatureInput }
  | { readonly type: 'RECEIPTED'; readonly at: number; readonly receipt: ReceiptOutcome };

/** Faults without an answer: no reaction of the user, no delivery, an error of the service. */
const silenceFaults = { expired: 208, undelivered: 209, troubled: 900 } as const;

/** The members of the context at the beginning of an attempt. */
export const initial = { silence: 'expired', failures: 0, againAt: 0, isAsked: false } as const;

/** The time of an event: its member `at`, otherwise the time of the engine. */
export const timeOf = (event: unknown): number =>
  (event as { readonly at?: number }).at ?? stepTime();

/**
 * The pause before the next try: it doubles from 250 ms up to 4 s, so that a delayed try runs
 * within five seconds after the end of an outage, for example of Redis.
 */
const backoffMs = (failures: number): number => 250 * 2 ** Math.min(failures, 4);

const isIn = (state: SignatureState, { history }: SignatureContext): boolean =>
  history.at(-1)?.state === state;

const entered = (
  { attempt, history }: SignatureContext,
  state: SignatureState,
  event: unknown,
  more: { readonly fault?: Fault } = {},
): readonly HistoryEntry[] => {
  // An event that came during a turn may be older than the state that the turn has entered.
  const at = Math.max(timeOf(event), history.at(-1)?.at ?? 0);
  return [...history, { state, attempt, at, ...more }];
};

const failed = (context: SignatureContext, event: unknown, reason: Fault) => ({
  fault: reason,
  answer: undefined,
  history: entered(context, 'failed', event, { fault: reason }),
});

/** The output of an activity. */
const given = <T>({ event }: { readonly event: { readonly output: T } }): T => event.output;

/** Transitions for an output that ends the attempt. */
const concluded = [
  {
    guard: { type: 'isSigned', params: given },
    target: '#signature.signed',
    actions: { type: 'conclude', params: given },
  },
  {
    guard: { type: 'isFailed', params: given },
    target: '#signature.failed',
    actions: { type: 'conclude', params: given },
  },
] as const;

/** The transition after a try that did not reach the device: another try follows a pause. */
const putOff = {
  target: 'pausing',
  actions: { type: 'putOff', params: { silence: 'undelivered' } },
} as const;
const putOffByError = {
  target: 'pausing',
  actions: { type: 'putOff', params: { silence: 'troubled' } },
} as const;

const expire = {
  target: '#signature.failed',
  actions: {
    type: 'fail',
    params: ({ context }: { readonly context: SignatureContext }) =>
      fault(silenceFaults[context.silence]),
  },
} as const;

type Cancel = Extract<SignatureOrder, { readonly type: 'CANCEL' }>;
const cancel = {
  guard: { type: 'counts', params: ({ event }: { readonly event: Cancel }) => event },
  target: '#signature.failed',
  actions: { type: 'fail', params: ({ event }: { readonly event: Cancel }) => event.fault },
} as const;

const failByError = {
  target: '#signature.failed',
  actions: { type: 'fail', params: fault(900) },
} as const;

const toAsk = ({ context }: { readonly context: SignatureContext }): Ask => {
  const { attempt, deadline, chosen, isAsked, failures, history } = context;
  const last = history.at(-1);
  return {
    attempt,
    deadline,
    chosen,
    isAsked,
    failures,
    ...(last?.state === 'pending' && { promptedAt: last.at }),
  };
};

const notProvided = (): Promise<never> => Promise.reject(new Error('Only the workers can ask'));

export const signatureMachine = setup({
  types: {
    context: {} as SignatureContext,
    events: {} as SignatureEvent,
    input: {} as SignatureInput,
  },
  actors: {
    choose: fromPromise<Choice, Ask>(notProvided),
    ask: fromPromise<Asked, Ask>(notProvided),
    verify: fromPromise<Concluded, Verify>(notProvided),
  },
  actions: {
    choose: assign((_, choice: Choice) =>
      'chosen' in choice
        ? {
            chosen: choice.chosen,
            // A text counts as undelivered until its gateway has accepted it.
            silence: choice.chosen.upstream === undefined ? 'expired' : 'undelivered',
          }
        : {},
    ),
    enterPending: assign({
      history: ({ context, event }) =>
        isIn('pending', context) ? context.history : entered(context, 'pending', event),
    }),
    wait: assign(({ context: { deadline } }, result: Choice | Asked) => ({
      isAsked: true,
      silence: 'expired' as const,
      failures: 0,
      againAt: (result.kind === 'awaiting' ? result.againAt : undefined) ?? deadline,
    })),
    putOff: assign(({ context, event }, { silence }: Pick<SignatureContext, 'silence'>) => ({
      silence,
      failures: context.failures + 1,
      againAt: timeOf(event) + backoffMs(context.failures),
    })),
    conclude: assign(({ context, event }, result: Choice | Asked | Concluded) => {
      if (result.kind === 'failed') return failed(context, event, result.fault);
      if (result.kind !== 'signed') return {};
      const asked = isIn('pending', context)
        ? context
        : { ...context, history: entered(context, 'pending', event) };
      return {
        outcome: result.outcome,
        answer: undefined,
        history: entered(asked, 'signed', event),
      };
    }),
    fail: assign(({ context, event }, reason: Fault) => failed(context, event, reason)),
    takeAnswer: assign((_, answer: DeviceAnswer) => ({ answer })),
    beginAgain: assign(({ context, event }) => {
      const history = isIn('failed', context)
        ? context.history
        : entered(context, 'failed', event, { fault: fault(900) });
      const attempt = context.attempt + 1;
      const at = timeOf(event);
      return {
        attempt,
        deadline: at + context.timeoutSeconds * 1000,
        ...initial,
        chosen: undefined,
        answer: undefined,
        outcome: undefined,
        fault: undefined,
        history: [...history, { state: 'submitted' as const, attempt, at }],
      };
    }),
    noteReceipt: assign(({ context, event }, receipt: ReceiptOutcome) => ({
      receipt,
      history: entered(context, 'receipted', event),
    })),
    /** An effect: the worker implements it. */
    releaseScreen: (_, _shown: { readonly sscdId: string; readonly attempt: number }) => {},
    leaveScreen: enqueueActions(({ context: { chosen, attempt }, enqueue }) => {
      const { screen, sscdId } = chosen ?? {};
      if (screen && sscdId !== undefined)
        enqueue({ type: 'releaseScreen', params: { sscdId, attempt } } as never);
    }),
  },
  guards: {
    isSigned: (_, { kind }: Choice | Asked | Concluded) => kind === 'signed',
    isFailed: (_, { kind }: Choice | Asked | Concluded) => kind === 'failed',
    isToBeAsked: (_, { kind }: Choice) => kind === 'ask',
    isAwaited: (_, { kind }: Choice | Asked) => kind === 'awaiting',
    isToBeAskedAgain: (_, result: Choice | Asked) =>
      result.kind === 'awaiting' && result.againAt !== undefined,
    /** Whether no answer from elsewhere was taken. After one, no other event counts. */
    isUnanswered: ({ context }) => context.answer === undefined,
    /** Whether the event is for this attempt, and no answer was taken before it. */
    counts: ({ context }, { attempt }: { attempt: number }) =>
      context.answer === undefined && attempt === context.attempt,
    /**
     * Whether the answer is a fault. Others go to `verify`, because other programs can write them.
     */
    refuses: ({ context }, { attempt, answer }: { attempt: number; answer?: DeviceAnswer }) =>
      context.answer === undefined && attempt === context.attempt && answer?.kind === 'fault',
  },
  delays: {
    deadline: ({ context, event }) => Math.max(context.deadline - timeOf(event), 0),
    again: ({ context, event }) => Math.max(context.againAt - timeOf(event), 0),
  },
}).createMachine({
  id: 'signature',
  initial: 'submitted',
  context: ({ input: { addedAt, timeoutSeconds } }) => ({
    timeoutSeconds,
    attempt: 1,
    deadline: addedAt + timeoutSeconds * 1000,
    ...initial,
    history: [{ state: 'submitted', attempt: 1, at: addedAt }],
  }),
  states: {
    submitted: {
      initial: 'choosing',
      after: { deadline: expire },
      on: {
        CANCEL: cancel,
        REPLAY: { target: 'submitted', reenter: true, actions: 'beginAgain' },
      },
      states: {
        choosing: {
          invoke: {
            src: 'choose',
            input: toAsk,
            onDone: [
              ...concluded,
              {
                guard: { type: 'isToBeAsked', params: given },
                target: '#signature.pending',
                actions: { type: 'choose', params: given },
              },
              {
                guard: { type: 'isAwaited', params: given },
                target: '#signature.pending.pausing',
                actions: [
                  { type: 'choose', params: given },
                  { type: 'wait', params: given },
                ],
              },
              putOff,
            ],
            onError: putOffByError,
          },
        },
        pausing: { after: { again: 'choosing' } },
      },
    },
    pending: {
      initial: 'asking',
      entry: 'enterPending',
      exit: 'leaveScreen',
      // An answer that was taken counts, even when its verification ends after the deadline.
      after: { deadline: { guard: 'isUnanswered', ...expire } },
      on: {
        ANSWERED: [
          {
            guard: { type: 'refuses', params: ({ event }) => event },
            target: 'failed',
            actions: {
              type: 'fail',
              params: ({ event: { answer } }) =>
                answer.kind === 'fault' ? answer.fault : fault(900),
            },
          },
          {
            guard: { type: 'counts', params: ({ event }) => event },
            target: '.verifying',
            actions: { type: 'takeAnswer', params: ({ event }) => event.answer },
          },
        ],
        CANCEL: cancel,
        REPLAY: { target: 'submitted', actions: 'beginAgain' },
      },
      states: {
        asking: {
          invoke: {
            src: 'ask',
            input: toAsk,
            onDone: [
              ...concluded,
              {
                guard: { type: 'isToBeAskedAgain', params: given },
                target: 'pausing',
                actions: { type: 'wait', params: given },
              },
              {
                guard: { type: 'isAwaited', params: given },
                target: 'shown',
                actions: { type: 'wait', params: given },
              },
              putOff,
            ],
            onError: putOffByError,
          },
        },
        shown: {},
        pausing: { after: { again: 'asking' } },
        verifying: {
          invoke: {
            src: 'verify',
            input: ({ context: { attempt, chosen, answer } }) => ({ attempt, chosen, answer }),
            // The last transition is needed, because the deadline does not count here.
            onDone: [...concluded, failByError],
            onError: failByError,
          },
        },
      },
    },
    signed: {
      meta: { job: 'completed' },
      on: {
        RECEIPTED: {
          target: 'receipted',
          actions: { type: 'noteReceipt', params: ({ event }) => event.receipt },
        },
      },
    },
    failed: {
      meta: { job: 'failed' },
      on: { REPLAY: { target: 'submitted', actions: 'beginAgain' } },
    },
    receipted: { type: 'final' },
  },
});
