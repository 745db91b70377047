/**
 * Life of one ping: telling a client that its login without a browser has ended, and that asking for tokens makes sense.
 *
 * waiting  For the end of the login.
 * pinging  A try is under way.
 * pausing  The last try has failed, and another one is worth while.
 * told     The client has taken it.
 * over     There is nothing to tell, or the client does not want it or cannot be reached. It may ask all the same.
 * expired  The request is no more: whoever asks for it is told so.
 *
 * Source: OpenID Connect CIBA section 10.2.
 */
import { assign, fromPromise, setup } from 'xstate';
import { z } from 'zod';

export const pingVersion = 1;

export const pingSchema = z.object({
  tenantId: z.string(),
  reference: z.string(),
  /** Until the request expires. */
  lifetimeMs: z.number().min(0),
});
/** Nothing in it is secret: whoever reads it can find neither the request nor the client. */
export type PingData = Readonly<z.infer<typeof pingSchema>>;

export type PingLogin = Pick<PingData, 'tenantId' | 'reference'>;

/** What a try is made with. `isLast`: no other one follows, whatever comes of it. */
export interface PingTry extends PingLogin {
  readonly isLast: boolean;
}

/**
 * told     The client has it.
 * failed   It may be different next time.
 * unwanted It will not be: refused, or there is nobody to tell.
 */
export type PingResult = 'told' | 'failed' | 'unwanted';

export interface PingInput extends PingData {
  /** Between two tries; one more than there are pauses. */
  readonly pausesMs: readonly number[];
}

interface PingContext extends PingInput {
  /** That have failed. */
  readonly tries: number;
}

const nothingProvided = (): Promise<never> => Promise.reject(new Error('Nothing is provided'));

export const pingMachine = setup({
  types: { context: {} as PingContext, input: {} as PingInput },
  actors: {
    /** Gives the request its result when the login has ended. False when there is no such request any more. */
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
