/** Orders to an instance of any workflow: an event, and another run after a failure. API. */
import { Hono } from 'hono';
import { z } from 'zod';
import type { Instance } from '../engine/engine.ts';
import { doneBy, type NewAuditEntry, noted } from '../operators/audit.ts';
import type { Operator } from '../operators/operator.ts';
import { answer, type Refusal, refuse } from './answers.ts';
import type { AdminApiDeps, ConsoleEnvironment } from './deps.ts';
import { json, optionalReasonBody, reason } from './input.ts';
import { needs } from './session/session.ts';

const sendBody = z.strictObject({
  event: z.looseObject({ type: z.string().min(1).max(200) }),
  /** Sent again under the same key, the event counts once. */
  key: z.string().min(1).max(200).optional(),
  reason: reason.optional(),
});

const refusals = {
  unknown: [404, 'unknown', 'There is no such workflow, or it has ended'],
  busy: [503, 'busy', 'A worker is at it; ask again'],
  refused: [409, 'refused', 'The workflow takes no such event in its state'],
  'not-failed': [409, 'not-failed', 'The workflow has not failed, or runs again already'],
} as const satisfies Record<string, Refusal>;

const about = (operator: Operator, target: string, why: string | undefined) => ({
  ...{ ...doneBy(operator), target },
  ...(why !== undefined && { reason: why }),
});

export const createWorkflowOrderRoutes = ({ workflows, audit }: AdminApiDeps): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();

  /** Children belong to the instance that has started them. */
  const find = async (id: string): Promise<Instance | undefined> =>
    /^[\w-]+$/.test(id) ? workflows.findInstance(id) : undefined;

  const replay = async (instance: Instance): Promise<'replayed' | 'not-failed' | 'refused'> => {
    const { id } = instance;
    const job = await workflows.locate(id).queue.getJob(id);
    if (job === undefined || !(await job.isFailed())) return 'not-failed';
    if (!workflows.mayReplay(instance)) return 'refused';
    try {
      await job.retry('failed');
      return 'replayed';
    } catch (error) {
      // Another operator has run it again.
      if (!(await job.isFailed())) return 'not-failed';
      throw error;
    }
  };

  routes.post('/admin/api/workflows/:id/events', needs('operator'), json(sendBody), async (c) => {
    const { event, key, reason: why } = c.req.valid('json');
    const found = await find(c.req.param('id'));
    if (found === undefined) return refuse(...refusals.unknown);
    const { apId } = Object(found.data) as { readonly apId?: unknown };
    const { name, id } = workflows.view(found);
    const entry: NewAuditEntry = {
      ...about(c.get('session').operator, found.id, why),
      ...{ action: 'workflow-event', details: { name, event: event.type } },
    };
    const send = () => workflows.send(String(apId), name, id, event, key && `op/${key}`);
    const result = await noted(audit, entry, send, ({ kind }) => kind === 'taken');
    if (result.kind === 'invalid') return refuse(400, 'bad-request', result.message);
    if (result.kind === 'taken') return answer({ result: 'taken' });
    const refusal: Refusal = refusals[result.kind];
    return refuse(...refusal);
  });

  routes.post('/admin/api/workflows/:id/replay', needs('operator'), json(optionalReasonBody), async (c) => {
    const found = await find(c.req.param('id'));
    if (found === undefined) return refuse(...refusals.unknown);
    const { reason: why } = c.req.valid('json');
    const entry: NewAuditEntry = {
      ...about(c.get('session').operator, found.id, why),
      ...{ action: 'workflow-replay', details: { name: workflows.view(found).name } },
    };
    const result = await noted(
      audit,
      entry,
      () => replay(found),
      (done) => done === 'replayed',
    );
    if (result === 'replayed') return answer({ result });
    const refusal: Refusal = refusals[result];
    return refuse(...refusal);
  });

  return routes;
};
