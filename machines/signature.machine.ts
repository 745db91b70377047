/**
 * Life of one MSS_SignatureReq.
 *
 * submitted  Accepted and durable; nobody has been asked yet. `choose` finds out whom to ask; a robot answers at once.
 * pending    The device has, or is about to have, the prompt. Its own answer, ANSWERED from elsewhere, CANCEL or the deadline ends it. While
 *            an answer from elsewhere is verified, nothing else counts any more.
 * signed     `context.outcome` says what the device gave. RECEIPTED moves on.
 * failed     `context.fault` says why. REPLAY begins the next attempt.
 * receipted  The user has been sent the receipt; nothing can follow.
 *
 * The first outcome of an attempt stands. Answers and cancellations carry the number of the attempt, so one that arrives after a
 * replay is refused, and so is an answer that comes second.
 *
 * A job that ended otherwise gets REPLAY as well when some tool runs it again: what came before counts as an internal error.
 *
 * Events have the time `at` which they came, milliseconds since the epoch.
 *
 * Source: interface section 3; TS 102 204 asynchronous mode.
 */
import { assign, enqueueActions, fromPromise, setup } from 'xstate';
import { type Fault, fault } from '../src/protocol/fault.ts';
import type { ProfileName } from '../src/protocol/requests.ts';
import type { DeviceAnswer, Outcome, ReceiptOutcome } from './outcome.ts';

export const signatureVersion = 1;

/** A state that was entered, for the timeline. The latest is last. */
export interface HistoryEntry {
  readonly state: SignatureState;
  readonly attempt: number;
  readonly at: number;
  readonly fault?: Fault | undefined;
}

export type SignatureState = 'submitted' | 'pending' | 'signed' | 'failed' | 'receipted';

/** Whom an attempt goes to: it stands, whatever the registry says later. */
export interface Chosen {
  readonly profile: ProfileName;
  readonly sscdId?: string | undefined;
  /** It shows one prompt at a time, and shows this one until the attempt has ended. */
  readonly screen?: true | undefined;
  /** Origin of the service by which it is asked. */
  readonly upstream?: string | undefined;
}

/** What silence until the deadline means: the user said nothing, the transport failed, or the service did. */
export type Silence = 'expired' | 'undelivered' | 'troubled';

export interface SignatureContext {
  readonly timeoutSeconds: number;
  /** Counts from 1; each replay adds one. */
  readonly attempt: number;
  /** When this attempt expires. */
  readonly deadline: number;
  readonly silence: Silence;
  /** Tries since somebody was last reached. */
  readonly failures: number;
  /** When to try again. */
  readonly againAt: number;
  readonly chosen?: Chosen | undefined;
  /** The device has shown the prompt. */
  readonly isAsked: boolean;
  /** That nobody has looked at yet. */
  readonly answer?: DeviceAnswer | undefined;
  readonly outcome?: Outcome | undefined;
  readonly fault?: Fault | undefined;
  readonly receipt?: ReceiptOutcome | undefined;
  readonly history: readonly HistoryEntry[];
}

export interface SignatureInput {
  readonly at: number;
  readonly timeoutSeconds: number;
  readonly deadline: number;
  readonly attempt: number;
  readonly chosen?: Chosen | undefined;
  /** A release that had no chart has asked the device already. */
  readonly isAsked?: true | undefined;
  readonly history: readonly HistoryEntry[];
}

/** What a device is asked with, beside the request. */
export interface Ask {
  readonly attempt: number;
  readonly deadline: number;
  readonly chosen?: Chosen | undefined;
  /** When the attempt was first put to the device; undefined before that. */
  readonly promptedAt?: number | undefined;
  readonly isAsked: boolean;
  readonly failures: number;
}

export interface Verify {
  readonly attempt: number;
  readonly chosen: Chosen | undefined;
  readonly answer: DeviceAnswer | undefined;
}

export type Concluded =
  | { readonly kind: 'signed'; readonly outcome: Outcome }
  | { readonly kind: 'failed'; readonly fault: Fault; readonly isAsked?: false };

/**
 * awaiting     Somebody has been asked. `againAt`: the device wants to be asked again.
 * unreachable  The transport failed and nobody has been asked. `isRefused`: by its upstream, which works.
 *
 * `isAsked`: the device was not even tried.
 */
export type Asked =
  | Concluded
  | { readonly kind: 'awaiting'; readonly againAt?: number | undefined; readonly isAsked?: false }
  | { readonly kind: 'unreachable'; readonly isRefused?: true };

/** ask: a person, or by way of an upstream; first it has to be stored that they are asked. */
export type Choice =
  | Concluded
  | { readonly kind: 'ask' | 'unreachable'; readonly chosen: Chosen }
  | { readonly kind: 'awaiting'; readonly againAt?: number | undefined; readonly chosen: Chosen };

