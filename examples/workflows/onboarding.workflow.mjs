/**
 * Somebody new joins: the contract is signed by both sides, an account is made and a laptop is
 * handed over, and a mentor is named, all side by side. HOLD stops everything, and takes back what
 * somebody is asked. RESUME goes on in each part where it was.
 */
import { activity, defineWorkflow, service } from 'paraph/workflow';
import { assign, setup } from 'xstate';
import { z } from 'zod';

/** Whoever was not reached is asked again after an hour. */
const asking = (who, next) => ({
  initial: 'prompt',
  states: {
    prompt: {
      invoke: {
        src: 'sign',
        input: ({ context }) => ({
          msisdn: context[who],
          text: `Contract of ${context.name}: I sign`,
          timeoutSeconds: 300,
        }),
        onDone: [
          { guard: 'isSigned', target: next, actions: { type: 'noteSignature', params: who } },
          { guard: 'isRefused', target: '#declined' },
          { target: 'unreached' },
        ],
      },
    },
    unreached: { after: { hour: 'prompt' } },
  },
});

const chart = setup({
  actors: {
    sign: service.sign,
    // A real one calls the directory, with `token` as the idempotency key.
    makeAccount: activity(
      async ({ input: name, token }) => {
        console.log(`account of ${name} [${token}]`);
        return name.toLowerCase().replaceAll(/\W+/g, '.');
      },
      { attempts: 100, timeoutMs: 10_000 },
    ),
  },
  actions: {
    noteSignature: assign({
      signatures: ({ context, event }, who) => ({
        ...context.signatures,
        [who]: event.output.msspTransId,
      }),
    }),
    noteAccount: assign({ account: ({ event }) => event.output }),
    noteMentor: assign({ mentor: ({ event }) => event.mentor }),
    // An effect: carried out at least once; `effect.id` is the same each time.
    welcome: ({ context: { name, mentor }, effect }) =>
      console.log(`welcome ${name}, ask ${mentor} [${effect.id}]`),
  },
  guards: {
    isSigned: ({ event }) => event.output.kind === 'signed',
    isRefused: ({ event }) => event.output.reason === 'USER_CANCEL' && !event.output.takenBack,
  },
  delays: { hour: 3_600_000 },
}).createMachine({
  context: ({ input }) => ({ ...input, signatures: {} }),
  initial: 'preparing',
  states: {
    preparing: {
      type: 'parallel',
      on: { HOLD: 'held' },
      onDone: 'ready',
      states: {
        contract: {
          initial: 'manager',
          states: {
            manager: asking('manager', '#employee'),
            employee: { id: 'employee', ...asking('employee', '#signed') },
            signed: { id: 'signed', type: 'final' },
          },
        },
        desk: {
          initial: 'account',
          states: {
            account: {
              invoke: {
                src: 'makeAccount',
                input: ({ context }) => context.name,
                onDone: { target: 'laptop', actions: 'noteAccount' },
              },
            },
            laptop: { on: { LAPTOP: 'complete' } },
            complete: { type: 'final' },
          },
        },
        mentor: {
          initial: 'wanted',
          states: {
            wanted: { on: { MENTOR: { target: 'named', actions: 'noteMentor' } } },
            named: { type: 'final' },
          },
        },
        everything: { type: 'history', history: 'deep' },
      },
    },
    held: { on: { RESUME: 'preparing.everything' } },
    ready: { type: 'final', entry: 'welcome' },
    declined: { id: 'declined', type: 'final' },
  },
  output: ({ context: { name, account, mentor, signatures } }) => ({
    name,
    account,
    mentor,
    signatures,
  }),
});

const number = z.string().regex(/^\+[1-9]\d{6,14}$/);

export const onboarding = defineWorkflow({
  name: 'onboarding',
  version: 1,
  chart,
  input: z.strictObject({ name: z.string().min(1).max(60), employee: number, manager: number }),
  events: z.discriminatedUnion('type', [
    z.strictObject({ type: z.enum(['HOLD', 'RESUME', 'LAPTOP']) }),
    z.strictObject({ type: z.literal('MENTOR'), mentor: z.string().min(1).max(60) }),
  ]),
  publish: ({ name, account, mentor }) => ({ name, account, mentor }),
});
