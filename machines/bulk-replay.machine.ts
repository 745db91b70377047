/**
 * Life of one bulk replay: an order to run many failed transactions again.
 *
 * running   The list is worked off at its rate. STOP ends that.
 * stopping  Nothing more is replayed; what has been is waited for.
 * done      All of the list was replayed, and it is known how each has ended.
 * stopped   Some of the list was not replayed.
 *
 * The chart holds the order and, at the end, how many ended how. The list, and what has become of each of its items, lies beside
 * it (src/operators/bulk-store.ts): some megabytes do not belong into a record that every turn writes.
 */
import { assign, fromPromise, setup } from 'xstate';
import { z } from 'zod';

/** Raise it with each change of the chart. */
export const bulkReplayVersion = 1;

/** What is ordered; the list lies elsewhere, under the id. */
export const bulkOrderSchema = z.object({
  by: z.string(),
  reason: z.string(),
  perSecond: z.number(),
  /** Milliseconds since the epoch. */
  createdAt: z.number(),
  /** Items of the list. */
  total: z.number(),
});
export type BulkOrder = Readonly<z.infer<typeof bulkOrderSchema>> & { readonly id: string };

export const bulkEndSchema = z.object({
  counts: z.object({
    /** Not replayed. */
    waiting: z.number(),
    /** Replayed and open. */
    inFlight: z.number(),
    signed: z.number(),
    /** Failed again, by fault code. */
    failed: z.record(z.string(), z.number()),
    /** Somebody else replayed them. */
    changed: z.number(),
    /** Their retention was over. */
    gone: z.number(),
    /** Logins, which are not replayed. */
    refused: z.number(),
  }),
  /** Milliseconds since the epoch. */
  endedAt: z.number(),
});
export type BulkEnd = Readonly<z.infer<typeof bulkEndSchema>>;

export interface BulkWork {
  readonly order: BulkOrder;
  /** Nothing that has not been begun is begun. */
  readonly stopping: boolean;
}

export interface BulkContext {
  readonly order: BulkOrder;
  readonly end?: BulkEnd;
}

export const bulkReplayMachine = setup({
  types: {
    context: {} as BulkContext,
    events: {} as { readonly type: 'STOP' },
    input: {} as BulkOrder,
  },
  actors: {
    /** Cut off anywhere, it goes on from what is stored beside the chart. */
    workOff: fromPromise<BulkEnd, BulkWork>(() =>
      Promise.reject(new Error('No way to work it off is provided')),
    ),
  },
  actions: { note: assign((_, end: BulkEnd) => ({ end })) },
  guards: { isComplete: (_, { counts }: BulkEnd) => counts.waiting === 0 },
}).createMachine({
  id: 'bulk-replay',
  initial: 'running',
  context: ({ input }) => ({ order: input }),
  states: {
    running: {
      on: { STOP: 'stopping' },
      invoke: {
        src: 'workOff',
        input: ({ context: { order } }) => ({ order, stopping: false }),
        onDone: [
          {
            guard: { type: 'isComplete', params: ({ event }) => event.output },
            target: 'done',
            actions: { type: 'note', params: ({ event }) => event.output },
          },
          { target: 'stopped', actions: { type: 'note', params: ({ event }) => event.output } },
        ],
      },
    },
    stopping: {
      invoke: {
        src: 'workOff',
        input: ({ context: { order } }) => ({ order, stopping: true }),
        onDone: [
          {
            guard: { type: 'isComplete', params: ({ event }) => event.output },
            target: 'done',
            actions: { type: 'note', params: ({ event }) => event.output },
          },
          { target: 'stopped', actions: { type: 'note', params: ({ event }) => event.output } },
        ],
      },
    },
    done: { type: 'final' },
    stopped: { type: 'final' },
  },
});
