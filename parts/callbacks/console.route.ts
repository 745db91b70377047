/** Callbacks: the list of dead ones, and the replay of one or of all by a filter. Pages and API. */
import { Hono } from 'hono';
import { z } from 'zod';
import { answer, badCursor, refuse } from '../../src/console/answers.ts';
import type { AdminApiDeps, ConsoleEnvironment } from '../../src/console/deps.ts';
import {
  json,
  optionalReasonBody,
  paged,
  query,
  readForm,
  reason,
  text,
  time,
} from '../../src/console/input.ts';
import { nameOf, present, refuseOrder } from '../../src/console/order-errors.ts';
import { queryOf } from '../../src/console/pages/markup.ts';
import { readNotice } from '../../src/console/pages/notices.ts';
import { forbiddenPage, unknownPage } from '../../src/console/pages/session-pages.ts';
import { needs } from '../../src/console/session/session.ts';
import type { CallbackHosts } from './hosts.ts';
import { callbackErrors } from './notices.ts';
import { callbacksPage } from './page.ts';
import { callbackBulkPage, callbackPlanPage } from './plan-page.ts';
import { type CallbackReplays, callbacksPerSecond } from './replays.ts';

const rowsOnPage = 50;
const maxText = 256;

const filter = z.strictObject({ apId: text(maxText), to: time }).partial();
const listQuery = filter.extend({
  // Other callbacks are found by their transaction.
  state: z.enum(['dead', 'retried'], { error: 'must be dead or retried' }).default('dead'),
  ...paged(50, 500),
});
const { min, max, usual } = callbacksPerSecond;
const replayBody = z.strictObject({
  filter,
  reason: reason.optional(),
  perSecond: z.number().min(min).max(max).default(usual),
});

const notices = {
  replayed: 'callback-replayed',
  'not-dead': 'callback-not-dead',
  role: 'role',
  reason: 'callback-reason',
} as const;

const written = (field = ''): string => field.trim().slice(0, maxText);
/** @param apId Empty for all applications. */
const filterOf = (apId: string, to?: number) => ({ ...(apId !== '' && { apId }), to });

export const createCallbackRoutes = (
  callbacks: CallbackReplays,
  hosts: CallbackHosts,
  { history, now }: Pick<AdminApiDeps, 'history' | 'now'>,
): Hono<ConsoleEnvironment> => {
  const routes = new Hono<ConsoleEnvironment>();

  routes.get('/admin/api/transactions/:id/callbacks', async (c) => {
    const row = await history.find(c.req.param('id'));
    if (row === undefined) return refuse(404, 'unknown', 'There is no such transaction');
    const rows = await callbacks.of(row.msspTransId, row.attempt);
    return answer({ callbacks: hosts.shown(rows) });
  });

  routes.get('/admin/api/callbacks', query(listQuery), async (c) => {
    const { state, apId, to, limit, cursor } = c.req.valid('query');
    const isRetried = state === 'retried';
    if (isRetried && to !== undefined)
      return refuse(400, 'bad-request', 'to is for dead callbacks');
    const page = isRetried
      ? await callbacks.retried(apId, { limit, cursor })
      : await callbacks.dead({ apId, to }, { limit, cursor });
    if (page === undefined) return refuse(...badCursor);
    return answer({ ...page, rows: hosts.shown(page.rows) });
  });

  routes.post(
    '/admin/api/callbacks/plan',
    needs('operator'),
    json(z.strictObject({ filter })),
    async (c) => answer(await callbacks.plan(c.req.valid('json').filter)),
  );

  /** Replays all callbacks of a filter. */
  routes.post('/admin/api/callbacks/replay', needs('operator'), json(replayBody), async (c) => {
    const { filter, ...order } = c.req.valid('json');
    const done = await callbacks.replayAll(filter, {
      ...order,
      operator: c.get('session').operator,
    });
    return 'refused' in done ? refuseOrder(callbackErrors[done.refused]) : answer(done);
  });

  routes.post(
    '/admin/api/callbacks/:id/replay',
    needs('operator'),
    json(optionalReasonBody),
    async (c) => {
      const { reason } = c.req.valid('json');
      const result = await callbacks.replay(c.req.param('id'), c.get('session').operator, reason);
      return present(result, 'replayed', callbackErrors);
    },
  );

  routes.get('/admin/callbacks', async (c) => {
    const apId = written(c.req.query('apId'));
    const cursor = c.req.query('cursor') || undefined;
    const state = c.req.query('state') === 'retried' ? 'retried' : 'dead';
    const wanted = { limit: rowsOnPage, cursor };
    const [page, counts] = await Promise.all([
      state === 'retried'
        ? callbacks.retried(apId === '' ? undefined : apId, wanted)
        : callbacks.dead(filterOf(apId), wanted),
      callbacks.counts(),
    ]);
    if (page === undefined) return c.html(unknownPage('page of the list'), 404);
    return c.html(
      callbacksPage({
        session: c.get('session'),
        state,
        counts,
        apId,
        rows: hosts.shown(page.rows),
        next: page.cursor,
        isFirst: cursor === undefined,
        apIds: hosts.apIds,
        notice: readNotice(c.req.query('notice'), c.get('session').frame),
      }),
    );
  });

  routes.get('/admin/callbacks/plan', needs('operator'), async (c) => {
    const apId = written(c.req.query('apId'));
    const to = now();
    const plan = await callbacks.plan(filterOf(apId, to));
    const common = { session: c.get('session'), apId, to, plan, problem: undefined };
    return c.html(callbackPlanPage({ ...common, reason: '', perSecond: String(usual) }));
  });

  routes.post('/admin/callbacks/replay', needs('operator'), async (c) => {
    const session = c.get('session');
    const form = await readForm(c);
    const apId = written(form.apId);
    const wanted = Number(form.to);
    const to = wanted > 0 && wanted < now() ? wanted : now();
    const filter = filterOf(apId, to);
    const { reason = '' } = form;
    const perSecond = (form.perSecond ?? '').trim();
    const order = { perSecond: Number(perSecond), operator: session.operator, reason };
    const done = await callbacks.replayAll(filter, order);
    if (!('refused' in done)) return c.html(callbackBulkPage(session, apId, done));
    if (done.refused === 'role')
      return c.html(forbiddenPage('Your role does not allow this.'), 403);
    const problem = done.refused === 'nothing' ? undefined : done.refused;
    const plan = await callbacks.plan(filter);
    return c.html(callbackPlanPage({ session, apId, to, plan, problem, reason, perSecond }), 422);
  });

  routes.post('/admin/callbacks/:id/replay', needs('operator'), async (c) => {
    const id = c.req.param('id');
    const { list } = await readForm(c);
    const result = nameOf(await callbacks.replay(id, c.get('session').operator));
    if (result === 'unknown') return c.html(unknownPage('callback'), 404);
    const notice = notices[result];
    if (list !== undefined || id.startsWith('process-')) {
      return c.redirect(`/admin/callbacks${queryOf({ apId: written(list), notice })}`, 303);
    }
    const transaction = encodeURIComponent(id.replace(/-.*$/s, ''));
    return c.redirect(`/admin/transactions/${transaction}?notice=${notice}#callbacks`, 303);
  });

  return routes;
};
