/** Workflows: the list, one of them, another prompt for a branch, and cancel. Pages and API. */
import { type Context, Hono } from 'hono';
import type { z } from 'zod';
import { answer, badCursor, refuse } from '../../../src/console/answers.ts';
import type { ConsoleEnvironment } from '../../../src/console/deps.ts';
import { readFields, refuseGuess, withoutGuesses } from '../../../src/console/filter.ts';
import {
  json,
  optionalReasonBody,
  paged,
  query,
  readForm,
  reasonBody,
  text,
} from '../../../src/console/input.ts';
import { createLookUps } from '../../../src/console/look-ups.ts';
import { present, refuseOrder } from '../../../src/console/order-errors.ts';
import { readNotice } from '../../../src/console/pages/notices.ts';
import { unknownPage } from '../../../src/console/pages/session-pages.ts';
import { needs } from '../../../src/console/session/session.ts';
import { filterSchema } from '../../../src/history/fields.ts';
import { doneBy, type NewAuditEntry, noted } from '../../../src/operators/audit.ts';
import type { Operator } from '../../../src/operators/operator.ts';
import type { ProcessOrder } from '../charts/process-actions.ts';
import { instanceFields } from '../instance-fields.ts';
import type { WorkflowConsoleDeps } from './deps.ts';
import { boardPathOf } from './flow.ts';
import {
  type WorkflowErrorName,
  type WorkflowNotice,
  workflowError,
  workflowErrors,
} from './notices.ts';
import { createWorkflowDetails } from './workflow-detail.ts';
import { workflowPage } from './workflow-page.ts';
import { workflowsPage } from './workflows-page.ts';

const listQuery = filterSchema(instanceFields).extend(paged(50, 200));
const againBody = optionalReasonBody.extend({ step: text(64), key: text(32) });
const rowsOnPage = 50;
const maxReason = 500;

type Done = 'done' | 'unknown' | 'undefined' | 'ended' | 'busy' | 'refused' | 'too-late' | 'reason';

const errors = {
  unknown: 'workflow-unknown',
  undefined: 'workflow-undefined',
  ended: 'workflow-ended',
  busy: 'workflow-busy',
  refused: 'not-asked',
  'too-late': 'workflow-too-late',
  reason: 'reason',
} as const satisfies Record<Exclude<Done, 'done'>, WorkflowErrorName>;

const pathOf = (id: string): string => `/admin/workflows/${encodeURIComponent(id)}`;

