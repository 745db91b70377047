/** Bulk replays and bulk cancels: plan, order, progress, stop. Pages and API. */
import { Hono } from 'hono';
import { z } from 'zod';
import { answer } from './answers.ts';
import type { AdminApiDeps, ConsoleEnvironment } from './deps.ts';
import { fieldTime, type ReadFilter, readFilter, transactionFilter } from './filter.ts';
import { count, json, optionalReasonBody, query, readForm, reason, text } from './input.ts';
import { createLookUps } from './look-ups.ts';
import type { Operator } from './operators/operator.ts';
import type { BulkKind, ReplaySelection } from './operators/replays.ts';
import { nameOf, type OrderErrorName, present, refuseOrder } from './order-errors.ts';
import { queryOf } from './pages/markup.ts';
import { readNotice } from './pages/notices.ts';
import { type PlanModel, planPage } from './pages/plan-pages.ts';
import { replayPage, replaysPage } from './pages/replays-page.ts';
import { messagePage, unknownPage } from './pages/session-pages.ts';
import { shownBulk, shownPlan } from './redaction.ts';
import { needs } from './session/session.ts';

const usualPerSecond = 5;
const bulksOnPage = 100;

const bulkKinds = ['replay', 'cancel'] as const;

const selection = z
  .strictObject({
    kind: z.enum(bulkKinds),
    filter: transactionFilter.omit({ state: true }).extend({ maxAttempts: count(1000).optional() }),
    ids: z.array(text(100)).min(1).max(20_000),
  })
  .partial();
const hasOne = ({ filter, ids }: z.output<typeof selection>): boolean =>
  (filter === undefined) !== (ids === undefined);
const oneOf = { error: 'must have either filter or ids' };

const planBody = selection.extend({ reason: reason.optional() }).refine(hasOne, oneOf);
const startBody = selection
  .extend({ reason, perSecond: z.number().min(0.01).max(1000).default(usualPerSecond) })
  .refine(hasOne, oneOf);
const listQuery = z.strictObject({ limit: count(200).default(50) });

const selectionOf = ({ kind, filter, ids }: z.output<typeof selection>): ReplaySelection => {
  if (filter === undefined) return { kind, ids: ids ?? [] };
  return { kind, filter };
};

const errors = {
  role: 'role',
  reason: 'reason',
  nothing: 'nothing',
  rate: 'rate',
  unknown: 'bulk-unknown',
  'not-running': 'not-running',
} as const satisfies Record<string, OrderErrorName>;

const wrongFilter = (): string =>
  messagePage(422, 'The filter cannot be read', 'Go back to the list and correct it.');

/** Reads a filter without the state: a replay takes failed transactions, a cancel open ones. */
const readFailedFilter = ({ state: _, ...fields }: Parameters<typeof readFilter>[0]): ReadFilter =>
  readFilter(fields);

