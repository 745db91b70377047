/**
 * An order: goods are reserved, the buyer signs, the card is charged, and the parcel is packed and
 * shipped. When a step fails, the buyer refuses or the shop cancels, what was done is undone in
 * reverse order. While a step runs, a cancel is refused.
 */
import { activity, defineWorkflow, service } from 'paraph/workflow';
import { and, assign, setup } from 'xstate';
import { z } from 'zod';

// These print what they do. Real ones call the shop, with `token` as the idempotency key.
const step = (name) =>
  activity(async ({ input: order, token }) => console.log(`${name} ${order} [${token}]`), {
    attempts: 5,
    timeoutMs: 10_000,
  });
const undo = activity(
  async ({ input: { order, done }, token }) =>
    console.log(`undo ${done.at(-1)} ${order} [${token}]`),
  { attempts: 1000, maxBackoffMs: 600_000, timeoutMs: 10_000 },
);

/** A step is noted before it is tried: one that has failed may have been done. */
const doing = (name, next) => ({
  entry: { type: 'note', params: name },
  invoke: {
    src: name,
    input: ({ context }) => context.order,
    onDone: next,
    onError: { target: 'unwinding', actions: { type: 'fail', params: `NO_${name.toUpperCase()}` } },
  },
});
const cancel = { target: 'unwinding', actions: { type: 'fail', params: 'CANCELLED' } };

const chart = setup({
  actors: {
    sign: service.sign,
    reserve: step('reserve'),
    charge: step('charge'),
    ship: step('ship'),
    undo,
  },
  actions: {
    note: assign({ done: ({ context }, name) => [...context.done, name] }),
    noteUndone: assign({ done: ({ context }) => context.done.slice(0, -1) }),
    noteSignature: assign({ msspTransId: ({ event }) => event.output.msspTransId }),
    fail: assign({ reason: (_, reason) => reason }),
  },
  guards: {
    isSigned: ({ event }) => event.output.kind === 'signed',
    isUndone: ({ context }) => context.done.length === 0,
    isCancelled: ({ context }) => context.reason === 'CANCELLED',
  },
  delays: { threeDays: 3 * 86_400_000 },
}).createMachine({
  context: ({ input }) => ({ ...input, done: [] }),
  initial: 'reserving',
  states: {
    reserving: doing('reserve', 'signing'),
    signing: {
      on: { CANCEL: cancel },
      invoke: {
        src: 'sign',
        input: ({ context: { buyer, order, francs } }) => ({
          msisdn: buyer,
          text: `Order ${order}, CHF ${francs}: I buy`,
        }),
        onDone: [
          { guard: 'isSigned', target: 'charging', actions: 'noteSignature' },
          {
            target: 'unwinding',
            actions: { type: 'fail', params: ({ event }) => event.output.reason },
          },
        ],
      },
    },
    charging: doing('charge', 'packing'),
    packing: {
      on: { PACKED: 'shipping', CANCEL: cancel },
      after: {
        threeDays: { target: 'unwinding', actions: { type: 'fail', params: 'NOT_PACKED' } },
      },
    },
    shipping: doing('ship', 'shipped'),
    // While something is left to undo, the last of it is undone.
    unwinding: {
      always: [
        { guard: and(['isUndone', 'isCancelled']), target: 'cancelled' },
        { guard: 'isUndone', target: 'failed' },
        { target: 'undoing' },
      ],
    },
    undoing: {
      invoke: {
        src: 'undo',
        input: ({ context }) => context,
        onDone: { target: 'unwinding', actions: 'noteUndone' },
      },
    },
    shipped: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
  },
  output: ({ context: { order, msspTransId, reason } }) => ({ order, msspTransId, reason }),
});

export const order = defineWorkflow({
  name: 'order',
  version: 1,
  chart,
  input: z.strictObject({
    order: z.string().min(1).max(60),
    francs: z.number().positive(),
    buyer: z.string().regex(/^\+[1-9]\d{6,14}$/),
  }),
  events: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('PACKED') }),
    z.strictObject({ type: z.literal('CANCEL'), by: z.string(), reason: z.string().optional() }),
  ]),
  publish: ({ done, reason }) => ({ done, reason }),
});
