/**
 * Life of one callback: the message to an application that one of its transactions has ended, or
 * how one of its processes goes on.
 *
 * waiting     For the time of the next try, or for the time that an operator's bulk replay has set.
 * delivering  A try runs.
 * delivered   The receiver has accepted the message.
 * dead        All tries have failed. REPLAY begins again with the first one.
 *
 * The pause after a failed try comes from the activity: it is partly random, and a receiver may say
 * when it wants the next try.
 *
 * Source: Standard Webhooks.
 */
import { assign, fromPromise, setup } from 'xstate';
import { z } from 'zod';

export const callbackVersion = 1;

/** The message. No number, no text, no signature: the receiver asks for the status for these. */
export const callbackSchema = z.object({
  msspTransId: z.string(),
  apId: z.string(),
  apTransId: z.string(),
  attempt: z.number().int().min(1),
  /** When the transaction ended, milliseconds since the epoch. */
  at: z.number(),
  /** Set by a bulk replay: no try before this time, milliseconds since the epoch. */
  notBefore: z.number().optional(),
  end: z.discriminatedUnion('state', [
    z.object({ state: z.literal('signed'), statusCode: z.enum(['100', '500', '502']) }),
    z.object({ state: z.literal('failed'), code: z.number().int(), reason: z.string() }),
    z.object({ state: z.literal('receipted'), receipt: z.string() }),
  ]),
});
export type CallbackData = Readonly<z.infer<typeof callbackSchema>>;

/**
 * What happens in a signature process (process.machine.ts). No number and no text: the receiver
 * asks for the process.
 */
export const processMessageSchema = z.object({
  /** As the application has chosen it. */
  process: z.string(),
  /** Of an instance of a chart of one's own: the name of the chart. Then `process` is its id. */
  workflow: z.string().optional(),
  apId: z.string(),
  title: z.string().optional(),
  /** `told`: its definition names the address that hears of its failure. */
  what: z.enum([
    ...(['invited', 'reminded', 'unreached', 'undelivered', 'escalated'] as const),
    ...(['step', 'revoked', 'end', 'told'] as const),
  ]),
  /** As of a callback. */
  at: z.number(),
  notBefore: z.number().optional(),
  step: z.string().optional(),
  /** Of the signer in the step, and the name of that person. */
  key: z.string().optional(),
  name: z.string().optional(),
  /** Whose page the message links to. The link itself is made when the message is sent. */
  signer: z.object({ instance: z.string(), linkVersion: z.int() }).optional(),
  /** Of the step, or of the process. */
  state: z.string().optional(),
  reason: z.string().optional(),
  /** Of the fault by which a signer was not reached, or of the mail server that refused a mail. */
  code: z.number().optional(),
  /** Where it is posted to; default: where callbacks of the application are. */
  url: z.string().optional(),
});
export type ProcessMessage = Readonly<z.infer<typeof processMessageSchema>>;

export const messageSchema = z.union([callbackSchema, processMessageSchema]);
export type CallbackMessage = CallbackData | ProcessMessage;

/** Input of a try. */
export interface CallbackTry {
  readonly id: string;
  readonly data: CallbackMessage;
  /** Counts from 1. */
  readonly number: number;
}

/**
 * How a try ended. `pauseMs`: the pause before the next one.
 *
 * refused  Every later try would be refused, too.
 */
export type TryResult =
  | { readonly kind: 'delivered'; readonly status: number }
  | { readonly kind: 'failed'; readonly problem: string; readonly pauseMs: number }
  | { readonly kind: 'refused'; readonly problem: string };

export interface CallbackInput {
  readonly id: string;
  readonly data: CallbackMessage;
  /** Maximum of tries. */
  readonly most: number;
  /** Before the first try. */
  readonly pauseMs: number;
}

export interface CallbackContext extends CallbackInput {
  readonly tries: number;
  /** Of the last try; undefined before the first try, and after a delivery. */
  readonly problem: string | undefined;
  /** HTTP status of the delivery. */
  readonly status: number | undefined;
}

/** For the log. */
export interface CallbackTold {
  readonly what: 'delivered' | 'undelivered' | 'gaveUp';
  readonly tries: number;
  /** The receiver's HTTP status, or what went wrong. */
  readonly result: string;
}

const begun = (input: CallbackInput): CallbackContext => ({
  ...input,
  tries: 0,
  problem: undefined,
  status: undefined,
});

const told = (
  what: CallbackTold['what'],
  { tries, problem, status }: CallbackContext,
): CallbackTold => ({
  what,
  tries,
  result: problem ?? String(status),
});

const given = ({ event }: { readonly event: { readonly output: TryResult } }): TryResult =>
  event.output;
const note = { type: 'note', params: given } as const;

export const callbackMachine = setup({
  types: {
    context: {} as CallbackContext,
    events: {} as { readonly type: 'REPLAY'; readonly input: CallbackInput },
    input: {} as CallbackInput,
  },
  actors: {
    /** Never rejects because of the receiver. */
    deliver: fromPromise<TryResult, CallbackTry>(() =>
      Promise.reject(new Error('The activity deliver is not provided')),
    ),
  },
  actions: {
    note: assign(({ context }, result: TryResult) => ({
      tries: context.tries + 1,
      problem: result.kind === 'delivered' ? undefined : result.problem,
      status: result.kind === 'delivered' ? result.status : undefined,
      pauseMs: result.kind === 'failed' ? result.pauseMs : 0,
    })),
    /** For the log only. */
    tell: (_, _told: CallbackTold) => {},
  },
  guards: {
    isDelivered: (_, { kind }: TryResult) => kind === 'delivered',
    isWorthAnother: ({ context: { tries, most } }, { kind }: TryResult) =>
      kind === 'failed' && tries + 1 < most,
  },
  delays: { pause: ({ context }) => context.pauseMs },
}).createMachine({
  id: 'callback',
  initial: 'waiting',
  context: ({ input }) => begun(input),
  states: {
    waiting: { after: { pause: 'delivering' } },
    delivering: {
      invoke: {
        src: 'deliver',
        input: ({ context: { id, data, tries } }) => ({ id, data, number: tries + 1 }),
        onDone: [
          { guard: { type: 'isDelivered', params: given }, target: 'delivered', actions: note },
          {
            guard: { type: 'isWorthAnother', params: given },
            target: 'waiting',
            actions: [
              note,
              { type: 'tell', params: ({ context }) => told('undelivered', context) },
            ],
          },
          { target: 'dead', actions: note },
        ],
      },
    },
    delivered: {
      type: 'final',
      entry: { type: 'tell', params: ({ context }) => told('delivered', context) },
    },
    dead: {
      meta: { job: 'failed' },
      entry: { type: 'tell', params: ({ context }) => told('gaveUp', context) },
      on: { REPLAY: { target: 'waiting', actions: assign(({ event }) => begun(event.input)) } },
    },
  },
});
