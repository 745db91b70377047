/**
 * A document that somebody approves: reminders, a deadline, and a signature on the phone.
 *
 * waiting   Until APPROVE or REJECT; a reminder every day, and rejected after a week.
 * signing   The approver signs the number of the document on their phone.
 * filing    The document is filed, in several tries.
 */
import { activity, defineWorkflow, service } from 'paraph/workflow';
import { assign, setup } from 'xstate';
import { z } from 'zod';

const dayMs = 86_400_000;

const chart = setup({
  actors: {
    sign: service.sign,
    // A real one calls the archive, with `token` as the idempotency key.
    file: activity(
      async ({ input: document, token }) => {
        console.log(`file ${document} [${token}]`);
        return { document, receipt: token.slice(-8) };
      },
      { attempts: 5, backoffMs: 1000, timeoutMs: 10_000 },
    ),
  },
  actions: {
    // An effect: carried out at least once; `effect.id` is the same each time.
    remind: ({ context, effect }) => console.log(`remind of ${context.document} [${effect.id}]`),
    countReminder: assign({ reminders: ({ context }) => context.reminders + 1 }),
    noteReason: assign({
      reason: ({ event }) => event.reason ?? event.output?.reason ?? 'TOO_LATE',
    }),
    noteSignature: assign({ msspTransId: ({ event }) => event.output.msspTransId }),
  },
  guards: { isSigned: ({ event }) => event.output.kind === 'signed' },
  delays: { day: dayMs, week: 7 * dayMs },
}).createMachine({
  context: ({ input }) => ({ document: input.document, approver: input.approver, reminders: 0 }),
  initial: 'open',
  states: {
    open: {
      initial: 'waiting',
      after: { week: { target: 'rejected', actions: 'noteReason' } },
      on: { REJECT: { target: 'rejected', actions: 'noteReason' } },
      states: {
        waiting: {
          after: {
            day: { target: 'waiting', reenter: true, actions: ['countReminder', 'remind'] },
          },
          on: { APPROVE: 'signing' },
        },
        signing: {
          invoke: {
            src: 'sign',
            input: ({ context: { approver, document } }) => ({
              msisdn: approver,
              text: `Document ${document}: I approve`,
            }),
            onDone: [
              { guard: 'isSigned', target: '#filing', actions: 'noteSignature' },
              { target: 'waiting', actions: 'noteReason' },
            ],
          },
        },
      },
    },
    filing: {
      id: 'filing',
      invoke: {
        src: 'file',
        input: ({ context }) => context.document,
        onDone: 'filed',
        onError: 'unfiled',
      },
    },
    filed: { type: 'final' },
    rejected: { type: 'final' },
    // The job fails; a replay files again.
    unfiled: { meta: { job: 'failed' }, on: { REPLAY: 'filing' } },
  },
  output: ({ context }) => ({
    document: context.document,
    reminders: context.reminders,
    msspTransId: context.msspTransId,
    reason: context.msspTransId === undefined ? context.reason : undefined,
  }),
});

export const documentApproval = defineWorkflow({
  name: 'document-approval',
  version: 1,
  chart,
  input: z.strictObject({
    document: z.string().min(1).max(60),
    approver: z.string().regex(/^\+[1-9]\d{6,14}$/),
  }),
  events: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('APPROVE') }),
    z.strictObject({ type: z.literal('REJECT'), reason: z.string().max(200).optional() }),
  ]),
  publish: ({ document, reminders, reason }) => ({ document, reminders, reason }),
  reasonOf: () => 'The document could not be filed',
});