export const createWorkflowRoutes = (deps: WorkflowConsoleDeps): Hono<ConsoleEnvironment> => {
  const { workflows, audit, providers } = deps;
  const details = createWorkflowDetails(deps);
  const noteLookUp = createLookUps(deps);
  const routes = new Hono<ConsoleEnvironment>();

  /** An open instance, for an order. */
  const findOpen = async (id: string, operator: Operator) => {
    const found = await details.find(id, operator.role);
    if (found === undefined) return 'unknown';
    if (details.workflowOf(found) === undefined) return 'undefined';
    return found.status === 'open' ? found : 'ended';
  };

  const recorded = (entry: NewAuditEntry, order: () => Promise<Done>): Promise<Done> =>
    noted(audit, entry, order, (done) => done === 'done' || done);

  const cancel = async (id: string, operator: Operator, given: string): Promise<Done> => {
    const reason = given.trim();
    if (reason === '' || reason.length > maxReason) return 'reason';
    const found = await findOpen(id, operator);
    if (typeof found === 'string') return found;
    const { apId, name, id: ownId } = found;
    const entry = {
      ...doneBy(operator),
      action: 'workflow-cancel',
      target: id,
      reason,
      details: { name },
    } as const;
    return recorded(entry, async () => {
      const done = await workflows.cancel(apId, name, ownId, { by: operator.name, reason });
      return ({ cancelled: 'done', refused: 'too-late', unknown: 'ended', busy: 'busy' } as const)[
        done
      ];
    });
  };

  const askAgain = async (
    id: string,
    operator: Operator,
    { step, key, reason = '' }: z.output<typeof againBody>,
  ): Promise<Done> => {
    if (reason.length > maxReason) return 'reason';
    const found = await findOpen(id, operator);
    if (typeof found === 'string') return found;
    const { apId, name, id: ownId } = found;
    const entry = {
      ...doneBy(operator),
      ...({ action: 'workflow-again', target: id, details: { name, key } } as const),
      ...(reason !== '' && { reason }),
    };
    return recorded(entry, async () => {
      const order: ProcessOrder = { type: 'AGAIN', step, key };
      const { kind } = await workflows.send(apId, name, ownId, order);
      if (kind === 'taken') return 'done';
      return kind === 'invalid' ? 'refused' : kind === 'unknown' ? 'ended' : kind;
    });
  };

  routes.get('/admin/api/workflows', query(listQuery), async (c) => {
    const { limit, cursor, ...wanted } = c.req.valid('query');
    const guess = refuseGuess(instanceFields, wanted, c.get('session').operator.role);
    if (guess !== undefined) return refuse(403, 'forbidden', guess);
    await noteLookUp(c.get('session'), 'workflows', wanted.msisdn);
    const page = await workflows.list(wanted, { limit, cursor });
    if (page === undefined) return refuse(...badCursor);
    return answer({ ...page, rows: await details.rows(page.rows, c.get('session').operator.role) });
  });

  routes.get('/admin/api/workflows/:id', async (c) => {
    const detail = await details.read(c.req.param('id'), c.get('session'));
    return detail === undefined ? refuseOrder(workflowError(errors.unknown)) : answer(detail);
  });

  routes.post('/admin/api/workflows/:id/cancel', needs('operator'), json(reasonBody), async (c) => {
    const { reason } = c.req.valid('json');
    return present(
      await cancel(c.req.param('id'), c.get('session').operator, reason),
      'done',
      workflowErrors(errors),
    );
  });

  routes.post('/admin/api/workflows/:id/again', needs('operator'), json(againBody), async (c) => {
    const done = await askAgain(c.req.param('id'), c.get('session').operator, c.req.valid('json'));
    return present(done, 'done', workflowErrors(errors));
  });

  routes.get('/admin/workflows', async (c) => {
    const session = c.get('session');
    const read = withoutGuesses(
      instanceFields,
      readFields(instanceFields, c.req.query()),
      session.operator.role,
    );
    const cursor = c.req.query('cursor') || undefined;
    const isRead = Object.keys(read.problems).length === 0;
    if (isRead) await noteLookUp(session, 'workflows', read.filter.msisdn);
    const page = isRead
      ? await workflows.list(read.filter, { limit: rowsOnPage, cursor })
      : undefined;
    if (isRead && page === undefined) return c.html(unknownPage('page of the list'), 404);
    const html = workflowsPage({
      session,
      read,
      rows: await details.rows(page?.rows ?? [], session.operator.role),
      next: page?.cursor,
      isFirst: cursor === undefined,
      names: workflows.names(),
      apIds: providers().map(({ id }) => id),
    });
    return c.html(html, isRead ? 200 : 422);
  });

  routes.get('/admin/workflows/:id', async (c) => {
    const session = c.get('session');
    const detail = await details.read(c.req.param('id'), session);
    if (detail === undefined) return c.html(unknownPage('workflow'), 404);
    const workflow = details.workflowOf(detail.instance);
    const notice = readNotice(c.req.query('notice'), session.frame);
    const board = boardPathOf(deps, detail.instance.instanceId);
    const guards = c.req.query('guards') === 'shown';
    return c.html(workflowPage({ session, detail, workflow, notice, board, guards }));
  });

  const showDone = (c: Context, id: string, done: Done, good: WorkflowNotice) =>
    done === 'unknown'
      ? c.html(unknownPage('workflow'), 404)
      : c.redirect(`${pathOf(id)}?notice=${done === 'done' ? good : errors[done]}`, 303);

  routes.post('/admin/workflows/:id/cancel', needs('operator'), async (c) => {
    const id = c.req.param('id');
    const { reason = '' } = await readForm(c);
    return showDone(
      c,
      id,
      await cancel(id, c.get('session').operator, reason),
      'workflow-cancelled',
    );
  });

  routes.post('/admin/workflows/:id/again', needs('operator'), async (c) => {
    const id = c.req.param('id');
    const { reason = '', step = '', key = '' } = await readForm(c);
    return showDone(
      c,
      id,
      await askAgain(id, c.get('session').operator, { step, key, reason }),
      'asked',
    );
  });

  return routes;
};
