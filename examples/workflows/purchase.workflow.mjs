/**
 * A purchase that climbs: each level may approve up to its limit, so the request goes from one to
 * the next until a signature covers the sum. A level that does not sign in its time is passed over,
 * and the requester is told. A refusal ends it.
 */
import { activity, defineWorkflow, service } from 'paraph/workflow';
import { assign, setup } from 'xstate';
import { z } from 'zod';

const now = ({ levels, level }) => levels[level];

const chart = setup({
  actors: {
    sign: service.sign,
    // A real one calls the supplier, with `token` as the idempotency key.
    order: activity(
      async ({ input: { purchase, francs }, token }) => {
        console.log(`order ${purchase} for CHF ${francs} [${token}]`);
      },
      { attempts: 10, timeoutMs: 10_000 },
    ),
  },
  actions: {
    climb: assign({ level: ({ context }) => context.level + 1 }),
    noteSignature: assign({
      signed: ({ context, event }) => [
        ...context.signed,
        { name: now(context).name, msspTransId: event.output.msspTransId },
      ],
      covered: ({ context }) => now(context).limit,
    }),
    // An effect: carried out at least once; `effect.id` is the same each time.
    tellRequester: ({ context, effect }) =>
      console.log(`${context.purchase}: ${now(context).name} has not answered [${effect.id}]`),
  },
  guards: {
    isCovered: ({ context }) => context.covered >= context.francs,
    isOver: ({ context }) => now(context) === undefined,
    isSigned: ({ event }) => event.output.kind === 'signed',
    isRefused: ({ event }) => event.output.reason === 'USER_CANCEL' && !event.output.takenBack,
  },
  delays: { patience: ({ context }) => now(context).hours * 3_600_000, tenMinutes: 600_000 },
}).createMachine({
  context: ({ input }) => ({ ...input, level: 0, covered: 0, signed: [] }),
  initial: 'choosing',
  states: {
    choosing: {
      id: 'choosing',
      always: [
        { guard: 'isCovered', target: 'ordering' },
        { guard: 'isOver', target: 'unapproved' },
        { target: 'level' },
      ],
    },
    level: {
      initial: 'asking',
      on: { WITHDRAW: 'withdrawn' },
      after: { patience: { target: 'choosing', actions: ['tellRequester', 'climb'] } },
      states: {
        asking: {
          invoke: {
            src: 'sign',
            input: ({ context }) => ({
              msisdn: now(context).msisdn,
              text: `Purchase ${context.purchase}, CHF ${context.francs}: I approve`,
              timeoutSeconds: 300,
            }),
            onDone: [
              { guard: 'isSigned', target: '#choosing', actions: ['noteSignature', 'climb'] },
              { guard: 'isRefused', target: '#refused' },
              { target: 'unreached' },
            ],
          },
        },
        unreached: { after: { tenMinutes: 'asking' } },
      },
    },
    ordering: {
      invoke: {
        src: 'order',
        input: ({ context }) => context,
        onDone: 'ordered',
        onError: 'failed',
      },
    },
    ordered: { type: 'final' },
    refused: { id: 'refused', type: 'final' },
    withdrawn: { type: 'final' },
    unapproved: { type: 'final' },
    // The job fails. When it is replayed, it orders again.
    failed: { meta: { job: 'failed' }, on: { REPLAY: 'ordering' } },
  },
  output: ({ context: { purchase, signed } }) => ({ purchase, signed }),
});

export const purchase = defineWorkflow({
  name: 'purchase',
  version: 1,
  chart,
  input: z.strictObject({
    purchase: z.string().min(1).max(60),
    francs: z.int().min(1),
    levels: z
      .array(
        z.strictObject({
          name: z.string().min(1).max(60),
          msisdn: z.string().regex(/^\+[1-9]\d{6,14}$/),
          limit: z.int().min(0),
          hours: z.number().positive().default(24),
        }),
      )
      .min(1)
      .max(10),
  }),
  events: z.strictObject({ type: z.literal('WITHDRAW') }),
  publish: ({ purchase, levels, level, covered }) => ({
    purchase,
    level: levels[level]?.name,
    covered,
  }),
  reasonOf: () => 'The supplier could not be reached',
});
