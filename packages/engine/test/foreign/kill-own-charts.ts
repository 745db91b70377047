/** This project's own ordinary charts, for kills.ts: those of charts.ts and of the fault test. */
import type { AnyEventObject, AnyStateMachine } from 'xstate';
import { charts as faultCharts } from '../../../../test/faults/loads/own-charts.workflow.mjs';
import { chartsIn } from '../charts.ts';

const own = chartsIn({ did: async () => undefined, quietMs: 1500 }) as unknown as Readonly<
  Record<'order' | 'loan' | 'auction', AnyStateMachine>
>;
/** Marks are for the fault test. */
const actions = { tell: () => undefined };
const rounds = faultCharts.rounds.provide({ actions });
const family = faultCharts.family.provide({ actions, actors: { rounds } });
const till = faultCharts.till.provide({ actions });
const bid = (amount: number): AnyEventObject => ({ type: 'BID', amount });
const named = { marks: 'http://localhost/', name: 'it' };
const part = (n: number) => ({ n, left: 3, pauseMs: 200 * n });

export const killed = {
  order: { machine: own.order, input: { order: 'a' }, events: [] },
  'order-x': { machine: own.order, input: { order: 'ax' }, events: [] },
  loan: { machine: own.loan, input: { order: 'x' }, events: [{ type: 'DECIDE', yes: true }] },
  auction: {
    machine: own.auction,
    input: { order: 'a' },
    events: [bid(10), bid(20), { type: 'PAUSE' }, { type: 'RESUME' }],
  },
  rounds: { machine: rounds, input: { ...named, ...part(2) }, events: [] },
  family: {
    machine: family,
    input: { ...named, parts: { a: part(1), b: part(2), c: part(3) } },
    events: [],
  },
  till: {
    machine: till,
    input: named,
    events: [{ type: 'ADD', n: 3 }, { type: 'ADD', n: 4 }, { type: 'CLOSE' }],
  },
};
