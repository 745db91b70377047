/**
 * Life of one callback: an end of a transaction, on its way to the application that wants to hear of it.
 *
 * waiting     For its time: of the next try, or the one that a person has set who ordered many again.
 * delivering  A try is under way.
 * delivered   The receiver has taken it.
 * dead        It has not, and is not asked again. REPLAY begins with the first of all tries.
 *
 * Each try that fails is followed by another, later each time. How long is up to whoever tries, because it is spread by chance, and
 * because a receiver may say when it wants to be asked again.
 *
 * Source: Standard Webhooks.
 */
import { assign, fromPromise, setup } from 'xstate';
import { z } from 'zod';

export const callbackVersion = 1;

/** What is told. No number, no text, no signature: a receiver asks for the status, as itself. */
export const callbackSchema = z.object({
  msspTransId: z.string(),
  apId: z.string(),
  apTransId: z.string(),
  attempt: z.number().int().min(1),
  /** When it ended, milliseconds since the epoch. */
  at: z.number(),
  /** Of one that was replayed among many: not delivered earlier, milliseconds since the epoch. */
  notBefore: z.number().optional(),
  end: z.discriminatedUnion('state', [
    z.object({ state: z.literal('signed'), statusCode: z.enum(['100', '500', '502']) }),
    z.object({ state: z.literal('failed'), code: z.number().int(), reason: z.string() }),
    z.object({ state: z.literal('receipted'), receipt: z.string() }),
  ]),
});
export type CallbackData = Readonly<z.infer<typeof callbackSchema>>;

/** What a try is made with. */
export interface CallbackTry {
  readonly id: string;
  readonly data: CallbackData;
  /** Counts from 1. */
  readonly number: number;
}

/**
 * How a try ended. `pauseMs`: the next one is not worth while earlier.
 *
 * refused  And will be, whenever it is tried.
 */
export type TryResult =
  | { readonly kind: 'delivered'; readonly status: number }
  | { readonly kind: 'failed'; readonly problem: string; readonly pauseMs: number }
  | { readonly kind: 'refused'; readonly problem: string };

export interface CallbackInput {
  readonly id: string;
  readonly data: CallbackData;
  /** Tries in all. */
  readonly most: number;
  /** Before the first one. */
  readonly pauseMs: number;
}

export interface CallbackContext extends CallbackInput {
  readonly tries: number;
  /** Of the last try; undefined before it, and when it was taken. */
  readonly problem: string | undefined;
  /** What the receiver answered when it took it. */
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

const told = (what: CallbackTold['what'], { tries, problem, status }: CallbackContext): CallbackTold => ({
  what,
  tries,
  result: problem ?? String(status),
});

export const callbackMachine = setup({
  types: {
    context: {} as CallbackContext,
    events: {} as { readonly type: 'REPLAY'; readonly input: CallbackInput },
    input: {} as CallbackInput,
  },
  actors: {
    /** Never rejects for something that the receiver did. */
    deliver: fromPromise<TryResult, CallbackTry>(() =>
      Promise.reject(new Error('No way to deliver is provided')),
    ),
  },
  actions: {
    note: assign(({ context }, result: TryResult) => ({
      tries: context.tries + 1,
      problem: result.kind === 'delivered' ? undefined : result.problem,
      status: result.kind === 'delivered' ? result.status : undefined,
      pauseMs: result.kind === 'failed' ? result.pauseMs : 0,
    })),
    /** Only told: nothing depends on it. */
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
          {
            guard: { type: 'isDelivered', params: ({ event }) => event.output },
            target: 'delivered',
            actions: { type: 'note', params: ({ event }) => event.output },
          },
          {
            guard: { type: 'isWorthAnother', params: ({ event }) => event.output },
            target: 'waiting',
            actions: [
              { type: 'note', params: ({ event }) => event.output },
              { type: 'tell', params: ({ context }) => told('undelivered', context) },
            ],
          },
          { target: 'dead', actions: { type: 'note', params: ({ event }) => event.output } },
        ],
      },
    },
    delivered: {
      type: 'final',
      entry: { type: 'tell', params: ({ context }) => told('delivered', context) },
    },
    dead: {
      tags: 'failed',
      entry: { type: 'tell', params: ({ context }) => told('gaveUp', context) },
      on: { REPLAY: { target: 'waiting', actions: assign(({ event }) => begun(event.input)) } },
    },
  },
});
