/**
 * Salaries: the treasurer signs the sum, the run is handed to the bank, and the bank is asked until
 * it has booked or rejected it. Above a limit somebody else signs, too. A run that the bank does
 * not settle in time goes to a person, who decides.
 */
import { defineWorkflow, service } from 'paraph/workflow';
import { assign, setup } from 'xstate';
import { z } from 'zod';

const asking = (who, onSigned) => ({
  invoke: {
    src: 'sign',
    input: ({ context: { run, francs, ...people } }) => ({
      msisdn: people[who],
      text: `Payment run ${run}, CHF ${francs}: I release it`,
      timeoutSeconds: 300,
    }),
    onDone: [
      ...onSigned.map((each) => ({ actions: 'noteSignature', ...each })),
      { target: 'refused', actions: { type: 'fail', params: ({ event }) => event.output.reason } },
    ],
  },
});
const calling = (action, onDone) => ({
  invoke: {
    src: 'bank',
    input: ({ context: { bank, run, francs } }) => ({ url: bank, body: { action, run, francs } }),
    onDone,
  },
});
const rejected = {
  guard: 'isRejected',
  target: '#failed',
  actions: { type: 'fail', params: 'REJECTED' },
};
const bankSays =
  (state) =>
  ({ event }) =>
    event.output.body?.state === state;

const chart = setup({
  actors: { sign: service.sign, bank: service.callWebhook },
  actions: {
    noteSignature: assign({
      signatures: ({ context, event }) => [...context.signatures, event.output.msspTransId],
    }),
    countPoll: assign({ polls: ({ context }) => context.polls + 1 }),
    fail: assign({ why: (_, why) => why }),
    // An effect: carried out at least once; `effect.id` is the same each time.
    alert: ({ context: { run }, effect }) =>
      console.log(`run ${run} is not settled [${effect.id}]`),
  },
  guards: {
    isSigned: ({ event }) => event.output.kind === 'signed',
    isLarge: ({ context, event }) =>
      event.output.kind === 'signed' && context.francs > context.limit,
    isBooked: bankSays('booked'),
    isRejected: bankSays('rejected'),
    isTooLong: ({ context }) => context.polls >= 20,
  },
  delays: { poll: ({ context }) => context.pollSeconds * 1000 },
}).createMachine({
  context: ({ input }) => ({ ...input, signatures: [], polls: 0 }),
  initial: 'treasurer',
  states: {
    treasurer: asking('treasurer', [
      { guard: 'isLarge', target: 'director' },
      { guard: 'isSigned', target: 'settling' },
    ]),
    director: asking('director', [{ guard: 'isSigned', target: 'settling' }]),
    settling: {
      on: { BOOKED: 'booked' },
      initial: 'handingOver',
      states: {
        // A call without an answer may have reached the bank, so it is asked then, too.
        handingOver: calling('pay', [rejected, { target: 'waiting' }]),
        waiting: {
          after: { poll: [{ guard: 'isTooLong', target: '#unsettled' }, { target: 'polling' }] },
        },
        polling: {
          entry: 'countPoll',
          ...calling('status', [
            { guard: 'isBooked', target: '#booked' },
            rejected,
            { target: 'waiting' },
          ]),
        },
      },
    },
    unsettled: {
      id: 'unsettled',
      entry: 'alert',
      on: {
        BOOKED: 'booked',
        GIVE_UP: { target: 'failed', actions: { type: 'fail', params: 'UNSETTLED' } },
      },
    },
    booked: { id: 'booked', type: 'final' },
    failed: { id: 'failed', type: 'final' },
    refused: { type: 'final' },
  },
  output: ({ context: { run, signatures, polls, why } }) => ({ run, signatures, polls, why }),
});

const number = z.string().regex(/^\+[1-9]\d{6,14}$/);

export const paymentRun = defineWorkflow({
  name: 'payment-run',
  version: 1,
  chart,
  input: z
    .strictObject({
      run: z.string().min(1).max(60),
      francs: z.int().min(1),
      limit: z.int().min(0).default(10_000),
      treasurer: number,
      director: number,
      bank: z.url({ protocol: /^https?$/ }),
      pollSeconds: z.number().positive().default(60),
    })
    .refine(({ treasurer, director }) => treasurer !== director, {
      path: ['director'],
      error: 'must not be the treasurer',
    }),
  events: z.strictObject({ type: z.enum(['BOOKED', 'GIVE_UP']) }),
  publish: ({ run, signatures, polls }) => ({ run, signed: signatures.length, polls }),
});
