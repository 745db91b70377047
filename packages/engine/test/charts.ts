/**
 * Ordinary charts, as people publish them for XState: nothing in them knows of the engine.
 *
 * Their activities and effects note what they do in `world`, so that whoever runs them can compare.
 */
import { assign, fromPromise, sendParent, setup } from 'xstate';

export interface World {
  /** Something was done in the world outside: at least once for each name. */
  did(name: string): Promise<void>;
  /** How long an auction stays open after a bid. */
  readonly quietMs: number;
}

type Call = { readonly order: string };

export const chartsIn = (world: World) => {
  const act = (name: string, fails?: (order: string) => boolean) =>
    fromPromise(async ({ input }: { input: Call }) => {
      await world.did(`${input.order}:${name}`);
      if (fails?.(input.order)) throw new Error(`${name} is not possible`);
      return `${name} of ${input.order}`;
    });

  /** An order: reserve, charge, ship; what was done is undone when a later step fails. */
  const order = setup({
    types: { context: {} as { order: string; log: string[] }, input: {} as Call },
    actors: {
      reserve: act('reserve'),
      charge: act('charge'),
      ship: act('ship', (name) => name.endsWith('x')),
      release: act('release'),
      refund: act('refund'),
    },
    actions: {
      note: assign({ log: ({ context }, { text }: { text: string }) => [...context.log, text] }),
      tell: ({ context }, { about }: { about: string }) =>
        world.did(`${context.order}:tell ${about}`) as never,
    },
  }).createMachine({
    id: 'order',
    context: ({ input }) => ({ order: input.order, log: [] }),
    initial: 'reserving',
    states: {
      reserving: {
        invoke: {
          src: 'reserve',
          input: ({ context }) => context,
          onDone: { target: 'charging', actions: { type: 'note', params: { text: 'reserved' } } },
          onError: 'rejected',
        },
      },
      charging: {
        invoke: {
          src: 'charge',
          input: ({ context }) => context,
          onDone: { target: 'shipping', actions: { type: 'note', params: { text: 'charged' } } },
          onError: 'releasing',
        },
      },
      shipping: {
        invoke: {
          src: 'ship',
          input: ({ context }) => context,
          onDone: 'shipped',
          onError: 'refunding',
        },
      },
      refunding: {
        invoke: {
          src: 'refund',
          input: ({ context }) => context,
          onDone: { target: 'releasing', actions: { type: 'note', params: { text: 'refunded' } } },
        },
      },
      releasing: {
        invoke: {
          src: 'release',
          input: ({ context }) => context,
          onDone: { target: 'rejected', actions: { type: 'note', params: { text: 'released' } } },
        },
      },
      shipped: { type: 'final', entry: { type: 'tell', params: { about: 'shipped' } } },
      rejected: { type: 'final', entry: { type: 'tell', params: { about: 'rejected' } } },
    },
    output: ({ context }) => context.log,
  });

  /** A loan: two checks at the same time, and a person decides where they do not agree. */
  const loan = setup({
    types: {
      context: {} as { order: string; score?: number; known?: boolean; decision?: string },
      input: {} as Call,
      events: {} as { type: 'DECIDE'; yes: boolean } | { type: 'CANCEL' },
    },
    actors: {
      score: fromPromise(async ({ input }: { input: Call }) => {
        await world.did(`${input.order}:score`);
        return input.order.endsWith('x') ? 300 : 800;
      }),
      know: fromPromise(async ({ input }: { input: Call }) => {
        await world.did(`${input.order}:know`);
        return true;
      }),
    },
    guards: { agree: ({ context }) => (context.score ?? 0) > 500 && context.known === true },
  }).createMachine({
    id: 'loan',
    context: ({ input }) => ({ order: input.order }),
    initial: 'checking',
    on: { CANCEL: '.cancelled' },
    states: {
      checking: {
        type: 'parallel',
        states: {
          score: {
            initial: 'asking',
            states: {
              asking: {
                invoke: {
                  src: 'score',
                  input: ({ context }) => context,
                  onDone: {
                    target: 'asked',
                    actions: assign({ score: ({ event }) => event.output }),
                  },
                },
              },
              asked: { type: 'final' },
            },
          },
          know: {
            initial: 'asking',
            states: {
              asking: {
                invoke: {
                  src: 'know',
                  input: ({ context }) => context,
                  onDone: {
                    target: 'asked',
                    actions: assign({ known: ({ event }) => event.output }),
                  },
                },
              },
              asked: { type: 'final' },
            },
          },
        },
        onDone: [{ guard: 'agree', target: 'granted' }, { target: 'deciding' }],
      },
      deciding: {
        on: {
          DECIDE: [
            {
              guard: ({ event }) => event.yes,
              target: 'granted',
              actions: assign({ decision: 'person' }),
            },
            { target: 'refused', actions: assign({ decision: 'person' }) },
          ],
        },
        after: { 60000: 'refused' },
      },
      granted: { type: 'final' },
      refused: { type: 'final' },
      cancelled: { type: 'final' },
    },
    output: ({ context }) => context,
  });

  /** An auction that ends some time after the last bid. */
  const auction = setup({
    types: {
      context: {} as { order: string; best: number; bids: number },
      input: {} as Call,
      events: {} as { type: 'BID'; amount: number } | { type: 'PAUSE' } | { type: 'RESUME' },
    },
    delays: { quiet: world.quietMs },
    actions: {
      take: assign({
        best: ({ event }) => (event.type === 'BID' ? event.amount : 0),
        bids: ({ context }) => context.bids + 1,
      }),
    },
    guards: { higher: ({ context, event }) => event.type === 'BID' && event.amount > context.best },
  }).createMachine({
    id: 'auction',
    context: ({ input }) => ({ order: input.order, best: 0, bids: 0 }),
    initial: 'open',
    states: {
      open: {
        initial: 'waiting',
        states: {
          waiting: { on: { BID: { guard: 'higher', target: 'led', actions: 'take' } } },
          led: {
            on: { BID: { guard: 'higher', target: 'led', reenter: true, actions: 'take' } },
            after: { quiet: '#auction.closed' },
          },
          last: { type: 'history' },
        },
        on: { PAUSE: 'paused' },
      },
      paused: { on: { RESUME: 'open.last' } },
      closed: { type: 'final' },
    },
    output: ({ context }) => ({ best: context.best, bids: context.bids }),
  });

  /** One approval of a document, by somebody who may ask a question first. */
  const approval = setup({
    types: {
      context: {} as { order: string; who: string },
      input: {} as Call & { who: string },
      events: {} as { type: 'APPROVE' } | { type: 'ASK' } | { type: 'ANSWER' },
    },
    actors: { invite: act('invite') },
  }).createMachine({
    id: 'approval',
    context: ({ input }) => input,
    initial: 'inviting',
    states: {
      inviting: {
        invoke: {
          src: 'invite',
          input: ({ context }) => ({ order: `${context.order}:${context.who}` }),
          onDone: 'waiting',
        },
      },
      waiting: {
        entry: sendParent(({ context }) => ({ type: 'INVITED', who: context.who })),
        on: { APPROVE: 'approved' },
      },
      approved: { type: 'final' },
    },
    output: ({ context }) => context.who,
  });

  /** Two people approve at the same time, each in a flow of their own. */
  const document = setup({
    types: {
      context: {} as { order: string; invited: string[]; approved: string[] },
      input: {} as Call,
      events: {} as { type: 'INVITED'; who: string } | { type: 'ALL' },
    },
    actors: { approval },
    actions: {
      approve: assign({
        approved: ({ context, event }) =>
          [...context.approved, (event as unknown as { output: string }).output].toSorted(),
      }),
      answer: ({ context }, { who }: { who: string }) =>
        world.did(`${context.order}:mail ${who}`) as never,
    },
  }).createMachine({
    id: 'document',
    context: ({ input }) => ({ order: input.order, invited: [], approved: [] }),
    initial: 'approving',
    states: {
      approving: {
        type: 'parallel',
        on: {
          INVITED: {
            actions: [
              assign({
                invited: ({ context, event }) => [...context.invited, event.who].toSorted(),
              }),
              { type: 'answer', params: ({ event }) => ({ who: event.who }) },
            ],
          },
        },
        states: {
          first: {
            initial: 'open',
            states: {
              open: {
                invoke: {
                  id: 'first',
                  src: 'approval',
                  input: ({ context }) => ({ order: context.order, who: 'anna' }),
                  onDone: { target: 'closed', actions: 'approve' },
                },
              },
              closed: { type: 'final' },
            },
          },
          second: {
            initial: 'open',
            states: {
              open: {
                invoke: {
                  id: 'second',
                  src: 'approval',
                  input: ({ context }) => ({ order: context.order, who: 'beat' }),
                  onDone: { target: 'closed', actions: 'approve' },
                },
              },
              closed: { type: 'final' },
            },
          },
        },
        onDone: 'approved',
      },
      approved: { type: 'final' },
    },
    output: ({ context }) => context,
  });

  return { order, loan, auction, document };
};
