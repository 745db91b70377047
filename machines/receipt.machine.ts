/**
 * Life of one receipt: a message of the application to its user after a signature, shown on the
 * phone that signed.
 *
 * open    The phone is asked to show it, each second until it does. Then the user has time until
 *         the deadline.
 * ended   `context.receipt` has the reaction of the user. The signature gets the result.
 * failed  There is no such signature, or the service could not read it. REPLAY begins again.
 *
 * Each event has the time `at` which it came, milliseconds since the epoch.
 *
 * Source: interface section 3, MSS_ReceiptReq.
 */
import { assign, fromPromise, setup } from 'xstate';
import { type Fault, fault } from '../packages/protocol/src/fault.ts';
import type { ReceiptOutcome } from '../packages/protocol/src/outcome.ts';
import { timeOf } from './signature.machine.ts';

export const receiptVersion = 1;

export interface ReceiptInput {
  readonly at: number;
  readonly deadline: number;
  readonly timeoutSeconds: number;
}

export interface ReceiptContext {
  readonly deadline: number;
  readonly timeoutSeconds: number;
  /** The outcome without an answer until the deadline; undefined after an error of the service. */
  readonly lapsesAs: ReceiptOutcome | undefined;
  readonly receipt?: ReceiptOutcome | undefined;
  readonly fault?: Fault | undefined;
}

/**
 * The result of showing a receipt. `not-now`: the phone is not reachable, or shows another text.
 */
export type Shown =
  | { readonly kind: 'answered'; readonly receipt: ReceiptOutcome }
  | { readonly kind: 'awaiting'; readonly lapsesAs: ReceiptOutcome }
  | { readonly kind: 'not-now' }
  | { readonly kind: 'refused'; readonly fault: Fault };

const given = ({ event }: { readonly event: { readonly output: Shown } }): Shown => event.output;

export const receiptMachine = setup({
  types: {
    context: {} as ReceiptContext,
    events: {} as { readonly type: 'REPLAY' },
    input: {} as ReceiptInput,
  },
  actors: {
    show: fromPromise<Shown, { readonly deadline: number }>(() =>
      Promise.reject(new Error('Only the workers can ask')),
    ),
  },
  actions: {
    lapseAs: assign((_, lapsesAs: ReceiptOutcome | undefined) => ({ lapsesAs })),
    end: assign((_, receipt: ReceiptOutcome | undefined) => ({ receipt })),
    fail: assign((_, reason: Fault) => ({ fault: reason })),
    beginAgain: assign(({ context: { timeoutSeconds }, event }) => ({
      deadline: timeOf(event) + timeoutSeconds * 1000,
      lapsesAs: 'unanswered' as const,
      fault: undefined,
    })),
    /** This and the next are effects: the worker implements them. */
    tellSignature: (_, _told: { readonly receipt: ReceiptOutcome; readonly at: number }) => {},
    releaseScreen: () => {},
  },
  guards: {
    isAnswered: (_, { kind }: Shown) => kind === 'answered',
    isAwaited: (_, { kind }: Shown) => kind === 'awaiting',
    isRefused: (_, { kind }: Shown) => kind === 'refused',
    lapses: ({ context: { lapsesAs } }) => lapsesAs !== undefined,
  },
  delays: {
    deadline: ({ context, event }) => Math.max(context.deadline - timeOf(event), 0),
    pause: 1000,
  },
}).createMachine({
  id: 'receipt',
  initial: 'open',
  context: ({ input: { deadline, timeoutSeconds } }) => ({
    deadline,
    timeoutSeconds,
    lapsesAs: 'unanswered' as const,
  }),
  states: {
    open: {
      initial: 'showing',
      after: {
        deadline: [
          {
            guard: 'lapses',
            target: 'ended',
            actions: { type: 'end', params: ({ context }) => context.lapsesAs },
          },
          { target: 'failed', actions: { type: 'fail', params: fault(900) } },
        ],
      },
      states: {
        showing: {
          invoke: {
            src: 'show',
            input: ({ context: { deadline } }) => ({ deadline }),
            onDone: [
              {
                guard: { type: 'isAnswered', params: given },
                target: '#receipt.ended',
                actions: {
                  type: 'end',
                  params: ({ event: { output } }) =>
                    'receipt' in output ? output.receipt : undefined,
                },
              },
              {
                guard: { type: 'isAwaited', params: given },
                target: 'shown',
                actions: {
                  type: 'lapseAs',
                  params: ({ event: { output } }) =>
                    'lapsesAs' in output ? output.lapsesAs : undefined,
                },
              },
              {
                guard: { type: 'isRefused', params: given },
                target: '#receipt.failed',
                actions: {
                  type: 'fail',
                  params: ({ event: { output } }) =>
                    'fault' in output ? output.fault : fault(900),
                },
              },
              { target: 'pausing', actions: { type: 'lapseAs', params: 'unanswered' } },
            ],
            onError: { target: 'pausing', actions: { type: 'lapseAs', params: undefined } },
          },
        },
        pausing: { after: { pause: 'showing' } },
        shown: {},
      },
    },
    ended: {
      type: 'final',
      entry: [
        {
          type: 'tellSignature',
          params: ({ context: { receipt = 'unanswered' }, event }) => ({
            receipt,
            at: timeOf(event),
          }),
        },
        'releaseScreen',
      ],
    },
    failed: {
      meta: { job: 'failed' },
      entry: 'releaseScreen',
      on: { REPLAY: { target: 'open', actions: 'beginAgain' } },
    },
  },
});
