/**
 * Life of one signer in one step of a process: a child of the process (process.machine.ts).
 *
 * open         Two regions. `asking` prompts the phone: at once, when the person presses Sign on
 *              the page, or in the allowed hours. `reminding` reminds the person.
 *   invited    Waits until the person presses Sign on the page.
 *   waiting    Waits until the person may be asked, or asked again.
 *   prompting  The activity `sign` has sent the prompt to the phone and waits for its end.
 *   unreached  No further prompt is planned. The parent is told. AGAIN, or SIGN from the page, asks
 *              once more.
 * completing   The person has signed, and another part does what belongs to the signature
 *              (addition.ts). Only a process that fails does not wait for it.
 * ended        `output` is the end: signed, refused or withdrawn.
 *
 * `prompting` is left before its end by WITHDRAW and DECLINE. Then `sign` removes the prompt from
 * the phone before the parent gets the end.
 *
 * The parent ends when all its signers have ended. So no signer stays open, and no prompt stays on
 * a phone.
 *
 * All times are milliseconds since the epoch. Each event has the time `at` which it came. Its
 * version is that of the process: raise it there.
 */
import { assign, enqueueActions, fromPromise, sendParent, setup } from 'xstate';
import { timeOf } from '../../../machines/signature.machine.ts';
import { nextAllowed } from './allowed-hours.ts';
import type {
  Completed,
  Completion,
  SignAsk,
  SignerContext,
  SignerEvent,
  SignerInput,
  SignerMessage,
  SignerNotice,
  SignerOutput,
  SignResult,
} from './signer-contract.ts';

/** The most prompts of one signer, from all sources together. */
export const maxAsks = 20;
/** The time for which a prompt stays on the phone. */
export const promptSeconds = 180;

const notice = (
  what: SignerNotice['what'],
  context: SignerContext,
  code?: number,
): SignerNotice => {
  const { apId, process, step, key, as, person, linkVersion } = context;
  return { what, apId, process, step, key, as, person, linkVersion, code };
};

const begun = ({ at, ...input }: SignerInput): SignerContext => ({
  ...input,
  since: at,
  asks: [],
  asksLeft: input.askAgain?.times ?? 0,
  notBefore: 0,
  limited: 0,
  reminded: 0,
  // Links of an earlier instance with the same id do not work for this one.
  linkVersion: at,
});

/**
 * Faults after which another prompt may reach the person: expired, not reached, busy, our error.
 */
const passing = [208, 209, 406, 900];

const given = <T>({ event }: { readonly event: { readonly output: T } }): T => event.output;

const toSign = ({
  context: { apId, person, limited },
}: {
  readonly context: SignerContext;
}): SignAsk => {
  const { msisdn, text, language, profile } = person;
  return { apId, msisdn, text, language, profile, timeoutSeconds: promptSeconds, limited };
};

const notProvided = (): Promise<never> => Promise.reject(new Error('Only the workers can ask'));

const prompt = { target: 'prompting', actions: 'beginAsk' } as const;
const promptAgain = {
  guard: 'mayAsk',
  target: 'prompting',
  actions: ['beginAsk', 'tellAsked'],
} as const;
const settle = [
  {
    guard: { type: 'isToComplete', params: given<SignResult> },
    target: '#signer.completing',
    actions: { type: 'conclude', params: given<SignResult> },
  },
  {
    guard: { type: 'isSettled', params: given<SignResult> },
    target: '#signer.ended',
    actions: { type: 'conclude', params: given<SignResult> },
  },
] as const;

const toComplete = ({
  context: { step, key, child, person, addition, end },
}: {
  readonly context: SignerContext;
}): Completion => ({
  step,
  key,
  child,
  person,
  members: addition?.members ?? {},
  prepared: addition?.prepared ?? {},
  signed: end as Completion['signed'],
});

