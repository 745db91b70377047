/**
 * Life of one callback: the message to an application about the end of a transaction, or about an
 * event of a process.
 *
 * waiting     Waits for the time of the next try, or for the time that an operator's order has set.
 *             TRY begins again with the first try, after its own pause.
 * delivering  A try runs.
 * delivered   The receiver has accepted the message.
 * dead        All tries have failed. REPLAY begins again with the first one.
 *
 * The pause after a failed try comes from the activity: it is partly random, and a receiver may ask
 * for a time (Retry-After).
 *
 * Source: Standard Webhooks.
 */
import { assign, fromPromise, setup } from 'xstate';
import { z } from 'zod';

export const callbackVersion = 1;

/** The message about a transaction. The receiver gets number, text and signature by the status. */
export const callbackSchema = z.object({
  msspTransId: z.string(),
  apId: z.string(),
  apTransId: z.string(),
  attempt: z.number().int().min(1),
  /** The time of the end, milliseconds since the epoch. */
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
 * The message about an event of a signature process (process.machine.ts). It has no number and no
 * text: the receiver reads these from the process.
 */
export const processMessageSchema = z.object({
  /** The id of the process that the application has chosen. */
  process: z.string(),
  /** The name of an operator's chart, for one of its instances. Then `process` is its id. */
  workflow: z.string().optional(),
  apId: z.string(),
  title: z.string().optional(),
  /** The event. `told`: the definition names an address to be told of the failure. */
  what: z.enum([
    ...(['invited', 'reminded', 'unreached', 'undelivered', 'escalated'] as const),
    ...(['step', 'revoked', 'end', 'told'] as const),
  ]),
  /** The time of the event; this and `notBefore` are the same as in {@link callbackSchema}. */
  at: z.number(),
  notBefore: z.number().optional(),
  step: z.string().optional(),
  /** The key of the signer in the step; `name` is the name of that person. */
  key: z.string().optional(),
  name: z.string().optional(),
  /** The signer for whose page the message has a link. The link is made when it is sent. */
  signer: z.object({ instance: z.string(), linkVersion: z.int() }).optional(),
  /** The state of the step, or of the process. */
  state: z.string().optional(),
  reason: z.string().optional(),
  /** Who has refused in the step; `reason` is in their own words. */
  refusals: z
    .array(z.object({ key: z.string(), name: z.string(), reason: z.string().optional() }))
    .readonly()
    .optional(),
  /** The code of the fault for an unreached signer, or of the mail server for a refused mail. */
  code: z.number().optional(),
  /** The address. Default: that of the application's callbacks. */
  url: z.string().optional(),
});
export type ProcessMessage = Readonly<z.infer<typeof processMessageSchema>>;

export const messageSchema = z.union([callbackSchema, processMessageSchema]);
export type CallbackMessage = CallbackData | ProcessMessage;

/** The input of a try. */
export interface CallbackTry {
  readonly id: string;
  readonly data: CallbackMessage;
  /** The number of the try, from 1. */
  readonly number: number;
}

/**
 * The result of a try. `pauseMs` is the pause before the next one.
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
  /** The maximum of tries. */
  readonly most: number;
  /** The pause before the first try. */
  readonly pauseMs: number;
}

/** An operator's order: the first try, after a pause that spreads the tries of many callbacks. */
export const trySchema = z.strictObject({
  type: z.literal('TRY'),
  pauseMs: z.number().int().min(0).max(86_400_000),
});

export interface CallbackContext extends CallbackInput {
  readonly tries: number;
  /** The problem of the last try; undefined before the first try, and after a delivery. */
  readonly problem: string | undefined;
  /** The HTTP status of the delivery. */
  readonly status: number | undefined;
}

/** An entry for the log. */
export interface CallbackTold {
  readonly what: 'delivered' | 'undelivered' | 'gaveUp';
  readonly tries: number;
  /** The HTTP status of the receiver, or the problem. */
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
    events: {} as
      | { readonly type: 'REPLAY'; readonly input: CallbackInput }
      | Readonly<z.infer<typeof trySchema>>,
    input: {} as CallbackInput,
  },
  actors: {
    /** Sends the message. An error of the receiver is a result, and no rejection. */
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
    /** Writes to the log. */
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
    waiting: {
      after: { pause: 'delivering' },
      on: {
        TRY: {
          target: 'waiting',
          reenter: true,
          actions: assign(({ event: { pauseMs } }) => ({ tries: 0, pauseMs })),
        },
      },
    },
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
