/**
 * Orders to an instance of any workflow: an event, and another run after a failure. Pages and API.
 */
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { Instance } from '../../../packages/engine/src/engine.ts';
import { answer } from '../../../src/console/answers.ts';
import type { ConsoleEnvironment } from '../../../src/console/deps.ts';
import { json, optionalReasonBody, readForm, reason } from '../../../src/console/input.ts';
import { doneBy, type NewAuditEntry, noted } from '../../../src/console/operators/audit.ts';
import type { Operator } from '../../../src/console/operators/operator.ts';
import { present, refuseOrder } from '../../../src/console/order-errors.ts';
import { unknownPage } from '../../../src/console/pages/session-pages.ts';
import { needs } from '../../../src/console/session/session.ts';
import type { WorkflowConsoleDeps } from './deps.ts';
import {
  type WorkflowErrorName,
  type WorkflowNotice,
  workflowError,
  workflowErrors,
} from './notices.ts';
import { eventIn } from './workflow-bulk-face.ts';

const sendBody = z.strictObject({
  event: z.looseObject({ type: z.string().min(1).max(200) }),
  /** The key of the event. An event that is sent again under its key counts once. */
  key: z.string().min(1).max(200).optional(),
  reason: reason.optional(),
});

const sendErrors = {
  undefined: 'workflow-undefined',
  invalid: 'event-invalid',
  refused: 'event-refused',
  unknown: 'workflow-gone',
  busy: 'workflow-busy',
} as const satisfies Record<string, WorkflowErrorName>;

const replayErrors = {
  undefined: 'workflow-undefined',
  refused: 'workflow-no-replay',
  'not-failed': 'workflow-not-failed',
} as const satisfies Record<string, WorkflowErrorName>;

const about = (operator: Operator, target: string, why: string | undefined) => ({
  ...doneBy(operator),
  target,
  ...(why !== undefined && { reason: why }),
});

export const createWorkflowOrderRoutes = ({
  workflows,
  audit,
}: WorkflowConsoleDeps): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();

  /** Finds an instance. A child is none: it belongs to the instance that has started it. */
  const find = async (id: string): Promise<Instance | undefined> =>
    /^[\w-]+$/.test(id) ? workflows.findInstance(id) : undefined;

  const isDefined = (instance: Instance): boolean =>
    workflows.versions(workflows.view(instance).name).length > 0;

  const retry = async (instance: Instance): Promise<'replayed' | keyof typeof replayErrors> => {
    const { id } = instance;
    if (!isDefined(instance)) return 'undefined';
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

  const replay = (found: Instance, operator: Operator, why: string | undefined) => {
    const entry: NewAuditEntry = {
      ...about(operator, found.id, why),
      action: 'workflow-replay',
      details: { name: workflows.view(found).name },
    };
    return noted(
      audit,
      entry,
      () => retry(found),
      (done) => done === 'replayed',
    );
  };

  const send = (
    found: Instance,
    operator: Operator,
    event: { readonly type: string },
    { key, why }: { readonly key?: string | undefined; readonly why: string | undefined },
  ) => {
    const { apId } = Object(found.data) as { readonly apId?: unknown };
    const { name, id } = workflows.view(found);
    const entry: NewAuditEntry = {
      ...about(operator, found.id, why),
      action: 'workflow-event',
      details: { name, event: event.type },
    };
    const order = async () =>
      isDefined(found)
        ? workflows.send(String(apId), name, id, event, key && `op/${key}`)
        : ({ kind: 'undefined' } as const);
    return noted(audit, entry, order, ({ kind }) => kind === 'taken');
  };

  routes.post('/admin/api/workflows/:id/events', needs('operator'), json(sendBody), async (c) => {
    const { event, key, reason: why } = c.req.valid('json');
    const found = await find(c.req.param('id'));
    if (found === undefined) return refuseOrder(workflowError('workflow-gone'));
    const result = await send(found, c.get('session').operator, event, { key, why });
    if (result.kind === 'taken') return answer({ result: 'taken' });
    return refuseOrder(
      workflowError(sendErrors[result.kind]),
      result.kind === 'invalid' ? result.message : undefined,
    );
  });

  routes.post(
    '/admin/api/workflows/:id/replay',
    needs('operator'),
    json(optionalReasonBody),
    async (c) => {
      const found = await find(c.req.param('id'));
      if (found === undefined) return refuseOrder(workflowError('workflow-gone'));
      const result = await replay(found, c.get('session').operator, c.req.valid('json').reason);
      return present(result, 'replayed', workflowErrors(replayErrors));
    },
  );

  /**
   * Serves a form on the page of an instance.
   * @param order Gets the reason; undefined when none was given.
   */
  const serveForm = async (
    c: Context<ConsoleEnvironment>,
    order: (
      found: Instance,
      fields: Readonly<Partial<Record<string, string>>>,
      why: string | undefined,
    ) => Promise<WorkflowNotice>,
  ) => {
    const found = await find(c.req.param('id') ?? '');
    if (found === undefined) return c.html(unknownPage('workflow'), 404);
    const { reason: given = '', ...fields } = await readForm(c);
    const why = given.trim() === '' ? undefined : given.trim();
    const isReason = why === undefined || reason.safeParse(why).success;
    const notice = isReason ? await order(found, fields, why) : 'reason';
    return c.redirect(`/admin/workflows/${encodeURIComponent(found.id)}?notice=${notice}`, 303);
  };

  routes.post('/admin/workflows/:id/events', needs('operator'), (c) =>
    serveForm(c, async (found, { type = '', data = '' }, why) => {
      const event = eventIn(type, data);
      if (event === undefined) return 'event-data';
      const { kind } = await send(found, c.get('session').operator, event, { why });
      return kind === 'taken' ? 'event-taken' : sendErrors[kind];
    }),
  );

  routes.post('/admin/workflows/:id/replay', needs('operator'), (c) =>
    serveForm(c, async (found, _, why) => {
      const result = await replay(found, c.get('session').operator, why);
      return result === 'replayed' ? 'workflow-replayed' : replayErrors[result];
    }),
  );

  return routes;
};