export const signerMachine = setup({
  types: {
    context: {} as SignerContext,
    events: {} as SignerEvent,
    input: {} as SignerInput,
    output: {} as SignerOutput,
  },
  actors: {
    /**
     * Prompts the phone. Answers when the transaction has ended, and cancels it when its state is
     * left before.
     */
    sign: fromPromise<SignResult, SignAsk>(notProvided),
    complete: fromPromise<Completed, Completion>(notProvided),
  },
  actions: {
    beginAsk: assign({
      asks: ({ context, event }) => [...context.asks, { at: timeOf(event) }],
      limitedUntil: undefined,
    }),
    noteAsk: assign(({ context: { asks, limited } }, result: SignResult) => {
      const before = asks.slice(0, -1);
      const last = asks.at(-1);
      if (result.kind === 'limited') {
        const { until } = result;
        return { asks: before, notBefore: until, limitedUntil: until, limited: limited + 1 };
      }
      const code = result.kind === 'failed' ? result.code : undefined;
      const ask = last && { ...last, msspTransId: result.msspTransId, code };
      return { asks: ask === undefined ? before : [...before, ask], limited: 0 };
    }),
    noteError: assign(({ context: { asks } }) => {
      const last = asks.at(-1);
      return last === undefined ? {} : { asks: [...asks.slice(0, -1), { ...last, code: 900 }] };
    }),
    plan: assign(({ context: { asksLeft, askAgain }, event }) => ({
      asksLeft: asksLeft - 1,
      notBefore: timeOf(event) + (askAgain?.everyMs ?? 0),
    })),
    conclude: assign(({ event }, result: SignResult) => {
      if (result.kind === 'signed') return { end: result };
      const msspTransId = result.kind === 'failed' ? result.msspTransId : undefined;
      return { end: { kind: 'refused' as const, at: timeOf(event), msspTransId } };
    }),
    decline: assign({
      end: ({ event }, reason: string | undefined) => ({
        kind: 'refused' as const,
        at: timeOf(event),
        reason,
      }),
    }),
    beWithdrawn: assign({
      end: ({ event }) => ({ kind: 'withdrawn' as const, at: timeOf(event) }),
    }),
    noteCompleted: assign(({ context: { end } }, completed: Completed) =>
      end?.kind === 'signed' ? { end: { ...end, completed } } : {},
    ),
    countReminder: assign({ reminded: ({ context }) => context.reminded + 1 }),
    revokeLink: assign({ linkVersion: ({ context }) => context.linkVersion + 1 }),
    tellUnreached: sendParent(
      ({ context: { child, asks } }: { context: SignerContext }): SignerMessage => ({
        type: 'UNREACHED',
        child,
        code: asks.at(-1)?.code ?? 900,
      }),
    ),
    tellAsked: sendParent(
      ({ context: { child } }: { context: SignerContext }): SignerMessage => ({
        type: 'ASKED',
        child,
      }),
    ),
    tellUndelivered: sendParent(
      (
        { context: { child } }: { context: SignerContext },
        code: number | undefined,
      ): SignerMessage => ({
        type: 'UNDELIVERED',
        child,
        code,
      }),
    ),
    /** An effect: the worker implements it. */
    notify: (_, _notice: SignerNotice) => {},
    invite: enqueueActions(({ context, enqueue }) => {
      const { ask, person } = context;
      if (ask !== 'now' || person.email !== undefined)
        enqueue({ type: 'notify', params: notice('invited', context) } as never);
    }),
  },
  guards: {
    isByPage: ({ context }) => context.ask === 'page',
    /** Whether the person has signed, or cancelled on the phone. */
    isSettled: (_, result: SignResult) =>
      result.kind === 'signed' ||
      (result.kind === 'failed' && result.code === 401 && result.takenBack !== true),
    isToComplete: ({ context }, { kind }: SignResult) =>
      kind === 'signed' && context.addition !== undefined,
    isFailing: ({ event }) => event.type === 'WITHDRAW' && event.isFailing === true,
    isLimited: (_, { kind }: SignResult) => kind === 'limited',
    isWorthAnother: ({ context: { asks, asksLeft } }, result: SignResult) =>
      asksLeft > 0 &&
      asks.length < maxAsks &&
      result.kind === 'failed' &&
      (passing.includes(result.code) || result.takenBack === true),
    hasAnother: ({ context: { asks, asksLeft } }) => asksLeft > 0 && asks.length < maxAsks,
    mayAsk: ({ context }) => context.asks.length < maxAsks,
    hasReminder: ({ context }) => context.reminded < context.remindMs.length,
  },
  delays: {
    allowed: ({ context: { ask, notBefore }, event }) => {
      const at = timeOf(event);
      const from = Math.max(at, notBefore);
      return (typeof ask === 'object' ? nextAllowed(ask, from) : from) - at;
    },
    reminder: ({ context: { since, remindMs, reminded }, event }) =>
      Math.max(since + (remindMs[reminded] ?? 0) - timeOf(event), 0),
  },
}).createMachine({
  id: 'signer',
  initial: 'open',
  context: ({ input }) => begun(input),
  output: ({ context: { end, since, linkVersion } }) => ({
    ...(end ?? { kind: 'withdrawn', at: since }),
    linkVersion,
  }),
  on: {
    WITHDRAW: { target: '.ended', actions: 'beWithdrawn' },
    DECLINE: {
      target: '.ended',
      actions: { type: 'decline', params: ({ event }) => event.reason },
    },
    REVOKE_LINK: { actions: 'revokeLink' },
    UNDELIVERED: {
      actions: [
        { type: 'tellUndelivered', params: ({ event }) => event.code },
        {
          type: 'notify',
          params: ({ context, event }) => notice('undelivered', context, event.code),
        },
      ],
    },
  },
  states: {
    open: {
      entry: 'invite',
      type: 'parallel',
      states: {
        asking: {
          initial: 'choosing',
          states: {
            choosing: { always: [{ guard: 'isByPage', target: 'invited' }, { target: 'waiting' }] },
            invited: { on: { SIGN: prompt } },
            waiting: { after: { allowed: prompt }, on: { SIGN: prompt } },
            prompting: {
              invoke: {
                src: 'sign',
                input: toSign,
                onDone: [
                  ...settle,
                  {
                    guard: { type: 'isLimited', params: given },
                    target: 'waiting',
                    actions: { type: 'noteAsk', params: given },
                  },
                  {
                    guard: { type: 'isWorthAnother', params: given },
                    target: 'waiting',
                    actions: [{ type: 'noteAsk', params: given }, 'plan'],
                  },
                  { target: 'unreached', actions: { type: 'noteAsk', params: given } },
                ],
                onError: [
                  { guard: 'hasAnother', target: 'waiting', actions: ['noteError', 'plan'] },
                  { target: 'unreached', actions: 'noteError' },
                ],
              },
            },
            unreached: {
              entry: [
                'tellUnreached',
                {
                  type: 'notify',
                  params: ({ context }) => notice('unreached', context, context.asks.at(-1)?.code),
                },
              ],
              on: { SIGN: promptAgain, AGAIN: promptAgain },
            },
          },
        },
        reminding: {
          initial: 'choosing',
          states: {
            choosing: { always: [{ guard: 'hasReminder', target: 'waiting' }, { target: 'done' }] },
            waiting: {
              after: {
                reminder: {
                  target: 'choosing',
                  actions: [
                    'countReminder',
                    { type: 'notify', params: ({ context }) => notice('reminded', context) },
                  ],
                },
              },
            },
            done: {},
          },
        },
      },
    },
    completing: {
      invoke: {
        src: 'complete',
        input: toComplete,
        onDone: {
          target: 'ended',
          actions: { type: 'noteCompleted', params: ({ event }) => event.output },
        },
        onError: {
          target: 'ended',
          actions: {
            type: 'noteCompleted',
            params: () => ({ kind: 'unusable' as const, problem: 'An error of the service' }),
          },
        },
      },
      // The signature stands, whatever comes.
      on: { WITHDRAW: [{ guard: 'isFailing', target: 'ended' }, {}], DECLINE: {} },
    },
    ended: { type: 'final' },
  },
});
