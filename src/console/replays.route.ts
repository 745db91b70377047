/** Bulks of all lists: which there are, progress, report, stop. Pages and API. */
import { Hono } from 'hono';
import { z } from 'zod';
import { answer } from './answers.ts';
import { createBulkRoutes } from './bulks.route.ts';
import type { AdminApiDeps, ConsoleEnvironment } from './deps.ts';
import { count, json, optionalReasonBody, query } from './input.ts';
import { nameOf, type OrderErrorName, present, refuseOrder } from './order-errors.ts';
import { readNotice } from './pages/notices.ts';
import { itemsOnPage, replayPage, replaysPage } from './pages/replays-page.ts';
import { unknownPage } from './pages/session-pages.ts';
import { transactionBulkFace } from './pages/transaction-bulk-face.ts';
import { shownBulk } from './redaction.ts';
import { needs } from './session/session.ts';

const bulksOnPage = 100;

const listQuery = z.strictObject({ limit: count(200).default(50) });

const errors = {
  role: 'role',
  unknown: 'bulk-unknown',
  'not-running': 'not-running',
} as const satisfies Record<string, OrderErrorName>;

export const createReplayRoutes = (deps: AdminApiDeps): Hono<ConsoleEnvironment> => {
  const { replays, parts } = deps;
  const faces = [
    transactionBulkFace(replays.transactions),
    ...parts.flatMap(({ bulk = [] }) => bulk),
  ];
  const routes = new Hono<ConsoleEnvironment>();

  for (const face of faces) routes.route('/', createBulkRoutes(deps, face));

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

  routes.get('/admin/replays', async (c) =>
    c.html(replaysPage(c.get('session'), await replays.list(bulksOnPage))),
  );

  routes.get('/admin/replays/:id', async (c) => {
    const report = await replays.report(c.req.param('id'));
    if (report === undefined) return c.html(unknownPage('bulk'), 404);
    const wanted = Number(c.req.query('from') ?? 0);
    const from = Number.isSafeInteger(wanted) && wanted > 0 && wanted < report.total ? wanted : 0;
    const notice = readNotice(c.req.query('notice'));
    const face = faces.find(({ list }) => list.name === (report.of ?? 'transactions'));
    const ids = report.items.slice(from, from + itemsOnPage).map(({ id }) => id);
    const now = await face?.now?.(ids);
    return c.html(replayPage({ session: c.get('session'), report, face, from, now, notice }));
  });

  routes.post('/admin/replays/:id/stop', needs('operator'), async (c) => {
    const id = c.req.param('id');
    const result = nameOf(await replays.stop(id, c.get('session').operator));
    if (result === 'unknown') return c.html(unknownPage('bulk'), 404);
    const notice = result === 'stopping' ? result : errors[result];
    return c.redirect(`/admin/replays/${encodeURIComponent(id)}?notice=${notice}`, 303);
  });

  return routes;
};
