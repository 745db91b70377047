/**
 * Life of one signer in one step of a process: a child of the process (process.machine.ts).
 *
 * open         Two regions. `asking` prompts the phone: at once, when the person presses Sign on
 *              the page, or in the allowed hours. `reminding` reminds the person.
 *   invited    Until the person presses Sign on the page.
 *   waiting    Until the person may be asked, or asked again.
 *   prompting  The activity `sign` has put the prompt to the phone and waits for its end.
 *   unreached  No further prompt is planned. The parent is told. AGAIN, or SIGN from the page, asks
 *              once more.
 * ended        `output` says how: signed, refused or withdrawn.
 *
 * `prompting` is left before its end by WITHDRAW and DECLINE. Then `sign` takes the prompt off the
 * phone before the parent hears of the end.
 *
 * The parent ends when all its signers have ended. So nothing is left open, and no prompt stays on
 * a phone.
 *
 * All times are milliseconds since the epoch. Each event has the time `at` which it came. Its version
 * is that of the process: raise it there.
 */
import { assign, enqueueActions, fromPromise, sendParent, setup } from 'xstate';
import { z } from 'zod';
import { type AllowedHours, nextAllowed } from './allowed-hours.ts';
import { timeOf } from './signature.machine.ts';

/** Prompts of one signer at most, whoever asks for them. */
export const maxAsks = 20;
/** How long a prompt stays on the phone. */
export const promptSeconds = 180;

export interface Person {
  readonly name: string;
  readonly msisdn: string;
  readonly text: string;
  readonly language?: string | undefined;
  readonly profile?: string | undefined;
  readonly email?: string | undefined;
}

export interface SignerInput {
  readonly apId: string;
  readonly process: { readonly id: string; readonly title?: string | undefined };
  readonly step: string;
  /** Of the signer in the step. A substitute has the key of the person that it replaces. */
  readonly key: string;
  /** The name of this child in the parent. */
  readonly child: string;
  readonly person: Person;
  readonly ask: 'now' | 'page' | AllowedHours;
  /** After a prompt that expired (208) or did not arrive (209, 406). */
  readonly askAgain?: { readonly times: number; readonly everyMs: number } | undefined;
  /** After the signer was asked or invited, ascending. */
  readonly remindMs: readonly number[];
  /** Why this person is asked; absent for one that the step names. */
  readonly as?: 'substitute' | 'escalation' | undefined;
  /** When the parent has started it. */
  readonly at: number;
}

/** Input of `sign`. */
export interface SignAsk {
  readonly apId: string;
  readonly msisdn: string;
  readonly text: string;
  readonly language?: string | undefined;
  readonly profile?: string | undefined;
  readonly timeoutSeconds: number;
  /** How often in a row `sign` has answered `limited`. */
  readonly limited?: number | undefined;
}

/** `proof`: what the service needs for the evidence later. The chart only keeps it. */
export interface Signed {
  readonly kind: 'signed';
  readonly msspTransId: string;
  readonly at: number;
  readonly attempt: number;
  readonly proof?: unknown;
}

export type SignResult =
  | Signed
  | {
      readonly kind: 'failed';
      readonly code: number;
      readonly reason: string;
      readonly detail: string;
      readonly msspTransId?: string | undefined;
    }
  /** The number has had its prompts: nothing was submitted. Not before this time. */
  | { readonly kind: 'limited'; readonly until: number };

/** How a signer has ended: the output of the chart. */
export type SignerEnd =
  | Signed
  | {
      readonly kind: 'refused';
      readonly at: number;
      readonly reason?: string | undefined;
      readonly msspTransId?: string | undefined;
    }
  | { readonly kind: 'withdrawn'; readonly at: number };

export interface Asked {
  readonly at: number;
  readonly msspTransId?: string | undefined;
  /** Of the fault that ended it. */
  readonly code?: number | undefined;
}

export interface SignerContext extends Omit<SignerInput, 'at'> {
  readonly since: number;
  readonly asks: readonly Asked[];
  /** Prompts that the schedule may still add. */
  readonly asksLeft: number;
  /** No prompt by the schedule before this time. */
  readonly notBefore: number;
  /** Answers `limited` since the last prompt. */
  readonly limited: number;
  readonly reminded: number;
  /** Links to the page carry it. REVOKE_LINK raises it. */
  readonly linkVersion: number;
  readonly end?: SignerEnd | undefined;
}

