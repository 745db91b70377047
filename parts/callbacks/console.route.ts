/**
 * Callbacks: the dead ones and those that are tried again, by receiver and one by one; orders to one,
 * or to all of a filter. Pages and API.
 */
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
import { nameOf, refuseOrder } from '../../src/console/order-errors.ts';
import { queryOf } from '../../src/console/pages/markup.ts';
import { readNotice } from '../../src/console/pages/notices.ts';
import { forbiddenPage, unknownPage } from '../../src/console/pages/session-pages.ts';
import { needs } from '../../src/console/session/session.ts';
import type { CallbackHosts } from './hosts.ts';
import { callbackErrors } from './notices.ts';
import { callbacksPage } from './page.ts';
import { callbackBulkPage, callbackPlanPage } from './plan-page.ts';
import { type FailingReceivers, receiversOf } from './receivers.ts';
import {
  type CallbackOrder,
  type CallbackReplays,
  callbackOrders,
  callbacksPerSecond,
} from './replays.ts';

const rowsOnPage = 50;
const maxText = 256;

const filter = z.strictObject({ apId: text(maxText), to: time }).partial();
const listQuery = filter.extend({
  // Other callbacks are found by their transaction.
  state: z.enum(['dead', 'retried'], { error: 'must be dead or retried' }).default('dead'),
  ...paged(50, 500),
});
const { min, max, usual } = callbacksPerSecond;
const planBody = z.strictObject({ filter, kind: z.enum(callbackOrders).default('replay') });
const replayBody = z.strictObject({
  filter,
  reason: reason.optional(),
  perSecond: z.number().min(min).max(max).default(usual),
});

const ofDeadAlone = [400, 'bad-request', 'to is for dead callbacks'] as const;

