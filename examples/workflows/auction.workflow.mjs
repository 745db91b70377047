/**
 * An auction: each bid must be higher than the last one, and when nobody bids any more the hammer
 * falls after "going once" and "going twice", or at once by the auctioneer. The winner signs. One
 * who does not is passed over, and the next best bidder is asked.
 */
import { defineWorkflow, service } from 'paraph/workflow';
import { assign, setup } from 'xstate';
import { z } from 'zod';

const call = (words) => ({ type: 'call', params: words });

const chart = setup({
  actors: { sign: service.sign },
  actions: {
    take: assign({
      bids: ({ context, event: { bidder, francs } }) => [{ bidder, francs }, ...context.bids],
    }),
    passOver: assign({
      bids: ({ context: { bids } }) => bids.filter(({ bidder }) => bidder !== bids[0].bidder),
    }),
    noteSignature: assign({ msspTransId: ({ event }) => event.output.msspTransId }),
    // An effect: carried out at least once; `effect.id` is the same each time.
    call: ({ context: { lot, bids }, effect }, words) =>
      console.log(`lot ${lot}: CHF ${bids[0].francs} ${words} [${effect.id}]`),
  },
  guards: {
    isHigher: ({ context: { bids, least }, event }) =>
      event.francs > (bids[0]?.francs ?? least - 1),
    hasBid: ({ context }) => context.bids.length > 0,
    hasOther: ({ context: { bids } }) => bids.some(({ bidder }) => bidder !== bids[0].bidder),
    isSigned: ({ event }) => event.output.kind === 'signed',
  },
  delays: {
    quiet: ({ context }) => context.quietSeconds * 1000,
    noBid: ({ context }) => context.noBidSeconds * 1000,
  },
}).createMachine({
  id: 'auction',
  context: ({ input }) => ({ ...input, bids: [] }),
  initial: 'bidding',
  states: {
    bidding: {
      initial: 'waiting',
      on: {
        BID: { guard: 'isHigher', target: '.led', actions: ['take', call('is bid')] },
        HAMMER: { guard: 'hasBid', target: 'awarding' },
        PAUSE: 'paused',
      },
      states: {
        waiting: { after: { noBid: '#auction.unsold' } },
        led: { after: { quiet: { target: 'once', actions: call('going once') } } },
        once: { after: { quiet: { target: 'twice', actions: call('going twice') } } },
        twice: { after: { quiet: '#auction.awarding' } },
        last: { type: 'history' },
      },
    },
    // It goes on in the state that it was in, with all of its time.
    paused: { on: { RESUME: 'bidding.last' } },
    awarding: {
      invoke: {
        src: 'sign',
        input: ({ context: { lot, bids } }) => ({
          msisdn: bids[0].bidder,
          text: `Lot ${lot}, CHF ${bids[0].francs}: I buy`,
          timeoutSeconds: 300,
        }),
        onDone: [
          { guard: 'isSigned', target: 'sold', actions: ['noteSignature', call('sold')] },
          { guard: 'hasOther', target: 'awarding', reenter: true, actions: 'passOver' },
          { target: 'unsold', actions: 'passOver' },
        ],
      },
    },
    sold: { type: 'final' },
    unsold: { type: 'final' },
  },
  output: ({ context: { lot, bids, msspTransId } }) => ({ lot, msspTransId, ...bids[0] }),
});

export const auction = defineWorkflow({
  name: 'auction',
  version: 1,
  chart,
  input: z.strictObject({
    lot: z.string().min(1).max(60),
    least: z.int().min(1).default(1),
    quietSeconds: z.number().positive().default(30),
    noBidSeconds: z.number().positive().default(86_400),
  }),
  events: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('BID'),
      bidder: z.string().regex(/^\+[1-9]\d{6,14}$/),
      francs: z.int().min(1),
    }),
    z.strictObject({ type: z.enum(['HAMMER', 'PAUSE', 'RESUME']) }),
  ]),
  publish: ({ lot, bids }) => ({ lot, bids: bids.length, francs: bids[0]?.francs }),
});
