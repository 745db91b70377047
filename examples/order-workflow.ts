/**
 * An order as a workflow of one's own: goods are reserved, a person signs on the phone, and then
 * the goods are shipped or set free.
 *
 * The chart is an ordinary XState chart. It lives in Redis between its steps: this program may be
 * killed anywhere and started again, and any number of processes may run it.
 */
import { resolve } from 'node:path';
import { createSignatureQueue, SignatureFailedError } from 'paraph/queue';
import { activity, defineWorkflow, openWorkflows } from 'paraph/workflow';
import { assign, setup } from 'xstate';
import { z } from 'zod';

const socket = resolve('.paraph/redis/redis.sock');
const address = process.env.REDIS_URL ?? socket;
const redisUrl = address.startsWith('/') ? `unix:${address}` : address;
const signatures = createSignatureQueue({
  redisUrl,
  prefix: process.env.PARAPH_QUEUE_PREFIX ?? 'paraph',
  apId: 'mid://shop.example.ch',
});

const orderSchema = z.object({
  number: z.string(),
  msisdn: z.string(),
  placedAt: z.iso.datetime(),
});
type Order = z.infer<typeof orderSchema>;

const chart = setup({
  types: {
    context: {} as { order: Order; end: string },
    input: {} as Order,
    events: {} as { type: 'CANCEL' },
  },
  actors: {
    reserve: activity<Order, void>(async () => undefined, { attempts: 5, timeoutMs: 10_000 }),
    // Tried again after a crash it joins the request that is open, so nobody is asked twice.
    sign: activity<Order, { isSigned: boolean; said: string }>(
      async ({ input: { number, msisdn, placedAt } }) => {
        const request = {
          msisdn,
          text: `Example Shop: confirm order ${number}?`,
          apTransId: `order.${number}`,
          instant: new Date(placedAt),
        };
        const handle = await signatures.enqueue(request, { deduplicate: 'ap-trans-id' });
        try {
          const { profile } = await handle.result({ timeoutMs: 90_000 });
          return { isSigned: true, said: `signed: ${profile}` };
        } catch (error) {
          // Expected, so it is a value: what is thrown is told to `onError`.
          if (error instanceof SignatureFailedError)
            return { isSigned: false, said: error.message };
          throw error;
        }
      },
    ),
    ship: activity<Order, void>(async () => undefined, { attempts: 5 }),
    release: activity<Order, void>(async () => undefined, { attempts: 5 }),
  },
}).createMachine({
  id: 'order',
  context: ({ input }) => ({ order: input, end: '' }),
  initial: 'reserving',
  states: {
    reserving: {
      invoke: {
        src: 'reserve',
        input: ({ context }) => context.order,
        onDone: 'signing',
        onError: 'refused',
      },
    },
    signing: {
      invoke: {
        src: 'sign',
        input: ({ context }) => context.order,
        onDone: [
          {
            guard: ({ event }) => event.output.isSigned,
            target: 'shipping',
            actions: assign({ end: ({ event }) => event.output.said }),
          },
          { target: 'releasing', actions: assign({ end: ({ event }) => event.output.said }) },
        ],
        onError: {
          target: 'releasing',
          actions: assign({ end: ({ event }) => (event.error as Error).message }),
        },
      },
      on: { CANCEL: { target: 'releasing', actions: assign({ end: 'cancelled' }) } },
      after: { 86400000: 'releasing' },
    },
    shipping: { invoke: { src: 'ship', input: ({ context }) => context.order, onDone: 'shipped' } },
    releasing: {
      invoke: { src: 'release', input: ({ context }) => context.order, onDone: 'refused' },
    },
    shipped: { type: 'final' },
    refused: { type: 'final' },
  },
  output: ({ context }) => context.end,
});

const order = defineWorkflow({
  name: 'order',
  version: 1,
  chart,
  input: orderSchema,
  events: z.object({ type: z.literal('CANCEL') }),
});

const workflows = openWorkflows({ redisUrl, onError: console.error });
await workflows.work({ workflows: [order] });
const orders = workflows.of(order);

const run = Date.now().toString(36);
for (const [name, msisdn] of [
  ['first', '+41700092501'],
  ['second', '+41000092401'],
] as const) {
  const id = `order-${run}-${name}`;
  await orders.start(id, { number: `${run}.${name}`, msisdn, placedAt: new Date().toISOString() });
  const { snapshot } = await orders.ended(id);
  console.log(`${name}: ${snapshot?.value}, ${snapshot?.output}`);
}
await workflows.close();
await signatures.close();