const notices = {
  replayed: 'callback-replayed',
  tried: 'callback-tried',
  delivered: 'callback-delivered',
  dead: 'callback-dead',
  waiting: 'callback-waiting',
  trying: 'callback-trying',
  busy: 'callback-busy',
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

  const readReceivers = async (): Promise<FailingReceivers> => {
    const [dead, retried, counts] = await Promise.all([
      callbacks.newest('dead'),
      callbacks.newest('retried'),
      callbacks.counts(),
    ]);
    return {
      ...counts,
      isWhole: dead.isWhole && retried.isWhole,
      receivers: receiversOf(hosts.shown([...retried.rows, ...dead.rows])),
    };
  };

  routes.get('/admin/api/transactions/:id/callbacks', async (c) => {
    const row = await history.find(c.req.param('id'));
    if (row === undefined) return refuse(404, 'unknown', 'There is no such transaction');
    const rows = await callbacks.of(row.msspTransId, row.attempt);
    return answer({ callbacks: hosts.shown(rows) });
  });

  routes.get('/admin/api/callbacks', query(listQuery), async (c) => {
    const { state, apId, to, limit, cursor } = c.req.valid('query');
    const isRetried = state === 'retried';
    if (isRetried && to !== undefined) return refuse(...ofDeadAlone);
    const page = isRetried
      ? await callbacks.retried(apId, { limit, cursor })
      : await callbacks.dead({ apId, to }, { limit, cursor });
    if (page === undefined) return refuse(...badCursor);
    return answer({ ...page, rows: hosts.shown(page.rows) });
  });

  routes.get('/admin/api/callbacks/receivers', async () => answer(await readReceivers()));

  routes.post('/admin/api/callbacks/plan', needs('operator'), json(planBody), async (c) => {
    const { kind, filter } = c.req.valid('json');
    const isWrong = kind === 'try' && filter.to !== undefined;
    return isWrong ? refuse(...ofDeadAlone) : answer(await callbacks.plan(kind, filter));
  });

  for (const kind of callbackOrders) {
    const errors = callbackErrors(kind);

    /** Gives the order to all callbacks of a filter. */
    routes.post(`/admin/api/callbacks/${kind}`, needs('operator'), json(replayBody), async (c) => {
      const { filter, ...order } = c.req.valid('json');
      if (kind === 'try' && filter.to !== undefined) return refuse(...ofDeadAlone);
      const { operator } = c.get('session');
      const done = await callbacks.orderAll(kind, filter, { ...order, operator });
      return 'refused' in done ? refuseOrder(errors[done.refused]) : answer(done);
    });

    routes.post(
      `/admin/api/callbacks/:id/${kind}`,
      needs('operator'),
      json(optionalReasonBody),
      async (c) => {
        const { reason } = c.req.valid('json');
        const { operator } = c.get('session');
        const result = nameOf(await callbacks.order(kind, c.req.param('id'), operator, reason));
        if (result === 'replayed' || result === 'tried') return answer({ result });
        return refuseOrder(errors[result]);
      },
    );
  }

  routes.get('/admin/callbacks', async (c) => {
    const apId = written(c.req.query('apId'));
    const cursor = c.req.query('cursor') || undefined;
    const state = c.req.query('state') === 'retried' ? 'retried' : 'dead';
    const wanted = { limit: rowsOnPage, cursor };
    const [page, failing] = await Promise.all([
      state === 'retried'
        ? callbacks.retried(apId === '' ? undefined : apId, wanted)
        : callbacks.dead(filterOf(apId), wanted),
      readReceivers(),
    ]);
    if (page === undefined) return c.html(unknownPage('page of the list'), 404);
    return c.html(
      callbacksPage({
        session: c.get('session'),
        state,
        failing,
        apId,
        rows: hosts.shown(page.rows),
        next: page.cursor,
        isFirst: cursor === undefined,
        apIds: hosts.apIds,
        notice: readNotice(c.req.query('notice'), c.get('session').frame),
      }),
    );
  });

  const kindIn = (text: string | undefined): CallbackOrder => (text === 'try' ? 'try' : 'replay');
  const filterFor = (kind: CallbackOrder, apId: string, to: number) =>
    kind === 'replay' ? filterOf(apId, to) : filterOf(apId);

  routes.get('/admin/callbacks/plan', needs('operator'), async (c) => {
    const kind = kindIn(c.req.query('kind'));
    const apId = written(c.req.query('apId'));
    const to = now();
    const plan = await callbacks.plan(kind, filterFor(kind, apId, to));
    const common = { session: c.get('session'), kind, apId, to, plan, problem: undefined };
    return c.html(callbackPlanPage({ ...common, reason: '', perSecond: String(usual) }));
  });

  for (const kind of callbackOrders) {
    routes.post(`/admin/callbacks/${kind}`, needs('operator'), async (c) => {
      const session = c.get('session');
      const form = await readForm(c);
      const apId = written(form.apId);
      const wanted = Number(form.to);
      const to = wanted > 0 && wanted < now() ? wanted : now();
      const filter = filterFor(kind, apId, to);
      const { reason = '' } = form;
      const perSecond = (form.perSecond ?? '').trim();
      const order = { perSecond: Number(perSecond), operator: session.operator, reason };
      const done = await callbacks.orderAll(kind, filter, order);
      if (!('refused' in done)) return c.html(callbackBulkPage(session, kind, apId, done));
      if (done.refused === 'role')
        return c.html(forbiddenPage('Your role does not allow this.'), 403);
      const problem = done.refused === 'nothing' ? undefined : done.refused;
      const plan = await callbacks.plan(kind, filter);
      const again = { session, kind, apId, to, plan, problem, reason, perSecond };
      return c.html(callbackPlanPage(again), 422);
    });

    routes.post(`/admin/callbacks/:id/${kind}`, needs('operator'), async (c) => {
      const id = c.req.param('id');
      const { list } = await readForm(c);
      const result = nameOf(await callbacks.order(kind, id, c.get('session').operator));
      if (result === 'unknown') return c.html(unknownPage('callback'), 404);
      const notice = notices[result];
      if (list !== undefined || id.startsWith('process-')) {
        const state = kind === 'try' ? 'retried' : undefined;
        const query = queryOf({ state, apId: written(list), notice });
        return c.redirect(`/admin/callbacks${query}`, 303);
      }
      const transaction = encodeURIComponent(id.replace(/-.*$/s, ''));
      return c.redirect(`/admin/transactions/${transaction}?notice=${notice}#callbacks`, 303);
    });
  }

  return routes;
};
