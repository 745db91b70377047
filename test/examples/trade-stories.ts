/** Documents, orders, votes, auctions and payments. */
import type { Json } from '../support/product.ts';
import { absentee, isIn, refuser, type Story, signature, signer } from './story.ts';

const documents = (): readonly Story[] => {
  const [approver, other] = [signer(), refuser()];
  const signing = {
    when: (view: Json) => view.state?.open === 'waiting',
    send: { type: 'APPROVE' },
  };
  return [
    {
      title: 'a document is approved and filed',
      of: 'document-approval',
      input: { document: 'D-1', approver },
      events: [signing],
      ends: {
        status: 'completed',
        state: 'filed',
        output: { document: 'D-1', msspTransId: signature },
      },
      did: ['file D-1'],
      signed: [[approver, 'Document D-1: I approve']],
    },
    {
      title: 'a document is rejected after its approver has not signed',
      of: 'document-approval',
      input: { document: 'D-2', approver: other },
      events: [
        signing,
        {
          when: (view) => view.state?.open === 'waiting' && view.context.reason === 'USER_CANCEL',
          send: { type: 'REJECT', reason: 'Too long' },
        },
      ],
      ends: {
        status: 'completed',
        state: 'rejected',
        output: { document: 'D-2', reason: 'Too long' },
      },
      unsigned: [[other, 'Document D-2: I approve']],
    },
  ];
};

const orders = (): readonly Story[] => {
  const [buyer, other, third] = [signer(), refuser(), signer()];
  return [
    {
      title: 'an order is shipped',
      of: 'order',
      input: { order: 'O-1', francs: 120, buyer },
      events: [{ when: isIn('packing'), send: { type: 'PACKED' } }],
      ends: {
        status: 'completed',
        state: 'shipped',
        output: { order: 'O-1', msspTransId: signature },
      },
      did: ['reserve O-1', 'charge O-1', 'ship O-1'],
      signed: [[buyer, 'Order O-1, CHF 120: I buy']],
    },
    {
      title: 'an order that the buyer refuses gives its goods back',
      of: 'order',
      input: { order: 'O-2', francs: 80, buyer: other },
      ends: { status: 'failed', state: 'failed', output: { reason: 'USER_CANCEL' } },
      did: ['reserve O-2', 'undo reserve O-2'],
      unsigned: [[other, 'Order O-2, CHF 80: I buy']],
    },
    {
      title: 'an order that is cancelled is undone in reverse order',
      of: 'order',
      input: { order: 'O-3', francs: 50, buyer: third },
      events: [{ when: isIn('packing'), send: { type: 'CANCEL' } }],
      ends: { status: 'cancelled', state: 'cancelled', output: { reason: 'CANCELLED' } },
      did: ['reserve O-3', 'charge O-3', 'undo charge O-3', 'undo reserve O-3'],
      signed: [[third, 'Order O-3, CHF 50: I buy']],
    },
  ];
};

const votes = (): readonly Story[] => {
  const vote = (
    motion: string,
    yes: number,
    no: number,
    absent: number,
    need: number,
    hours = 72,
  ) => {
    const of = (count: number, next: () => string) => Array.from({ length: count }, next);
    const [signing, refusing, missing] = [of(yes, signer), of(no, refuser), of(absent, absentee)];
    const text = `Motion ${motion}: I agree`;
    const asked = (list: readonly string[]) => list.map((msisdn) => [msisdn, text] as const);
    return {
      of: 'board-vote',
      input: { motion, members: [...missing, ...refusing, ...signing], need, hours },
      signed: asked(signing),
      unsigned: asked([...refusing, ...missing]),
    };
  };
  const by =
    (...members: readonly number[]) =>
    (value: string) =>
      Object.fromEntries(members.map((member) => [`member-${member}`, value]));
  return [
    {
      title: 'a motion is carried by those who sign, and the others are asked no longer',
      ...vote('M-1', 3, 1, 2, 3),
      ends: { status: 'completed', state: 'carried', output: { votes: by(4, 5, 6)('yes') } },
      did: ['motion M-1 is carried'],
    },
    {
      title: 'a motion is lost when too many refuse',
      ...vote('M-2', 0, 2, 1, 2),
      ends: { status: 'completed', state: 'lost', output: { votes: by(2, 3)('no') } },
      did: ['motion M-2 is lost'],
    },
    {
      title: 'a motion lapses when nobody answers in time',
      ...vote('M-3', 0, 0, 2, 2, 2 / 3600),
      ends: { status: 'completed', state: 'lapsed', output: { votes: {} } },
      did: ['motion M-3 is lapsed'],
    },
  ];
};