/** What comes from outside. */
export type SignatureOrder =
  | { readonly type: 'ANSWERED'; readonly attempt: number; readonly answer: DeviceAnswer }
  | { readonly type: 'CANCEL'; readonly attempt: number; readonly fault: Fault };

export type SignatureEvent =
  | SignatureOrder
  | { readonly type: 'REPLAY'; readonly input: SignatureInput }
  | { readonly type: 'RECEIPTED'; readonly at: number; readonly receipt: ReceiptOutcome };

/** The engine gives each event its time; the first one has it in its input. */
export const timeOf = (event: unknown): number => {
  const { at, input } = event as { readonly at?: number; readonly input?: { readonly at: number } };
  return at ?? input?.at ?? 0;
};

const entered = (
  { attempt, history }: SignatureContext,
  state: SignatureState,
  event: unknown,
  more: { attempt?: number; fault?: Fault } = {},
): readonly HistoryEntry[] => {
  // What comes while a turn runs has come before the state that the turn has entered meanwhile.
  const at = Math.max(timeOf(event), history.at(-1)?.at ?? 0);
  return [...history, { state, attempt, at, ...more }];
};

/** Doubling from 250 ms, at most 8 s. */
const backoffMs = (failures: number): number => Math.min(250 * 2 ** Math.min(failures, 5), 8000);

const silenceFaults = { expired: 208, undelivered: 209, troubled: 900 } as const;

const failed = (context: SignatureContext, event: unknown, reason: Fault) => ({
  fault: reason,
  answer: undefined,
  history: entered(context, 'failed', event, { fault: reason }),
});

/** What an attempt begins with. */
export const initial = { silence: 'expired', failures: 0, againAt: 0, isAsked: false } as const;

/** Of an activity. */
const given = <T>({ event }: { readonly event: { readonly output: T } }): T => event.output;

/** What an activity that is done makes of the attempt, if it ends it. */
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

const notProvided = (): Promise<never> => Promise.reject(new Error('Only the workers can ask'));

