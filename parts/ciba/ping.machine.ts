/**
 * Life of one ping: the message to a client that its login without a browser has ended, so that it
 * asks for the tokens.
 *
 * waiting  Waits for the end of the login.
 * pinging  A try runs.
 * pausing  The last try has failed. Another one follows.
 * told     The client has accepted the ping.
 * over     No ping is needed, or the client refused it or cannot be reached. The client may still
 *          ask for the tokens.
 * expired  The request has expired. A client that asks for the tokens gets this error.
 *
 * Source: OpenID Connect CIBA section 10.2.
 */
import { assign, fromPromise, setup } from 'xstate';
import { z } from 'zod';

export const pingVersion = 1;

export const pingSchema = z.object({
  tenantId: z.string(),
  reference: z.string(),
  /** The time until the request expires. */
  lifetimeMs: z.number().min(0),
});
/** The data of a ping. It is not secret: it leads neither to the request nor to the client. */
export type PingData = Readonly<z.infer<typeof pingSchema>>;

export type PingLogin = Pick<PingData, 'tenantId' | 'reference'>;

/** The input of a try. `isLast`: no other try follows. */
export interface PingTry extends PingLogin {
  readonly isLast: boolean;
}

/**
 * told      The client has accepted the ping.
 * failed    The next try may succeed.
 * unwanted  No later try can succeed: the client refused, or there is no client.
 */
export type PingResult = 'told' | 'failed' | 'unwanted';

export interface PingInput extends PingData {
  /** The pauses between tries. There is one try more than pauses. */
  readonly pausesMs: readonly number[];
}

interface PingContext extends PingInput {
  /** The number of failed tries. */
  readonly tries: number;
}

const nothingProvided = (): Promise<never> => Promise.reject(new Error('Nothing is provided'));

export const pingMachine = setup({
  types: { context: {} as PingContext, input: {} as PingInput },
  actors: {
    /** Waits for the end of the login and stores its result. False when the request is gone. */
    untilSettled: fromPromise<boolean, PingLogin>(nothingProvided),
    ping: fromPromise<PingResult, PingTry>(nothingProvided),
  },
  guards: {
    isThere: (_, there: boolean) => there,
    isTold: (_, result: PingResult) => result === 'told',
    isWorthAnother: ({ context: { tries, pausesMs } }, result: PingResult) =>
      result === 'failed' && tries < pausesMs.length,
  },
  delays: {
    lifetime: ({ context }) => context.lifetimeMs,
    pause: ({ context: { pausesMs, tries } }) => pausesMs[tries - 1] ?? 0,
  },
}).createMachine({
  id: 'ping',
  context: ({ input }) => ({ ...input, tries: 0 }),
  initial: 'waiting',
  after: { lifetime: '.expired' },
  states: {
    waiting: {
      invoke: {
        src: 'untilSettled',
        input: ({ context: { tenantId, reference } }) => ({ tenantId, reference }),
        onDone: [
          { guard: { type: 'isThere', params: ({ event }) => event.output }, target: 'pinging' },
          { target: 'over' },
        ],
      },
    },
    pinging: {
      invoke: {
        src: 'ping',
        input: ({ context: { tenantId, reference, tries, pausesMs } }) => ({
          tenantId,
          reference,
          isLast: tries === pausesMs.length,
        }),
        onDone: [
          { guard: { type: 'isTold', params: ({ event }) => event.output }, target: 'told' },
          {
            guard: { type: 'isWorthAnother', params: ({ event }) => event.output },
            target: 'pausing',
            actions: assign({ tries: ({ context }) => context.tries + 1 }),
          },
          { target: 'over' },
        ],
      },
    },
    pausing: { after: { pause: 'pinging' } },
    told: { type: 'final' },
    over: { type: 'final' },
    expired: { type: 'final' },
  },
});
