/**
 * Life of one bulk: an order for many items of a list, for example to replay failed transactions, or
 * to send an event to open workflows.
 *
 * running   The items of the list are begun at the ordered rate. STOP ends this.
 * stopping  No more items are begun. Replays of transactions that still run are waited for.
 * done      All items were begun, and each replay has ended.
 * stopped   Some items of the list were not begun.
 *
 * The chart holds the order and the final counts. The list and the state of each item are stored
 * beside it (src/console/operators/bulk-store.ts), because every turn writes the record, and a list has
 * megabytes.
 */
import { assign, fromPromise, setup } from 'xstate';
import { z } from 'zod';

/** Raise it with each change of the chart. */
export const bulkReplayVersion = 1;

/** The order. The list is stored elsewhere, under the id. */
export const bulkOrderSchema = z.object({
  /** What is done to each item: `cancel`, or what else its list has. Absent for a replay. */
  kind: z.string().optional(),
  /** The name of the list that the items are from. Absent for transactions. */
  of: z.string().optional(),
  /** The event that is sent to each item, for the kind `send`. */
  event: z.looseObject({ type: z.string() }).optional(),
  by: z.string(),
  reason: z.string(),
  perSecond: z.number(),
  /** Milliseconds since the epoch. */
  createdAt: z.number(),
  /** The number of items in the list. */
  total: z.number(),
});
export type BulkOrder = Readonly<z.infer<typeof bulkOrderSchema>> & { readonly id: string };

export const bulkEndSchema = z.object({
  counts: z.object({
    /** The number of items that were not begun. */
    waiting: z.number(),
    /** The number of items that were replayed and are open. */
    inFlight: z.number(),
    signed: z.number(),
    /** The numbers of items that failed again, by fault code. */
    failed: z.record(z.string(), z.number()),
    /** The number of items that a bulk of cancels has cancelled. */
    cancelled: z.number().default(0),
    /** Items for which the order was carried out, and whose end is not waited for. */
    done: z.number().default(0),
    /** Items that another order has replayed; for cancels: that had ended or were answered. */
    changed: z.number(),
    /** The number of items whose retention was over. */
    gone: z.number(),
    /**
     * Items that are not replayed: logins, and transactions of workflows. Of workflows: those whose
     * chart has refused.
     */
    refused: z.number(),
  }),
  /** Milliseconds since the epoch. */
  endedAt: z.number(),
});
export type BulkEnd = Readonly<z.infer<typeof bulkEndSchema>>;

export interface BulkWork {
  readonly order: BulkOrder;
  /** Whether no further items are to be begun. */
  readonly stopping: boolean;
}

export interface BulkContext {
  readonly order: BulkOrder;
  readonly end?: BulkEnd;
}

const given = ({ event }: { readonly event: { readonly output: BulkEnd } }): BulkEnd =>
  event.output;
const note = { type: 'note', params: given } as const;
const onDone = [
  { guard: { type: 'isComplete', params: given }, target: 'done', actions: note },
  { target: 'stopped', actions: note },
] as const;

export const bulkReplayMachine = setup({
  types: {
    context: {} as BulkContext,
    events: {} as { readonly type: 'STOP' },
    input: {} as BulkOrder,
  },
  actors: {
    /**
     * Works on the list. After a crash it continues with the data that is stored beside the chart.
     */
    workOff: fromPromise<BulkEnd, BulkWork>(() =>
      Promise.reject(new Error('The activity workOff is not provided')),
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
        onDone,
      },
    },
    stopping: {
      invoke: {
        src: 'workOff',
        input: ({ context: { order } }) => ({ order, stopping: true }),
        onDone,
      },
    },
    done: { type: 'final' },
    stopped: { type: 'final' },
  },
});