const ask = ({ context }: { readonly context: SignatureContext }): Ask => {
  const { attempt, deadline, chosen, isAsked, failures, history } = context;
  const last = history.at(-1);
  return {
    ...{ attempt, deadline, chosen, isAsked, failures },
    ...(last?.state === 'pending' && { promptedAt: last.at }),
  };
};

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
            // Whatever becomes of a text, nobody has taken it until its gateway says so.
            silence: choice.chosen.upstream === undefined ? 'expired' : 'undelivered',
          }
        : {},
    ),
    enterPending: assign({
      history: ({ context, event }) =>
        context.history.at(-1)?.state === 'pending' ? context.history : entered(context, 'pending', event),
    }),
    wait: assign(({ context: { deadline } }, result: Choice | Asked) => ({
      isAsked: true,
      silence: 'expired' as const,
      failures: 0,
      againAt: (result.kind === 'awaiting' ? result.againAt : undefined) ?? deadline,
    })),
    putOff: assign(({ context, event }, { silence }: { silence: Silence }) => ({
      silence,
      failures: context.failures + 1,
      againAt: timeOf(event) + backoffMs(context.failures),
    })),
    conclude: assign(({ context, event }, result: Choice | Asked | Concluded) => {
      if (result.kind === 'failed') return failed(context, event, result.fault);
      if (result.kind !== 'signed') return {};
      const isPending = context.history.at(-1)?.state === 'pending';
      const asked = isPending ? context : { ...context, history: entered(context, 'pending', event) };
      return { outcome: result.outcome, answer: undefined, history: entered(asked, 'signed', event) };
    }),
    fail: assign(({ context, event }, reason: Fault) => failed(context, event, reason)),
    takeAnswer: assign((_, answer: DeviceAnswer) => ({ answer })),
    beginAgain: assign(({ context, event }) => {
      const isOver = context.history.at(-1)?.state === 'failed';
      const history = isOver ? context.history : entered(context, 'failed', event, { fault: fault(900) });
      const attempt = context.attempt + 1;
      const at = timeOf(event);
      return {
        ...{ attempt, deadline: at + context.timeoutSeconds * 1000 },
        ...initial,
        ...{ chosen: undefined, answer: undefined, outcome: undefined, fault: undefined },
        history: [...history, { state: 'submitted' as const, attempt, at }],
      };
    }),
    noteReceipt: assign(({ context, event }, receipt: ReceiptOutcome) => ({
      receipt,
      history: entered(context, 'receipted', event),
    })),
    /** An effect. */
    releaseScreen: (_, _shown: { readonly sscdId: string; readonly attempt: number }) => {},
    leaveScreen: enqueueActions(({ context: { chosen, attempt }, enqueue }) => {
      const { screen, sscdId } = chosen ?? {};
      if (screen && sscdId !== undefined)
        enqueue({ type: 'releaseScreen', params: { sscdId, attempt } } as never);
    }),
  },
  guards: {
    isAskedBefore: ({ context }) => context.isAsked,
    isSigned: (_, { kind }: Choice | Asked | Concluded) => kind === 'signed',
    isFailed: (_, { kind }: Choice | Asked | Concluded) => kind === 'failed',
    isToBeAsked: (_, { kind }: Choice) => kind === 'ask',
    isAwaited: (_, { kind }: Choice | Asked) => kind === 'awaiting',
    isToBeAskedAgain: (_, result: Choice | Asked) =>
      result.kind === 'awaiting' && result.againAt !== undefined,
    /** Once an answer from elsewhere was taken, no other one is, nor anything else in its place. */
    isUnanswered: ({ context }) => context.answer === undefined,
    /** An order is for one attempt: the next one is not ended by what was said of the one before. */
    counts: ({ context }, { attempt }: { attempt: number }) =>
      context.answer === undefined && attempt === context.attempt,
    /** What is not even an answer is looked at, like all that others can write, where signatures are. */
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
  context: ({ input: { at: _, isAsked = false, ...input } }) => ({ ...input, ...initial, isAsked }),
  states: {
    submitted: {
      initial: 'choosing',
      always: { guard: 'isAskedBefore', target: 'pending' },
      after: {
        deadline: {
          target: 'failed',
          actions: { type: 'fail', params: ({ context }) => fault(silenceFaults[context.silence]) },
        },
      },
      on: {
        CANCEL: {
          guard: { type: 'counts', params: ({ event }) => event },
          target: 'failed',
          actions: { type: 'fail', params: ({ event }) => event.fault },
        },
        REPLAY: { target: 'submitted', reenter: true, actions: 'beginAgain' },
      },
      states: {
        choosing: {
          invoke: {
            src: 'choose',
            input: ask,
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
              { target: 'pausing', actions: { type: 'putOff', params: { silence: 'undelivered' } } },
            ],
            onError: { target: 'pausing', actions: { type: 'putOff', params: { silence: 'troubled' } } },
          },
        },
        pausing: { after: { again: 'choosing' } },
      },
    },
    pending: {
      initial: 'asking',
      entry: 'enterPending',
      exit: 'leaveScreen',
      after: {
        deadline: {
          // An answer that was taken counts, however long its verification lasts.
          guard: 'isUnanswered',
          target: 'failed',
          actions: { type: 'fail', params: ({ context }) => fault(silenceFaults[context.silence]) },
        },
      },
      on: {
        ANSWERED: [
          {
            guard: { type: 'refuses', params: ({ event }) => event },
            target: 'failed',
            actions: {
              type: 'fail',
              params: ({ event: { answer } }) => (answer.kind === 'fault' ? answer.fault : fault(900)),
            },
          },
          {
            guard: { type: 'counts', params: ({ event }) => event },
            target: '.verifying',
            actions: { type: 'takeAnswer', params: ({ event }) => event.answer },
          },
        ],
        CANCEL: {
          guard: { type: 'counts', params: ({ event }) => event },
          target: 'failed',
          actions: { type: 'fail', params: ({ event }) => event.fault },
        },
        REPLAY: { target: 'submitted', actions: 'beginAgain' },
      },
      states: {
        asking: {
          invoke: {
            src: 'ask',
            input: ask,
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
              { target: 'pausing', actions: { type: 'putOff', params: { silence: 'undelivered' } } },
            ],
            onError: { target: 'pausing', actions: { type: 'putOff', params: { silence: 'troubled' } } },
          },
        },
        shown: {},
        pausing: { after: { again: 'asking' } },
        verifying: {
          invoke: {
            src: 'verify',
            input: ({ context: { attempt, chosen, answer } }) => ({ attempt, chosen, answer }),
            onDone: [
              ...concluded,
              // Otherwise it would wait for ever: no deadline counts any more.
              { target: '#signature.failed', actions: { type: 'fail', params: fault(900) } },
            ],
            onError: { target: '#signature.failed', actions: { type: 'fail', params: fault(900) } },
          },
        },
      },
    },
    signed: {
      tags: 'completed',
      on: {
        RECEIPTED: {
          target: 'receipted',
          actions: { type: 'noteReceipt', params: ({ event }) => event.receipt },
        },
      },
    },
    failed: {
      tags: 'failed',
      on: { REPLAY: { target: 'submitted', actions: 'beginAgain' } },
    },
    receipted: { type: 'final' },
  },
});