/** Events that come from outside: the signer's page, and operators. */
export const signerEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('SIGN') }),
  z.object({ type: z.literal('DECLINE'), reason: z.string().max(500).optional() }),
  z.object({ type: z.literal('REVOKE_LINK') }),
]);
export type SignerOrder = Readonly<z.infer<typeof signerEventSchema>>;
type SignerEvent = SignerOrder | { readonly type: 'WITHDRAW' } | { readonly type: 'AGAIN' };

/** To the parent. `child` names the child there. */
export type SignerMessage =
  | { readonly type: 'UNREACHED'; readonly child: string; readonly code: number }
  | { readonly type: 'ASKED'; readonly child: string };

/** For the application and the person: a callback, a mail with the link. */
export interface SignerNotice {
  readonly what: 'invited' | 'reminded' | 'unreached';
  readonly apId: string;
  readonly process: SignerInput['process'];
  readonly step: string;
  readonly key: string;
  readonly as?: SignerInput['as'];
  readonly person: Person;
  readonly linkVersion: number;
  readonly code?: number | undefined;
}

const notice = (what: SignerNotice['what'], context: SignerContext): SignerNotice => {
  const { apId, process, step, key, as, person, linkVersion, asks } = context;
  const code = what === 'unreached' ? asks.at(-1)?.code : undefined;
  return { what, ...{ apId, process, step, key, as, person, linkVersion, code } };
};

const begun = ({ at, ...input }: SignerInput): SignerContext => ({
  ...input,
  since: at,
  asks: [],
  asksLeft: input.askAgain?.times ?? 0,
  notBefore: 0,
  limited: 0,
  reminded: 0,
  linkVersion: 1,
});

/** Faults after which another prompt may reach the person: expired, not reached, busy, our error. */
const passing = [208, 209, 406, 900];

const given = <T>({ event }: { readonly event: { readonly output: T } }): T => event.output;

const toSign = ({ context: { apId, person, limited } }: { readonly context: SignerContext }): SignAsk => {
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
const settle = {
  guard: { type: 'isSettled', params: given<SignResult> },
  target: '#signer.ended',
  actions: { type: 'conclude', params: given<SignResult> },
} as const;

export const signerMachine = setup({
  types: {
    context: {} as SignerContext,
    events: {} as SignerEvent,
    input: {} as SignerInput,
    output: {} as SignerEnd,
  },
  actors: {
    /**
     * Prompts the phone. Answers when the transaction has ended, and cancels it when its state is
     * left before.
     */
    sign: fromPromise<SignResult, SignAsk>(notProvided),
  },
  actions: {
    beginAsk: assign({ asks: ({ context, event }) => [...context.asks, { at: timeOf(event) }] }),
    noteAsk: assign(({ context: { asks, limited } }, result: SignResult) => {
      const before = asks.slice(0, -1);
      const last = asks.at(-1);
      if (result.kind === 'limited') return { asks: before, notBefore: result.until, limited: limited + 1 };
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
    beWithdrawn: assign({ end: ({ event }) => ({ kind: 'withdrawn' as const, at: timeOf(event) }) }),
    countReminder: assign({ reminded: ({ context }) => context.reminded + 1 }),
    revokeLink: assign({ linkVersion: ({ context }) => context.linkVersion + 1 }),
    tellUnreached: sendParent(
      ({ context: { child, asks } }: { context: SignerContext }): SignerMessage => ({
        ...{ type: 'UNREACHED', child, code: asks.at(-1)?.code ?? 900 },
      }),
    ),
    tellAsked: sendParent(
      ({ context: { child } }: { context: SignerContext }): SignerMessage => ({ type: 'ASKED', child }),
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
    /** Signed, or cancelled on the phone. */
    isSettled: (_, result: SignResult) =>
      result.kind === 'signed' || (result.kind === 'failed' && result.code === 401),
    isLimited: (_, { kind }: SignResult) => kind === 'limited',
    isWorthAnother: ({ context: { asks, asksLeft } }, result: SignResult) =>
      asksLeft > 0 && asks.length < maxAsks && result.kind === 'failed' && passing.includes(result.code),
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
  initial: 'starting',
  context: ({ input }) => begun(input),
  output: ({ context: { end, since } }) => end ?? { kind: 'withdrawn', at: since },
  on: {
    WITHDRAW: { target: '.ended', actions: 'beWithdrawn' },
    DECLINE: { target: '.ended', actions: { type: 'decline', params: ({ event }) => event.reason } },
    REVOKE_LINK: { actions: 'revokeLink' },
  },
  states: {
    // The first event of an instance has no time of its own; that of a timer has.
    starting: { after: { 0: { target: 'open', actions: 'invite' } } },
    open: {
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
                  settle,
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
                { type: 'notify', params: ({ context }) => notice('unreached', context) },
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
    ended: { type: 'final' },
  },
});
