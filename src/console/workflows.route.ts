/** Workflows: the list of instances, one of them, events, cancel and replay. API. */
import { Hono } from 'hono';
import { z } from 'zod';
import { doneBy } from '../operators/audit.ts';
import { statuses } from '../workflows/listing.ts';
import { answer, badCursor, present, type Refusal, refuse, refusedRole } from './answers.ts';
import type { AdminApiDeps, ConsoleEnvironment } from './deps.ts';
import { json, optionalReasonBody, paged, query, reason, reasonBody, text } from './input.ts';
import { seesPeople } from './redaction.ts';
import { needs } from './session/session.ts';

const listQuery = z.strictObject({
  name: text(64).optional(),
  status: z.enum(statuses).optional(),
  apId: text(256).optional(),
  ...paged(50, 200),
});
const sendBody = z.strictObject({
  event: z.looseObject({ type: z.string().min(1).max(200) }),
  /** Sent again under the same key, the event counts once. */
  key: z.string().min(1).max(200).optional(),
  reason: reason.optional(),
});

const unknown: Refusal = [404, 'unknown', 'There is no such instance, or it has ended'];
const busy: Refusal = [503, 'busy', 'A worker is at it; ask again'];
const reasonNeeded: Refusal = [422, 'reason', 'reason must have 1 to 500 characters'];
const common = { unknown, busy, role: refusedRole, reason: reasonNeeded } as const;
const sendRefusals = {
  ...common,
  refused: [409, 'refused', 'The instance takes no such event in its state'],
} as const satisfies Record<string, Refusal>;
const replayRefusals = {
  ...common,
  'not-failed': [409, 'not-failed', 'The instance has not failed, or is being replayed already'],
} as const satisfies Record<string, Refusal>;

export const createWorkflowRoutes = ({ workflows, audit }: AdminApiDeps): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();
  const at = '/admin/api/workflows/:id';

  routes.get('/admin/api/workflows', query(listQuery), async (c) => {
    const { limit, cursor, ...filter } = c.req.valid('query');
    const page = await (await workflows()).list(filter, { limit, cursor });
    return page === undefined ? refuse(...badCursor) : answer(page);
  });

  /** What people have entered or signed is shown to operators, and recorded in the audit log. */
  routes.get(at, async (c) => {
    const id = c.req.param('id');
    const { operator, id: session } = c.get('session');
    const found = await (await workflows()).find(id);
    if (found === undefined) return refuse(404, 'unknown', 'There is no such instance');
    const { context, output, reason: why, ...row } = found;
    if (!seesPeople(operator.role)) return answer({ workflow: row });
    await audit.record(
      { ...doneBy(operator), action: 'view-sensitive', target: id },
      `view:${session}:${id}`,
    );
    return answer({ workflow: { ...row, context, output, reason: why } });
  });

  routes.post(`${at}/events`, needs('operator'), json(sendBody), async (c) => {
    const { event, ...more } = c.req.valid('json');
    const order = { ...more, operator: c.get('session').operator };
    const result = await (await workflows()).send(c.req.param('id'), event, order);
    if (typeof result === 'object' && 'invalid' in result) return refuse(400, 'bad-request', result.invalid);
    return present(result, 'taken', sendRefusals);
  });

  routes.post(`${at}/cancel`, needs('operator'), json(reasonBody), async (c) => {
    const { reason: why } = c.req.valid('json');
    const result = await (await workflows()).cancel(c.req.param('id'), c.get('session').operator, why);
    return present(result, 'cancelled', common);
  });

  routes.post(`${at}/replay`, needs('operator'), json(optionalReasonBody), async (c) => {
    const { reason: why } = c.req.valid('json');
    const result = await (await workflows()).replay(c.req.param('id'), c.get('session').operator, why);
    return present(result, 'replayed', replayRefusals);
  });

  return routes;
};
