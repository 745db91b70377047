/** Workflows: the list, one of them, and cancel. Pages and API. */
import { Hono } from 'hono';
import { answer, badCursor, refuse } from '../../../src/console/answers.ts';
import type { ConsoleEnvironment } from '../../../src/console/deps.ts';
import {
  type ExportColumns,
  type ExportedList,
  exportFormatIn,
  exportList,
} from '../../../src/console/export.ts';
import { readFields, refuseGuess, withoutGuesses } from '../../../src/console/filter.ts';
import { json, paged, query, readForm, reasonBody } from '../../../src/console/input.ts';
import { createLookUps } from '../../../src/console/look-ups.ts';
import { doneBy } from '../../../src/console/operators/audit.ts';
import type { Operator } from '../../../src/console/operators/operator.ts';
import { refuseOrder } from '../../../src/console/order-errors.ts';
import { valueText } from '../../../src/console/pages/machine-chart.ts';
import { readNotice } from '../../../src/console/pages/notices.ts';
import { messagePage, unknownPage } from '../../../src/console/pages/session-pages.ts';
import { needs } from '../../../src/console/session/session.ts';
import { filterSchema } from '../../../src/transactions/history/fields.ts';
import { instanceFields } from '../instance-fields.ts';
import type { WorkflowConsoleDeps } from './deps.ts';
import { createFailures, isOfFailures } from './failures.ts';
import { boardPathOf } from './flow.ts';
import { workflowError } from './notices.ts';
import type { WorkflowDetails, WorkflowRow } from './workflow-detail.ts';
import type { Done, WorkflowOrders } from './workflow-orders.ts';
import { workflowPage } from './workflow-page.ts';
import { workflowsPage } from './workflows-page.ts';

const listQuery = filterSchema(instanceFields).extend(paged(50, 200));
const rowsOnPage = 50;

const isoOf = (at: number | undefined): string =>
  at === undefined ? '' : new Date(at).toISOString();

const exportColumns: ExportColumns<WorkflowRow> = {
  instance: ({ instanceId }) => instanceId,
  id: ({ id }) => id,
  workflow: ({ name }) => name,
  version: ({ version }) => version,
  AP_ID: ({ apId }) => apId,
  status: ({ status }) => status,
  state: ({ state }) => valueText(state),
  reason: ({ reason }) => reason,
  started: ({ createdAt }) => isoOf(createdAt),
  ended: ({ endedAt }) => isoOf(endedAt),
};

export const createWorkflowRoutes = (
  deps: WorkflowConsoleDeps,
  details: WorkflowDetails,
  orders: WorkflowOrders,
): Hono<ConsoleEnvironment> => {
  const { workflows, providers, audit, log } = deps;
  const countFailures = createFailures(workflows);
  const noteLookUp = createLookUps(deps);
  const routes = new Hono<ConsoleEnvironment>();

  const cancel = async (
    id: string,
    operator: Operator,
    given: string,
  ): Promise<Done<'too-late'>> => {
    const reason = given.trim();
    if (reason === '') return 'reason';
    return orders.order(id, operator, { action: 'workflow-cancel', reason }, async (found) => {
      const by = { by: operator.name, reason };
      const done = await workflows.cancel(found.apId, found.name, found.id, by);
      return ({ cancelled: 'done', refused: 'too-late', unknown: 'ended', busy: 'busy' } as const)[
        done
      ];
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

  // Before the route of one workflow, which would take it for an id.
  routes.get('/admin/api/workflows/failures', query(filterSchema(instanceFields)), async (c) => {
    const wanted = c.req.valid('query');
    const { role } = c.get('session').operator;
    const guess = refuseGuess(instanceFields, wanted, role);
    if (guess !== undefined) return refuse(403, 'forbidden', guess);
    await noteLookUp(c.get('session'), 'workflows', wanted.msisdn);
    return answer(await countFailures(wanted, role));
  });

  routes.get('/admin/api/workflows/:id', async (c) => {
    const found = await details.read(c.req.param('id'), c.get('session'));
    return found === undefined
      ? refuseOrder(workflowError('workflow-unknown'))
      : answer(found.detail);
  });

  routes.post('/admin/api/workflows/:id/cancel', needs('operator'), json(reasonBody), async (c) => {
    const { reason } = c.req.valid('json');
    return orders.answer(await cancel(c.req.param('id'), c.get('session').operator, reason), {
      'too-late': workflowError('workflow-too-late'),
    });
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
      failures:
        isRead && cursor === undefined && isOfFailures(read.filter)
          ? await countFailures(read.filter, session.operator.role)
          : undefined,
      next: page?.cursor,
      isFirst: cursor === undefined,
      names: workflows.names(),
      apIds: providers().map(({ id }) => id),
      notice: readNotice(c.req.query('notice'), session.frame),
    });
    return c.html(html, isRead ? 200 : 422);
  });

  // Before the route of one workflow, which would take it for an id.
  routes.get('/admin/workflows/export', async (c) => {
    const session = c.get('session');
    const { operator } = session;
    const read = withoutGuesses(
      instanceFields,
      readFields(instanceFields, c.req.query()),
      operator.role,
    );
    const format = exportFormatIn(c.req.query('format'));
    if (format === undefined || Object.keys(read.problems).length > 0)
      return c.html(
        messagePage(422, 'The filter cannot be read', 'Go back to the list and correct it.'),
        422,
      );
    await noteLookUp(session, 'workflows', read.filter.msisdn);
    const about = { list: 'workflows', format, fields: Object.keys(read.form).join(' ') };
    await audit.record({ ...doneBy(operator), action: 'export', details: about });
    const readPage: ExportedList<WorkflowRow>['read'] = async (page) => {
      const found = await workflows.list(read.filter, page);
      return found && { ...found, rows: await details.rows(found.rows, operator.role) };
    };
    return exportList({ name: 'workflows', columns: exportColumns, read: readPage }, format, log);
  });

  routes.get('/admin/workflows/:id', async (c) => {
    const session = c.get('session');
    const found = await details.read(c.req.param('id'), session);
    if (found === undefined) return c.html(unknownPage('workflow'), 404);
    const { detail, hosted } = found;
    const workflow = details.workflowOf(detail.instance);
    const notice = readNotice(c.req.query('notice'), session.frame);
    const board = boardPathOf(deps, detail.instance.instanceId);
    const guards = c.req.query('guards') === 'shown';
    return c.html(workflowPage({ session, detail, hosted, workflow, notice, board, guards }));
  });

  routes.post('/admin/workflows/:id/cancel', needs('operator'), async (c) => {
    const id = c.req.param('id');
    const { reason = '' } = await readForm(c);
    const done = await cancel(id, c.get('session').operator, reason);
    return orders.show(c, id, done, 'workflow-cancelled', { 'too-late': 'workflow-too-late' });
  });

  return routes;
};