export const createReplayRoutes = (deps: AdminApiDeps): Hono<ConsoleEnvironment> => {
  const { replays, now } = deps;
  const noteLookUp = createLookUps(deps);
  const routes = new Hono<ConsoleEnvironment>();

  routes.post('/admin/api/replays/plan', needs('operator'), json(planBody), async (c) => {
    const { operator } = c.get('session');
    const body = c.req.valid('json');
    await noteLookUp(c.get('session'), 'transactions', body.filter?.msisdn);
    return answer(
      shownPlan(operator.role, await replays.plan(selectionOf(body), operator, body.reason)),
    );
  });

  routes.post('/admin/api/replays', needs('operator'), json(startBody), async (c) => {
    const { operator } = c.get('session');
    const { reason, perSecond, ...selected } = c.req.valid('json');
    const started = await replays.start(selectionOf(selected), { perSecond, operator, reason });
    return 'refused' in started
      ? refuseOrder(errors[started.refused])
      : answer({ ...started, plan: shownPlan(operator.role, started.plan) }, 202);
  });

  routes.get('/admin/api/replays', query(listQuery), async (c) => {
    const { role } = c.get('session').operator;
    const bulks = await replays.list(c.req.valid('query').limit);
    return answer({ replays: bulks.map((bulk) => shownBulk(role, bulk)) });
  });

  routes.get('/admin/api/replays/:id', async (c) => {
    const report = await replays.report(c.req.param('id'));
    if (report === undefined) return refuseOrder(errors.unknown);
    return answer(shownBulk(c.get('session').operator.role, report));
  });

  /** The progress of a bulk without its single transactions. */
  routes.get('/admin/api/replays/:id/progress', async (c) => {
    const bulk = await replays.progress(c.req.param('id'));
    if (bulk === undefined) return refuseOrder(errors.unknown);
    return answer(shownBulk(c.get('session').operator.role, bulk));
  });

  routes.post(
    '/admin/api/replays/:id/stop',
    needs('operator'),
    json(optionalReasonBody),
    async (c) => {
      const { reason } = c.req.valid('json');
      const result = await replays.stop(c.req.param('id'), c.get('session').operator, reason);
      return present(result, 'stopping', errors);
    },
  );

  /** Plans a bulk with a reason, because the order will have one. */
  const planned = async (selected: ReplaySelection, operator: Operator) =>
    shownPlan(operator.role, await replays.plan(selected, operator, 'plan'));

  const kindIn = (written: string | undefined): BulkKind =>
    written === 'cancel' ? 'cancel' : 'replay';

  routes.get('/admin/replays', async (c) =>
    c.html(replaysPage(c.get('session'), await replays.list(bulksOnPage))),
  );

  routes.get('/admin/replays/plan', needs('operator'), async (c) => {
    const session = c.get('session');
    const kind = kindIn(c.req.query('kind'));
    const ids = c.req.queries('id') ?? [];
    if (ids.length === 0 && c.req.query('picked') !== undefined) {
      const { form } = readFilter(c.req.query());
      return c.redirect(`/admin/transactions${queryOf({ ...form, notice: 'none-selected' })}`, 303);
    }
    // Later transactions are excluded, because the list has not shown them.
    const to = c.req.query('to') || fieldTime(now());
    const { form, filter, problems } = readFailedFilter({
      ...c.req.query(),
      ...(ids.length === 0 && { to }),
    });
    if (Object.keys(problems).length > 0) return c.html(wrongFilter(), 422);
    if (ids.length === 0) await noteLookUp(session, 'transactions', filter.msisdn);
    const plan = await planned(
      { kind, ...(ids.length > 0 ? { ids } : { filter }) },
      session.operator,
    );
    const common = { session, kind, form, ids, plan, problem: undefined };
    return c.html(planPage({ ...common, reason: '', perSecond: String(usualPerSecond) }));
  });

  routes.post('/admin/replays', needs('operator'), async (c) => {
    const session = c.get('session');
    const { operator } = session;
    const fields = await readForm(c);
    const { form, filter, problems } = readFailedFilter(fields);
    if (Object.keys(problems).length > 0) return c.html(wrongFilter(), 422);
    const { reason = '', perSecond = '', expected = '0' } = fields;
    const kind = kindIn(fields.kind);
    const ids = (fields.ids ?? '').split(' ').filter((id) => id !== '');
    const selected = { kind, ...(ids.length > 0 ? { ids } : { filter }) };
    const plan = await planned(selected, operator);
    const common = { session, kind, form, ids, plan, reason, perSecond: perSecond.trim() };
    const askAgain = (problem: PlanModel['problem']) =>
      c.html(planPage({ ...common, problem }), 422);
    // More transactions than the page has shown: ask again.
    if (plan.replayable > Number(expected)) return askAgain('more');
    const order = { perSecond: Number(perSecond), operator, reason: reason.trim() };
    const started = await replays.start(selected, order);
    return 'refused' in started
      ? askAgain(started.refused)
      : c.redirect(`/admin/replays/${started.bulkId}`, 303);
  });

  routes.get('/admin/replays/:id', async (c) => {
    const report = await replays.report(c.req.param('id'));
    if (report === undefined) return c.html(unknownPage('bulk replay'), 404);
    const wanted = Number(c.req.query('from') ?? 0);
    const from = Number.isSafeInteger(wanted) && wanted > 0 && wanted < report.total ? wanted : 0;
    const notice = readNotice(c.req.query('notice'));
    return c.html(replayPage({ session: c.get('session'), report, from, notice }));
  });

  routes.post('/admin/replays/:id/stop', needs('operator'), async (c) => {
    const id = c.req.param('id');
    const result = nameOf(await replays.stop(id, c.get('session').operator));
    if (result === 'unknown') return c.html(unknownPage('bulk replay'), 404);
    const notice = result === 'stopping' ? result : errors[result];
    return c.redirect(`/admin/replays/${encodeURIComponent(id)}?notice=${notice}`, 303);
  });

  return routes;
};
