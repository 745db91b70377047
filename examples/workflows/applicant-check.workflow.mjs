/**
 * Somebody applies for a loan. A sub-flow, which is a chart of its own, asks a credit bureau while
 * the applicant brings a payslip. Then the application is refused, or an officer signs where it is
 * about much money, and the applicant signs the contract.
 */
import { activity, defineWorkflow, service } from 'paraph/workflow';
import { assign, sendParent, sendTo, setup } from 'xstate';
import { z } from 'zod';

const vetting = setup({
  actors: {
    // A real one asks a bureau, with `token` as the idempotency key.
    askBureau: activity(
      async ({ input: { applicant, francs, income }, token }) => {
        console.log(`score of ${applicant} [${token}]`);
        return Math.min(Math.round((5000 * income) / francs), 1000);
      },
      { attempts: 5, timeoutMs: 10_000 },
    ),
  },
  actions: {
    noteScore: assign({ score: ({ event }) => event.output }),
    tellMissing: sendParent({ type: 'MISSING', paper: 'payslip' }),
  },
}).createMachine({
  context: ({ input }) => ({ ...input, score: 0 }),
  type: 'parallel',
  states: {
    bureau: {
      initial: 'asking',
      states: {
        asking: {
          invoke: {
            src: 'askBureau',
            input: ({ context }) => context,
            onDone: { target: 'asked', actions: 'noteScore' },
            onError: 'asked',
          },
        },
        asked: { type: 'final' },
      },
    },
    papers: {
      initial: 'missing',
      states: {
        missing: { entry: 'tellMissing', on: { PAPER: 'complete' } },
        complete: { type: 'final' },
      },
    },
  },
  output: ({ context }) => context.score,
});

const isSigned = ({ event }) => event.output.kind === 'signed';

const chart = setup({
  actors: { sign: service.sign, vetting },
  actions: {
    noteMissing: assign({ missing: ({ event }) => event.paper }),
    passOn: sendTo('vetting', ({ event: { type, number } }) => ({ type, number })),
    noteScore: assign({ score: ({ event }) => event.output, missing: undefined }),
    noteContract: assign({ msspTransId: ({ event }) => event.output.msspTransId }),
  },
  guards: {
    isSigned,
    isBad: ({ context }) => context.score < 500,
    isSmall: ({ context }) => context.francs <= 5000,
  },
  delays: { month: 30 * 86_400_000 },
}).createMachine({
  context: ({ input }) => input,
  initial: 'vetting',
  states: {
    vetting: {
      invoke: {
        id: 'vetting',
        src: 'vetting',
        input: ({ context }) => context,
        onDone: { target: 'deciding', actions: 'noteScore' },
      },
      on: { MISSING: { actions: 'noteMissing' }, PAPER: { actions: 'passOn' } },
      after: { month: 'lapsed' },
    },
    deciding: {
      always: [
        { guard: 'isBad', target: 'refused' },
        { guard: 'isSmall', target: 'contract' },
        { target: 'officer' },
      ],
    },
    officer: {
      invoke: {
        src: 'sign',
        input: ({ context: { officer, applicant, francs } }) => ({
          msisdn: officer,
          text: `Loan to ${applicant}, CHF ${francs}: I approve`,
        }),
        onDone: [{ guard: 'isSigned', target: 'contract' }, { target: 'refused' }],
      },
    },
    contract: {
      invoke: {
        src: 'sign',
        input: ({ context: { msisdn, applicant, francs } }) => ({
          msisdn,
          text: `${applicant}: I take a loan of CHF ${francs}`,
        }),
        onDone: [
          { guard: 'isSigned', target: 'granted', actions: 'noteContract' },
          { target: 'declined' },
        ],
      },
    },
    granted: { type: 'final' },
    refused: { type: 'final' },
    declined: { type: 'final' },
    lapsed: { type: 'final' },
  },
  output: ({ context: { applicant, score, msspTransId } }) => ({ applicant, score, msspTransId }),
});

const number = z.string().regex(/^\+[1-9]\d{6,14}$/);

export const applicantCheck = defineWorkflow({
  name: 'applicant-check',
  version: 1,
  chart,
  input: z.strictObject({
    applicant: z.string().min(1).max(60),
    msisdn: number,
    officer: number,
    francs: z.int().min(100),
    income: z.int().min(0),
  }),
  events: z.strictObject({ type: z.literal('PAPER'), number: z.string().max(40) }),
  publish: ({ applicant, score, missing }) => ({ applicant, score, missing }),
});
