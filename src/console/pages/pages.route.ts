/**
 * The console's pages, with whole paths. Who asks, and that a form comes from one of these pages, has been found out before
 * (session/session.ts); the assets need neither.
 */
import { Hono } from 'hono';
import { auditActions } from '../../operators/audit.ts';
import type { Details } from '../api/transaction-detail.ts';
import type { ConsoleDeps, ConsoleEnvironment } from '../deps.ts';
import { needs } from '../session/session.ts';
import { assets } from './assets.ts';
import { auditPage } from './audit-page.ts';
import { createCallbackPages } from './callbacks.route.ts';
import { overviewPage } from './overview-page.ts';
import { createReplayPages } from './replays.route.ts';
import { createTokenPages } from './tokens.route.ts';
import { createTransactionPages, unknownPage } from './transactions.route.ts';
import { createUserPages } from './users.route.ts';

const hourMs = 3_600_000;
const entriesOnPage = 100;
const mostText = 256;

export const createPages = (deps: ConsoleDeps, details: Details): Hono<ConsoleEnvironment> => {
  const { history, audit, now } = deps;
  const routes = new Hono<ConsoleEnvironment>();

  for (const [name, { type, content }] of assets) {
    routes.get(`/admin/assets/${name}`, (c) =>
      c.body(content, 200, {
        'content-type': type,
        'cache-control': 'public, max-age=31536000, immutable',
      }),
    );
  }

  routes.get('/admin', async (c) => {
    const time = now();
    const [hour, day] = await Promise.all([
      history.overview(time - hourMs),
      history.overview(time - 24 * hourMs),
    ]);
    return c.html(overviewPage({ session: c.get('session'), hour, day, now: time }));
  });

  routes.get('/admin/audit', needs('operator'), async (c) => {
    const text = (name: string): string | undefined =>
      c.req.query(name)?.trim().slice(0, mostText) || undefined;
    const cursor = text('cursor');
    const form = {
      who: text('who'),
      action: auditActions.find((action) => action === text('action')),
      target: text('target'),
    };
    const page = await audit.read({ ...form, cursor, limit: entriesOnPage });
    if (page === undefined) return c.html(unknownPage('page of the log'), 404);
    return c.html(
      auditPage({
        session: c.get('session'),
        form,
        entries: page.entries,
        next: page.cursor,
        isFirst: cursor === undefined,
      }),
    );
  });

  routes.route('/', createTransactionPages(deps, details));
  routes.route('/', createReplayPages(deps));
  routes.route('/', createCallbackPages(deps));
  routes.route('/', createUserPages(deps));
  routes.route('/', createTokenPages(deps));
  return routes;
};