const auctions = (): readonly Story[] => {
  const [buyer, leaver, lone] = [signer(), refuser(), signer()];
  const bid = (bidder: string, francs: number) => ({ type: 'BID', bidder, francs });
  const isLed = (francs: number) => (view: Json) =>
    view.state?.bidding === 'led' && view.context.francs === francs;
  const isWaiting = (view: Json): boolean => view.state?.bidding === 'waiting';
  return [
    {
      title:
        'an auction goes on after a pause, and the next best bidder buys where the best one refuses',
      of: 'auction',
      input: { lot: 'L-1', least: 10, quietSeconds: 3600 },
      events: [
        { when: isWaiting, send: bid(leaver, 5), refused: true },
        { when: isWaiting, send: bid(buyer, 10) },
        { when: isLed(10), send: bid(leaver, 12) },
        { when: isLed(12), send: bid(buyer, 12), refused: true },
        { when: isLed(12), send: { type: 'PAUSE' } },
        { when: isIn('paused'), send: bid(buyer, 14), refused: true },
        { when: isIn('paused'), send: { type: 'RESUME' } },
        { when: isLed(12), send: { type: 'HAMMER' } },
      ],
      ends: {
        status: 'completed',
        state: 'sold',
        output: { lot: 'L-1', bidder: buyer, francs: 10 },
      },
      did: ['lot L-1: CHF 10 is bid', 'lot L-1: CHF 12 is bid', 'lot L-1: CHF 10 sold'],
      signed: [[buyer, 'Lot L-1, CHF 10: I buy']],
      unsigned: [[leaver, 'Lot L-1, CHF 12: I buy']],
    },
    {
      title: 'the hammer of an auction falls after it was going twice',
      of: 'auction',
      input: { lot: 'L-2', quietSeconds: 0.3 },
      events: [{ when: isWaiting, send: bid(lone, 7) }],
      ends: { status: 'completed', state: 'sold', output: { lot: 'L-2', bidder: lone, francs: 7 } },
      did: ['is bid', 'going once', 'going twice', 'sold'].map(
        (words) => `lot L-2: CHF 7 ${words}`,
      ),
      signed: [[lone, 'Lot L-2, CHF 7: I buy']],
    },
    {
      title: 'an auction without a bid ends',
      of: 'auction',
      input: { lot: 'L-3', noBidSeconds: 0.5 },
      ends: { status: 'completed', state: 'unsold', output: { lot: 'L-3' } },
    },
  ];
};

const payments = (url: string): readonly Story[] => {
  const [treasurer, director] = [signer(), signer()];
  const run = (name: string, francs: number) => ({
    of: 'payment-run',
    input: { run: name, francs, treasurer, director, bank: url, pollSeconds: 0.3 },
    called: ['pay', 'status', 'status'].map((action) => ({ action, run: name, francs })),
    signed: (francs > 10_000 ? [treasurer, director] : [treasurer]).map(
      (msisdn) => [msisdn, `Payment run ${name}, CHF ${francs}: I release it`] as const,
    ),
  });
  return [
    {
      title: 'a payment run is booked when the bank says so',
      ...run('S-1', 9000),
      ends: { status: 'completed', state: 'booked', output: { polls: 2, signatures: [signature] } },
    },
    {
      title: 'a large payment run needs two signatures',
      ...run('S-2', 90_000),
      ends: {
        status: 'completed',
        state: 'booked',
        output: { signatures: [signature, signature] },
      },
    },
  ];
};

/** @param url Of a bank that has booked a run when it is asked for the second time. */
export const tradeStories = (url: string): readonly Story[] => [
  ...documents(),
  ...orders(),
  ...votes(),
  ...auctions(),
  ...payments(url),
];
