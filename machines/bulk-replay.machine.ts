/**
 * Life of one bulk: an order to replay many failed transactions, or to cancel many open ones.
 *
 * running   The list is worked through at the ordered rate. STOP ends that.
 * stopping  Nothing more is begun. Replays that still run are waited for.
 * done      The whole list was worked through, and each replay has ended.
 * stopped   Part of the list was left.
 *
 * The chart holds the order and the final counts. The list and the state of each item lie beside it
 * (src/operators/bulk-store.ts), because every turn writes the record, and a list has megabytes.
 */
import { assign, fromPromise, setup } from 'xstate';
import { z } from 'zod';

/** Raise it with each change of the chart. */
export const bulkReplayVersion = 1;

/** The order. The list lies elsewhere, under the id. */
export const bulkOrderSchema = z.object({
  /** Absent: replay. */
  kind: z.enum(['replay', 'cancel']).optional(),
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
    /** Not begun. */
    waiting: z.number(),
    /** Replayed and open. */
    inFlight: z.number(),
    signed: z.number(),
    /** Failed again, by fault code. */
    failed: z.record(z.string(), z.number()),
    /** Of a bulk of cancels. */
    cancelled: z.number().default(0),
    /** Replayed by somebody else; of a bulk of cancels: ended or answered before. */
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
  /** Begins no further replays. */
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
    /** After a crash it continues from what is stored beside the chart. */
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
