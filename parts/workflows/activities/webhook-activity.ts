/**
 * The activity `service.callWebhook` of charts: a signed POST, and its answer.
 *
 * A receiver that hangs holds a connection until the timeout. So each application gets a part of
 * the calls of this process only, as callbacks do (callback.worker.ts).
 */
import { hash } from 'node:crypto';
import type { PromiseActorLogic } from 'xstate';
import { z } from 'zod';
import { activity } from '../../../packages/engine/src/define.ts';
import { sayIssues } from '../../../packages/engine/src/issues.ts';
import { type PostResult, problemOf } from '../../../src/http/outgoing/post.ts';
import type { CallWebhook } from '../../../src/http/outgoing/tellers.ts';
import { tenantOfInstance } from '../../../src/transactions/jobs/instance-ids.ts';
import { createTenantConcurrency } from '../../../workers/tenant-concurrency.ts';
import type { WebhookInput, WebhookOutput } from '../charts/service-activities.ts';
import { apIdOf } from './asked-run.ts';

/** Another try is made. The message names no address. */
class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

const dayMs = 86_400_000;
const retrySchema = z.object({
  attempts: z.int().min(1).max(1000).default(5),
  backoffMs: z.int().min(1).max(dayMs).default(1000),
  maxBackoffMs: z.int().min(1).max(dayMs).default(60_000),
});
const inputSchema = retrySchema.extend({
  url: z.string().min(1).max(2000).optional(),
  body: z.json(),
});

const maxCalls = 100;
const maxOfOne = 25;
const maxWhenSlow = 5;

/** These say that the receiver could not answer. */
const passing = [408, 425, 429];
const jsonType = /^application\/([\w.-]+\+)?json\b/i;

type Judged = { readonly output: WebhookOutput; readonly mayPass: boolean };

const failed = (problem: string, mayPass: boolean, status?: number): Judged => ({
  output: { kind: 'failed', problem, ...(status !== undefined && { status }) },
  mayPass,
});

const judge = (result: PostResult): Judged => {
  if (result.kind !== 'answered') return failed(problemOf(result), result.kind !== 'refused');
  const { status, body } = result;
  if (status >= 500 || passing.includes(status)) return failed(problemOf(result), true, status);
  if (body?.rest === 'too-long') return failed('the answer is too long', false, status);
  if (body?.rest === 'cut-off') return failed('the answer was cut off', true, status);
  if (body === undefined || body.text === '' || !jsonType.test(body.type))
    return { output: { kind: 'answered', status }, mayPass: false };
  try {
    return { output: { kind: 'answered', status, body: JSON.parse(body.text) }, mayPass: false };
  } catch {
    return failed('the answer is no JSON', false, status);
  }
};

export const createWebhookActivity = ({
  call,
}: {
  readonly call: CallWebhook;
}): PromiseActorLogic<WebhookOutput, WebhookInput> => {
  const limits = { max: maxOfOne, maxWhenSlow, maxTotal: maxCalls, minWaitMs: 200 };
  const tenants = createTenantConcurrency(limits);
  return activity<WebhookInput, WebhookOutput>(
    async ({ input, instance, token, signal, attempt }) => {
      const read = inputSchema.safeParse(input);
      if (!read.success) {
        const problem = sayIssues(read.error.issues, { whole: 'input', values: [input] });
        return { kind: 'failed', problem };
      }
      const { url, body, attempts } = read.data;
      const result = await call(
        {
          apId: apIdOf(instance),
          id: `call-${hash('sha256', token).slice(0, 40)}`,
          url,
          body: JSON.stringify(body),
        },
        signal,
      );
      const { output, mayPass } = judge(result);
      if (output.kind === 'failed' && mayPass && attempt < attempts)
        throw new WebhookError(`A webhook was not answered: ${output.problem}`);
      return output;
    },
    {
      // With no more tries than `run` counts, the chart never gets an error for a receiver.
      retry: (input) => retrySchema.safeParse(input).data ?? {},
      gate: { turn: (_, { id }) => tenants.turn(tenantOfInstance(id)) },
    },
  );
};
