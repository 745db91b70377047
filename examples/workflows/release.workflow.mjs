/**
 * A release that two people approve on their phones, side by side. Then the pipeline deploys it by
 * a webhook, and it is watched for some minutes. An alarm rolls it back by the same webhook.
 */
import { defineWorkflow, service } from 'paraph/workflow';
import { assign, setup } from 'xstate';
import { z } from 'zod';

const approving = (who) => ({
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        src: 'sign',
        input: ({ context }) => ({
          msisdn: context[who],
          text: `Release ${context.release}: I approve`,
          timeoutSeconds: 300,
        }),
        onDone: [
          { guard: 'isSigned', target: 'approved', actions: 'noteSignature' },
          {
            target: '#refused',
            actions: { type: 'fail', params: `NOT_APPROVED_BY_${who.toUpperCase()}` },
          },
        ],
      },
    },
    approved: { type: 'final' },
  },
});

const calling = (action, next, otherwise) => ({
  invoke: {
    src: 'pipeline',
    input: ({ context: { pipeline, release } }) => ({ url: pipeline, body: { action, release } }),
    onDone: [{ guard: 'isAnswered', target: next }, otherwise],
  },
});

const chart = setup({
  actors: { sign: service.sign, pipeline: service.callWebhook },
  actions: {
    noteSignature: assign({
      signatures: ({ context, event }) => [...context.signatures, event.output.msspTransId],
    }),
    fail: assign({ why: (_, why) => why }),
  },
  guards: {
    isSigned: ({ event }) => event.output.kind === 'signed',
    isAnswered: ({ event: { output } }) => output.kind === 'answered' && output.status < 300,
  },
  delays: { watch: ({ context }) => context.watchMinutes * 60_000, tenMinutes: 600_000 },
}).createMachine({
  context: ({ input }) => ({ ...input, signatures: [] }),
  initial: 'approving',
  states: {
    approving: {
      type: 'parallel',
      states: { author: approving('author'), reviewer: approving('reviewer') },
      onDone: 'deploying',
    },
    deploying: calling('deploy', 'watching', {
      target: 'rollingBack',
      actions: { type: 'fail', params: 'NOT_DEPLOYED' },
    }),
    watching: {
      on: { ALARM: { target: 'rollingBack', actions: { type: 'fail', params: 'ALARM' } } },
      after: { watch: 'released' },
    },
    rollingBack: calling('rollback', 'rolledBack', { target: 'pausing' }),
    // It must not stay half deployed.
    pausing: { after: { tenMinutes: 'rollingBack' } },
    released: { type: 'final' },
    rolledBack: { type: 'final' },
    refused: { id: 'refused', type: 'final' },
  },
  output: ({ context: { release, signatures, why } }) => ({ release, signatures, why }),
});

const number = z.string().regex(/^\+[1-9]\d{6,14}$/);

export const release = defineWorkflow({
  name: 'release',
  version: 1,
  chart,
  input: z
    .strictObject({
      release: z.string().min(1).max(60),
      author: number,
      reviewer: number,
      pipeline: z.url({ protocol: /^https?$/ }),
      watchMinutes: z.number().positive().default(30),
    })
    .refine(({ author, reviewer }) => author !== reviewer, {
      path: ['reviewer'],
      error: 'must not be the author',
    }),
  events: z.strictObject({ type: z.literal('ALARM') }),
  publish: ({ release, signatures, why }) => ({ release, approved: signatures.length, why }),
});
