/**
 * A motion that the members of a board vote on with their phones: carried when enough of them have
 * signed, lost when too many refuse, lapsed after the deadline. Each member has a chart of their
 * own. Who is not reached is asked again each hour; who is not able to sign, such as with a blocked
 * PIN, has no vote. Once the vote is decided, the prompts of the others are taken off their phones.
 */
import { defineWorkflow, service } from 'paraph/workflow';
import { assign, enqueueActions, setup } from 'xstate';
import { z } from 'zod';

/**
 * Faults that pass: no answer, no connection, another request on the phone, a service in trouble.
 */
const passing = [208, 209, 406, 900];

const ballot = setup({
  actors: { sign: service.sign },
  actions: { vote: assign({ vote: (_, vote) => vote }) },
  guards: {
    isSigned: ({ event }) => event.output.kind === 'signed',
    isRefused: ({ event }) => event.output.reason === 'USER_CANCEL' && !event.output.takenBack,
    isAbsent: ({ event }) => passing.includes(event.output.code),
  },
  delays: { hour: 3_600_000 },
}).createMachine({
  context: ({ input }) => input,
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        src: 'sign',
        input: ({ context: { msisdn, text } }) => ({ msisdn, text, timeoutSeconds: 300 }),
        onDone: [
          { guard: 'isSigned', target: 'voted', actions: { type: 'vote', params: 'yes' } },
          { guard: 'isRefused', target: 'voted', actions: { type: 'vote', params: 'no' } },
          { guard: 'isAbsent', target: 'absent' },
          { target: 'voted', actions: { type: 'vote', params: 'unable' } },
        ],
      },
    },
    absent: { after: { hour: 'asking' } },
    voted: { type: 'final' },
  },
  output: ({ context }) => context.vote,
});

const votes = ({ votes }, vote) => Object.values(votes).filter((each) => each === vote).length;

const chart = setup({
  actors: { ballot },
  actions: {
    askAll: enqueueActions(({ context: { members, motion }, enqueue }) => {
      for (const [index, msisdn] of members.entries())
        enqueue.spawnChild('ballot', {
          id: `member-${index + 1}`,
          input: { msisdn, text: `Motion ${motion}: I agree` },
        });
    }),
    count: assign({
      votes: ({ context, event }) => ({ ...context.votes, [event.actorId]: event.output }),
    }),
    // An effect: carried out at least once; `effect.id` is the same each time.
    announce: ({ context, effect }, result) =>
      console.log(`motion ${context.motion} is ${result} [${effect.id}]`),
  },
  guards: {
    isCarried: ({ context }) => votes(context, 'yes') >= context.need,
    isLost: ({ context }) =>
      context.members.length - votes(context, 'no') - votes(context, 'unable') < context.need,
  },
  delays: { deadline: ({ context }) => context.hours * 3_600_000 },
}).createMachine({
  context: ({ input }) => ({ ...input, votes: {} }),
  initial: 'open',
  states: {
    open: {
      entry: 'askAll',
      on: { 'xstate.done.actor.*': { actions: 'count' } },
      always: [
        { guard: 'isCarried', target: 'carried' },
        { guard: 'isLost', target: 'lost' },
      ],
      after: { deadline: 'lapsed' },
    },
    carried: { type: 'final', entry: { type: 'announce', params: 'carried' } },
    lost: { type: 'final', entry: { type: 'announce', params: 'lost' } },
    lapsed: { type: 'final', entry: { type: 'announce', params: 'lapsed' } },
  },
  output: ({ context: { motion, votes } }) => ({ motion, votes }),
});

export const boardVote = defineWorkflow({
  name: 'board-vote',
  version: 1,
  chart,
  input: z
    .strictObject({
      motion: z.string().min(1).max(80),
      members: z
        .array(z.string().regex(/^\+[1-9]\d{6,14}$/))
        .min(1)
        .max(30)
        .refine((members) => new Set(members).size === members.length, 'must be different people'),
      need: z.int().min(1),
      hours: z.number().positive().default(72),
    })
    .refine(({ members, need }) => need <= members.length, {
      path: ['need'],
      error: 'must not be more than the members',
    }),
  events: z.never(),
  publish: ({ motion, need, votes }) => ({ motion, need, votes }),
});
