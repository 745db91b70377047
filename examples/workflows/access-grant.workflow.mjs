/**
 * Access to a system for a limited time: an engineer on call signs, and the access ends by itself,
 * with a warning shortly before. EXTEND has the engineer sign once more, while the time goes on.
 * REVOKE ends it at once. Whatever has happened, the access is taken away again.
 */
import { activity, defineWorkflow, service } from 'paraph/workflow';
import { assign, cancel, raise, setup } from 'xstate';
import { z } from 'zod';

// These print what they do. Real ones call the system, with `token` as the idempotency key.
const change = (words) =>
  activity(
    async ({ input: { user, system }, token }) =>
      console.log(`${words} ${user} ${system} [${token}]`),
    {
      attempts: 20,
      timeoutMs: 10_000,
    },
  );

const ask = (words) => ({
  src: 'sign',
  input: ({ context: { engineer, user, system } }) => ({
    msisdn: engineer,
    text: `${words} of ${user} to ${system}: I approve`,
    timeoutSeconds: 300,
  }),
});
const isSigned = ({ event }) => event.output.kind === 'signed';
const restMs = ({ context }) => context.minutes * 60_000;

const chart = setup({
  actors: { sign: service.sign, grant: change('grant'), revoke: change('revoke') },
  actions: {
    // Timers that no state owns: extending starts them again.
    startExpiry: raise({ type: 'EXPIRE' }, { id: 'expiry', delay: restMs }),
    startWarning: raise({ type: 'WARN' }, { id: 'warning', delay: (given) => restMs(given) * 0.9 }),
    stopExpiry: cancel('expiry'),
    stopWarning: cancel('warning'),
    countExtension: assign({ extensions: ({ context }) => context.extensions + 1 }),
    end: assign({ why: (_, why) => why }),
    // An effect: carried out at least once; `effect.id` is the same each time.
    warn: ({ context: { user, system }, effect }) =>
      console.log(`access of ${user} to ${system} ends soon [${effect.id}]`),
  },
  guards: { isSigned },
}).createMachine({
  context: ({ input }) => ({ ...input, extensions: 0 }),
  initial: 'asking',
  states: {
    asking: {
      on: { REVOKE: 'refused' },
      invoke: {
        ...ask('Access'),
        onDone: [{ guard: 'isSigned', target: 'granting' }, { target: 'refused' }],
      },
    },
    granting: {
      invoke: {
        src: 'grant',
        input: ({ context }) => context,
        onDone: { target: 'granted', actions: ['startExpiry', 'startWarning'] },
        onError: { target: 'revoking', actions: { type: 'end', params: 'NOT_GRANTED' } },
      },
    },
    granted: {
      initial: 'quiet',
      on: {
        WARN: { actions: 'warn' },
        EXPIRE: { target: 'revoking', actions: { type: 'end', params: 'EXPIRED' } },
        REVOKE: { target: 'revoking', actions: { type: 'end', params: 'REVOKED' } },
      },
      exit: ['stopExpiry', 'stopWarning'],
      states: {
        quiet: { on: { EXTEND: 'extending' } },
        extending: {
          invoke: {
            ...ask('More time'),
            onDone: [
              {
                guard: 'isSigned',
                target: 'quiet',
                actions: [
                  'stopExpiry',
                  'stopWarning',
                  'startExpiry',
                  'startWarning',
                  'countExtension',
                ],
              },
              { target: 'quiet' },
            ],
          },
        },
      },
    },
    revoking: {
      invoke: { src: 'revoke', input: ({ context }) => context, onDone: 'ended', onError: 'stuck' },
    },
    ended: { type: 'final' },
    refused: { type: 'final' },
    // Somebody must look. A replay revokes again.
    stuck: { meta: { job: 'failed' }, on: { REPLAY: 'revoking' } },
  },
  output: ({ context: { user, system, extensions, why } }) => ({ user, system, extensions, why }),
});

export const accessGrant = defineWorkflow({
  name: 'access-grant',
  version: 1,
  chart,
  input: z.strictObject({
    user: z.string().min(1).max(40),
    system: z.string().min(1).max(40),
    engineer: z.string().regex(/^\+[1-9]\d{6,14}$/),
    minutes: z.number().positive().max(1440).default(60),
  }),
  events: z.strictObject({ type: z.enum(['EXTEND', 'REVOKE']) }),
  publish: ({ user, system, extensions }) => ({ user, system, extensions }),
  reasonOf: () => 'The access could not be taken away',
});
